"""Implicit differentiation: solutions of equations, without derivatives of the iterations that find them."""

from .derivatives.implicit import argmin, fixed_point, root

__all__ = ["argmin", "fixed_point", "root"]
