"""TF-Slim: the layers of `tf.contrib.layers` and argument scopes, by its names: `tf.contrib.slim`."""

from .arguments import add_arg_scope as add_arg_scope
from .arguments import arg_scope as arg_scope
from .arguments import current_arg_scope as current_arg_scope
from .layers import avg_pool2d as avg_pool2d
from .layers import batch_norm as batch_norm
from .layers import conv2d as conv2d
from .layers import dropout as dropout
from .layers import flatten as flatten
from .layers import fully_connected as fully_connected
from .layers import l1_regularizer as l1_regularizer
from .layers import l2_regularizer as l2_regularizer
from .layers import max_pool2d as max_pool2d
from .layers import repeat as repeat
from .layers import softmax as softmax
from .layers import stack as stack
from .layers import variance_scaling_initializer as variance_scaling_initializer
from .layers import xavier_initializer as xavier_initializer
