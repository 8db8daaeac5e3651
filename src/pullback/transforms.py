"""Derivatives of Python functions: `pb.transforms`, jax's names."""

from .functions.transforms import Transformed as Transformed
from .functions.transforms import grad as grad
from .functions.transforms import hessian as hessian
from .functions.transforms import hvp as hvp
from .functions.transforms import jacobian as jacobian
from .functions.transforms import jvp as jvp
from .functions.transforms import value_and_grad as value_and_grad
from .functions.transforms import vjp as vjp
