"""Sparse tensors of TensorFlow 1: `pullback.sparse` with its parameters, and functions that only it has."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ... import sparse as today
from ...core.contexts import in_graph_of_inputs
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...primitives.sparse.sparse_tensor import DECLARED
from .. import older_names
from .accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from .arguments import older
from .counts import sparse_bincount
from .functions import SPARSE, SPARSE_ADD, SPARSE_CONCAT, SPARSE_SPLIT
from .sparse_crosses import cross as cross
from .sparse_crosses import cross_hashed as cross_hashed

bincount = sparse_bincount
PARAMETERS = {
    "add": SPARSE_ADD,
    "concat": SPARSE_CONCAT,
    "reduce_max": SPARSE,
    "reduce_max_sparse": SPARSE,
    "reduce_sum": SPARSE,
    "reduce_sum_sparse": SPARSE,
    "split": SPARSE_SPLIT,
}


def placeholder(dtype: DTypeLike, shape: Any = None, name: str | None = None) -> pb.SparseTensor:
    """A sparse tensor that is fed in each run, with any lengths; `shape` is what `get_shape` tells, and a default.

    It may be fed with indices and values alone: its lengths are then those of `shape`.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.sparse_placeholder(tf.float32, [2, 3])
    >>> value = tf.SparseTensorValue([[0, 4]], [1.0], [1, 5])
    >>> tf.Session().run(tf.sparse_tensor_to_dense(x), {x: value})
    array([[0., 0., 0., 0., 1.]], dtype=float32)
    """
    static = None if isinstance(shape, pb.Tensor) else pb.TensorShape(shape)
    if static is None or static.rank is None:
        return today.placeholder(dtype, shape, name)
    lengths = static.as_list()
    with pb.name_scope(name or "Sparse"):
        default = pb.constant([-1 if n is None else n for n in lengths], pb.int64, [len(lengths)], "shape_default")
        with pb.get_default_graph().attr_scope({DECLARED: tuple(lengths)}):
            dense_shape = pb.placeholder_with_default(default, [len(lengths)], name="shape")
        values = pb.placeholder(dtype, [None], name="values")
        return pb.SparseTensor(pb.placeholder(pb.int64, [None, len(lengths)], name="indices"), values, dense_shape)


@in_graph_of_inputs
def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: ShapeLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> pb.Tensor:
    """`default_value`, and `sparse_values` where `sparse_indices` say.

    Shapes: `sparse_indices` [n, rank], [n] for a vector, or [] for one place; `sparse_values` [n] or []; the result
    `output_shape`. Dtypes: that of `sparse_values`. Derivative: to the values, those at their places.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sparse_to_dense([0, 2], [3], [5.0, 7.0], -1.0))
    array([ 5., -1.,  7.], dtype=float32)
    """
    del validate_indices
    places = pb.cast(pb.convert_to_tensor(sparse_indices), pb.int64)
    values = pb.convert_to_tensor(sparse_values)
    rank = places.shape.rank
    places = pb.reshape(places, [1, 1]) if rank == 0 else pb.reshape(places, [-1, 1]) if rank == 1 else places
    whole = pb.fill(output_shape, pb.convert_to_tensor(default_value, values.dtype))
    return pb.tensor_scatter_nd_update(whole, places, pb.broadcast_to(values, pb.shape(places)[:1]), name=name)


def sparse_to_indicator(sp_input: pb.SparseTensor, vocab_size: int, name: str | None = None) -> pb.Tensor:
    """True at the last places that the values of `sp_input` name, [..., vocab_size].

    >>> import pullback.compat.v1 as tf
    >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2])
    >>> tf.Session().run(tf.sparse_to_indicator(x, 3)).tolist()
    [[False, False, True], [True, True, False]]
    """
    places = pb.concat([sp_input.indices[:, :-1], pb.reshape(pb.cast(sp_input.values, pb.int64), [-1, 1])], 1)
    lengths = pb.concat([sp_input.dense_shape[:-1], [vocab_size]], 0)
    return sparse_to_dense(places, lengths, pb.ones_like(sp_input.values, pb.bool), False, name=name)


def sparse_merge(
    sp_ids: Any, sp_values: pb.SparseTensor, vocab_size: Any, name: str | None = None, already_sorted: bool = False
) -> pb.SparseTensor:
    """The values of `sp_values` at the last places that the values of `sp_ids` name, [..., vocab_size].

    Both may be lists, of ids for several last axes and their lengths.

    >>> import pullback.compat.v1 as tf
    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    >>> x = tf.sparse_merge(ids, ids.with_values([0.5, 1.0]), 3)
    >>> tf.Session().run(tf.sparse_tensor_to_dense(x)).tolist()
    [[0.0, 0.0, 0.5], [1.0, 0.0, 0.0]]
    """
    many, sizes = (sp_ids, vocab_size) if isinstance(sp_ids, list | tuple) else ([sp_ids], [vocab_size])
    columns = [pb.reshape(pb.cast(x.values, pb.int64), [-1, 1]) for x in many]
    lengths = pb.concat([many[0].dense_shape[:-1], pb.cast(pb.convert_to_tensor(sizes), pb.int64)], 0)
    merged = pb.SparseTensor(pb.concat([many[0].indices[:, :-1], *columns], 1), sp_values.values, lengths)
    return merged if already_sorted else today.reorder(merged, name)


to_indicator, merge = sparse_to_indicator, sparse_merge


def __getattr__(name: str) -> Any:
    if name == "matmul":
        return today.sparse_dense_matmul
    if name.startswith("segment_"):
        return getattr(older_names, f"sparse_{name}")
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
