"""An axis of length one, put in where a run says."""

from __future__ import annotations

from ...core.operation import Tensor
from ..creation.ranges import range_
from ..debugging.assertions import assert_
from ..indexing.gather import gather
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.reduce import reduce_any
from .computed_axis import counted_from_the_front
from .reshape import reshape
from .size import shape, size
from .stacking import concat


def expanded_along(axis: Tensor, x: Tensor, name: str | None) -> Tensor:
    """`x` with a one among its lengths at the place of a computed `axis`."""
    with x.graph.acting.within(name or "ExpandDims") as scope:
        lengths = concat([shape(x), [1]], 0)
        place = counted_from_the_front(axis, lengths, "expand_dims")
        places = range_(size(lengths))
        fit = reduce_any(equal(places, place))
        with axis.graph.acting.control_dependencies([assert_(fit, ["expand_dims: there is no axis", axis, lengths])]):
            taken = where(places < place, places, where(equal(places, place), size(lengths) - 1, places - 1))
        return reshape(x, gather(lengths, taken), name=scope)
