"""Diagonals and bands of matrices whose numbers `k` only a run knows: read, replaced, and made into matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.dtypes import INTEGER, int32
from ...core.operation import Tensor
from ..base.axes import is_computed
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.fill import fill
from ..creation.ranges import range_
from ..debugging.assertions import assert_
from ..elementwise.maximum import maximum, minimum
from ..identity.identity import identity, stop_gradient
from ..indexing.gather import GatherV2
from ..indexing.where import where
from ..logic.comparison import equal
from ..shape.reshape import reshape
from ..shape.size import shape, size
from ..shape.squeeze import expand_dims
from ..shape.stacking import concat, unstack


class ComputedBand(NamedTuple):
    """A range of diagonals as int32 scalars, and how many axes its diagonals have: 2 where they are several, else 1."""

    low: Tensor
    high: Tensor
    axes: int | Tensor
    align: str

    def longest(self, m: Tensor, n: Tensor) -> Tensor:
        return minimum(m + minimum(self.high, 0), n - maximum(self.low, 0))

    def shifts(self, k: Tensor, m: Tensor, n: Tensor) -> Tensor:
        """How many padding elements stand before each of the diagonals `k` of matrices of `m` by `n` in its row."""
        above, below = [cast(side == "RIGHT", int32) for side in self.align.split("_")]
        return where(k >= 0, above, below) * (self.longest(m, n) - _length(k, m, n))


def has_computed(*values: Any) -> bool:
    """Whether a run computes one of `values`, or an element of a list among them."""
    return any(has_computed(*v) if isinstance(v, list | tuple) else is_computed(v) for v in values)


def computed_diag_part(x: Tensor, k: Any, padding: Tensor, align: str, name: str) -> Tensor:
    """What `diag_part` says, of a computed `k`."""
    with x.graph.acting.within(name) as scope:
        lead, (m, n) = shape(x)[:-2], unstack(shape(x)[-2:], 2)
        band = _checked("diag_part", _band("diag_part", k, align), m, n)
        numbers = expand_dims(range_(band.high, band.low - 1, -1), 1)
        along = range_(band.longest(m, n)) - band.shifts(numbers, m, n)
        inside = (along >= 0) & (along < _length(numbers, m, n))
        places = where(inside, (along - minimum(numbers, 0)) * n + along + maximum(numbers, 0), 0)
        flat = reshape(x, concat([lead, [m * n]], 0))
        y = where(inside, GatherV2(-1)(flat, places), stop_gradient(padding))
        return reshape(y, concat([lead, shape(places)[2 - band.axes :]], 0), name=scope)


def computed_diag(diagonal: Tensor, k: Any, size_wanted: Any, padding: Tensor, align: str, name: str) -> Tensor:
    """What `diag` says, of a computed `k` or numbers of rows and columns."""
    with diagonal.graph.acting.within(name) as scope:
        band, lengths = _band("diag", k, align), shape(diagonal)
        m, n = [cast(reshape(convert_to_tensor(wanted), []), int32) for wanted in size_wanted]
        rows, columns = lengths[-1] - minimum(band.high, 0), lengths[-1] + maximum(band.low, 0)
        both = (m < 0) & (n < 0)
        m, n = [
            where(both, maximum(rows, columns), where(wanted < 0, least, wanted))
            for wanted, least in ((m, rows), (n, columns))
        ]
        lead = lengths[: size(lengths) - band.axes]
        blank = fill(concat([lead, [m, n]], 0), stop_gradient(padding))
        return _with_band("diag", blank, diagonal, band, scope)


def computed_set_diag(x: Tensor, diagonal: Tensor, k: Any, align: str, name: str) -> Tensor:
    """What `set_diag` says, of a computed `k`."""
    with x.graph.acting.within(name) as scope:
        return _with_band("set_diag", x, diagonal, _band("set_diag", k, align), scope)


def _with_band(what: str, x: Tensor, diagonal: Tensor, band: ComputedBand, scope: str) -> Tensor:
    lead, (m, n) = shape(x)[:-2], unstack(shape(x)[-2:], 2)
    band = _checked(what, band, m, n)
    longest = band.longest(m, n)
    found = shape(diagonal)[-1]
    fits = assert_(equal(found, longest), [f"{what}: the diagonals have a length, and need one, of", found, longest])
    with x.graph.acting.control_dependencies([fits]):
        diagonal = identity(diagonal)
    rows, columns = expand_dims(range_(m), 1), range_(n)
    k = columns - rows
    inside = (k >= band.low) & (k <= band.high)
    bounded = minimum(maximum(k, band.low), band.high)
    along = minimum(rows, columns) + band.shifts(bounded, m, n)
    places = where(inside, (band.high - bounded) * found + along, 0)
    flat = reshape(diagonal, concat([lead, [-1]], 0))
    return where(inside, GatherV2(-1)(flat, places), x, name=scope)


def _band(what: str, k: Any, align: str) -> ComputedBand:
    """Of a scalar, or a vector of one or two."""
    given = convert_to_tensor(k)
    if given.dtype not in INTEGER:
        raise TypeError(f"{what}: k must be integers, not {given}")
    count = 1 if given.shape.rank == 0 else given.shape.size(0) if given.shape.rank == 1 else None
    if count not in (1, 2):
        raise ValueError(f"{what}: k must be an integer or two, of known number, not {given}")
    numbers = unstack(reshape(cast(given, int32), [count]), count)
    low, high = numbers[0], numbers[-1]
    return ComputedBand(low, high, 1 if count == 1 else 1 + cast(low < high, int32), align)


def _checked(what: str, band: ComputedBand, m: Tensor, n: Tensor) -> ComputedBand:
    """`band`; a run in which matrices of `m` by `n` do not have it raises InvalidArgumentError."""
    fits = (-m < band.low) & (band.low <= band.high) & (band.high < n)
    said = [f"{what}: no ascending range of diagonals, and the size of the matrices:", band.low, band.high, m, n]
    with band.low.graph.acting.control_dependencies([assert_(fits | (m * n < 1), said)]):
        return band._replace(low=identity(band.low), high=identity(band.high))


def _length(k: Tensor, m: Tensor, n: Tensor) -> Tensor:
    return minimum(m + minimum(k, 0), n - maximum(k, 0))
