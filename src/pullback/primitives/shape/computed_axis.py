"""Axes that a run computes, counted from the front: of concatenation, splitting, gathering, running sums, reversal."""

from __future__ import annotations

from collections.abc import Callable

from ...core.dtypes import INTEGER, int32
from ...core.errors import WrongKindError
from ...core.operation import Tensor
from ..casting.cast import cast
from ..creation.ranges import range_
from ..debugging.assertions import assert_
from ..identity.identity import identity
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.product import reduce_prod
from ..reduction.reduce import reduce_all, reduce_any
from .reshape import reshape, reshape_like
from .size import shape, size


def counted_from_the_front(axis: Tensor, lengths: Tensor, what: str) -> Tensor:
    """A computed `axis` of an array of these lengths, as an int32 from 0 on; TypeError or ValueError for no integer."""
    check_one_integer(axis, what)
    place = reshape(cast(axis, int32), [])
    return where(place < 0, place + size(lengths), place)


def check_one_integer(axis: Tensor, what: str) -> None:
    """WrongKindError where a computed `axis` is no integer, ValueError where it is no scalar."""
    if axis.dtype not in INTEGER or axis.shape.rank not in (0, None):
        wrong = ValueError if axis.dtype in INTEGER else WrongKindError
        raise wrong(f"{what}: axis must be one integer, not {axis}")


def axis_in_the_middle(axis: Tensor, x: Tensor, what: str) -> tuple[Tensor, Tensor]:
    """`x` as [what lies before a computed `axis`, its length, what lies behind], and which of the axes of `x` it is.

    A run in which `x` has no such axis raises InvalidArgumentError.
    """
    lengths = shape(x)
    place = counted_from_the_front(axis, lengths, what)
    places = range_(size(lengths))
    chosen = equal(places, place)
    with axis.graph.acting.control_dependencies(
        [assert_(reduce_any(chosen), [f"{what}: there is no axis", axis, lengths])]
    ):
        parts = [reduce_prod(where(these, lengths, 1)) for these in (places < place, chosen, places > place)]
    return reshape(x, parts), chosen


def along_computed(axis: Tensor, x: Tensor, what: str, act: Callable[[Tensor], Tensor], name: str | None) -> Tensor:
    """What `act` makes along the middle one of three axes, in the shape of `x`, along a computed `axis`."""
    with x.graph.acting.within(name or what) as scope:
        middle, _ = axis_in_the_middle(axis, x, what)
        return identity(reshape_like(act(middle), x), name=scope)


def several_counted(axes: Tensor, x: Tensor, what: str) -> Tensor:
    """Computed `axes` of `x` as a vector of int32 from 0 on.

    A run in which `x` has no such axis raises InvalidArgumentError.

    Raises:
        TypeError: `axes` are no integers. ValueError: they are no vector.
    """
    if axes.dtype not in INTEGER:
        raise TypeError(f"{what}: axis must be integers, not {axes}")
    if axes.shape.rank not in (0, 1, None):
        raise ValueError(f"{what}: a computed axis must be a scalar or a vector, not {axes}")
    rank = size(shape(x)) if x.shape.rank is None else x.shape.rank
    flat = reshape(cast(axes, int32), [-1])
    places = where(flat < 0, flat + rank, flat)
    known = range_(rank)
    fit = reduce_all(reduce_any(equal(places[:, None], known), 1))
    with axes.graph.acting.control_dependencies([assert_(fit, [f"{what}: axis is out of range of {x.type}:", axes])]):
        return identity(places)
