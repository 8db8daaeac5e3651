"""Initializers: `pb.initializers`, under TensorFlow's names, old and new."""

from .layers.variables.initializers import (
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
from .layers.variables.initializers import Constant as constant
from .layers.variables.initializers import Identity as identity
from .layers.variables.initializers import Ones as ones
from .layers.variables.initializers import RandomNormal as random_normal
from .layers.variables.initializers import RandomUniform as random_uniform
from .layers.variables.initializers import TruncatedNormal as truncated_normal
from .layers.variables.initializers import UniformUnitScaling as uniform_unit_scaling
from .layers.variables.initializers import VarianceScaling as variance_scaling
from .layers.variables.initializers import Zeros as zeros
from .layers.variables.orthogonal import Orthogonal
from .layers.variables.orthogonal import Orthogonal as orthogonal
from .layers.variables.scope import global_variables_initializer as global_variables
from .layers.variables.scope import local_variables_initializer as local_variables
from .layers.variables.scope import variables_initializer as variables

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
