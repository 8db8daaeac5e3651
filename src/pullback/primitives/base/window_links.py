"""Indexing maps of convolutions and pooling: which windows see which elements, at which place of the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.traits import Link, Links, Positions
from .windows import Padding, count_of_taps, has_channels_first, pads_of, result_lengths, taps

Labels = Mapping[str, Any]
"""What the channels along an axis are called: numbers of each label. Channels meet where all shared labels agree."""


class Images(NamedTuple):
    """An array [n, spatial..., c], or filters [spatial..., depth, count]: the roles of its axes."""

    role: str
    """Of its spatial axes: "windows", "elements" or "places"."""
    batch: int | None
    spatial: Sequence[int]
    channels: Mapping[int, Labels]
    """For each axis of channels its labels."""


def images(role: str, data_format: str, labels: Labels) -> Images:
    """An array of images in the order of `data_format`."""
    count = len(data_format) - 2
    first = has_channels_first(data_format)
    return Images(role, 0, range(2, count + 2) if first else range(1, count + 1), {1 if first else count + 1: labels})


class Geometry(NamedTuple):
    """What a window operation does along its spatial axes; the lengths are those of the input of the windows."""

    lengths: Sequence[int]
    windows: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    padding: Padding

    def pairs(self, axis: int, output: str, input: str, _n: int, _m: int) -> Positions:
        """Those positions that meet along a spatial axis, of the roles `output` and `input`."""
        found = taps(*self._along(axis))
        by_role = dict(zip(("windows", "elements", "places"), found, strict=True))
        return by_role[output], by_role[input]

    def count(self, axis: int) -> int:
        """How many `pairs` there are."""
        return count_of_taps(*self._along(axis))

    def _along(self, axis: int) -> tuple[int, int, int, int, int, int]:
        """What `taps` takes, for a spatial axis."""
        geometry = (self.lengths, self.windows, self.strides, self.dilations)
        n, window, stride, dilation = [values[axis] for values in geometry]
        count = result_lengths(*geometry, self.padding)[axis] or 0
        return n, window, stride, dilation, pads_of(*geometry, self.padding)[axis][0], max(count, 0)


def window_links(geometry: Geometry, y: Images, x: Images) -> Links:
    """The axes of `y` that go along axes of `x`."""
    links = [] if y.batch is None or x.batch is None else [Link(y.batch, x.batch)]
    for i, (output, input) in enumerate(zip(y.spatial, x.spatial, strict=True)):
        links.append(Link(output, input, partial(geometry.pairs, i, y.role, x.role), partial(geometry.count, i)))
    for output, ours in y.channels.items():
        for input, theirs in x.channels.items():
            if ours is theirs:
                links.append(Link(output, input))
            elif ours.keys() & theirs.keys():
                links.append(Link(output, input, partial(_agreeing, ours, theirs)))
    return tuple(links)


def _agreeing(ours: Labels, theirs: Labels, _n: int, _m: int) -> Positions:
    """Those of equal labels, which know the channels even where a length is only assumed."""
    shared = ours.keys() & theirs.keys()
    rows, columns = np.nonzero(
        np.all([np.asarray(ours[label])[:, None] == np.asarray(theirs[label]) for label in shared], axis=0)
    )
    return rows, columns
