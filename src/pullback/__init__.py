"""Symbolic differentiation of dataflow graphs: the derivative of a graph is another graph."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .autodiff.arguments import UnconnectedGradients
from .autodiff.choices import memory_policy
from .autodiff.cotangent import AggregationMethod
from .autodiff.registry import NoGradient, NotDifferentiable, RegisterGradient
from .autodiff.reverse import gradients
from .core import errors
from .core.contexts import colocate_with, control_dependencies, device, name_scope
from .core.dtypes import (
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    resource,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from .core.graph import Graph, Operation, Tensor, get_default_graph, reset_default_graph
from .core.memory import Memory
from .core.primitive import Primitive, no_gradient
from .core.primitive import define_later as _define_later
from .core.printing import graph_text, operation_text
from .core.shape import TensorShape
from .core.slices import IndexedSlices, IndexedSlicesValue
from .core.types import TensorType
from .engines.session import InteractiveSession, Session, get_default_session
from .engines.session import engine_loaders as _engine_loaders
from .engines.session import install_running as _install_running
from .names import ABSENT as _ABSENT
from .names import LOADED_WHEN_USED as _LOADED_WHEN_USED
from .primitives.base.densify import densify_policy
from .primitives.base.operators import install_operators as _install_operators
from .primitives.casting.cast import cast
from .primitives.complex.complex import complex, conj, imag, real
from .primitives.creation.constant import constant, convert_to_tensor
from .primitives.creation.eye import eye
from .primitives.creation.fill import fill, ones, ones_like, zeros, zeros_like
from .primitives.creation.one_hot import one_hot
from .primitives.creation.placeholders import placeholder, placeholder_with_default
from .primitives.creation.ranges import linspace, meshgrid
from .primitives.creation.ranges import range_ as range
from .primitives.cumulative.cumsum import cumsum
from .primitives.debugging.guards import check_numerics, verify_tensor_all_finite
from .primitives.elementwise.add_n import add_n
from .primitives.elementwise.arithmetic import add, multiply, negative, scalar_mul, squared_difference, subtract
from .primitives.elementwise.clip import clip_by_value
from .primitives.elementwise.division import divide, floordiv, floormod, mod, truediv, truncatediv, truncatemod
from .primitives.elementwise.division import divide_no_nan as div_no_nan
from .primitives.elementwise.maximum import maximum, minimum
from .primitives.elementwise.powers import pow, reciprocal, rsqrt, sqrt, square
from .primitives.elementwise.sign import absolute as abs
from .primitives.elementwise.sign import sign
from .primitives.identity.identity import ensure_shape, identity, identity_n, no_op, prevent_gradient, stop_gradient
from .primitives.identity.identity import group_operations as group
from .primitives.indexing.gather import boolean_mask, gather
from .primitives.indexing.scatter_nd import (
    gather_nd,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from .primitives.indexing.slicing import strided_slice
from .primitives.indexing.where import where
from .primitives.linalg.einsum import einsum, tensordot
from .primitives.linalg.matmul import matmul, matvec
from .primitives.logic.comparison import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    not_equal,
)
from .primitives.logic.logical import logical_and, logical_not, logical_or, logical_xor
from .primitives.reduction.argmax import argmax, argmin
from .primitives.reduction.logsumexp import reduce_logsumexp
from .primitives.reduction.product import reduce_prod
from .primitives.reduction.reduce import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from .primitives.shape.broadcast import broadcast_to
from .primitives.shape.reshape import reshape
from .primitives.shape.reverse import reverse, roll
from .primitives.shape.size import rank, shape, shape_n, size
from .primitives.shape.squeeze import expand_dims, squeeze
from .primitives.shape.stacking import concat, split, stack, unstack
from .primitives.shape.transpose import transpose
from .primitives.sorting.sort import argsort, sort
from .primitives.variables.collections import GraphKeys, add_to_collection, get_collection
from .primitives.variables.variable import Variable, is_variable_initialized
from .version import __version__

__all__ = [
    "AUTO_REUSE",
    "AggregationMethod",
    "Assert",
    "ConcreteFunction",
    "ConfigProto",
    "Function",
    "GPUOptions",
    "Graph",
    "GraphKeys",
    "IndexedSlices",
    "IndexedSlicesValue",
    "InteractiveSession",
    "Memory",
    "NoGradient",
    "NotDifferentiable",
    "Operation",
    "Picture",
    "Primitive",
    "Print",
    "RegisterGradient",
    "RunMetadata",
    "RunOptions",
    "Session",
    "SparseMatrix",
    "SparseTensor",
    "SparseTensorValue",
    "Tensor",
    "TensorArray",
    "TensorShape",
    "TensorSpec",
    "TensorType",
    "UnconnectedGradients",
    "Variable",
    "VariableScope",
    "__version__",
    "abs",
    "accumulate_n",
    "acos",
    "acosh",
    "add",
    "add_n",
    "add_to_collection",
    "add_to_collections",
    "all_variables",
    "angle",
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "asin",
    "asinh",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_rank",
    "assert_rank_at_least",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_type",
    "assign",
    "assign_add",
    "assign_sub",
    "atan",
    "atan2",
    "atanh",
    "batch_gather",
    "batch_jacobian",
    "batch_to_space",
    "batch_to_space_nd",
    "betainc",
    "bfloat16",
    "bincount",
    "bitcast",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "case",
    "cast",
    "ceil",
    "check_numerics",
    "cholesky",
    "cholesky_solve",
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "colocate_with",
    "compare_engines",
    "compat",
    "complex",
    "complex64",
    "complex128",
    "concat",
    "cond",
    "confusion_matrix",
    "conj",
    "constant",
    "constant_initializer",
    "control_dependencies",
    "control_flow_v2_enabled",
    "convert_to_tensor",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cumprod",
    "cumsum",
    "custom_gradient",
    "debugging",
    "densify_policy",
    "depth_to_space",
    "device",
    "diag",
    "diag_part",
    "digamma",
    "disable_control_flow_v2",
    "disable_eager_execution",
    "disable_tensor_equality",
    "disable_v2_behavior",
    "div",
    "div_no_nan",
    "divide",
    "double",
    "draw",
    "dtypes",
    "dynamic_partition",
    "dynamic_stitch",
    "eig",
    "eigvals",
    "einsum",
    "enable_control_flow_v2",
    "enable_eager_execution",
    "enable_resource_variables",
    "enable_v2_behavior",
    "enable_v2_tensorshape",
    "ensure_shape",
    "equal",
    "erf",
    "erfc",
    "errors",
    "executing_eagerly",
    "executing_eagerly_outside_functions",
    "exp",
    "expand_dims",
    "explain_gradient",
    "expm1",
    "extract_image_patches",
    "extract_volume_patches",
    "eye",
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_per_channel",
    "fft",
    "fft2d",
    "fft3d",
    "fill",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_div",
    "floordiv",
    "floormod",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "gauss_newton_vector_product",
    "get_collection",
    "get_collection_ref",
    "get_current_name_scope",
    "get_default_graph",
    "get_default_session",
    "get_local_variable",
    "get_seed",
    "get_static_value",
    "get_variable",
    "get_variable_scope",
    "global_norm",
    "global_variables",
    "global_variables_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
    "grad",
    "grad_pass_through",
    "gradients",
    "graph_text",
    "greater",
    "greater_equal",
    "group",
    "half",
    "hessian_diagonal",
    "hessian_vector_product",
    "hessians",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "history",
    "hvp",
    "identity",
    "identity_n",
    "ifft",
    "ifft2d",
    "ifft3d",
    "igamma",
    "igammac",
    "imag",
    "image",
    "implicit",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "initializers",
    "int8",
    "int16",
    "int32",
    "int64",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
    "is_symbolic_tensor",
    "is_tensor",
    "is_variable_initialized",
    "jacobian",
    "jvp",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
    "lin_space",
    "linalg",
    "linspace",
    "local_variables",
    "local_variables_initializer",
    "log",
    "log1p",
    "log_sigmoid",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "losses",
    "make_template",
    "map_fn",
    "math",
    "matmul",
    "matrix_band_part",
    "matrix_determinant",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_inverse",
    "matrix_set_diag",
    "matrix_solve",
    "matrix_solve_ls",
    "matrix_square_root",
    "matrix_transpose",
    "matrix_triangular_solve",
    "matvec",
    "maximum",
    "memory_policy",
    "meshgrid",
    "minimum",
    "mod",
    "model_variables",
    "moving_average_variables",
    "multinomial",
    "multiply",
    "name_scope",
    "negative",
    "nest",
    "newaxis",
    "nn",
    "no_gradient",
    "no_op",
    "no_regularizer",
    "norm",
    "not_equal",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "onnx",
    "operation_text",
    "orthogonal_initializer",
    "pad",
    "per_example_gradients",
    "placeholder",
    "placeholder_with_default",
    "polygamma",
    "pow",
    "prevent_gradient",
    "print",
    "py_func",
    "py_function",
    "qr",
    "quantization",
    "random",
    "random_crop",
    "random_gamma",
    "random_normal",
    "random_normal_initializer",
    "random_poisson",
    "random_shuffle",
    "random_uniform",
    "random_uniform_initializer",
    "range",
    "rank",
    "real",
    "realdiv",
    "reciprocal",
    "recompute_grad",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "regularizers",
    "repeat",
    "reset_default_graph",
    "reshape",
    "resource",
    "resource_variables_enabled",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "rint",
    "roll",
    "round",
    "rsqrt",
    "saturate_cast",
    "scalar_mul",
    "scan",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "scipy",
    "searchsorted",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
    "sequence_mask",
    "set_random_seed",
    "setdiff1d",
    "shape",
    "shape_n",
    "sharding",
    "sigmoid",
    "sign",
    "signal",
    "sin",
    "sinh",
    "size",
    "slice",
    "sort",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
    "sparse",
    "sparse_add",
    "sparse_fill_empty_rows",
    "sparse_hessian",
    "sparse_jacobian",
    "sparse_placeholder",
    "sparse_reduce_max",
    "sparse_reduce_sum",
    "sparse_reorder",
    "sparse_retain",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "sparse_slice",
    "sparse_softmax",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_transpose",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "subtract",
    "summary",
    "svd",
    "switch_case",
    "tan",
    "tanh",
    "tensor_scatter_add",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensor_scatter_sub",
    "tensor_scatter_update",
    "tensordot",
    "test",
    "tile",
    "to_bfloat16",
    "to_complex64",
    "to_complex128",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "trace",
    "train",
    "trainable_variables",
    "transforms",
    "transpose",
    "truediv",
    "truncated_normal",
    "truncated_normal_initializer",
    "truncatediv",
    "truncatemod",
    "tuple",
    "typing",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uniform_unit_scaling_initializer",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "unstack",
    "value_and_grad",
    "variable_scope",
    "variables_initializer",
    "variance_scaling_initializer",
    "variant",
    "vectorized_map",
    "verify_tensor_all_finite",
    "vjp",
    "where",
    "where_v2",
    "while_loop",
    "xla",
    "zeros",
    "zeros_initializer",
    "zeros_like",
    "zeta",
]

if _TYPE_CHECKING:
    from . import (
        bitwise,
        compat,
        debugging,
        dtypes,
        image,
        implicit,
        initializers,
        linalg,
        losses,
        math,
        nest,
        nn,
        onnx,
        quantization,
        random,
        regularizers,
        scipy,
        signal,
        sparse,
        summary,
        test,
        train,
        transforms,
        typing,
        xla,
    )
    from .autodiff.explain import explain_gradient
    from .compat.assertions import (
        assert_greater_equal,
        assert_less_equal,
        assert_near,
        assert_negative,
        assert_non_negative,
        assert_non_positive,
        assert_none_equal,
        assert_positive,
        assert_rank_at_least,
        assert_scalar,
    )
    from .compat.modes import (
        control_flow_v2_enabled,
        disable_control_flow_v2,
        disable_eager_execution,
        disable_tensor_equality,
        disable_v2_behavior,
        enable_control_flow_v2,
        enable_eager_execution,
        enable_resource_variables,
        enable_v2_behavior,
        enable_v2_tensorshape,
        executing_eagerly,
        executing_eagerly_outside_functions,
        resource_variables_enabled,
    )
    from .compat.older_names import (
        accumulate_n,
        arg_max,
        arg_min,
        batch_gather,
        confusion_matrix,
        depth_to_space,
        div,
        extract_image_patches,
        multinomial,
        random_poisson,
        space_to_depth,
        sparse_segment_mean,
        sparse_segment_sqrt_n,
        sparse_segment_sum,
        to_bfloat16,
        to_complex64,
        to_complex128,
        to_double,
        to_float,
        to_int32,
        to_int64,
    )
    from .control_flow.concrete_function import ConcreteFunction
    from .control_flow.conditional import case, cond, switch_case
    from .control_flow.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
    from .control_flow.history import history
    from .control_flow.maps import map_fn, vectorized_map
    from .control_flow.py_function import numpy_function, py_function
    from .control_flow.py_function import numpy_function as py_func
    from .control_flow.scan import foldl, foldr, scan
    from .control_flow.signature import TensorSpec
    from .control_flow.tensor_array import TensorArray
    from .control_flow.while_loop import while_loop
    from .core.dtypes import float16 as half
    from .core.dtypes import float64 as double
    from .derivatives.by_example import per_example_gradients
    from .derivatives.hessian import hessian_diagonal, hessians
    from .derivatives.jacobian import batch_jacobian, jacobian
    from .derivatives.products import gauss_newton_vector_product, hessian_vector_product, jvp
    from .derivatives.sparse import SparseMatrix, sparse_hessian, sparse_jacobian
    from .drawing import Picture, draw
    from .engines.compare import compare_engines
    from .engines.configuration import ConfigProto, GPUOptions, RunMetadata, RunOptions
    from .functions.function import Function, function
    from .functions.transforms import grad, hvp, value_and_grad, vjp
    from .layers.image.augmentation import random_crop
    from .layers.variables.initializers import Constant as constant_initializer
    from .layers.variables.initializers import Ones as ones_initializer
    from .layers.variables.initializers import RandomNormal as random_normal_initializer
    from .layers.variables.initializers import RandomUniform as random_uniform_initializer
    from .layers.variables.initializers import TruncatedNormal as truncated_normal_initializer
    from .layers.variables.initializers import UniformUnitScaling as uniform_unit_scaling_initializer
    from .layers.variables.initializers import VarianceScaling as variance_scaling_initializer
    from .layers.variables.initializers import Zeros as zeros_initializer
    from .layers.variables.initializers import glorot_normal as glorot_normal_initializer
    from .layers.variables.initializers import glorot_uniform as glorot_uniform_initializer
    from .layers.variables.orthogonal import Orthogonal as orthogonal_initializer
    from .layers.variables.scope import (
        AUTO_REUSE,
        VariableScope,
        get_local_variable,
        get_variable,
        get_variable_scope,
        global_variables,
        global_variables_initializer,
        local_variables,
        local_variables_initializer,
        model_variables,
        moving_average_variables,
        no_regularizer,
        trainable_variables,
        variable_scope,
        variables_initializer,
    )
    from .layers.variables.scope import global_variables as all_variables
    from .layers.variables.scope import global_variables_initializer as initialize_all_variables
    from .layers.variables.scope import local_variables_initializer as initialize_local_variables
    from .layers.variables.scope import variables_initializer as initialize_variables
    from .layers.variables.templates import make_template
    from .primitives.activations.sigmoid import log_sigmoid, sigmoid
    from .primitives.casting.bitcast import bitcast
    from .primitives.casting.saturate_cast import saturate_cast
    from .primitives.complex.angle import angle
    from .primitives.counting import bincount, histogram_fixed_width, histogram_fixed_width_bins
    from .primitives.creation.ranges import linspace as lin_space
    from .primitives.creation.sequence_mask import sequence_mask
    from .primitives.cumulative.cumsum import cumprod
    from .primitives.debugging.assertions import assert_ as Assert
    from .primitives.debugging.assertions import (
        assert_equal,
        assert_greater,
        assert_integer,
        assert_less,
        assert_rank,
        assert_same_float_dtype,
        assert_type,
    )
    from .primitives.debugging.inspection import (
        get_current_name_scope,
        get_static_value,
        is_numeric_tensor,
        is_symbolic_tensor,
        is_tensor,
    )
    from .primitives.debugging.printing import print_ as print
    from .primitives.debugging.printing import print_v1 as Print
    from .primitives.elementwise.division import divide as realdiv
    from .primitives.elementwise.division import floordiv as floor_div
    from .primitives.elementwise.exponential import exp, expm1, log, log1p
    from .primitives.elementwise.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
    from .primitives.elementwise.rounding import ceil, floor, rint, round
    from .primitives.elementwise.trigonometric import acos, asin, atan, atan2, cos, sin, tan
    from .primitives.identity.sharding import sharding
    from .primitives.identity.tuple import tuple_ as tuple
    from .primitives.image.patches import extract_volume_patches
    from .primitives.indexing.index_arithmetic import unravel_index
    from .primitives.indexing.partition import dynamic_partition, dynamic_stitch
    from .primitives.indexing.scatter_nd import tensor_scatter_nd_add as tensor_scatter_add
    from .primitives.indexing.scatter_nd import tensor_scatter_nd_sub as tensor_scatter_sub
    from .primitives.indexing.scatter_nd import tensor_scatter_nd_update as tensor_scatter_update
    from .primitives.indexing.slice import slice_ as slice
    from .primitives.indexing.where import where as where_v2
    from .primitives.linalg.cross import cross
    from .primitives.linalg.determinants import det as matrix_determinant
    from .primitives.linalg.eigen import eig, eigvals
    from .primitives.linalg.eigen import eigh as self_adjoint_eig
    from .primitives.linalg.eigen import eigvalsh as self_adjoint_eigvals
    from .primitives.linalg.inverses import inv as matrix_inverse
    from .primitives.linalg.inverses import lstsq as matrix_solve_ls
    from .primitives.linalg.inverses import solve as matrix_solve
    from .primitives.linalg.matrices import band_part as matrix_band_part
    from .primitives.linalg.matrices import diag as matrix_diag
    from .primitives.linalg.matrices import diag_part as matrix_diag_part
    from .primitives.linalg.matrices import matrix_transpose, trace
    from .primitives.linalg.matrices import set_diag as matrix_set_diag
    from .primitives.linalg.matrices import tensor_diag as diag
    from .primitives.linalg.matrices import tensor_diag_part as diag_part
    from .primitives.linalg.matrix_functions import sqrtm as matrix_square_root
    from .primitives.linalg.norm import norm
    from .primitives.linalg.qr import qr
    from .primitives.linalg.svd import svd
    from .primitives.linalg.triangular import cholesky, cholesky_solve
    from .primitives.linalg.triangular import triangular_solve as matrix_triangular_solve
    from .primitives.logic.monotone import is_non_decreasing, is_strictly_increasing
    from .primitives.normalization.clipping import clip_by_average_norm, clip_by_global_norm, clip_by_norm, global_norm
    from .primitives.quantization.fake_quant import (
        fake_quant_with_min_max_args,
        fake_quant_with_min_max_vars,
        fake_quant_with_min_max_vars_per_channel,
    )
    from .primitives.random.gamma import random_gamma
    from .primitives.random.stateful import (
        get_seed,
        random_normal,
        random_shuffle,
        random_uniform,
        set_random_seed,
        truncated_normal,
    )
    from .primitives.reduction.reduce import count_nonzero
    from .primitives.segment.reductions import (
        segment_max,
        segment_mean,
        segment_min,
        segment_prod,
        segment_sum,
        unsorted_segment_max,
        unsorted_segment_mean,
        unsorted_segment_min,
        unsorted_segment_prod,
        unsorted_segment_sqrt_n,
    )
    from .primitives.segment.sums import unsorted_segment_sum
    from .primitives.sets.unique import setdiff1d, unique, unique_with_counts
    from .primitives.shape.pad import pad
    from .primitives.shape.reverse import reverse as reverse_v2
    from .primitives.shape.reverse_sequence import reverse_sequence
    from .primitives.shape.space_to_batch import batch_to_space, space_to_batch
    from .primitives.shape.space_to_batch import batch_to_space as batch_to_space_nd
    from .primitives.shape.space_to_batch import space_to_batch as space_to_batch_nd
    from .primitives.shape.static_shapes import broadcast_dynamic_shape, broadcast_static_shape
    from .primitives.shape.tile import repeat, tile
    from .primitives.signal.fft import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
    from .primitives.sorting.permutation import invert_permutation
    from .primitives.sorting.searchsorted import searchsorted
    from .primitives.special.error_function import erf, erfc
    from .primitives.special.gamma import digamma, lbeta, lgamma, polygamma, zeta
    from .primitives.special.incomplete import betainc, igamma, igammac
    from .primitives.variables.assign import (
        assign,
        assign_add,
        assign_sub,
        scatter_add,
        scatter_div,
        scatter_max,
        scatter_min,
        scatter_mul,
        scatter_nd_add,
        scatter_nd_sub,
        scatter_nd_update,
        scatter_sub,
        scatter_update,
    )
    from .primitives.variables.collections import add_to_collections, get_collection_ref
    from .sparse import SparseTensor, SparseTensorValue
    from .sparse import add as sparse_add
    from .sparse import fill_empty_rows as sparse_fill_empty_rows
    from .sparse import placeholder as sparse_placeholder
    from .sparse import reduce_max as sparse_reduce_max
    from .sparse import reduce_sum as sparse_reduce_sum
    from .sparse import reorder as sparse_reorder
    from .sparse import retain as sparse_retain
    from .sparse import slice as sparse_slice
    from .sparse import softmax as sparse_softmax
    from .sparse import sparse_dense_matmul as sparse_tensor_dense_matmul
    from .sparse import to_dense as sparse_tensor_to_dense
    from .sparse import transpose as sparse_transpose


def __getattr__(name: str) -> _Any:
    where = _LOADED_WHEN_USED.get(name)
    if where is None:
        instead = f"; {_ABSENT[name]}" if name in _ABSENT else ""
        raise AttributeError(f"module 'pullback' has no attribute '{name}'{instead}")
    if where == "":
        return _import_module(f"{__name__}.{name}")
    module, _, attribute = where.partition(":")
    value = globals()[name] = getattr(_import_module(module, __name__), attribute or name)
    return value


def _load_primitives() -> None:
    modules = _import_module("pkgutil").walk_packages
    for package in ("primitives", "control_flow"):
        for module in modules([f"{__path__[0]}/{package}"], f"{__name__}.{package}."):
            _import_module(module.name)
    _import_module(f"{__name__}.derivatives.implicit")


def _onnxruntime_engine() -> _Any:
    try:
        from .onnx.engine import OnnxruntimeEngine
    except ImportError as error:
        raise ModuleNotFoundError(
            "Session: engine='onnxruntime' needs onnx and onnxruntime: pip install 'pullback[onnxruntime]'"
        ) from error
    return OnnxruntimeEngine


_define_later(_load_primitives)
_engine_loaders["onnxruntime"] = _onnxruntime_engine
_install_operators()
_install_running()

newaxis = None
