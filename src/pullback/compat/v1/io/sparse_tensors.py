"""Sparse tensors as protocol messages: `tf.serialize_sparse` and its like, three texts for each of them.

>>> import pullback.compat.v1 as tf
>>> x = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 7.0], [2, 3])
>>> rows = tf.serialize_many_sparse(x)
>>> twice = tf.deserialize_many_sparse(tf.stack([tf.serialize_sparse(x)] * 2), tf.float32, rank=2)
>>> again = tf.deserialize_many_sparse(rows, tf.float32)
>>> tf.Session().run([again.values, twice.dense_shape])
[array([5., 7.], dtype=float32), array([2, 2, 3])]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core.typing import DTypeLike, TensorLike
from ....primitives.creation.constant import as_array
from ..data.sparse import rows_of_parts, stacked_parts
from .tensors import parsed, serialized

Array = np.ndarray[Any, Any]


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: DTypeLike = pb.string) -> pb.Tensor:
    """The messages of positions, values and dense lengths: texts [3].

    Raises:
        TypeError: `sp_input` is no sparse tensor. NotImplementedError: another `out_type` than string.
    """
    x = _checked("serialize_sparse", sp_input, out_type)
    return _texts(lambda *parts: _messages(parts), x, [3], name or "SerializeSparse")


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: DTypeLike = pb.string) -> pb.Tensor:
    """The messages of each row along the first axis, of an axis less: texts [rows, 3]; see `serialize_sparse`."""
    x = _checked("serialize_many_sparse", sp_input, out_type)

    def of_rows(indices: Array, values: Array, shape: Array) -> Array:
        rows = [_messages(parts) for parts in rows_of_parts(indices, values, shape)]
        return np.stack(rows) if rows else np.empty((0, 3), object)

    return _texts(of_rows, x, [x.shape.size(0) if x.shape.rank else None, 3], name or "SerializeManySparse")


def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> pb.SparseTensor:
    """The sparse tensors of messages [n, 3], each of that rank, on top of each other; as long as the longest.

    Raises:
        InvalidArgumentError: from a run, for what are no such messages, or of another dtype.
    """
    kind = pb.as_dtype(dtype)

    def of_messages(texts: Array) -> list[Array]:
        rows = [[parsed(text, t) for text, t in zip(row, (pb.int64, kind, pb.int64), strict=True)] for row in texts]
        if not rows:
            raise pb.errors.InvalidArgumentError("deserialize_many_sparse: there are no messages")
        return stacked_parts(*zip(*rows, strict=True))

    axes = None if rank is None else rank + 1
    specs = [pb.TensorSpec([None, axes], pb.int64), pb.TensorSpec([None], kind), pb.TensorSpec([axes], pb.int64)]
    text = pb.convert_to_tensor(serialized_sparse, pb.string)
    parts = pb.numpy_function(of_messages, [text], specs, stateful=False, name=name or "DeserializeManySparse")
    return pb.SparseTensor(*parts)


def _checked(what: str, x: Any, out_type: DTypeLike) -> pb.SparseTensor:
    given = pb.SparseTensor.from_value(x) if isinstance(x, pb.SparseTensorValue) else x
    if not isinstance(given, pb.SparseTensor):
        raise TypeError(f"{what}: takes a SparseTensor, not {x!r}")
    if pb.as_dtype(out_type) != pb.string:
        raise NotImplementedError(f"{what}: out_type must be tf.string, not {out_type!r}")
    return given


def _messages(parts: Sequence[Array]) -> Array:
    return as_array([serialized(part) for part in parts], pb.string)


def _texts(function: Any, x: pb.SparseTensor, shape: list[int | None], name: str) -> pb.Tensor:
    spec = pb.TensorSpec(shape, pb.string)
    found: pb.Tensor = pb.numpy_function(function, list(x.tensors), spec, stateful=False, name=name)
    return found
