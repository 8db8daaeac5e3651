"""Neural networks, under TensorFlow's names of `tf.nn`."""

from .primitives.activation import crelu, elu, leaky_relu, relu, relu6, selu, silu, softsign
from .primitives.activation import silu as swish
from .primitives.avg_pooling import avg_pool, avg_pool1d, avg_pool2d, avg_pool3d
from .primitives.bias import bias_add
from .primitives.conv import conv1d, conv2d, conv2d_transpose, depthwise_conv2d, separable_conv2d
from .primitives.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from .primitives.exponential import sigmoid, softplus
from .primitives.gelu import gelu
from .primitives.hyperbolic import tanh
from .primitives.indexing import embedding_lookup
from .primitives.normalisation import (
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    layer_normalization,
    local_response_normalization,
    moments,
)
from .primitives.normalisation import (
    local_response_normalization as lrn,
)
from .primitives.norms import l2_loss
from .primitives.ordering import in_top_k, top_k
from .primitives.pooling import max_pool, max_pool1d, max_pool2d, max_pool3d
from .primitives.random import dropout
from .primitives.reduction import zero_fraction
from .primitives.softmax import log_softmax, softmax
from .primitives.spatial import depth_to_space, space_to_depth

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "crelu",
    "depth_to_space",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "fused_batch_norm",
    "gelu",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "layer_normalization",
    "leaky_relu",
    "local_response_normalization",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "moments",
    "relu",
    "relu6",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "swish",
    "tanh",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "zero_fraction",
]
