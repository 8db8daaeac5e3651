"""XLA lowering of the rows of segments, and of the places of their extrema."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...primitives.base.scattering import bounded, combine_rows
from ...primitives.segment.reductions import SegmentHits
from ...primitives.segment.sums import SegmentGather, rows_of
from .extrema import distance_to, of_given
from .registry import xla_kernel


@xla_kernel(SegmentGather)
def segment_gather(p: SegmentGather, x: Any, ids: Any) -> Any:
    """The row of each number, or zeros."""
    if not len(x):
        return p.kernel(jnp, x, ids)
    places = jnp.asarray(x).at[bounded(jnp, jnp.asarray(ids), len(x))]
    return places.get(mode="fill", fill_value=0, wrap_negative_indices=False)


@xla_kernel(SegmentHits)
def segment_hits(p: SegmentHits, x: Any, ids: Any, y: Any) -> Any:
    """1 for the nearest elements of each segment."""

    def hits(x: Any, ids: Any, y: Any) -> Any:
        distance = distance_to(x, segment_gather(SegmentGather(), y, ids))
        farthest = jnp.full(y.shape, jnp.inf, x.dtype)
        least = combine_rows(jnp, farthest, ids.reshape(-1), rows_of(distance, ids), "min")
        return (distance == segment_gather(SegmentGather(), least, ids)).astype(x.dtype)

    return of_given(p, hits, 0.0, x, ids, y)
