"""Axes that a run computes: one integer, counted from the front, of concatenation, splitting and gathering."""

from __future__ import annotations

from ...core.dtypes import INTEGER, int32
from ...core.operation import Tensor
from ..casting.cast import cast
from ..indexing.where import where
from .reshape import reshape
from .size import size


def counted_from_the_front(axis: Tensor, lengths: Tensor, what: str) -> Tensor:
    """A computed `axis` of an array of these lengths, as an int32 from 0 on.

    Raises:
        TypeError: `axis` is no integer. ValueError: it is no scalar.
    """
    if not is_one_integer(axis):
        wrong = ValueError if axis.dtype in INTEGER else TypeError
        raise wrong(f"{what}: axis must be one integer, not {axis}")
    place = reshape(cast(axis, int32), [])
    return where(place < 0, place + size(lengths), place)


def is_one_integer(axis: Tensor) -> bool:
    """Whether `axis` may say an axis."""
    return axis.dtype in INTEGER and axis.shape.rank in (0, None)
