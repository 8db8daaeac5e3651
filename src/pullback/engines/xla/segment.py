"""XLA lowering of the places of extrema of segments."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...primitives.base.scattering import combine_rows
from ...primitives.segment.reductions import SegmentHits
from ...primitives.segment.sums import SegmentGather, rows_of
from .extrema import distance_to, of_given
from .registry import xla_kernel


@xla_kernel(SegmentHits)
def segment_hits(p: SegmentHits, x: Any, ids: Any, y: Any) -> Any:
    """1 for the nearest elements of each segment."""

    def hits(x: Any, ids: Any, y: Any) -> Any:
        distance = distance_to(x, SegmentGather().kernel(jnp, y, ids))
        farthest = jnp.full(y.shape, jnp.inf, x.dtype)
        least = combine_rows(jnp, farthest, ids.reshape(-1), rows_of(distance, ids), "min")
        return (distance == SegmentGather().kernel(jnp, least, ids)).astype(x.dtype)

    return of_given(p, hits, 0.0, x, ids, y)
