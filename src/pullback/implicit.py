"""Solutions of equations with derivatives by the implicit function theorem: the iterations are not differentiated."""

from .derivatives.implicit import argmin, fixed_point, root

__all__ = ["argmin", "fixed_point", "root"]
