"""Initializers: `pb.initializers`, under TensorFlow's names, old and new."""

from .layers.variables.initializers import Constant as Constant
from .layers.variables.initializers import Identity as Identity
from .layers.variables.initializers import Ones as Ones
from .layers.variables.initializers import RandomNormal as RandomNormal
from .layers.variables.initializers import RandomUniform as RandomUniform
from .layers.variables.initializers import TruncatedNormal as TruncatedNormal
from .layers.variables.initializers import UniformUnitScaling as _uniform_unit_scaling
from .layers.variables.initializers import VarianceScaling as VarianceScaling
from .layers.variables.initializers import Zeros as Zeros
from .layers.variables.initializers import glorot_normal as glorot_normal
from .layers.variables.initializers import glorot_uniform as glorot_uniform
from .layers.variables.initializers import he_normal as he_normal
from .layers.variables.initializers import he_uniform as he_uniform
from .layers.variables.initializers import lecun_normal as lecun_normal
from .layers.variables.initializers import lecun_uniform as lecun_uniform
from .layers.variables.orthogonal import Orthogonal as Orthogonal
from .layers.variables.scope import global_variables_initializer as _global_variables
from .layers.variables.scope import local_variables_initializer as _local_variables
from .layers.variables.scope import variables_initializer as _variables

constant = Constant
global_variables = _global_variables
identity = Identity
local_variables = _local_variables
ones = Ones
orthogonal = Orthogonal
random_normal = RandomNormal
random_uniform = RandomUniform
truncated_normal = TruncatedNormal
uniform_unit_scaling = _uniform_unit_scaling
variables = _variables
variance_scaling = VarianceScaling
zeros = Zeros
