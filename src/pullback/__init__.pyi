"""The public names of pullback, each once, with the place where it is defined."""

from . import bitwise as bitwise
from . import compat as compat
from . import config as config
from . import debugging as debugging
from . import distributed as distributed
from . import dtypes as dtypes
from . import graphdef as graphdef
from . import image as image
from . import implicit as implicit
from . import initializers as initializers
from . import linalg as linalg
from . import losses as losses
from . import math as math
from . import nest as nest
from . import nn as nn
from . import onnx as onnx
from . import quantization as quantization
from . import ragged as ragged
from . import random as random
from . import regularizers as regularizers
from . import saved_model as saved_model
from . import scipy as scipy
from . import signal as signal
from . import sparse as _sparse
from . import sparse as sparse
from . import strings as _strings
from . import strings as strings
from . import summary as summary
from . import test as test
from . import train as train
from . import transforms as transforms
from . import typing as typing
from . import xla as xla
from .autodiff.arguments import UnconnectedGradients as UnconnectedGradients
from .autodiff.choices import memory_policy as memory_policy
from .autodiff.cotangent import AggregationMethod as AggregationMethod
from .autodiff.explain import explain_gradient as explain_gradient
from .autodiff.registry import NoGradient as NoGradient
from .autodiff.registry import NotDifferentiable as NotDifferentiable
from .autodiff.registry import RegisterGradient as RegisterGradient
from .autodiff.reverse import gradients as gradients
from .compat.assertions import assert_greater_equal as assert_greater_equal
from .compat.assertions import assert_less_equal as assert_less_equal
from .compat.assertions import assert_near as assert_near
from .compat.assertions import assert_negative as assert_negative
from .compat.assertions import assert_non_negative as assert_non_negative
from .compat.assertions import assert_non_positive as assert_non_positive
from .compat.assertions import assert_none_equal as assert_none_equal
from .compat.assertions import assert_positive as assert_positive
from .compat.assertions import assert_rank_at_least as assert_rank_at_least
from .compat.assertions import assert_scalar as assert_scalar
from .compat.modes import control_flow_v2_enabled as control_flow_v2_enabled
from .compat.modes import disable_control_flow_v2 as disable_control_flow_v2
from .compat.modes import disable_eager_execution as disable_eager_execution
from .compat.modes import disable_tensor_equality as disable_tensor_equality
from .compat.modes import disable_v2_behavior as disable_v2_behavior
from .compat.modes import disable_v2_tensorshape as disable_v2_tensorshape
from .compat.modes import enable_control_flow_v2 as enable_control_flow_v2
from .compat.modes import enable_eager_execution as enable_eager_execution
from .compat.modes import enable_resource_variables as enable_resource_variables
from .compat.modes import enable_v2_behavior as enable_v2_behavior
from .compat.modes import enable_v2_tensorshape as enable_v2_tensorshape
from .compat.modes import executing_eagerly as executing_eagerly
from .compat.modes import executing_eagerly_outside_functions as executing_eagerly_outside_functions
from .compat.modes import resource_variables_enabled as resource_variables_enabled
from .compat.older_names import accumulate_n as accumulate_n
from .compat.older_names import arg_max as arg_max
from .compat.older_names import arg_min as arg_min
from .compat.older_names import batch_gather as batch_gather
from .compat.older_names import confusion_matrix as confusion_matrix
from .compat.older_names import depth_to_space as depth_to_space
from .compat.older_names import div as div
from .compat.older_names import extract_image_patches as extract_image_patches
from .compat.older_names import multinomial as multinomial
from .compat.older_names import random_poisson as random_poisson
from .compat.older_names import space_to_depth as space_to_depth
from .compat.older_names import sparse_segment_mean as sparse_segment_mean
from .compat.older_names import sparse_segment_sqrt_n as sparse_segment_sqrt_n
from .compat.older_names import sparse_segment_sum as sparse_segment_sum
from .compat.older_names import to_bfloat16 as to_bfloat16
from .compat.older_names import to_complex64 as to_complex64
from .compat.older_names import to_complex128 as to_complex128
from .compat.older_names import to_double as to_double
from .compat.older_names import to_float as to_float
from .compat.older_names import to_int32 as to_int32
from .compat.older_names import to_int64 as to_int64
from .control_flow import py_function as _py_function
from .control_flow.concrete_function import ConcreteFunction as ConcreteFunction
from .control_flow.conditional import case as case
from .control_flow.conditional import cond as cond
from .control_flow.conditional import switch_case as switch_case
from .control_flow.custom_gradient import custom_gradient as custom_gradient
from .control_flow.custom_gradient import grad_pass_through as grad_pass_through
from .control_flow.custom_gradient import recompute_grad as recompute_grad
from .control_flow.history import history as history
from .control_flow.maps import map_fn as map_fn
from .control_flow.maps import vectorized_map as vectorized_map
from .control_flow.py_function import numpy_function as numpy_function
from .control_flow.py_function import py_function as py_function
from .control_flow.scan import foldl as foldl
from .control_flow.scan import foldr as foldr
from .control_flow.scan import scan as scan
from .control_flow.signature import TensorSpec as TensorSpec
from .control_flow.tensor_array import TensorArray as TensorArray
from .control_flow.while_loop import while_loop as while_loop
from .core import dtypes as _dtypes
from .core import errors as errors
from .core.contexts import colocate_with as colocate_with
from .core.contexts import control_dependencies as control_dependencies
from .core.contexts import device as device
from .core.contexts import name_scope as name_scope
from .core.dimensions import Dimension as Dimension
from .core.dtypes import as_dtype as as_dtype
from .core.dtypes import bfloat16 as bfloat16
from .core.dtypes import bool as bool
from .core.dtypes import complex64 as complex64
from .core.dtypes import complex128 as complex128
from .core.dtypes import float16 as float16
from .core.dtypes import float32 as float32
from .core.dtypes import float64 as float64
from .core.dtypes import int8 as int8
from .core.dtypes import int16 as int16
from .core.dtypes import int32 as int32
from .core.dtypes import int64 as int64
from .core.dtypes import resource as resource
from .core.dtypes import string as string
from .core.dtypes import uint8 as uint8
from .core.dtypes import uint16 as uint16
from .core.dtypes import uint32 as uint32
from .core.dtypes import uint64 as uint64
from .core.dtypes import variant as variant
from .core.graph import Graph as Graph
from .core.graph import Operation as Operation
from .core.graph import Tensor as Tensor
from .core.graph import get_default_graph as get_default_graph
from .core.graph import reset_default_graph as reset_default_graph
from .core.matmul_precision import matmul_precision as matmul_precision
from .core.memory import Memory as Memory
from .core.primitive import Primitive as Primitive
from .core.primitive import no_gradient as no_gradient
from .core.printing import graph_text as graph_text
from .core.printing import operation_text as operation_text
from .core.shape import TensorShape as TensorShape
from .core.slices import IndexedSlices as IndexedSlices
from .core.slices import IndexedSlicesValue as IndexedSlicesValue
from .core.types import TensorType as TensorType
from .derivatives.by_example import per_example_gradients as per_example_gradients
from .derivatives.hessian import hessian_diagonal as hessian_diagonal
from .derivatives.hessian import hessians as hessians
from .derivatives.jacobian import batch_jacobian as batch_jacobian
from .derivatives.jacobian import jacobian as jacobian
from .derivatives.products import gauss_newton_vector_product as gauss_newton_vector_product
from .derivatives.products import hessian_vector_product as hessian_vector_product
from .derivatives.products import jvp as jvp
from .derivatives.sparse import SparseMatrix as SparseMatrix
from .derivatives.sparse import sparse_hessian as sparse_hessian
from .derivatives.sparse import sparse_jacobian as sparse_jacobian
from .derivatives.tape import GradientTape as GradientTape
from .derivatives.taylor.jet import jet as jet
from .derivatives.taylor.registry import RegisterJet as RegisterJet
from .drawing import Picture as Picture
from .drawing import draw as draw
from .engines.compare import compare_engines as compare_engines
from .engines.configuration import ConfigProto as ConfigProto
from .engines.configuration import GPUOptions as GPUOptions
from .engines.configuration import GraphOptions as GraphOptions
from .engines.configuration import OptimizerOptions as OptimizerOptions
from .engines.configuration import RunMetadata as RunMetadata
from .engines.configuration import RunOptions as RunOptions
from .engines.default_session import get_default_session as get_default_session
from .engines.interactive_session import InteractiveSession as InteractiveSession
from .engines.session import Session as Session
from .functions.function import Function as Function
from .functions.function import function as function
from .functions.transforms import grad as grad
from .functions.transforms import hvp as hvp
from .functions.transforms import value_and_grad as value_and_grad
from .functions.transforms import vjp as vjp
from .graphdef.importing import import_graph_def as import_graph_def
from .layers.image.augmentation import random_crop as random_crop
from .layers.variables import initializers as _initializers
from .layers.variables import orthogonal as _orthogonal
from .layers.variables import scope as _scope
from .layers.variables.scope import AUTO_REUSE as AUTO_REUSE
from .layers.variables.scope import VariableScope as VariableScope
from .layers.variables.scope import get_local_variable as get_local_variable
from .layers.variables.scope import get_variable as get_variable
from .layers.variables.scope import get_variable_scope as get_variable_scope
from .layers.variables.scope import global_variables as global_variables
from .layers.variables.scope import global_variables_initializer as global_variables_initializer
from .layers.variables.scope import local_variables as local_variables
from .layers.variables.scope import local_variables_initializer as local_variables_initializer
from .layers.variables.scope import model_variables as model_variables
from .layers.variables.scope import moving_average_variables as moving_average_variables
from .layers.variables.scope import no_regularizer as no_regularizer
from .layers.variables.scope import trainable_variables as trainable_variables
from .layers.variables.scope import variable_scope as variable_scope
from .layers.variables.scope import variables_initializer as variables_initializer
from .layers.variables.templates import make_template as make_template
from .passes.mixed_precision import mixed_precision as mixed_precision
from .passes.optimize import optimize as optimize
from .passes.rematerialization import rematerialize as rematerialize
from .passes.reroll import reroll as reroll
from .passes.rewrite import rewrite as rewrite
from .passes.ruleset import Rules as Rules
from .primitives.activations.sigmoid import log_sigmoid as log_sigmoid
from .primitives.activations.sigmoid import sigmoid as sigmoid
from .primitives.base.densify import densify_policy as densify_policy
from .primitives.casting.bitcast import bitcast as bitcast
from .primitives.casting.cast import cast as cast
from .primitives.casting.saturate_cast import saturate_cast as saturate_cast
from .primitives.complex.angle import angle as angle
from .primitives.complex.complex import complex as complex
from .primitives.complex.complex import conj as conj
from .primitives.complex.complex import imag as imag
from .primitives.complex.complex import real as real
from .primitives.counting import bincount as bincount
from .primitives.counting import histogram_fixed_width as histogram_fixed_width
from .primitives.counting import histogram_fixed_width_bins as histogram_fixed_width_bins
from .primitives.creation import ranges as _ranges
from .primitives.creation.constant import constant as constant
from .primitives.creation.constant import convert_to_tensor as convert_to_tensor
from .primitives.creation.eye import eye as eye
from .primitives.creation.fill import fill as fill
from .primitives.creation.fill import ones as ones
from .primitives.creation.fill import ones_like as ones_like
from .primitives.creation.fill import zeros as zeros
from .primitives.creation.fill import zeros_like as zeros_like
from .primitives.creation.one_hot import one_hot as one_hot
from .primitives.creation.placeholders import placeholder as placeholder
from .primitives.creation.placeholders import placeholder_with_default as placeholder_with_default
from .primitives.creation.ranges import linspace as linspace
from .primitives.creation.ranges import meshgrid as meshgrid
from .primitives.creation.sequence_mask import sequence_mask as sequence_mask
from .primitives.cumulative.cumsum import cumprod as cumprod
from .primitives.cumulative.cumsum import cumsum as cumsum
from .primitives.debugging import assertions as _assertions
from .primitives.debugging import printing as _printing
from .primitives.debugging.assertions import assert_equal as assert_equal
from .primitives.debugging.assertions import assert_greater as assert_greater
from .primitives.debugging.assertions import assert_integer as assert_integer
from .primitives.debugging.assertions import assert_less as assert_less
from .primitives.debugging.assertions import assert_rank as assert_rank
from .primitives.debugging.assertions import assert_same_float_dtype as assert_same_float_dtype
from .primitives.debugging.assertions import assert_type as assert_type
from .primitives.debugging.guards import check_numerics as check_numerics
from .primitives.debugging.guards import verify_tensor_all_finite as verify_tensor_all_finite
from .primitives.debugging.inspection import get_current_name_scope as get_current_name_scope
from .primitives.debugging.inspection import get_static_value as get_static_value
from .primitives.debugging.inspection import is_numeric_tensor as is_numeric_tensor
from .primitives.debugging.inspection import is_symbolic_tensor as is_symbolic_tensor
from .primitives.debugging.inspection import is_tensor as is_tensor
from .primitives.debugging.monotone import is_non_decreasing as is_non_decreasing
from .primitives.debugging.monotone import is_strictly_increasing as is_strictly_increasing
from .primitives.elementwise import division as _division
from .primitives.elementwise import sign as _sign
from .primitives.elementwise.add_n import add_n as add_n
from .primitives.elementwise.arithmetic import add as add
from .primitives.elementwise.arithmetic import multiply as multiply
from .primitives.elementwise.arithmetic import negative as negative
from .primitives.elementwise.arithmetic import scalar_mul as scalar_mul
from .primitives.elementwise.arithmetic import squared_difference as squared_difference
from .primitives.elementwise.arithmetic import subtract as subtract
from .primitives.elementwise.clip import clip_by_value as clip_by_value
from .primitives.elementwise.division import divide as divide
from .primitives.elementwise.division import floordiv as floordiv
from .primitives.elementwise.division import floormod as floormod
from .primitives.elementwise.division import mod as mod
from .primitives.elementwise.division import truediv as truediv
from .primitives.elementwise.division import truncatediv as truncatediv
from .primitives.elementwise.division import truncatemod as truncatemod
from .primitives.elementwise.exponential import exp as exp
from .primitives.elementwise.exponential import expm1 as expm1
from .primitives.elementwise.exponential import log as log
from .primitives.elementwise.exponential import log1p as log1p
from .primitives.elementwise.hyperbolic import acosh as acosh
from .primitives.elementwise.hyperbolic import asinh as asinh
from .primitives.elementwise.hyperbolic import atanh as atanh
from .primitives.elementwise.hyperbolic import cosh as cosh
from .primitives.elementwise.hyperbolic import sinh as sinh
from .primitives.elementwise.hyperbolic import tanh as tanh
from .primitives.elementwise.maximum import maximum as maximum
from .primitives.elementwise.maximum import minimum as minimum
from .primitives.elementwise.powers import pow as pow
from .primitives.elementwise.powers import reciprocal as reciprocal
from .primitives.elementwise.powers import rsqrt as rsqrt
from .primitives.elementwise.powers import sqrt as sqrt
from .primitives.elementwise.powers import square as square
from .primitives.elementwise.rounding import ceil as ceil
from .primitives.elementwise.rounding import floor as floor
from .primitives.elementwise.rounding import rint as rint
from .primitives.elementwise.rounding import round as round
from .primitives.elementwise.sign import sign as sign
from .primitives.elementwise.trigonometric import acos as acos
from .primitives.elementwise.trigonometric import asin as asin
from .primitives.elementwise.trigonometric import atan as atan
from .primitives.elementwise.trigonometric import atan2 as atan2
from .primitives.elementwise.trigonometric import cos as cos
from .primitives.elementwise.trigonometric import sin as sin
from .primitives.elementwise.trigonometric import tan as tan
from .primitives.identity import identity as _identity
from .primitives.identity import tuple as _tuple
from .primitives.identity.identity import ensure_shape as ensure_shape
from .primitives.identity.identity import identity as identity
from .primitives.identity.identity import identity_n as identity_n
from .primitives.identity.identity import no_op as no_op
from .primitives.identity.identity import prevent_gradient as prevent_gradient
from .primitives.identity.identity import stop_gradient as stop_gradient
from .primitives.identity.sharding import sharding as sharding
from .primitives.image.patches import extract_volume_patches as extract_volume_patches
from .primitives.indexing import scatter_nd as _scatter_nd
from .primitives.indexing import slice as _slice
from .primitives.indexing import where as _where
from .primitives.indexing.gather import boolean_mask as boolean_mask
from .primitives.indexing.gather import gather as gather
from .primitives.indexing.index_arithmetic import unravel_index as unravel_index
from .primitives.indexing.partition import dynamic_partition as dynamic_partition
from .primitives.indexing.partition import dynamic_stitch as dynamic_stitch
from .primitives.indexing.scatter_nd import gather_nd as gather_nd
from .primitives.indexing.scatter_nd import scatter_nd as scatter_nd
from .primitives.indexing.scatter_nd import tensor_scatter_nd_add as tensor_scatter_nd_add
from .primitives.indexing.scatter_nd import tensor_scatter_nd_max as tensor_scatter_nd_max
from .primitives.indexing.scatter_nd import tensor_scatter_nd_min as tensor_scatter_nd_min
from .primitives.indexing.scatter_nd import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from .primitives.indexing.scatter_nd import tensor_scatter_nd_update as tensor_scatter_nd_update
from .primitives.indexing.slicing import strided_slice as strided_slice
from .primitives.indexing.where import where as where
from .primitives.linalg import determinants as _determinants
from .primitives.linalg import eigen as _eigen
from .primitives.linalg import inverses as _inverses
from .primitives.linalg import matrices as _matrices
from .primitives.linalg import matrix_functions as _matrix_functions
from .primitives.linalg import tensor_diagonals as _tensor_diagonals
from .primitives.linalg import triangular as _triangular
from .primitives.linalg.cross import cross as cross
from .primitives.linalg.eigen import eig as eig
from .primitives.linalg.eigen import eigvals as eigvals
from .primitives.linalg.einsum import einsum as einsum
from .primitives.linalg.matmul import matmul as matmul
from .primitives.linalg.matmul import matvec as matvec
from .primitives.linalg.matrices import matrix_transpose as matrix_transpose
from .primitives.linalg.matrices import trace as trace
from .primitives.linalg.norm import norm as norm
from .primitives.linalg.qr import qr as qr
from .primitives.linalg.svd import svd as svd
from .primitives.linalg.tensordot import tensordot as tensordot
from .primitives.linalg.triangular import cholesky as cholesky
from .primitives.linalg.triangular import cholesky_solve as cholesky_solve
from .primitives.logic.comparison import equal as equal
from .primitives.logic.comparison import greater as greater
from .primitives.logic.comparison import greater_equal as greater_equal
from .primitives.logic.comparison import is_finite as is_finite
from .primitives.logic.comparison import is_inf as is_inf
from .primitives.logic.comparison import is_nan as is_nan
from .primitives.logic.comparison import less as less
from .primitives.logic.comparison import less_equal as less_equal
from .primitives.logic.comparison import not_equal as not_equal
from .primitives.logic.logical import logical_and as logical_and
from .primitives.logic.logical import logical_not as logical_not
from .primitives.logic.logical import logical_or as logical_or
from .primitives.logic.logical import logical_xor as logical_xor
from .primitives.normalization.clipping import clip_by_average_norm as clip_by_average_norm
from .primitives.normalization.clipping import clip_by_global_norm as clip_by_global_norm
from .primitives.normalization.clipping import clip_by_norm as clip_by_norm
from .primitives.normalization.clipping import global_norm as global_norm
from .primitives.quantization.fake_quant import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from .primitives.quantization.fake_quant import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from .primitives.quantization.fake_quant import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from .primitives.random.gamma import random_gamma as random_gamma
from .primitives.random.stateful import get_seed as get_seed
from .primitives.random.stateful import random_normal as random_normal
from .primitives.random.stateful import random_shuffle as random_shuffle
from .primitives.random.stateful import random_uniform as random_uniform
from .primitives.random.stateful import set_random_seed as set_random_seed
from .primitives.random.stateful import truncated_normal as truncated_normal
from .primitives.reduction.argmax import argmax as argmax
from .primitives.reduction.argmax import argmin as argmin
from .primitives.reduction.logsumexp import reduce_logsumexp as reduce_logsumexp
from .primitives.reduction.product import reduce_prod as reduce_prod
from .primitives.reduction.reduce import count_nonzero as count_nonzero
from .primitives.reduction.reduce import reduce_all as reduce_all
from .primitives.reduction.reduce import reduce_any as reduce_any
from .primitives.reduction.reduce import reduce_max as reduce_max
from .primitives.reduction.reduce import reduce_mean as reduce_mean
from .primitives.reduction.reduce import reduce_min as reduce_min
from .primitives.reduction.reduce import reduce_sum as reduce_sum
from .primitives.segment.reductions import segment_max as segment_max
from .primitives.segment.reductions import segment_mean as segment_mean
from .primitives.segment.reductions import segment_min as segment_min
from .primitives.segment.reductions import segment_prod as segment_prod
from .primitives.segment.reductions import segment_sum as segment_sum
from .primitives.segment.reductions import unsorted_segment_max as unsorted_segment_max
from .primitives.segment.reductions import unsorted_segment_mean as unsorted_segment_mean
from .primitives.segment.reductions import unsorted_segment_min as unsorted_segment_min
from .primitives.segment.reductions import unsorted_segment_prod as unsorted_segment_prod
from .primitives.segment.reductions import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from .primitives.segment.sums import unsorted_segment_sum as unsorted_segment_sum
from .primitives.sets.unique import setdiff1d as setdiff1d
from .primitives.sets.unique import unique as unique
from .primitives.sets.unique import unique_with_counts as unique_with_counts
from .primitives.shape import reverse as _reverse
from .primitives.shape import space_to_batch as _space_to_batch
from .primitives.shape.broadcast import broadcast_to as broadcast_to
from .primitives.shape.pad import pad as pad
from .primitives.shape.reshape import reshape as reshape
from .primitives.shape.reverse import reverse as reverse
from .primitives.shape.reverse import roll as roll
from .primitives.shape.reverse_sequence import reverse_sequence as reverse_sequence
from .primitives.shape.size import rank as rank
from .primitives.shape.size import shape as shape
from .primitives.shape.size import shape_n as shape_n
from .primitives.shape.size import size as size
from .primitives.shape.space_to_batch import batch_to_space as batch_to_space
from .primitives.shape.space_to_batch import space_to_batch as space_to_batch
from .primitives.shape.squeeze import expand_dims as expand_dims
from .primitives.shape.squeeze import squeeze as squeeze
from .primitives.shape.stacking import concat as concat
from .primitives.shape.stacking import split as split
from .primitives.shape.stacking import stack as stack
from .primitives.shape.stacking import unstack as unstack
from .primitives.shape.static_shapes import broadcast_dynamic_shape as broadcast_dynamic_shape
from .primitives.shape.static_shapes import broadcast_static_shape as broadcast_static_shape
from .primitives.shape.tile import repeat as repeat
from .primitives.shape.tile import tile as tile
from .primitives.shape.transpose import transpose as transpose
from .primitives.signal.fft import fft as fft
from .primitives.signal.fft import fft2d as fft2d
from .primitives.signal.fft import fft3d as fft3d
from .primitives.signal.fft import ifft as ifft
from .primitives.signal.fft import ifft2d as ifft2d
from .primitives.signal.fft import ifft3d as ifft3d
from .primitives.sorting.permutation import invert_permutation as invert_permutation
from .primitives.sorting.searchsorted import searchsorted as searchsorted
from .primitives.sorting.sort import argsort as argsort
from .primitives.sorting.sort import sort as sort
from .primitives.special.error_function import erf as erf
from .primitives.special.error_function import erfc as erfc
from .primitives.special.gamma import digamma as digamma
from .primitives.special.gamma import lbeta as lbeta
from .primitives.special.gamma import lgamma as lgamma
from .primitives.special.gamma import polygamma as polygamma
from .primitives.special.gamma import zeta as zeta
from .primitives.special.incomplete import betainc as betainc
from .primitives.special.incomplete import igamma as igamma
from .primitives.special.incomplete import igammac as igammac
from .primitives.strings.conversion import as_string as as_string
from .primitives.variables.assign import assign as assign
from .primitives.variables.assign import assign_add as assign_add
from .primitives.variables.assign import assign_sub as assign_sub
from .primitives.variables.assign import scatter_add as scatter_add
from .primitives.variables.assign import scatter_div as scatter_div
from .primitives.variables.assign import scatter_max as scatter_max
from .primitives.variables.assign import scatter_min as scatter_min
from .primitives.variables.assign import scatter_mul as scatter_mul
from .primitives.variables.assign import scatter_nd_add as scatter_nd_add
from .primitives.variables.assign import scatter_nd_sub as scatter_nd_sub
from .primitives.variables.assign import scatter_nd_update as scatter_nd_update
from .primitives.variables.assign import scatter_sub as scatter_sub
from .primitives.variables.assign import scatter_update as scatter_update
from .primitives.variables.collections import GraphKeys as GraphKeys
from .primitives.variables.collections import add_to_collection as add_to_collection
from .primitives.variables.collections import add_to_collections as add_to_collections
from .primitives.variables.collections import get_collection as get_collection
from .primitives.variables.collections import get_collection_ref as get_collection_ref
from .primitives.variables.variable import Variable as Variable
from .primitives.variables.variable import is_variable_initialized as is_variable_initialized
from .ragged import RaggedTensor as RaggedTensor
from .sparse import SparseTensor as SparseTensor
from .sparse import SparseTensorValue as SparseTensorValue
from .version import __version__ as __version__

Assert = _assertions.assert_
Print = _printing.print_v1
abs = _sign.absolute
all_variables = _scope.global_variables
batch_to_space_nd = _space_to_batch.batch_to_space
constant_initializer = _initializers.Constant
diag = _tensor_diagonals.tensor_diag
diag_part = _tensor_diagonals.tensor_diag_part
div_no_nan = _division.divide_no_nan
double = _dtypes.float64
floor_div = _division.floordiv
glorot_normal_initializer = _initializers.glorot_normal
glorot_uniform_initializer = _initializers.glorot_uniform
group = _identity.group_operations
half = _dtypes.float16
initialize_all_variables = _scope.global_variables_initializer
initialize_local_variables = _scope.local_variables_initializer
initialize_variables = _scope.variables_initializer
lin_space = _ranges.linspace
matrix_band_part = _matrices.band_part
matrix_determinant = _determinants.det
matrix_diag = _matrices.diag
matrix_diag_part = _matrices.diag_part
matrix_inverse = _inverses.inv
matrix_set_diag = _matrices.set_diag
matrix_solve = _inverses.solve
matrix_solve_ls = _inverses.lstsq
matrix_square_root = _matrix_functions.matrix_square_root
matrix_triangular_solve = _triangular.triangular_solve
ones_initializer = _initializers.Ones
orthogonal_initializer = _orthogonal.Orthogonal
print = _printing.print_
py_func = _py_function.numpy_function
random_normal_initializer = _initializers.RandomNormal
random_uniform_initializer = _initializers.RandomUniform
range = _ranges.range_
realdiv = _division.divide
reverse_v2 = _reverse.reverse
self_adjoint_eig = _eigen.eigh
self_adjoint_eigvals = _eigen.eigvalsh
slice = _slice.slice_
space_to_batch_nd = _space_to_batch.space_to_batch
sparse_add = _sparse.add
sparse_concat = _sparse.concat
sparse_expand_dims = _sparse.expand_dims
sparse_eye = _sparse.eye
sparse_fill_empty_rows = _sparse.fill_empty_rows
sparse_mask = _sparse.mask
sparse_maximum = _sparse.maximum
sparse_minimum = _sparse.minimum
sparse_placeholder = _sparse.placeholder
sparse_reduce_max = _sparse.reduce_max
sparse_reduce_max_sparse = _sparse.reduce_max_sparse
sparse_reduce_sum = _sparse.reduce_sum
sparse_reduce_sum_sparse = _sparse.reduce_sum_sparse
sparse_reorder = _sparse.reorder
sparse_reset_shape = _sparse.reset_shape
sparse_reshape = _sparse.reshape
sparse_retain = _sparse.retain
sparse_slice = _sparse.slice
sparse_softmax = _sparse.softmax
sparse_split = _sparse.split
sparse_tensor_dense_matmul = _sparse.sparse_dense_matmul
sparse_tensor_to_dense = _sparse.to_dense
sparse_transpose = _sparse.transpose
string_join = _strings.join
tensor_scatter_add = _scatter_nd.tensor_scatter_nd_add
tensor_scatter_sub = _scatter_nd.tensor_scatter_nd_sub
tensor_scatter_update = _scatter_nd.tensor_scatter_nd_update
truncated_normal_initializer = _initializers.TruncatedNormal
tuple = _tuple.tuple_
uniform_unit_scaling_initializer = _initializers.UniformUnitScaling
variance_scaling_initializer = _initializers.VarianceScaling
where_v2 = _where.where
zeros_initializer = _initializers.Zeros
newaxis: None
