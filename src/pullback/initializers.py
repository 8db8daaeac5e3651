"""Initializers: `pb.initializers`, TensorFlow's names of them, old and new."""

from .primitives.initializers import (
    Constant,
    Ones,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
)
from .primitives.initializers import (
    Constant as constant,
)
from .primitives.initializers import (
    Ones as ones,
)
from .primitives.initializers import (
    RandomNormal as random_normal,
)
from .primitives.initializers import (
    RandomUniform as random_uniform,
)
from .primitives.initializers import (
    TruncatedNormal as truncated_normal,
)
from .primitives.initializers import (
    VarianceScaling as variance_scaling,
)
from .primitives.initializers import (
    Zeros as zeros,
)

__all__ = [
    "Constant",
    "Ones",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "ones",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "variance_scaling",
    "zeros",
]
