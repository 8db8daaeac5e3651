"""Internal modules of TensorFlow 1: names that `tf` itself has not, as of `ops.resource_variable_ops`.

A name that ends in `_v2` is that of a function of version 2: `array_ops.squeeze_v2`.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pullback
import pullback as pb

from ...core import nest
from ...core.contexts import in_graph_of_inputs
from ...core.needs import needed
from ...core.operation import index_of
from ...core.typing import DTypeLike, TensorLike
from ...core.values import length_values
from ...engines.fetches import register_session_run_conversion_functions as register_session_run_conversion_functions
from ...primitives.counting import remove_squeezable_dimensions as remove_squeezable_dimensions
from ...primitives.elementwise.masking import multiply_no_nan
from ...primitives.variables.operations import VarHandleOp
from ..modes import executing_eagerly
from . import backprop, functions
from .audio_features import audio_spectrogram as audio_spectrogram
from .audio_features import mfcc as mfcc
from .composite_tensors import CompositeTensor as CompositeTensor
from .defun import DefinedFunction as DefinedFunction
from .defun import Defun as Defun
from .defun import get_extra_args as get_extra_args
from .defun import get_extra_vars as get_extra_vars
from .functional import For as For
from .functional import Gradient as Gradient
from .functional import If as If
from .functional import While as While
from .functional import partitioned_call as partitioned_call
from .functional import remote_call as remote_call
from .functional import symbolic_gradient as symbolic_gradient
from .inplace import alias_inplace_add as alias_inplace_add
from .inplace import alias_inplace_sub as alias_inplace_sub
from .inplace import alias_inplace_update as alias_inplace_update
from .inplace import empty as empty
from .inplace import empty_like as empty_like
from .inplace import inplace_add as inplace_add
from .inplace import inplace_sub as inplace_sub
from .inplace import inplace_update as inplace_update
from .io.tensors import make_ndarray as MakeNdarray  # noqa: F401  (its name there)
from .layers import objects as layer_objects
from .metrics.helpers import _aggregate_variable as _aggregate_variable
from .metrics.helpers import _confusion_matrix_at_thresholds as _confusion_matrix_at_thresholds
from .metrics.helpers import _remove_squeezable_dimensions as _remove_squeezable_dimensions
from .metrics.helpers import _safe_scalar_div as _safe_scalar_div
from .metrics.helpers import broadcast_weights as broadcast_weights
from .metrics.helpers import metric_variable as metric_variable
from .placement import DeviceSpec
from .segment_slopes import sparse_segment_mean_grad as sparse_segment_mean_grad
from .segment_slopes import sparse_segment_sqrt_n_grad as sparse_segment_sqrt_n_grad
from .segment_slopes import sparse_segment_sum_grad as sparse_segment_sum_grad
from .summary import FileWriterCache as SummaryWriterCache  # noqa: F401
from .train.evaluation import StopAfterNEvalsHook, evaluate_once, get_or_create_eval_step
from .truncated_normals import parameterized_truncated_normal as parameterized_truncated_normal
from .variable import Variable as Variable


class _Partitioned(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, pb.Variable) and instance.partitions is not None


class PartitionedVariable(metaclass=_Partitioned):
    """The class of the variables that have a partitioner."""


class EagerTensor:
    """The class of tensors that have a value as soon as they are made: no tensor is one."""


ResourceVariable = RefVariable = VariableV1 = BaseResourceVariable = variable = Variable
DeviceSpecV1 = DeviceSpecV2 = DeviceSpec
Convolution1D, Convolution2D, Convolution3D = layer_objects.Conv1D, layer_objects.Conv2D, layer_objects.Conv3D
Convolution2DTranspose, Convolution3DTranspose = layer_objects.Conv2DTranspose, layer_objects.Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = layer_objects.SeparableConv1D, layer_objects.SeparableConv2D
_DefinedFunction = DefinedFunction
mul_no_nan = multiply_no_nan
log_matrix_determinant, matrix_exponential = pb.linalg.slogdet, pb.linalg.expm
mul, sub, neg, real_div = pb.multiply, pb.subtract, pb.negative, pb.divide
random_poisson_v2 = pb.random.poisson
in_eager_mode, defun, _assert = executing_eagerly, functions.function, pb.debugging.Assert
ENABLE_CONTROL_FLOW_V2 = True
parallel_dynamic_stitch = pb.dynamic_stitch
tensor_scatter_max, tensor_scatter_min = pb.tensor_scatter_nd_max, pb.tensor_scatter_nd_min
_hessian_vector_product = pb.hessian_vector_product
_StopAfterNEvalsHook, _evaluate_once = StopAfterNEvalsHook, evaluate_once
_get_or_create_eval_step = get_or_create_eval_step


def unknown_shape(rank: int | None = None, **kwargs: Any) -> pb.TensorShape:
    """A shape of which nothing is known, or its rank only; `ndims` is an old name of `rank`."""
    count = kwargs.get("ndims", rank)
    return pb.TensorShape(None if count is None else [None] * count)


def vector(length: int | None) -> pb.TensorShape:
    """The shape of a vector."""
    return pb.TensorShape([length])


def matrix(rows: int | None, cols: int | None) -> pb.TensorShape:
    """The shape of a matrix."""
    return pb.TensorShape([rows, cols])


def constant_value_as_shape(tensor: TensorLike) -> pb.TensorShape:
    """The shape whose lengths are the elements of a vector of integers, as far as they are known; -1 is unknown too.

    Raises:
        ValueError: the tensor is no vector, nor the scalar -1, which stands for any shape.
    """
    x = pb.convert_to_tensor(tensor)
    if x.shape.rank == 0:
        if pb.get_static_value(x) != -1:
            raise ValueError(f"constant_value_as_shape: a scalar must be -1, a shape of unknown rank, and not {x}")
        return pb.TensorShape(None)
    lengths = length_values(x)
    if lengths is not None:
        return pb.TensorShape([n if isinstance(n, int) and n >= 0 else None for n in lengths])
    count = x.shape.with_rank(1).as_list()[0]
    return pb.TensorShape(None if count is None else [None] * count)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """`name`, of an operation, a control input `^name` or a colocation `loc:@name`, within a name scope."""
    return re.sub(r"^(\^|loc:@|)(.*)", rf"\g<1>{import_scope.rstrip('/')}/\g<2>", name) if import_scope else name


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """`name`, of an operation, a control input `^name` or a colocation `loc:@name`, without a name scope."""
    return re.sub(rf"^(\^|loc:@|){re.escape(export_scope.rstrip('/'))}/", r"\g<1>", name) if export_scope else name


_numbers = itertools.count()


def uid() -> int:
    """A number that no call before has given, in this process."""
    return next(_numbers)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Where the graph of a checkpoint is."""
    return f"{checkpoint_filename}.{meta_graph_suffix}"


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments of a function, `self` left out."""
    return tuple([name for name in inspect.signature(fn).parameters if name != "self"])


def shape_internal(
    input: TensorLike, name: str | None = None, optimize: bool = True, out_type: DTypeLike = pb.int32
) -> pb.Tensor:
    """The lengths of `input`."""
    del optimize
    return pb.shape(input, out_type, name)


def GetContainingXLAContext(ctxt: None) -> None:
    """None: an engine decides what is compiled, not the graph."""


def GraphOrParentsInXlaContext(graph: pb.Graph) -> bool:
    """False: an engine decides what is compiled, not the graph."""
    del graph
    return False


@contextmanager
def graph_mode() -> Iterator[None]:
    """A block: all is built in graphs."""
    yield


def in_graph_mode() -> bool:
    """True: all is built in graphs."""
    return True


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: pb.Graph | None = None) -> pb.Graph:
    """The graph of all inputs, or `graph`, or the default one.

    Raises:
        ValueError: they are of different graphs.
    """
    for x in nest.flatten(list(op_input_list)):
        of = getattr(x, "graph", None)
        if of is not None and graph is not None and of is not graph:
            raise ValueError(f"{x!r} must be from the same graph as the other inputs; build all in one graph")
        graph = of or graph
    return graph or pb.get_default_graph()


_get_graph_from_inputs = get_graph_from_inputs


@in_graph_of_inputs
def concat_offset(concat_dim: TensorLike, shape: Sequence[TensorLike], name: str | None = None) -> list[pb.Tensor]:
    """Where each of the tensors of those shapes begins in what they become when they are joined along an axis.

    Raises:
        InvalidArgumentError: in a run, where a shape should be a vector and is none, or should have as many elements as
            the first, the axis is out of range, or the shapes differ elsewhere.
    """
    rows = [pb.convert_to_tensor(x) for x in shape]
    rows = [_checked_offsets(i, x, rows[0]) for i, x in enumerate(rows)]
    shapes = pb.stack(rows)
    axis, rank = pb.convert_to_tensor(concat_dim), pb.size(rows[0])
    chosen = pb.equal(pb.range(rank), pb.where(axis < 0, axis + rank, axis))
    matches = pb.logical_or(chosen, pb.equal(shapes, shapes[0]))
    checks = [
        pb.debugging.Assert(
            pb.reduce_any(chosen), ["concat_offset: Concat dim is out of range:", *_said(axis, "vs.", rank)]
        ),
        pb.debugging.Assert(
            pb.reduce_all(matches), ["concat_offset: All dimensions except", axis, *_first_other(shapes, matches)]
        ),
    ]
    with pb.control_dependencies(checks):
        offsets = pb.where(chosen, pb.cumsum(shapes, 0, exclusive=True), pb.zeros_like(shapes))
    return pb.unstack(offsets, len(rows), name=name or "unstack")


def _said(*parts: Any) -> list[Any]:
    """Parts of a message, with texts for tensors whose values are known."""
    known = [x if isinstance(x, str) else pb.get_static_value(x) for x in parts]
    return [x if k is None else str(k) for x, k in zip(parts, known, strict=True)]


def _checked_offsets(number: int, row: pb.Tensor, first: pb.Tensor) -> pb.Tensor:
    """The lengths of a tensor; a run fails where they are known to be no vector, or not as many as the first's."""
    lengths, count = (x.shape.as_list() if x.shape.dims else None for x in (row, first))
    if row.shape.rank not in (1, None):
        complaint = f"input {number} should be a vector, but has the shape {row.shape.as_list()}"
    elif lengths and count and lengths != count and None not in (*lengths, *count):
        complaint = f"input {number} should contain {count[0]} elements, but has {lengths[0]}"
    else:
        return row
    with pb.control_dependencies([pb.debugging.Assert(pb.constant(False), [f"concat_offset: {complaint}"])]):
        return pb.zeros_like(first if first.shape.rank == 1 else pb.constant([0]))


def _first_other(shapes: pb.Tensor, matches: pb.Tensor) -> list[Any]:
    """The end of a message that shapes do not match: the first that differs, and what it differs from."""
    other = pb.argmin(pb.cast(pb.reduce_all(matches, 1), pb.int32))
    texts = [pb.strings.format("{}", row) for row in (pb.gather(shapes, other), shapes[0])]
    return ["must match. Input", other, "has shape", texts[0], "and doesn't match input 0 with shape", texts[1] + "."]


@in_graph_of_inputs
def scatter_nd_non_aliasing_add(
    input: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> pb.Tensor:
    """`input` with `updates` added at the index vectors `indices`; see `tensor_scatter_nd_add`; of bools, either."""
    x = pb.convert_to_tensor(input)
    if x.dtype != pb.bool:
        return pb.tensor_scatter_add(x, indices, updates, bad_indices_policy, name)
    counts = pb.tensor_scatter_add(pb.cast(x, pb.int32), indices, pb.cast(updates, pb.int32), bad_indices_policy)
    return pb.cast(counts, pb.bool, name)


@in_graph_of_inputs
def sparse_segment_sum_with_num_segments(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> pb.Tensor:
    """See `sparse.segment_sum`."""
    return pb.sparse.segment_sum(data, indices, segment_ids, num_segments, name)


@in_graph_of_inputs
def sparse_segment_mean_with_num_segments(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> pb.Tensor:
    """See `sparse.segment_mean`."""
    return pb.sparse.segment_mean(data, indices, segment_ids, num_segments, name)


@in_graph_of_inputs
def sparse_segment_sqrt_n_with_num_segments(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> pb.Tensor:
    """See `sparse.segment_sqrt_n`."""
    return pb.sparse.segment_sqrt_n(data, indices, segment_ids, num_segments, name)


@in_graph_of_inputs
def reduced_shape(input_shape: TensorLike, axes: TensorLike) -> pb.Tensor:
    """The shape of a reduction along `axes` that keeps them, with length 1."""
    lengths = pb.convert_to_tensor(input_shape, pb.int32)
    numbers = pb.range(pb.size(lengths))
    chosen = pb.reshape(pb.convert_to_tensor(axes, pb.int32) % pb.size(lengths), [1, -1])
    return pb.where(pb.reduce_any(pb.equal(pb.expand_dims(numbers, 1), chosen), 1), pb.ones_like(lengths), lengths)


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[pb.Variable]:
    """The trainable variables that are read on the way from nested `input_ops` to nested `output_ops`."""
    given = {x.op for x in nest.flatten(input_ops)}
    ends = [y.op for y in nest.flatten(output_ops)]
    reached = needed(ends, lambda op: [] if op in given else [x.op for x in op.inputs])
    handles = [op for op in reached if isinstance(op.primitive, VarHandleOp) and op.primitive.trainable]
    return [pb.Variable.from_handle(op) for op in sorted(handles, key=index_of)]


_get_dependent_variables = get_dependent_variables


def is_resource_variable(var: Any) -> bool:
    """Whether `var` is a variable: all are of resources here."""
    return isinstance(var, pb.Variable)


def read_variable_op(resource: pb.Tensor, dtype: Any = None, name: str | None = None) -> pb.Tensor:
    """The value of the variable of that handle."""
    del dtype, name
    return pb.Variable.from_handle(resource).read_value()


@in_graph_of_inputs
def assign_variable_op(resource: pb.Tensor, value: TensorLike, name: str | None = None) -> pb.Operation:
    """Replaces the value of the variable of that handle."""
    operation: pb.Operation = pb.Variable.from_handle(resource).assign(value, name=name, read_value=False)
    return operation


@in_graph_of_inputs
def assign_add_variable_op(resource: pb.Tensor, value: TensorLike, name: str | None = None) -> pb.Operation:
    """Adds to the value of the variable of that handle."""
    operation: pb.Operation = pb.Variable.from_handle(resource).assign_add(value, name=name, read_value=False)
    return operation


@in_graph_of_inputs
def resource_scatter_add(
    resource: pb.Tensor, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> pb.Operation:
    """Adds `updates` to rows of the variable of that handle."""
    operation: pb.Operation = pb.scatter_add(pb.Variable.from_handle(resource), indices, updates, name=name).op
    return operation


@in_graph_of_inputs
def apply_gradient_descent(
    var: pb.Variable, alpha: TensorLike, delta: TensorLike, use_locking: bool = False, name: str | None = None
) -> pb.Tensor:
    """The variable's value without `alpha * delta`."""
    moved: pb.Tensor = var.assign_sub(alpha * pb.convert_to_tensor(delta), use_locking, name)
    return moved


def _as_indexed_slices(x: TensorLike, optimize: bool = True) -> pb.IndexedSlices:
    """All rows of `x` as slices."""
    del optimize
    x = pb.convert_to_tensor(x)
    dims = pb.shape(x)
    return pb.IndexedSlices(x, pb.range(dims[0]), dims)


def __getattr__(name: str) -> Any:
    """Functions of version 2; derivatives that are functions, with a line before their names up to 2017."""
    return (
        _of_version_2(name.removesuffix("_v2")) if name.endswith("_v2") else getattr(backprop, name.removeprefix("_"))
    )


_RENAMED = {"resize_images": "resize", "extract_image_patches": "extract_patches", "string_split": "split"}
"""Functions whose name in a namespace of version 2 is another one."""


def _of_version_2(name: str) -> Any:
    """The function of version 2, in the namespace of its kind before the top, where version 1's parameters may be."""
    prefixes = {"sparse": pullback.sparse, "random": pullback.random, "string": pullback.strings}
    prefix, _, rest = name.partition("_")
    if prefix in prefixes and hasattr(prefixes[prefix], _RENAMED.get(name, rest)):
        return getattr(prefixes[prefix], _RENAMED.get(name, rest))
    kinds = (
        pullback.nn,
        pullback.math,
        pullback.debugging,
        pullback,
        pullback.linalg,
        pullback.image,
        pullback.strings,
    )
    found = _RENAMED.get(name, name)
    return getattr(next((place for place in kinds if hasattr(place, found)), pullback), found)
