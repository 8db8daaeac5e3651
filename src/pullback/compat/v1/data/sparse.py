"""Sparse tensors as elements of datasets: in elements they are three arrays, positions, values and dense lengths.

>>> import pullback.compat.v1 as tf
>>> rows = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 7.0], [2, 3])
>>> batches = tf.data.Dataset.from_tensor_slices(rows).batch(2)
>>> following = batches.make_one_shot_iterator().get_next()
>>> following
SparseTensor(float32[?,?], ? values)
>>> tf.Session().run(tf.sparse_tensor_to_dense(following)).tolist()
[[0.0, 5.0, 0.0], [7.0, 0.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ....core import nest

Array = np.ndarray[Any, Any]


class SparseParts(NamedTuple):
    """The parts of a sparse tensor in an element, or their types."""

    indices: Any
    values: Any
    dense_shape: Any


def with_sparse(structure: Any, function: Callable[[SparseParts], Any]) -> Any:
    """The structure with what `function` makes of the parts of each sparse tensor."""
    if isinstance(structure, SparseParts):
        return function(structure)
    if isinstance(structure, pb.TensorType) or not isinstance(structure, Mapping | tuple):
        return structure
    children = [with_sparse(child, function) for child in nest.children(structure)]
    return nest.pack_sequence_as(flat(structure), children) if children else structure


def flat(structure: Any) -> Any:
    """The structure with None for each of its children."""
    if isinstance(structure, Mapping):
        make: Any = dict if type(structure) is dict else type(structure)
        return make((key, None) for key in structure)
    named: Any = getattr(type(structure), "_make", tuple)
    return named([None] * len(structure))


def as_sparse(structure: Any) -> Any:
    """The structure with sparse tensors for their parts."""
    return with_sparse(structure, lambda parts: pb.SparseTensor(*parts))


def types_of_parts(dtype: Any, rank: int | None) -> SparseParts:
    """The types of the parts of a sparse tensor of a rank, with any number of values."""
    shapes: Any = [None, rank], [None], [rank]
    pairs = zip((pb.int64, dtype, pb.int64), shapes, strict=True)
    return SparseParts(*[pb.TensorType(pb.as_dtype(kind), pb.TensorShape(shape)) for kind, shape in pairs])


def widened(parts: SparseParts, more: int = 0) -> SparseParts:
    """The types of sparse tensors with any number of values, and `more` axes."""
    rank = rank_of(parts)
    return types_of_parts(parts.values.dtype, None if rank is None else rank + more)


def rank_of(parts: SparseParts) -> int | None:
    """The number of axes that is known from the types of the parts."""
    for shape, axis in ((parts.dense_shape.shape, 0), (parts.indices.shape, 1)):
        if shape.rank is not None and shape.size(axis) is not None:
            return int(shape.size(axis))
    return None


def joined(spec: Any, group: Sequence[Sequence[Array]], join: Callable[[Sequence[Array]], Array]) -> list[Array]:
    """A batch of elements: of sparse tensors one with an axis in front, of other leaves what `join` makes of them."""
    columns = list(zip(*group, strict=True))
    found: list[Array] = []
    for kind in kinds(spec):
        if isinstance(kind, SparseParts):
            found += stacked_parts(*[columns[len(found) + i] for i in range(3)])
        else:
            found.append(join(columns[len(found)]))
    return found


def stacked_parts(indices: Sequence[Array], values: Sequence[Array], shapes: Sequence[Array]) -> list[Array]:
    """The parts of sparse tensors on top of each other."""
    numbers = np.repeat(np.arange(len(values), dtype=np.int64), [len(x) for x in values])
    places = np.concatenate([numbers[:, None], np.concatenate(indices)], 1)
    longest = np.max(np.stack(shapes), 0)
    return [places, np.concatenate(values), np.array([len(values), *longest], np.int64)]


def rows(spec: Any, element: Sequence[Array]) -> Iterator[Sequence[Array]]:
    """The rows of an element, along the first axis of all of its leaves."""
    if not any(isinstance(kind, SparseParts) for kind in kinds(spec)):
        return zip(*element, strict=True)
    columns: list[Any] = []
    at = 0
    for kind in kinds(spec):
        if isinstance(kind, SparseParts):
            columns.append(rows_of_parts(*element[at : at + 3]))
            at += 3
        else:
            columns.append(zip(element[at]))
            at += 1
    return ([leaf for part in parts for leaf in part] for parts in zip(*columns, strict=True))


def rows_of_parts(indices: Array, values: Array, shape: Array) -> Iterator[list[Array]]:
    """The parts of each row of a sparse tensor along its first axis."""
    for i in range(int(shape[0])):
        inside = indices[:, 0] == i
        yield [indices[inside, 1:], values[inside], shape[1:]]


def refuse_sparse(what: str, spec: Any) -> None:
    """TypeError where an element has sparse tensors."""
    if any(isinstance(kind, SparseParts) for kind in kinds(spec)):
        raise TypeError(
            f"Dataset.{what}: sparse tensors cannot be filled up; use batch, or tf.sparse_tensor_to_dense before"
        )


def kinds(spec: Any) -> list[Any]:
    """The leaves, and the parts of sparse tensors as one."""
    if isinstance(spec, SparseParts | pb.TensorType) or not isinstance(spec, Mapping | tuple):
        return [spec]
    return [kind for child in nest.children(spec) for kind in kinds(child)]
