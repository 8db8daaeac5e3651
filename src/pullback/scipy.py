"""Minimisers and operators of SciPy: `pb.scipy`."""

from .interop.scipy import Objective as Objective
from .interop.scipy import Residuals as Residuals
from .interop.scipy import hessian_operator as hessian_operator
from .interop.scipy import jacobian_operator as jacobian_operator
