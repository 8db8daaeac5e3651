"""Feature crosses of TensorFlow 1: all combinations of what rows of several tensors hold, as texts or as hashes.

The hashes are TensorFlow's: FarmHash of each text, combined as MurmurHash64A combines words. How many combinations
there are only a run knows; they are computed on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

import pullback as pb

from ...primitives.creation.constant import as_array
from ...primitives.strings.hashes import farmhash

Array = np.ndarray[Any, Any]
Columns = list[list[list[Any]]]
"""Of each input, for each row, what it holds."""
_KEY = 0xDECAFCAFFE
_MURMUR = np.uint64(0xC6A4A7935BD1E995)
_SHIFT = np.uint64(47)


def cross(inputs: Sequence[Any], name: str | None = None, separator: str | None = None) -> pb.SparseTensor:
    """For each row all combinations of an element of each input, as texts with `separator` between them, else "_X_".

    Shapes: `inputs` [rows, any], dense, sparse or ragged; the combinations of a row stand in its first columns. As in
    TensorFlow sparse inputs come before dense ones. Dtypes: string, or what is cast to int64.

    Raises:
        ValueError: there are no inputs, or one is no matrix. InvalidArgumentError: from a run, if one is none, or the
            numbers of rows differ.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sparse.cross([[["a", "b"]], [["c"]]])).values
    array([b'a_X_c', b'b_X_c'], dtype=object)
    """
    between = b"_X_" if separator is None else separator.encode()
    return _crossed("sparse.cross", inputs, pb.string, texts_of(between), name or "SparseCrossV2")


def cross_hashed(
    inputs: Sequence[Any], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> pb.SparseTensor:
    """For each row a number for each combination of an element of each input, below `num_buckets` unless that is 0.

    Shapes, dtypes: as for `cross`; the numbers are int64. They depend on `hash_key`, and are TensorFlow's.

    Raises:
        ValueError: `num_buckets` is negative, and as for `cross`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sparse.cross_hashed([[["a", "b"]], [["c"]]], num_buckets=100)).values
    array([66, 54])
    """
    combined = hashes_of("sparse.cross_hashed", num_buckets, hash_key)
    return _crossed("sparse.cross_hashed", inputs, pb.int64, combined, name or "SparseCross")


def texts_of(between: bytes) -> Callable[[Columns], Array]:
    """What makes texts of all combinations, row by row."""

    def joined(columns: Columns) -> Array:
        texts = [[[_text(x) for x in row] for row in column] for column in columns]
        return as_array([between.join(parts) for row in zip(*texts, strict=True) for parts in product(*row)], pb.string)

    return joined


def hashes_of(what: str, num_buckets: int, hash_key: int | None) -> Callable[[Columns], Array]:
    """What makes numbers of all combinations, row by row."""
    if num_buckets < 0:
        raise ValueError(f"{what}: num_buckets must not be negative, and is {num_buckets}")
    key = _KEY if hash_key is None else hash_key

    def hashed(columns: Columns) -> Array:
        numbers = [[[_number(x) for x in row] for row in column] for column in columns]
        rows = [parts for row in zip(*numbers, strict=True) for parts in product(*row)]
        found = np.full(len(rows), key, np.uint64)
        for column in np.array(rows, np.uint64).reshape(-1, len(columns)).T:
            found = _with_word(found, column)
        return (found % np.uint64(num_buckets or np.iinfo(np.int64).max)).astype(np.int64)

    return hashed


def _crossed(
    what: str, inputs: Sequence[Any], dtype: Any, combined: Callable[[Columns], Array], name: str
) -> pb.SparseTensor:
    """The sparse tensor of what `combined` makes of the rows."""
    tensors = sorted([_checked(what, x) for x in inputs], key=lambda x: not isinstance(x, pb.SparseTensor))
    values, counts = _combinations(what, tensors, dtype, combined, name)
    columns = pb.reduce_max(pb.concat([counts, [0]], 0))
    of_rows: pb.SparseTensor = pb.RaggedTensor.from_row_lengths(values, counts, validate=False).to_sparse()
    return pb.SparseTensor(of_rows.indices, values, pb.stack([pb.size(counts, pb.int64), columns]))


def of_rows(
    what: str, inputs: Sequence[Any], dtype: Any, combined: Callable[[Columns], Array], name: str | None
) -> pb.RaggedTensor:
    """The ragged tensor of what `combined` makes of the rows."""
    tensors = [_checked(what, x) for x in inputs]
    values, counts = _combinations(what, tensors, dtype, combined, name or "RaggedCross")
    return pb.RaggedTensor.from_row_lengths(values, counts, validate=False)


def _combinations(
    what: str,
    tensors: Sequence[pb.Tensor | pb.SparseTensor],
    dtype: Any,
    combined: Callable[[Columns], Array],
    name: str,
) -> list[pb.Tensor]:
    """What `combined` makes of the rows, and how many combinations each row has."""
    if not tensors:
        raise ValueError(f"{what}: the list of inputs is empty")

    def all_of(*arrays: Array) -> list[Array]:
        given = iter(arrays)
        columns = [
            _rows(*(next(given) for _ in range(3))) if isinstance(x, pb.SparseTensor) else _lists(what, next(given))
            for x in tensors
        ]
        if len({len(column) for column in columns}) > 1:
            raise pb.errors.InvalidArgumentError(f"{what}: the numbers of rows differ: {[len(c) for c in columns]}")
        counts = [int(np.prod([len(part) for part in row])) for row in zip(*columns, strict=True)]
        return [combined(columns), np.array(counts, np.int64)]

    specs = [pb.TensorSpec([None], dtype), pb.TensorSpec([None], pb.int64)]
    parts = [part for x in tensors for part in (x.tensors if isinstance(x, pb.SparseTensor) else [x])]
    found: list[pb.Tensor] = pb.numpy_function(all_of, parts, specs, stateful=False, name=name)
    return found


def _checked(what: str, x: Any) -> pb.Tensor | pb.SparseTensor:
    """An input whose elements are texts or int64."""
    given = x.to_sparse() if isinstance(x, pb.RaggedTensor) else x
    tensor: pb.Tensor | pb.SparseTensor
    tensor = given if isinstance(given, pb.SparseTensor) else pb.convert_to_tensor(given)
    if tensor.shape.rank not in (2, None):
        raise ValueError(f"{what}: inputs must have the shape [rows, any], and not {tensor.shape}: {x!r}")
    if tensor.dtype in (pb.string, pb.int64):
        return tensor
    if isinstance(tensor, pb.SparseTensor):
        return tensor.with_values(pb.cast(tensor.values, pb.int64))
    return pb.cast(tensor, pb.int64)


def _lists(what: str, x: Array) -> list[list[Any]]:
    """What each row of a matrix holds."""
    if x.ndim != 2:
        raise pb.errors.InvalidArgumentError(f"{what}: dense inputs must be matrices, and one has the shape {x.shape}")
    rows: list[list[Any]] = x.tolist()
    return rows


def _rows(indices: Array, values: Array, shape: Array) -> list[list[Any]]:
    """What each row of a sparse tensor holds."""
    rows: list[list[Any]] = [[] for _ in range(shape[0])]
    for i, value in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        rows[i].append(value)
    return rows


def _text(x: bytes | int) -> bytes:
    return x if isinstance(x, bytes) else str(x).encode()


def _number(x: bytes | int) -> int:
    return farmhash(x) if isinstance(x, bytes) else x % (1 << 64)


def _with_word(found: Array, word: Array) -> Array:
    """Hashes that know one more word each."""
    mixed = _mixed(word * _MURMUR) * _MURMUR
    return _mixed(_mixed((found ^ _MURMUR ^ mixed) * _MURMUR) * _MURMUR)


def _mixed(x: Array) -> Array:
    result: Array = x ^ x >> _SHIFT
    return result
