"""TensorFlow 1 functions of the top level that have other parameters there, or another meaning.

>>> import pullback.compat.v1 as tf
>>> @tf.function
... def double(x):
...     return 2 * x
>>> with tf.device("/cpu:0"):
...     y = tf.cond(tf.constant(True), lambda: double(tf.constant(3)), lambda: tf.constant(0))
>>> tf.Session().run(y)
np.int32(6)
>>> blocks = tf.space_to_batch(tf.zeros([1, 4, 4, 1]), [[0, 0], [0, 0]], block_size=2)
>>> blocks.shape, tf.batch_to_space(blocks, [[0, 0], [0, 0]], block_size=2).shape
(TensorShape([4, 2, 2, 1]), TensorShape([1, 4, 4, 1]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

import pullback as pb

from ...control_flow.ragged_maps import RowKind, map_to_ragged
from ...core import nest
from ...core.shape import as_shape
from ...core.typing import TensorLike
from ...primitives.base.broadcasting import operands
from ...primitives.creation.constant import as_array
from ...primitives.indexing.where_rows import where_rows
from ..assertions import assert_rank, of_two
from .clipping import clip_by_global_norm, clip_by_norm, global_norm
from .composites import of_composites_too
from .dtypes import as_dtype
from .type_specs import RaggedTensorSpec, TypeSpec, check_specs, shape_of

REDUCTION = "input_tensor, axis, keepdims, name, reduction_indices:axis, keep_dims:keepdims"
PLACE = "input, axis, name, dimension:axis, output_type"
LIKE = "tensor:input, dtype, name, optimize:, input"
CONFUSION = "labels, predictions, num_classes, dtype, name, weights"
NORM = "tensor, ord, axis, keepdims, name, keep_dims:keepdims"
COUNT = "input_tensor:input, axis, keepdims, dtype, name, reduction_indices:axis, keep_dims:keepdims, input"
SPARSE_ADD = "a, b, threshold, thresh:threshold"
SPARSE_CONCAT = (
    "axis, sp_inputs, name, expand_nonconcat_dim:expand_nonconcat_dims, concat_dim:axis, expand_nonconcat_dims"
)
SPARSE_SPLIT = "keyword_required:, sp_input, num_split, axis, name, split_dim:axis"
SPARSE = "sp_input, axis, keepdims, reduction_axes:axis, keep_dims:keepdims"

PARAMETERS = {
    "argmax": PLACE,
    "argmin": PLACE,
    "boolean_mask": "tensor, mask, name, axis",
    "convert_to_tensor": "value, dtype, name, preferred_dtype:dtype_hint, dtype_hint",
    "count_nonzero": COUNT,
    "expand_dims": "input, axis, name, dim:axis",
    "fill": "dims, value, name, layout:",
    "gather": "params, indices, validate_indices, name, axis, batch_dims",
    "gather_nd": "params, indices, name, batch_dims, bad_indices_policy",
    "norm": NORM,
    "ones": "shape, dtype, name, layout:",
    "ones_like": LIKE,
    "pad": "tensor, paddings, mode, name, constant_values",
    "parallel_stack": "values, name",
    "random_normal_initializer": "mean, stddev=1.0, seed, dtype",
    "random_uniform_initializer": "minval=0.0, maxval=1.0, seed, dtype",
    "reduce_all": REDUCTION,
    "reduce_any": REDUCTION,
    "reduce_logsumexp": REDUCTION,
    "reduce_max": REDUCTION,
    "reduce_mean": REDUCTION,
    "reduce_min": REDUCTION,
    "reduce_prod": REDUCTION,
    "reduce_sum": REDUCTION,
    "reverse_sequence": "input, seq_lengths, seq_axis, batch_axis, name, seq_dim:seq_axis, batch_dim:batch_axis",
    "shape": "input, name, out_type",
    "size": "input, name, out_type",
    "space_to_depth": "input, block_size, name, data_format",
    "sparse_add": SPARSE_ADD,
    "sparse_concat": SPARSE_CONCAT,
    "sparse_matmul": "a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name",
    "sparse_reduce_max": SPARSE,
    "sparse_reduce_max_sparse": SPARSE,
    "sparse_reduce_sum": SPARSE,
    "sparse_reduce_sum_sparse": SPARSE,
    "sparse_split": SPARSE_SPLIT,
    "squeeze": "input, axis, name, squeeze_dims:axis",
    "transpose": "a, perm, name, conjugate",
    "truncated_normal_initializer": "mean, stddev=1.0, seed, dtype",
    "tuple": "tensors, name, control_inputs",
    "unique": "x, out_idx, name",
    "unique_with_counts": "x, out_idx, name",
    "zeros": "shape, dtype, name, layout:",
    "zeros_like": LIKE,
}


def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const", verify_shape: bool = False
) -> pb.Tensor:
    """As `pb.constant`; where `shape` has more elements than `value`, its last one stands in all further places.

    Raises:
        ValueError: `shape` has fewer, and is not empty. TypeError: it is another, with `verify_shape`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.constant([1, 2, 3], shape=[2, 2]))
    array([[1, 2],
           [3, 3]], dtype=int32)
    """
    if shape is None:
        return pb.constant(value, dtype, None, name)
    array, wanted = as_array(value, None if dtype is None else pb.as_dtype(dtype)), as_shape(shape).known
    if verify_shape and array.shape != wanted:
        raise TypeError(f"Expected Tensor's shape: {wanted}, but got {array.shape}.")
    size = math.prod(wanted)
    missing = size - array.size
    if missing < 0 < size:
        raise ValueError(f"Too many elements provided. Takes at most {size}, but got {array.size}")
    last = array.reshape(-1)[-1:] if array.size else np.zeros(1, array.dtype)
    filled = np.append(array, np.repeat(last, missing)) if missing >= 0 else np.empty(0, array.dtype)
    return pb.constant(filled.reshape(wanted), array.dtype, None, name)


@wraps(pb.map_fn)
def map_fn(*args: Any, **kwargs: Any) -> Any:
    """As `pb.map_fn`, of rows whose results are dense, or ragged where a `RaggedTensorSpec` says so.

    Raises:
        NotImplementedError: results are said to be sparse.

    >>> import pullback.compat.v1 as tf
    >>> rows = tf.map_fn(tf.range, tf.constant([2, 0, 1]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    >>> tf.Session(engine="numpy").run(rows).to_list()
    [[0, 1], [], [0]]
    """
    given = signature(pb.map_fn).bind(*args, **kwargs).arguments
    said = given.get("fn_output_signature", given.get("dtype"))
    if not any(isinstance(spec, TypeSpec) for spec in nest.flatten(said)):
        return pb.map_fn(*args, **kwargs)
    return map_to_ragged(given["fn"], given["elems"], nest.map_structure(_row_kind, said), given.get("name"))


def _row_kind(spec: Any) -> RowKind:
    if isinstance(spec, RaggedTensorSpec):
        inner = spec.shape[spec.ragged_rank + 1 :]
        if not inner.is_fully_defined():
            raise ValueError(f"map_fn: the shape of elements, below the rows, must be known: {spec}")
        return RowKind(spec.dtype, spec.ragged_rank, inner.known)
    if isinstance(spec, TypeSpec):
        raise NotImplementedError(f"map_fn: results of fn cannot be of {spec}; they are dense or ragged")
    return RowKind(pb.as_dtype(getattr(spec, "dtype", spec)), None)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """As `pb.while_loop`; a list of one loop variable is unpacked, unless `return_same_structure`.

    So is a list with one tensor in it and empty structures, unless there are `maximum_iterations`. Several come back as
    the list or the tuple that `body` returns.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [tf.constant(0)]))
    np.int32(5)
    """
    if shape_invariants is not None:
        check_specs(shape_invariants, loop_vars)
        shape_invariants = nest.map_structure(shape_of, shape_invariants)
    returned: list[type] = []

    @wraps(body)
    def noted(*args: Any) -> Any:
        values = body(*args)
        returned[:] = [type(values)]
        return values

    found = pb.while_loop(
        cond,
        noted if callable(body) else body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        maximum_iterations,
        name,
        return_same_structure,
    )
    unpacked = isinstance(found, list | tuple) and not return_same_structure and maximum_iterations is None
    if unpacked and len(found) > 1 and [type(x) for x in nest.flatten(found)] == [pb.Tensor]:
        return found[0]
    both = {type(found), *returned}
    return returned[0](found) if both == {list, tuple} else found


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """As `pb.cond`; a list of one result is unpacked, unless `strict`.

    An operation that a branch returns, alone or among others, stands for the truth of `pred`, after it has run. In
    programs of TensorFlow 1 other effects inside happen only where a result that is fetched waits for them.
    """
    then, other = true_fn or fn1, false_fn or fn2
    if not callable(then) or not callable(other) or isinstance(pred, bool):
        return pb.cond(pred, then, other, name, strict=strict)
    chosen = pb.convert_to_tensor(pred)
    return pb.cond(chosen, _valued(then, chosen), _valued(other, chosen), name, strict=strict)


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """As `pb.case`; an operation that a function returns stands for its predicate, of `default` for the last one.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.case([(tf.constant(False), tf.no_op)], default=tf.no_op))
    np.False_
    """
    items = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    if not items or not all(isinstance(item, tuple) and len(item) == 2 and callable(item[1]) for item in items):
        return pb.case(pred_fn_pairs, default, exclusive, strict, name)
    pairs = [(pb.convert_to_tensor(pred), fn) for pred, fn in items]
    last = _valued(default, pairs[-1][0]) if callable(default) else default
    return pb.case([(pred, _valued(fn, pred)) for pred, fn in pairs], last, exclusive, strict, name)


def _valued(branch: Callable[[], Any], pred: pb.Tensor) -> Callable[[], Any]:
    """The branch, with the truth of `pred` for an operation that it returns, after that has run."""

    @wraps(branch)
    def run() -> Any:
        return nest.map_structure(lambda y: _after(y, pred) if isinstance(y, pb.Operation) else y, branch())

    return run


def _after(op: pb.Operation, pred: pb.Tensor) -> pb.Tensor:
    """The truth of `pred`, once `op` has run."""
    with op.graph.control_dependencies([op]):
        return pb.identity(pred)


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """As `pb.switch_case`, of an index that a run tells.

    Raises:
        TypeError: it is a number.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.switch_case(tf.constant(1), [lambda: tf.constant(2.0), lambda: tf.constant(3.0)]))
    np.float32(3.0)
    """
    if not isinstance(branch_index, pb.Tensor | pb.Variable):
        raise TypeError(f"switch_case: branch_index must be a Tensor, not {branch_index!r}; call the function itself")
    return pb.switch_case(branch_index, branch_fns, default, name)


@of_composites_too
def where(condition: TensorLike, x: Any = None, y: Any = None, name: str | None = None) -> pb.Tensor:
    """As `pb.where`, which broadcasts; a vector `condition` chooses rows of `x` and `y` that have more axes than it.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.constant([[1, 2], [3, 4]])
    >>> tf.Session().run(tf.where([True, False], x, -x))
    array([[ 1,  2],
           [-3, -4]], dtype=int32)
    """
    if x is None or y is None:
        return pb.where(condition, x, y, name)
    x, y = operands(x, y)
    chosen = where_rows(pb.convert_to_tensor(condition), x, y, name)
    if x.shape.is_compatible_with(y.shape) and x.shape.is_compatible_with(chosen.shape):
        chosen.set_shape(x.shape.merge_with(y.shape))
    return chosen


def batch_to_space(
    input: Any, crops: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> pb.Tensor:
    """As `pb.batch_to_space`, of blocks of one length along both axes of images."""
    return pb.batch_to_space(input, _block(block_size, block_shape), crops, name)


def space_to_batch(
    input: Any, paddings: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> pb.Tensor:
    """As `pb.space_to_batch`, of blocks of one length along both axes of images."""
    return pb.space_to_batch(input, _block(block_size, block_shape), paddings, name)


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[pb.Tensor, pb.Tensor]:
    """The paddings that `space_to_batch` needs beyond `base_paddings`, and the crops of `batch_to_space` behind it.

    Each is [axes, 2]; both are known without a run where the arguments are.

    >>> import pullback.compat.v1 as tf
    >>> [x.tolist() for x in tf.Session().run(tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0], [2, 1]]))]
    [[[1, 0], [2, 4]], [[0, 0], [0, 3]]]
    """
    with pb.name_scope(name or "required_space_to_batch_paddings"):
        blocks = pb.convert_to_tensor(block_shape, pb.int32)
        lengths = pb.convert_to_tensor(input_shape, pb.int32)
        first = pb.zeros([blocks.shape.as_list()[0], 2], pb.int32) if base_paddings is None else base_paddings
        base = pb.convert_to_tensor(first, pb.int32)
        whole = lengths + base[:, 0] + base[:, 1]
        more = (blocks - whole % blocks) % blocks
        made = pb.stack([base[:, 0], base[:, 1] + more], 1), pb.stack([pb.zeros_like(more), more], 1)
        known = [pb.get_static_value(x) for x in made]
        paddings, crops = [x if k is None else pb.constant(k) for x, k in zip(made, known, strict=True)]
        return paddings, crops


def _block(block_size: Any, block_shape: Any) -> Any:
    return [int(block_size)] * 2 if block_shape is None else block_shape


@wraps(pb.function, assigned=())
def function(func: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> Any:
    """As `pb.function`; each call adds to the graph, also one that is given arrays only."""
    made = pb.function(func, *args, **kwargs)
    return (lambda f: made(f).in_graph()) if func is None else made.in_graph()


def device(device_name_or_function: Any) -> AbstractContextManager[None]:
    """As `pb.device`."""
    return pb.device(device_name_or_function)


def group(*inputs: Any, name: str | None = "group_deps") -> pb.Operation:
    """As `pb.group`, by the name that it has in TensorFlow."""
    return pb.group(*inputs, name=name)


OTHER: dict[str, Callable[..., Any]] = {
    "as_dtype": as_dtype,
    "assert_equal": of_two("equal"),
    "assert_greater": of_two("greater"),
    "assert_less": of_two("less"),
    "assert_rank": assert_rank,
    "batch_to_space": batch_to_space,
    "case": case,
    "clip_by_global_norm": clip_by_global_norm,
    "clip_by_norm": clip_by_norm,
    "cond": cond,
    "constant": constant,
    "device": device,
    "function": function,
    "group": group,
    "map_fn": map_fn,
    "global_norm": global_norm,
    "required_space_to_batch_paddings": required_space_to_batch_paddings,
    "space_to_batch": space_to_batch,
    "switch_case": switch_case,
    "where": where,
    "while_loop": while_loop,
}
