"""Unique slices of a tensor along an axis, sorted or in the order in which they come."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import FEWER
from ...core.types import TensorType
from ..base.precision import widened


class UniqueAlong(Primitive):
    """A tensor [..., n, ...] -> where its distinct slices come first [k], each slice's number [n], counts [k].

    `axis` None: the elements are taken as one vector.
    """

    traits = (FEWER,)
    shape_inputs = (0,)

    axis: int | None
    ordered: bool = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        n = x.shape.num_elements() if self.axis is None else x.shape.size(self.axis) if x.shape.rank else None
        some = TensorType(np.dtype(np.int64), TensorShape([None]))
        return some, TensorType(np.dtype(np.int64), TensorShape([n])), some

    def kernel(self, xp: Any, x: Any) -> Any:
        """With NumPy: the number of slices depends on the values."""
        del xp
        _, first, places, counts = np.unique(
            widened(np.asarray(x)), return_index=True, return_inverse=True, return_counts=True, axis=self.axis
        )
        places = places.reshape(-1)
        if not self.ordered:
            order = np.argsort(first, kind="stable")
            rank = np.empty(order.size, np.int64)
            rank[order] = np.arange(order.size)
            first, places, counts = first[order], rank[places], counts[order]
        return tuple([z.astype(np.int64) for z in (first, places, counts)])

    gradient = no_gradient
