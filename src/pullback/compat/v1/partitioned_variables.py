"""Partitioned variables as lists: `create_partitioned_variables`, each part a variable of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pullback as pb

from ...core.shape import as_shape
from ...core.typing import DTypeLike
from ...primitives.variables.partitions import part_lengths


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: DTypeLike = pb.float32,
    trainable: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[pb.Variable]:
    """The parts of a variable of `shape`, of which `slicing` says how many there are along each axis, all but one 1.

    `initializer` is called with the shape of each part, or is a tensor of the whole, of `dtype`.

    Raises:
        ValueError: as many numbers as axes are needed; more than one is greater than 1; one is 0, or greater than the
            length.

    >>> import pullback.compat.v1 as tf
    >>> [v.name for v in tf.create_partitioned_variables([5, 2], [2, 1], tf.zeros_initializer(), name="rows")]
    ['rows/part_0:0', 'rows/part_1:0']
    """
    lengths = list(as_shape(shape).known)
    axis = _axis(lengths, list(slicing))
    parts = part_lengths(lengths[axis], slicing[axis])
    variables = []
    with pb.variable_scope(name, "PartitionedVariable", reuse=reuse):
        for i, (length, end) in enumerate(zip(parts, accumulate(parts), strict=True)):
            own = [*lengths[:axis], length, *lengths[axis + 1 :]]
            if callable(initializer):
                options: dict[str, Any] = {"shape": own, "dtype": dtype, "initializer": initializer}
            else:
                places = pb.range(end - length, end)
                options = {"initializer": pb.gather(pb.convert_to_tensor(initializer, dtype), places, axis=axis)}
            variables.append(pb.get_variable(f"part_{i}", trainable=trainable, collections=collections, **options))
    return variables


def _axis(shape: Sequence[int], slicing: Sequence[int]) -> int:
    """The axis that is divided."""
    if len(shape) != len(slicing):
        raise ValueError(f"create_partitioned_variables: shape {shape} and slicing {slicing} need one number an axis")
    if any(not 0 < count <= length for count, length in zip(slicing, shape, strict=True)):
        raise ValueError(f"create_partitioned_variables: shape {shape} has no parts of slicing {slicing}")
    divided = [i for i, count in enumerate(slicing) if count > 1]
    if len(divided) > 1:
        raise ValueError(f"create_partitioned_variables: only one axis can be divided, not all of slicing {slicing}")
    return divided[0] if divided else 0
