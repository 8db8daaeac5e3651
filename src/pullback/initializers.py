"""Initializers: `pb.initializers`, under TensorFlow's names, old and new."""

from .primitives.initializers import (
    Constant,
    Identity,
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
    lecun_normal,
    lecun_uniform,
)
from .primitives.initializers import (
    Constant as constant,
)
from .primitives.initializers import (
    Identity as identity,
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
    UniformUnitScaling as uniform_unit_scaling,
)
from .primitives.initializers import (
    VarianceScaling as variance_scaling,
)
from .primitives.initializers import (
    Zeros as zeros,
)
from .primitives.orthogonal import Orthogonal
from .primitives.orthogonal import Orthogonal as orthogonal
from .primitives.variable_scope import global_variables_initializer as global_variables
from .primitives.variable_scope import local_variables_initializer as local_variables
from .primitives.variable_scope import variables_initializer as variables

__all__ = [
    "Constant",
    "Identity",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "global_variables",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "local_variables",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "uniform_unit_scaling",
    "variables",
    "variance_scaling",
    "zeros",
]
