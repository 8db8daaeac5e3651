"""Max pooling positions: where the largest element of each window stands, as a number in the flattened input."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ..base.windows import Padding, as_data_format, offsets, split_axes
from .geometry import Window, holes_of, pool_geometry
from .max_pool import hits


class MaxPoolPlaces(Primitive):
    """For the maxima `y` of windows of `x`: the number of the first largest element in the flattened `x`.

    It is counted with the channels first, whatever `data_format` is.

    With `column_major` the elements of an image are numbered with the first spatial axis fastest.
    """

    ksize: Window
    strides: Window
    padding: Padding
    data_format: str
    dilations: Window = ()
    column_major: bool = False

    def infer(self, x: TensorType, y: TensorType) -> tuple[TensorType, ...]:
        del x
        return (TensorType(int64, y.shape),)

    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        batch, lengths, channels = split_axes(x.shape, self.data_format)
        total: Any = np.zeros((), np.int64)
        for places, hit in zip(self._numbers(x.shape), hits(self, xp, x, y), strict=True):
            total = total + xp.where(hit, places, np.zeros((), np.int64))
        images = np.arange(batch * channels).reshape(batch, *[1] * len(lengths), channels)
        return as_data_format(xp, total + images * prod(lengths), self.data_format)

    gradient = no_gradient

    def _numbers(self, dims: Sequence[int]) -> list[np.ndarray[Any, Any]]:
        """For each place in the window, the numbers [1, windows..., 1] of the elements there in their image."""
        lengths, pads, counts = pool_geometry(self, dims)
        steps = [prod(lengths[:i]) if self.column_major else prod(lengths[i + 1 :]) for i in range(len(lengths))]
        found = []
        for offset in offsets(self.ksize):
            axes = zip(offset, counts, self.strides, holes_of(self), pads, lengths, steps, strict=True)
            parts = [
                np.clip(np.arange(m) * s + o * d - before, 0, n - 1) * step for o, m, s, d, (before, _), n, step in axes
            ]
            total = sum(np.ix_(*parts), np.zeros((), np.int64))
            found.append(np.asarray(total)[None, ..., None])
        return found
