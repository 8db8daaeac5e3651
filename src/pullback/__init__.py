"""Symbolic derivatives of dataflow graphs: the derivative of a graph is another graph."""

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
from .engines.session import install_running as _install_running
from .names import LOADED_WHEN_USED as _LOADED_WHEN_USED
from .primitives.addn import add_n
from .primitives.arithmetic import add, multiply, negative, scalar_mul, squared_difference, subtract
from .primitives.casting import cast
from .primitives.collections import GraphKeys, add_to_collection, get_collection
from .primitives.comparison import equal, greater, greater_equal, is_finite, is_inf, is_nan, less, less_equal, not_equal
from .primitives.complex import complex, conj, imag, real
from .primitives.constant import constant, convert_to_tensor
from .primitives.creation import (
    eye,
    fill,
    linspace,
    one_hot,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from .primitives.creation import (
    range_ as range,
)
from .primitives.cumulative import cumsum, reduce_prod
from .primitives.densify import densify_policy
from .primitives.division import (
    divide,
    floordiv,
    floormod,
    mod,
    truediv,
    truncatediv,
    truncatemod,
)
from .primitives.division import (
    divide_no_nan as div_no_nan,
)
from .primitives.einsum import einsum, tensordot
from .primitives.extremes import clip_by_value, maximum, minimum
from .primitives.guards import check_numerics, verify_tensor_all_finite
from .primitives.identity import (
    ensure_shape,
    identity,
    identity_n,
    no_op,
    prevent_gradient,
    stop_gradient,
)
from .primitives.identity import (
    group_operations as group,
)
from .primitives.indexing import boolean_mask, gather
from .primitives.linalg import matmul, matvec
from .primitives.logic import logical_and, logical_not, logical_or, logical_xor
from .primitives.norms import reduce_logsumexp
from .primitives.operators import install_operators as _install_operators
from .primitives.ordering import argmax, argmin, argsort, sort
from .primitives.placeholders import placeholder, placeholder_with_default
from .primitives.powers import pow, reciprocal, rsqrt, sqrt, square
from .primitives.reduction import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from .primitives.reshaping import broadcast_to, reshape, shape
from .primitives.scatter import (
    gather_nd,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from .primitives.selection import where
from .primitives.shaping import expand_dims, meshgrid, rank, reverse, roll, shape_n, size, squeeze, transpose
from .primitives.sign import absolute as abs
from .primitives.sign import sign
from .primitives.slicing import strided_slice
from .primitives.stacking import concat, split, stack, unstack
from .primitives.variables import Variable, is_variable_initialized
from .version import __version__

__all__ = [
    "AUTO_REUSE",
    "AggregationMethod",
    "Assert",
    "ConcreteFunction",
    "Function",
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
    "Session",
    "SparseMatrix",
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
    "acos",
    "acosh",
    "add",
    "add_n",
    "add_to_collection",
    "angle",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "asin",
    "asinh",
    "assign",
    "assign_add",
    "assign_sub",
    "atan",
    "atan2",
    "atanh",
    "batch_jacobian",
    "batch_to_space",
    "batch_to_space_nd",
    "betainc",
    "bfloat16",
    "bincount",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_to",
    "case",
    "cast",
    "ceil",
    "check_numerics",
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "colocate_with",
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
    "convert_to_tensor",
    "cos",
    "cosh",
    "cumsum",
    "custom_gradient",
    "debugging",
    "densify_policy",
    "device",
    "digamma",
    "div_no_nan",
    "divide",
    "draw",
    "dynamic_partition",
    "dynamic_stitch",
    "einsum",
    "ensure_shape",
    "equal",
    "erf",
    "erfc",
    "errors",
    "exp",
    "expand_dims",
    "explain_gradient",
    "expm1",
    "extract_volume_patches",
    "eye",
    "fill",
    "float16",
    "float32",
    "float64",
    "floor",
    "floordiv",
    "floormod",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "gauss_newton_vector_product",
    "get_collection",
    "get_default_graph",
    "get_default_session",
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
    "hessian_diagonal",
    "hessian_vector_product",
    "hessians",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "history",
    "hvp",
    "identity",
    "identity_n",
    "igamma",
    "igammac",
    "imag",
    "image",
    "implicit",
    "initializers",
    "int8",
    "int16",
    "int32",
    "int64",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_variable_initialized",
    "jacobian",
    "jvp",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
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
    "map_fn",
    "math",
    "matmul",
    "matvec",
    "maximum",
    "memory_policy",
    "meshgrid",
    "minimum",
    "mod",
    "multiply",
    "name_scope",
    "negative",
    "nest",
    "newaxis",
    "nn",
    "no_gradient",
    "no_op",
    "norm",
    "not_equal",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "onnx",
    "operation_text",
    "pad",
    "per_example_gradients",
    "placeholder",
    "placeholder_with_default",
    "polygamma",
    "pow",
    "prevent_gradient",
    "print",
    "py_function",
    "quantization",
    "random",
    "random_gamma",
    "random_normal",
    "random_normal_initializer",
    "random_shuffle",
    "random_uniform",
    "random_uniform_initializer",
    "range",
    "rank",
    "real",
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
    "reverse",
    "reverse_sequence",
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
    "sparse",
    "sparse_hessian",
    "sparse_jacobian",
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
    "switch_case",
    "tan",
    "tanh",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensordot",
    "test",
    "tile",
    "train",
    "trainable_variables",
    "transforms",
    "transpose",
    "truediv",
    "truncated_normal",
    "truncated_normal_initializer",
    "truncatediv",
    "truncatemod",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique",
    "unique_with_counts",
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
        debugging,
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
        xla,
    )
    from .autodiff.explain import explain_gradient
    from .control_flow.concrete_function import ConcreteFunction
    from .control_flow.conditional import case, cond, switch_case
    from .control_flow.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
    from .control_flow.history import history
    from .control_flow.maps import map_fn, vectorized_map
    from .control_flow.py_function import numpy_function, py_function
    from .control_flow.scan import foldl, foldr, scan
    from .control_flow.signature import TensorSpec
    from .control_flow.tensor_array import TensorArray
    from .control_flow.while_loop import while_loop
    from .derivatives.by_example import per_example_gradients
    from .derivatives.hessian import hessian_diagonal, hessians
    from .derivatives.jacobian import batch_jacobian, jacobian
    from .derivatives.products import gauss_newton_vector_product, hessian_vector_product, jvp
    from .derivatives.sparse import SparseMatrix, sparse_hessian, sparse_jacobian
    from .drawing import Picture, draw
    from .functions import Function, function
    from .optimizers.clipping import clip_by_average_norm, clip_by_global_norm, clip_by_norm, global_norm
    from .primitives.assertions import assert_ as Assert
    from .primitives.batch_blocks import batch_to_space, space_to_batch
    from .primitives.batch_blocks import batch_to_space as batch_to_space_nd
    from .primitives.batch_blocks import space_to_batch as space_to_batch_nd
    from .primitives.blocks import slice_ as slice
    from .primitives.counting import bincount, confusion_matrix, histogram_fixed_width, histogram_fixed_width_bins
    from .primitives.errorfunction import erf, erfc
    from .primitives.exponential import exp, expm1, log, log1p, log_sigmoid, sigmoid
    from .primitives.gamma import digamma, lbeta, lgamma, polygamma, zeta
    from .primitives.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
    from .primitives.incomplete import betainc, igamma, igammac
    from .primitives.initializers import (
        Constant as constant_initializer,
    )
    from .primitives.initializers import (
        Ones as ones_initializer,
    )
    from .primitives.initializers import (
        RandomNormal as random_normal_initializer,
    )
    from .primitives.initializers import (
        RandomUniform as random_uniform_initializer,
    )
    from .primitives.initializers import (
        TruncatedNormal as truncated_normal_initializer,
    )
    from .primitives.initializers import (
        VarianceScaling as variance_scaling_initializer,
    )
    from .primitives.initializers import (
        Zeros as zeros_initializer,
    )
    from .primitives.initializers import (
        glorot_normal as glorot_normal_initializer,
    )
    from .primitives.initializers import (
        glorot_uniform as glorot_uniform_initializer,
    )
    from .primitives.matrix_norms import norm
    from .primitives.partition import dynamic_partition, dynamic_stitch, sequence_mask
    from .primitives.patches import extract_volume_patches
    from .primitives.printing import print_ as print
    from .primitives.printing import print_v1 as Print
    from .primitives.random import random_normal, random_shuffle, random_uniform, set_random_seed, truncated_normal
    from .primitives.random_gamma import random_gamma
    from .primitives.repeating import pad, repeat, tile
    from .primitives.rounding import ceil, floor, rint, round
    from .primitives.saturation import saturate_cast
    from .primitives.sequences import reverse_sequence
    from .primitives.sets import invert_permutation, searchsorted, setdiff1d, unique, unique_with_counts
    from .primitives.sharding import sharding
    from .primitives.trigonometric import acos, angle, asin, atan, atan2, cos, sin, tan
    from .primitives.variable_functions import (
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
    from .primitives.variable_scope import (
        AUTO_REUSE,
        VariableScope,
        get_variable,
        get_variable_scope,
        global_variables,
        global_variables_initializer,
        local_variables,
        local_variables_initializer,
        trainable_variables,
        variable_scope,
        variables_initializer,
    )
    from .transforms import grad, hvp, value_and_grad, vjp


def __getattr__(name: str) -> _Any:
    where = _LOADED_WHEN_USED.get(name)
    if where is None:
        raise AttributeError(f"module 'pullback' has no attribute '{name}'")
    if where == "":
        return _import_module(f"{__name__}.{name}")
    module, _, attribute = where.partition(":")
    value = globals()[name] = getattr(_import_module(module, __name__), attribute or name)
    return value


def _load_primitives() -> None:
    modules = _import_module("pkgutil").iter_modules
    for package in ("primitives", "control_flow"):
        for module in modules([f"{__path__[0]}/{package}"]):
            _import_module(f"{__name__}.{package}.{module.name}")
    _import_module(f"{__name__}.derivatives.implicit")


_define_later(_load_primitives)
_install_operators()
_install_running()

newaxis = None
