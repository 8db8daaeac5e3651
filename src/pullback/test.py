"""Gradients beside differences: `pb.test`, TensorFlow's names."""

from .derivatives.differences import compute_gradient as compute_gradient
from .derivatives.differences import compute_gradient_error as compute_gradient_error
from .derivatives.differences import compute_gradient_v1 as compute_gradient_v1
from .derivatives.differences import max_error as max_error
