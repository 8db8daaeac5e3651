"""GraphDef export by families: what writes operations that are not nodes of their own type without attributes."""

from . import activations as activations
from . import control_flow as control_flow
from . import convolution as convolution
from . import creation as creation
from . import cumulative as cumulative
from . import debugging as debugging
from . import elementwise as elementwise
from . import identity as identity
from . import image as image
from . import indexing as indexing
from . import linalg as linalg
from . import losses as losses
from . import normalization as normalization
from . import pooling as pooling
from . import quantization as quantization
from . import random as random
from . import reduction as reduction
from . import segment as segment
from . import sets as sets
from . import shape as shape
from . import signal as signal
from . import sorting as sorting
from . import strings as strings
from . import tensor_array as tensor_array
from . import variables as variables
