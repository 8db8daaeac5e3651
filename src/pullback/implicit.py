"""Implicit differentiation: solutions of equations, without derivatives of the iterations that find them."""

from .derivatives.implicit import argmin as argmin
from .derivatives.implicit import fixed_point as fixed_point
from .derivatives.implicit import root as root
