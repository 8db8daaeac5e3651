"""Neural network operations, under TensorFlow's names of `tf.nn`."""

from . import rnn_cell
from .layers.linalg import relu_layer, xw_plus_b
from .layers.losses.candidate_sampling import (
    log_uniform_candidate_sampler,
    nce_loss,
    sampled_softmax_loss,
    uniform_candidate_sampler,
)
from .layers.rnn.recurrent import bidirectional_dynamic_rnn, dynamic_rnn, static_rnn
from .primitives.activations.bias import bias_add
from .primitives.activations.gelu import gelu
from .primitives.activations.rectifiers import crelu, elu, leaky_relu, relu, relu6, selu, silu, softsign
from .primitives.activations.rectifiers import silu as swish
from .primitives.activations.sigmoid import sigmoid, softplus
from .primitives.activations.softmax import log_softmax, softmax
from .primitives.convolution.conv import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    depthwise_conv2d,
    separable_conv2d,
)
from .primitives.convolution.conv import depthwise_conv2d as depthwise_conv2d_native
from .primitives.convolution.conv3d import conv3d, conv3d_transpose
from .primitives.convolution.conv_general import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
)
from .primitives.convolution.conv_general import (
    depthwise_conv2d_backprop_filter as depthwise_conv2d_native_backprop_filter,
)
from .primitives.convolution.conv_general import (
    depthwise_conv2d_backprop_input as depthwise_conv2d_native_backprop_input,
)
from .primitives.convolution.morphology import dilation2d, erosion2d
from .primitives.elementwise.hyperbolic import tanh
from .primitives.indexing.gather import embedding_lookup
from .primitives.losses.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from .primitives.losses.cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits_v2
from .primitives.losses.ctc import ctc_greedy_decoder, ctc_loss, ctc_unique_labels
from .primitives.losses.l2 import l2_loss
from .primitives.normalization.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    layer_normalization,
    local_response_normalization,
)
from .primitives.normalization.normalization import local_response_normalization as lrn
from .primitives.pooling.argmax import max_pool_with_argmax, pool
from .primitives.pooling.avg_pool import avg_pool, avg_pool1d, avg_pool2d, avg_pool3d
from .primitives.pooling.avg_pool import avg_pool as avg_pool_v2
from .primitives.pooling.fractional import fractional_avg_pool, fractional_max_pool
from .primitives.pooling.max_pool import max_pool, max_pool1d, max_pool2d, max_pool3d
from .primitives.pooling.max_pool import max_pool as max_pool_v2
from .primitives.random.dropout import dropout
from .primitives.reduction.moments import moments, normalize_moments, sufficient_statistics, weighted_moments
from .primitives.reduction.reduce import zero_fraction
from .primitives.shape.space_to_batch import space_to_batch
from .primitives.shape.space_to_depth import depth_to_space, space_to_depth
from .primitives.sorting.order_statistics import approx_max_k, approx_min_k, isotonic_regression
from .primitives.sorting.sort import in_top_k, top_k

__all__ = [
    "approx_max_k",
    "approx_min_k",
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "bidirectional_dynamic_rnn",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_unique_labels",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dilation2d",
    "dropout",
    "dynamic_rnn",
    "elu",
    "embedding_lookup",
    "erosion2d",
    "fractional_avg_pool",
    "fractional_max_pool",
    "fused_batch_norm",
    "gelu",
    "in_top_k",
    "isotonic_regression",
    "l2_loss",
    "l2_normalize",
    "layer_normalization",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "log_uniform_candidate_sampler",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "relu_layer",
    "rnn_cell",
    "sampled_softmax_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "static_rnn",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "uniform_candidate_sampler",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "xw_plus_b",
    "zero_fraction",
]
