"""Prefetching: a queue of batches that threads fill ahead of the steps: `slim.prefetch_queue`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pullback as pb

from ..queues import FIFOQueue, PaddingFIFOQueue, QueueBase
from ..train.producers import fill, summarize


def prefetch_queue(
    tensors: Sequence[Any] | Mapping[str, Any],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue that threads fill with the values of `tensors`; `queue.dequeue()` gives as many, by name from a mapping.

    With `dynamic_pad` elements of several lengths are filled up with zeros where many are taken.
    """
    names = sorted(tensors) if isinstance(tensors, Mapping) else None
    listed = list(tensors) if names is None else [tensors[n] for n in names]  # type: ignore[call-overload]
    given = [pb.convert_to_tensor(x) for x in listed]
    with pb.name_scope(name or "prefetch_queue"):
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        shapes = [x.shape if dynamic_pad or x.shape.is_fully_defined() else None for x in given]
        known = None if any(s is None for s in shapes) else shapes
        queue = kind(capacity, [x.dtype for x in given], known, names, shared_name)
        put = queue.enqueue(given if names is None else dict(zip(names, given, strict=True)))
        fill(queue, [put] * num_threads)
        summarize(queue, capacity)
    return queue
