"""Neural network operations, under TensorFlow's names of `tf.nn`."""

from . import rnn_cell as rnn_cell
from .layers.linalg import relu_layer as relu_layer
from .layers.linalg import xw_plus_b as xw_plus_b
from .layers.losses.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from .layers.losses.candidate_sampling import nce_loss as nce_loss
from .layers.losses.candidate_sampling import sampled_softmax_loss as sampled_softmax_loss
from .layers.losses.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
from .layers.losses.ctc_search import ctc_beam_search_decoder as ctc_beam_search_decoder
from .layers.losses.unigram_sampling import all_candidate_sampler as all_candidate_sampler
from .layers.losses.unigram_sampling import compute_accidental_hits as compute_accidental_hits
from .layers.losses.unigram_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from .layers.losses.unigram_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from .layers.rnn.recurrent import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
from .layers.rnn.recurrent import dynamic_rnn as dynamic_rnn
from .layers.rnn.recurrent import static_rnn as static_rnn
from .primitives.activations.bias import bias_add as bias_add
from .primitives.activations.gelu import gelu as gelu
from .primitives.activations.rectifiers import crelu as crelu
from .primitives.activations.rectifiers import elu as elu
from .primitives.activations.rectifiers import leaky_relu as leaky_relu
from .primitives.activations.rectifiers import relu as relu
from .primitives.activations.rectifiers import relu6 as relu6
from .primitives.activations.rectifiers import selu as selu
from .primitives.activations.rectifiers import silu as silu
from .primitives.activations.rectifiers import softsign as softsign
from .primitives.activations.sigmoid import sigmoid as sigmoid
from .primitives.activations.sigmoid import softplus as softplus
from .primitives.activations.softmax import log_softmax as log_softmax
from .primitives.activations.softmax import softmax as softmax
from .primitives.convolution.conv import conv1d as conv1d
from .primitives.convolution.conv import conv1d_transpose as conv1d_transpose
from .primitives.convolution.conv import conv2d as conv2d
from .primitives.convolution.conv import conv2d_transpose as conv2d_transpose
from .primitives.convolution.conv import depthwise_conv2d as depthwise_conv2d
from .primitives.convolution.conv import separable_conv2d as separable_conv2d
from .primitives.convolution.conv3d import conv3d as conv3d
from .primitives.convolution.conv3d import conv3d_transpose as conv3d_transpose
from .primitives.convolution.conv_general import atrous_conv2d as atrous_conv2d
from .primitives.convolution.conv_general import atrous_conv2d_transpose as atrous_conv2d_transpose
from .primitives.convolution.conv_general import conv_transpose as conv_transpose
from .primitives.convolution.conv_general import convolution as convolution
from .primitives.convolution.conv_general import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
from .primitives.convolution.conv_general import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
from .primitives.convolution.morphology import dilation2d as dilation2d
from .primitives.convolution.morphology import erosion2d as erosion2d
from .primitives.elementwise.hyperbolic import tanh as tanh
from .primitives.indexing.gather import embedding_lookup as embedding_lookup
from .primitives.losses.cross_entropy import log_poisson_loss as log_poisson_loss
from .primitives.losses.cross_entropy import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from .primitives.losses.cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from .primitives.losses.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from .primitives.losses.cross_entropy import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from .primitives.losses.ctc import collapse_repeated as collapse_repeated
from .primitives.losses.ctc import ctc_greedy_decoder as ctc_greedy_decoder
from .primitives.losses.ctc import ctc_loss as ctc_loss
from .primitives.losses.ctc import ctc_unique_labels as ctc_unique_labels
from .primitives.losses.l2 import l2_loss as l2_loss
from .primitives.normalization.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
)
from .primitives.normalization.normalization import batch_normalization as batch_normalization
from .primitives.normalization.normalization import fused_batch_norm as fused_batch_norm
from .primitives.normalization.normalization import l2_normalize as l2_normalize
from .primitives.normalization.normalization import layer_normalization as layer_normalization
from .primitives.normalization.normalization import local_response_normalization as local_response_normalization
from .primitives.pooling.argmax import max_pool_with_argmax as max_pool_with_argmax
from .primitives.pooling.argmax import pool as pool
from .primitives.pooling.avg_pool import avg_pool as avg_pool
from .primitives.pooling.avg_pool import avg_pool1d as avg_pool1d
from .primitives.pooling.avg_pool import avg_pool2d as avg_pool2d
from .primitives.pooling.avg_pool import avg_pool3d as avg_pool3d
from .primitives.pooling.fractional import fractional_avg_pool as fractional_avg_pool
from .primitives.pooling.fractional import fractional_max_pool as fractional_max_pool
from .primitives.pooling.max_pool import max_pool as max_pool
from .primitives.pooling.max_pool import max_pool1d as max_pool1d
from .primitives.pooling.max_pool import max_pool2d as max_pool2d
from .primitives.pooling.max_pool import max_pool3d as max_pool3d
from .primitives.random.dropout import dropout as dropout
from .primitives.reduction.moments import moments as moments
from .primitives.reduction.moments import normalize_moments as normalize_moments
from .primitives.reduction.moments import sufficient_statistics as sufficient_statistics
from .primitives.reduction.moments import weighted_moments as weighted_moments
from .primitives.reduction.reduce import zero_fraction as zero_fraction
from .primitives.shape.space_to_batch import space_to_batch as space_to_batch
from .primitives.shape.space_to_depth import depth_to_space as depth_to_space
from .primitives.shape.space_to_depth import space_to_depth as space_to_depth
from .primitives.sorting.order_statistics import approx_max_k as approx_max_k
from .primitives.sorting.order_statistics import approx_min_k as approx_min_k
from .primitives.sorting.order_statistics import isotonic_regression as isotonic_regression
from .primitives.sorting.sort import in_top_k as in_top_k
from .primitives.sorting.sort import top_k as top_k
from .primitives.sparse.lookup import embedding_lookup_sparse as embedding_lookup_sparse
from .primitives.sparse.lookup import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse

avg_pool_v2 = avg_pool
depthwise_conv2d_native = depthwise_conv2d
depthwise_conv2d_native_backprop_filter = depthwise_conv2d_backprop_filter
depthwise_conv2d_native_backprop_input = depthwise_conv2d_backprop_input
lrn = local_response_normalization
max_pool_v2 = max_pool
softmax_cross_entropy_with_logits_v2 = softmax_cross_entropy_with_logits
swish = silu
