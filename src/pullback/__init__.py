"""Symbolic derivatives of dataflow graphs: the derivative of a graph is another graph."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import bitwise, initializers, linalg, math, nn, random
from .autodiff.arguments import UnconnectedGradients
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
from .core.primitive import Primitive, no_gradient
from .core.printing import graph_text, operation_text
from .core.shape import TensorShape
from .core.slices import IndexedSlices, IndexedSlicesValue
from .core.types import TensorType
from .engines.session import Session, get_default_session
from .engines.session import install_running as _install_running
from .optimizers.clipping import clip_by_average_norm, clip_by_global_norm, clip_by_norm, global_norm
from .primitives.addn import add_n
from .primitives.arithmetic import add, multiply, negative, scalar_mul, squared_difference, subtract
from .primitives.blocks import slice_ as slice
from .primitives.casting import cast
from .primitives.collections import GraphKeys, add_to_collection, get_collection
from .primitives.comparison import equal, greater, greater_equal, is_finite, is_inf, is_nan, less, less_equal, not_equal
from .primitives.complex import angle, complex, conj, imag, real
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
from .primitives.errorfunction import erf, erfc
from .primitives.exponential import exp, expm1, log, log1p, log_sigmoid, sigmoid
from .primitives.extremes import clip_by_value, maximum, minimum
from .primitives.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
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
from .primitives.linalg import matmul, matvec
from .primitives.logic import logical_and, logical_not, logical_or, logical_xor
from .primitives.norms import norm, reduce_logsumexp
from .primitives.operators import install_operators as _install_operators
from .primitives.ordering import argmax, argmin, argsort, sort
from .primitives.partition import dynamic_partition, dynamic_stitch, sequence_mask
from .primitives.placeholders import placeholder, placeholder_with_default
from .primitives.powers import pow, reciprocal, rsqrt, sqrt, square
from .primitives.random import random_normal, random_shuffle, random_uniform, set_random_seed, truncated_normal
from .primitives.reduction import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from .primitives.repeating import pad, repeat, tile
from .primitives.reshaping import broadcast_to, reshape, shape
from .primitives.rounding import ceil, floor, rint, round
from .primitives.saturation import saturate_cast
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
from .primitives.trigonometric import acos, asin, atan, atan2, cos, sin, tan
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
from .primitives.variables import Variable, is_variable_initialized
from .version import __version__

__all__ = [
    "AUTO_REUSE",
    "AggregationMethod",
    "Graph",
    "GraphKeys",
    "IndexedSlices",
    "IndexedSlicesValue",
    "NoGradient",
    "NotDifferentiable",
    "Operation",
    "Picture",
    "Primitive",
    "RegisterGradient",
    "Session",
    "Tensor",
    "TensorShape",
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
    "bfloat16",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_to",
    "cast",
    "ceil",
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "colocate_with",
    "complex",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "constant",
    "constant_initializer",
    "control_dependencies",
    "convert_to_tensor",
    "cos",
    "cosh",
    "cumsum",
    "densify_policy",
    "device",
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
    "expm1",
    "eye",
    "fill",
    "float16",
    "float32",
    "float64",
    "floor",
    "floordiv",
    "floormod",
    "gather",
    "gather_nd",
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
    "gradients",
    "graph_text",
    "greater",
    "greater_equal",
    "group",
    "identity",
    "identity_n",
    "imag",
    "initializers",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_variable_initialized",
    "less",
    "less_equal",
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
    "math",
    "matmul",
    "matvec",
    "maximum",
    "meshgrid",
    "minimum",
    "mod",
    "multiply",
    "name_scope",
    "negative",
    "newaxis",
    "nn",
    "no_gradient",
    "no_op",
    "norm",
    "not_equal",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "operation_text",
    "pad",
    "placeholder",
    "placeholder_with_default",
    "pow",
    "prevent_gradient",
    "random",
    "random_normal",
    "random_normal_initializer",
    "random_shuffle",
    "random_uniform",
    "random_uniform_initializer",
    "range",
    "rank",
    "real",
    "reciprocal",
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
    "rint",
    "roll",
    "round",
    "rsqrt",
    "saturate_cast",
    "scalar_mul",
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
    "sequence_mask",
    "set_random_seed",
    "shape",
    "shape_n",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "size",
    "slice",
    "sort",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "subtract",
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
    "unstack",
    "variable_scope",
    "variables_initializer",
    "variance_scaling_initializer",
    "variant",
    "where",
    "zeros",
    "zeros_initializer",
    "zeros_like",
]

if _TYPE_CHECKING:
    from . import losses, regularizers, test, train
    from .drawing import Picture, draw

_LOADED_WHEN_USED = {
    "Picture": ".drawing",
    "draw": ".drawing",
    "losses": "",
    "regularizers": "",
    "test": "",
    "train": "",
}
"""Public names that `import pullback` need not load, and the module that has them; "" for a module itself."""


def __getattr__(name: str) -> _Any:
    where = _LOADED_WHEN_USED.get(name)
    if where is None:
        raise AttributeError(f"module 'pullback' has no attribute '{name}'")
    if where == "":
        return _import_module(f"{__name__}.{name}")
    return getattr(_import_module(where, __name__), name)


_install_operators()
_install_running()

newaxis = None
