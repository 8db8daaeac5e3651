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

    def joined(columns: Columns) -> Array:
        texts = [[[_text(x) for x in row] for row in column] for column in columns]
        return as_array([between.join(parts) for row in zip(*texts, strict=True) for parts in product(*row)], pb.string)

    return _crossed("sparse.cross", inputs, pb.string, joined, name or "SparseCrossV2")


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
    if num_buckets < 0:
        raise ValueError(f"sparse.cross_hashed: num_buckets must not be negative, and is {num_buckets}")
    key = _KEY if hash_key is None else hash_key

    def hashed(columns: Columns) -> Array:
        numbers = [[[_number(x) for x in row] for row in column] for column in columns]
        rows = [parts for row in zip(*numbers, strict=True) for parts in product(*row)]
        found = np.full(len(rows), key, np.uint64)
        for column in np.array(rows, np.uint64).reshape(-1, len(columns)).T:
            found = _with_word(found, column)
        return (found % np.uint64(num_buckets or np.iinfo(np.int64).max)).astype(np.int64)

    return _crossed("sparse.cross_hashed", inputs, pb.int64, hashed, name or "SparseCross")


def _crossed(
    what: str, inputs: Sequence[Any], dtype: Any, combined: Callable[[Columns], Array], name: str
) -> pb.SparseTensor:
    """The sparse tensor of what `combined` makes of the rows."""
    tensors = [_checked(what, x) for x in inputs]
    if not tensors:
        raise ValueError(f"{what}: the list of inputs is empty")
    sparse = [x for x in tensors if isinstance(x, pb.SparseTensor)]
    dense = [x for x in tensors if not isinstance(x, pb.SparseTensor)]

    def all_of(*arrays: Array) -> list[Array]:
        rest = 3 * len(sparse)
        columns = [_rows(*arrays[i : i + 3]) for i in range(0, rest, 3)] + [_lists(what, x) for x in arrays[rest:]]
        if len({len(column) for column in columns}) > 1:
            raise pb.errors.InvalidArgumentError(f"{what}: the numbers of rows differ: {[len(c) for c in columns]}")
        counts = [int(np.prod([len(part) for part in row])) for row in zip(*columns, strict=True)]
        places = [(i, j) for i, n in enumerate(counts) for j in range(n)]
        shape = [len(counts), max(counts, default=0)]
        return [np.array(places, np.int64).reshape(-1, 2), combined(columns), np.array(shape, np.int64)]

    specs = [pb.TensorSpec([None, 2], pb.int64), pb.TensorSpec([None], dtype), pb.TensorSpec([2], pb.int64)]
    parts = [part for x in sparse for part in x.tensors]
    return pb.SparseTensor(*pb.numpy_function(all_of, [*parts, *dense], specs, stateful=False, name=name))


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
