"""Backend functions of Keras: `tf.keras.backend`, functions of tensors under its names, and what all of Keras shares.

>>> import pullback as pb
>>> from pullback.compat.v1.keras import backend
>>> pb.Session().run([backend.sum([[1.0, 2.0]], axis=1), backend.mean([True, False]), backend.abs(-1.0)])
[array([3.], dtype=float32), np.float32(0.5), np.float32(1.0)]
"""

from typing import Any

import pullback as _pb

from .....layers.variables.layer import get_uid as get_uid
from .arithmetic import all as all
from .arithmetic import any as any
from .arithmetic import arange as arange
from .arithmetic import argmax as argmax
from .arithmetic import argmin as argmin
from .arithmetic import batch_dot as batch_dot
from .arithmetic import batch_flatten as batch_flatten
from .arithmetic import cast as cast
from .arithmetic import cast_to_floatx as cast_to_floatx
from .arithmetic import clip as clip
from .arithmetic import concatenate as concatenate
from .arithmetic import count_params as count_params
from .arithmetic import cumprod as cumprod
from .arithmetic import cumsum as cumsum
from .arithmetic import dot as dot
from .arithmetic import dtype as dtype
from .arithmetic import expand_dims as expand_dims
from .arithmetic import flatten as flatten
from .arithmetic import gather as gather
from .arithmetic import in_top_k as in_top_k
from .arithmetic import int_shape as int_shape
from .arithmetic import is_sparse as is_sparse
from .arithmetic import l2_normalize as l2_normalize
from .arithmetic import logsumexp as logsumexp
from .arithmetic import max as max
from .arithmetic import mean as mean
from .arithmetic import min as min
from .arithmetic import ndim as ndim
from .arithmetic import one_hot as one_hot
from .arithmetic import permute_dimensions as permute_dimensions
from .arithmetic import pow as pow
from .arithmetic import prod as prod
from .arithmetic import repeat as repeat
from .arithmetic import repeat_elements as repeat_elements
from .arithmetic import reshape as reshape
from .arithmetic import reverse as reverse
from .arithmetic import sqrt as sqrt
from .arithmetic import std as std
from .arithmetic import sum as sum
from .arithmetic import tile as tile
from .arithmetic import to_dense as to_dense
from .arithmetic import var as var
from .convolutions import conv2d_transpose as conv2d_transpose
from .convolutions import depthwise_conv2d as depthwise_conv2d
from .convolutions import resize_images as resize_images
from .convolutions import separable_conv2d as separable_conv2d
from .networks import batch_normalization as batch_normalization
from .networks import bias_add as bias_add
from .networks import binary_crossentropy as binary_crossentropy
from .networks import categorical_crossentropy as categorical_crossentropy
from .networks import conv1d as conv1d
from .networks import conv2d as conv2d
from .networks import conv3d as conv3d
from .networks import dropout as dropout
from .networks import elu as elu
from .networks import hard_sigmoid as hard_sigmoid
from .networks import pool2d as pool2d
from .networks import pool3d as pool3d
from .networks import relu as relu
from .networks import softmax as softmax
from .networks import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from .networks import spatial_2d_padding as spatial_2d_padding
from .networks import spatial_3d_padding as spatial_3d_padding
from .networks import temporal_padding as temporal_padding
from .sequences import ctc_batch_cost as ctc_batch_cost
from .sequences import ctc_decode as ctc_decode
from .sequences import ctc_label_dense_to_sparse as ctc_label_dense_to_sparse
from .sequences import rnn as rnn
from .state import backend as backend
from .state import batch_get_value as batch_get_value
from .state import batch_set_value as batch_set_value
from .state import clear_session as clear_session
from .state import epsilon as epsilon
from .state import eval as eval
from .state import floatx as floatx
from .state import get_session as get_session
from .state import get_value as get_value
from .state import image_data_format as image_data_format
from .state import learning_phase as learning_phase
from .state import set_epsilon as set_epsilon
from .state import set_floatx as set_floatx
from .state import set_image_data_format as set_image_data_format
from .state import set_learning_phase as set_learning_phase
from .state import set_session as set_session
from .state import set_value as set_value
from .variables import constant as constant
from .variables import eye as eye
from .variables import function as function
from .variables import gradients as gradients
from .variables import in_test_phase as in_test_phase
from .variables import in_train_phase as in_train_phase
from .variables import is_placeholder as is_placeholder
from .variables import moving_average_update as moving_average_update
from .variables import ones as ones
from .variables import ones_like as ones_like
from .variables import placeholder as placeholder
from .variables import print_tensor as print_tensor
from .variables import random_binomial as random_binomial
from .variables import random_normal as random_normal
from .variables import random_normal_variable as random_normal_variable
from .variables import random_uniform as random_uniform
from .variables import random_uniform_variable as random_uniform_variable
from .variables import stop_gradient as stop_gradient
from .variables import switch as switch
from .variables import truncated_normal as truncated_normal
from .variables import update as update
from .variables import update_add as update_add
from .variables import update_sub as update_sub
from .variables import variable as variable
from .variables import zeros as zeros
from .variables import zeros_like as zeros_like

_SAME = (
    *("abs", "cos", "equal", "exp", "foldl", "foldr", "greater", "greater_equal", "identity", "less", "less_equal"),
    "log",
    *("map_fn", "maximum", "minimum", "name_scope", "not_equal", "round", "shape", "sigmoid", "sign", "sin"),
    *("softplus", "softsign", "square", "squeeze", "stack", "tanh", "transpose"),
)
"""The functions of pullback that are the same under their names."""


def __getattr__(name: str) -> Any:
    if name in _SAME:
        return getattr(_pb, name) if hasattr(_pb, name) else getattr(_pb.nn, name)
    raise AttributeError(f"module 'tensorflow.keras.backend' has no attribute '{name}': use the function of tf")
