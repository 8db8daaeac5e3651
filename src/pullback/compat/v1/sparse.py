"""Sparse tensors of TensorFlow 1: `pullback.sparse` with its parameters, and functions that only it has."""

from __future__ import annotations

from typing import Any

from ... import sparse as today
from ...core.dtypes import bool as bool_
from ...core.dtypes import int64
from ...core.graph import Tensor
from ...core.typing import ShapeLike, TensorLike
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import fill, ones_like
from ...primitives.indexing.scatter_nd import tensor_scatter_nd_update
from ...primitives.shape.broadcast import broadcast_to
from ...primitives.shape.reshape import reshape as _reshape
from ...primitives.shape.size import shape
from ...primitives.shape.stacking import concat as _concat
from ...primitives.sparse.sparse_tensor import SparseTensor
from .. import older_names
from .arguments import older
from .functions import SPARSE, SPARSE_ADD, SPARSE_CONCAT, SPARSE_SPLIT

PARAMETERS = {
    "add": SPARSE_ADD,
    "concat": SPARSE_CONCAT,
    "reduce_max": SPARSE,
    "reduce_max_sparse": SPARSE,
    "reduce_sum": SPARSE,
    "reduce_sum_sparse": SPARSE,
    "split": SPARSE_SPLIT,
}


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: ShapeLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """`default_value`, and `sparse_values` where `sparse_indices` say.

    Shapes: `sparse_indices` [n, rank], [n] for a vector, or [] for one place; `sparse_values` [n] or []; the result
    `output_shape`. Dtypes: that of `sparse_values`. Derivative: to the values, those at their places.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sparse_to_dense([0, 2], [3], [5.0, 7.0], -1.0))
    array([ 5., -1.,  7.], dtype=float32)
    """
    del validate_indices
    places = cast(convert_to_tensor(sparse_indices), int64)
    values = convert_to_tensor(sparse_values)
    rank = places.shape.rank
    places = _reshape(places, [1, 1]) if rank == 0 else _reshape(places, [-1, 1]) if rank == 1 else places
    whole = fill(output_shape, convert_to_tensor(default_value, values.dtype))
    return tensor_scatter_nd_update(whole, places, broadcast_to(values, shape(places)[:1]), name=name)


def sparse_to_indicator(sp_input: SparseTensor, vocab_size: int, name: str | None = None) -> Tensor:
    """True at the last places that the values of `sp_input` name, [..., vocab_size].

    >>> import pullback.compat.v1 as tf
    >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2])
    >>> tf.Session().run(tf.sparse_to_indicator(x, 3)).tolist()
    [[False, False, True], [True, True, False]]
    """
    places = _concat([sp_input.indices[:, :-1], _reshape(cast(sp_input.values, int64), [-1, 1])], 1)
    lengths = _concat([sp_input.dense_shape[:-1], [vocab_size]], 0)
    return sparse_to_dense(places, lengths, ones_like(sp_input.values, bool_), False, name=name)


def sparse_merge(
    sp_ids: Any, sp_values: SparseTensor, vocab_size: Any, name: str | None = None, already_sorted: bool = False
) -> SparseTensor:
    """The values of `sp_values` at the last places that the values of `sp_ids` name, [..., vocab_size].

    Both may be lists, of ids for several last axes and their lengths.

    >>> import pullback.compat.v1 as tf
    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    >>> x = tf.sparse_merge(ids, ids.with_values([0.5, 1.0]), 3)
    >>> tf.Session().run(tf.sparse_tensor_to_dense(x)).tolist()
    [[0.0, 0.0, 0.5], [1.0, 0.0, 0.0]]
    """
    many, sizes = (sp_ids, vocab_size) if isinstance(sp_ids, list | tuple) else ([sp_ids], [vocab_size])
    columns = [_reshape(cast(x.values, int64), [-1, 1]) for x in many]
    lengths = _concat([many[0].dense_shape[:-1], cast(convert_to_tensor(sizes), int64)], 0)
    merged = SparseTensor(_concat([many[0].indices[:, :-1], *columns], 1), sp_values.values, lengths)
    return merged if already_sorted else today.reorder(merged, name)


to_indicator, merge = sparse_to_indicator, sparse_merge


def __getattr__(name: str) -> Any:
    if name.startswith("segment_"):
        return getattr(older_names, f"sparse_{name}")
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
