"""Axis arguments and integer lists as users give them: checked, counted from the front, static."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.operation import AbstractTensorLike, Tensor
from ..creation.constant import constant_value, convert_to_tensor


def static_integers(value: Any, what: str) -> tuple[int, ...]:
    """`value`, an integer, a sequence, or an integer tensor of known value, as a tuple of integers.

    Raises:
        ValueError: it is a tensor whose value is not known while the graph is built. TypeError: no integers.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if isinstance(value, list | tuple) and all(type(v) is int for v in value):
        return tuple(value)
    if isinstance(value, list | tuple):
        return tuple([n for v in value for n in static_integers(v, what)])
    if isinstance(value, Tensor | AbstractTensorLike):
        tensor = convert_to_tensor(value)
        value = constant_value(tensor)
        if value is None:
            raise ValueError(f"{what} must be known while the graph is built, but {tensor} is computed in a run")
    array = np.asarray(value)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{what} must be integers, not {value!r}")
    return tuple([int(v) for v in array.reshape(-1)])


def static_integer(value: Any, what: str) -> int:
    """`value`, an integer or an integer tensor of known value.

    Raises:
        ValueError: it is a tensor whose value is not known while the graph is built. TypeError: no integer.
    """
    found = static_integers(value, what)
    if np.ndim(value) if not isinstance(value, Tensor | AbstractTensorLike) else len(found) != 1:
        raise TypeError(f"{what} must be an integer, not {value!r}")
    return found[0]


def is_computed(value: Any) -> TypeGuard[Tensor]:
    """Whether `value` is a tensor whose value only a run knows, or a list of numbers with such a tensor in it."""
    if isinstance(value, list | tuple):
        return any(is_computed(v) for v in value)
    return isinstance(value, Tensor | AbstractTensorLike) and constant_value(convert_to_tensor(value)) is None


def as_axis(axis: Any, rank: int | None, what: str, x: Any) -> int:
    """One axis, counted from the front where `rank` is known; ValueError where it is outside `x`."""
    given = static_integers(axis, f"{what}: axis")
    if len(given) != 1:
        raise ValueError(f"{what}: axis must be one integer, not {axis!r}")
    return checked_axis(given[0], rank, what, x)


def scalar_axis(axis: Any, rank: int | None, what: str, x: Any) -> int:
    """As `as_axis`, of an axis that may not be a list or vector of one."""
    if np.ndim(axis) if not isinstance(axis, Tensor | AbstractTensorLike) else convert_to_tensor(axis).shape.rank:
        raise InvalidArgumentError(f"{what}: axis must be a scalar, not {axis}")
    return as_axis(axis, rank, what, x)


def checked_axis(axis: int, rank: int | None, what: str, x: Any) -> int:
    """`axis` counted from the front where `rank` is known; InvalidArgumentError where it is outside `x`."""
    if rank is None:
        return axis
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{what}: Expected axis in the range [{-rank}, {rank}), but got {axis}: {x}")
    return axis % rank


def as_axes(axis: Any, x: Tensor, what: str) -> tuple[int, ...] | None:
    """The axes of a reduction of `x`, ascending and counted from the front where its rank is known; None for all.

    Raises:
        ValueError: an axis is outside `x`, or stands twice, or is not known while the graph is built.
    """
    if axis is None:
        return None
    if isinstance(axis, list | tuple) and any(isinstance(a, list | tuple) for a in axis):
        raise ValueError(f"{what}: the axes must be a number or a list of numbers, not {axis}")
    rank = x.shape.rank
    axes = [checked_axis(a, rank, what, x.type) for a in static_integers(axis, f"{what}: axis")]
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"{what}: an axis stands twice in {list(axes)}")
    if rank is not None and len(axes) == rank:
        return None
    return tuple(sorted(axes))


def kept_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes of an array of `rank` that are not among `axes`."""
    gone = {axis % rank for axis in axes}
    return tuple([i for i in range(rank) if i not in gone])
