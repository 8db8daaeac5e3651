"""Formulations of convolutions in programs that are compiled for processors: which one is the fastest.

XLA's lowerings compute by the one that is chosen here, and the cost model counts what that takes. Why each is faster,
and what was measured, says the lowering that computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from math import gcd, prod
from typing import Any

from ...core.threads import threads
from ..base.windows import MOST_PLACES, Pads, has_channels_first, pads_of, result_lengths, split_axes

MOST_CHUNKS = 32
"""Into how many parts a batch is cut at most whose patches are made one after the other."""
_FEW_PRODUCTS = 36
"""The products of one element up to which their sum is compiled in little more time than it is worth."""
_FEW = 8
"""The channels of results up to which one product is faster by half. Of 12 one convolution alone takes 0.6, but a net
of them, whose sums many others read, is level, and compiles longer."""
_WIDER, _LARGE = 4, 1 << 24
"""How many times as large as what is convolved the product may be; no larger if it has so many elements."""
_SHARED = 1 << 19
"""The elements of a product up to which it is made because XLA's own way is not shared out over threads."""
_CACHE = 8_000_000
"""Bytes of patches of volumes that are worked on at a time."""
_MOST_PATCHES = 1 << 23
"""The elements of a chunk's patches up to which they are made where the convolution is slow, but needs none."""
_FEW_FILTERS = 32
"""Of fewer filters a part has this many images, which are the convolution's channels: it wants one or the other."""
_COPIED = 1 << 20
"""The elements of images up to which a part of so many is copied."""
_IN_CACHE = 210_000
"""The elements of cotangents, which are the convolution's filters, that stay in the cache of a core."""
_IMAGES = 8
"""The images that a part has at least: of four the convolution takes twice as long on two threads."""
_SEEN = 1 << 15
"""The elements of a part of the images, at least, of which what each place of a depthwise window sees is made."""


class Formulation(Enum):
    """How a convolution, or one of its derivatives, is computed."""

    SHIFTED = auto()
    """As a sum of shifted images times numbers."""
    COVERED = auto()
    """With the axes that a window covers as channels; a product of matrices where it covers all."""
    PLACES = auto()
    """As one product of matrices for all places of a window."""
    VOLUMES = auto()
    """As products of patches of some volumes at a time."""
    LARGE_WINDOWS = auto()
    """As one product of matrices for each place of a window."""
    PATCHES = auto()
    """As products of patches of a part of the batch."""
    PARTS = auto()
    """As convolutions of parts of the batch, batch and channels exchanged."""
    OWN = auto()
    """By XLA's own operation."""


@dataclass(frozen=True)
class Sizes:
    """The lengths of a convolution's images, filters and results; some may be known to a run only, in any form."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: Any
    channels_first: bool
    batch: Any
    images: tuple[Any, ...]
    channels: Any
    windows: tuple[int, ...]
    depth: int
    count: int
    results: tuple[Any, ...]
    itemsize: int
    is_float: bool

    @staticmethod
    def of(
        p: Any, x: Sequence[Any], f: Sequence[int], results: Sequence[Any], itemsize: int, is_float: bool = True
    ) -> Sizes:
        """Those of a convolution `p`, or a derivative: of images `x` and filters `f`, and the results' lengths."""
        batch, images, channels = split_axes(tuple(x), p.data_format)
        *windows, depth, count = f
        first = has_channels_first(p.data_format)
        axes = batch, images, channels, tuple(windows), depth, count, tuple(results)
        return Sizes(p.strides, p.dilations, p.padding, first, *axes, itemsize, is_float)

    @cached_property
    def pads(self) -> Pads:
        """What is put around images."""
        return pads_of(self.images, self.windows, self.strides, self.dilations, self.padding)

    @property
    def places(self) -> int:
        """The places of a window."""
        return prod(self.windows)

    def bytes(self, *axes: Any) -> int:
        """The bytes of an array with axes of these lengths."""
        return int(self.itemsize * prod(axes))

    @property
    def image_bytes(self) -> int:
        """The bytes of images."""
        return self.bytes(self.batch, *self.images, self.channels)

    @property
    def filter_bytes(self) -> int:
        """The bytes of filters."""
        return self.bytes(self.places, self.depth, self.count)

    @property
    def result_bytes(self) -> int:
        """The bytes of results."""
        return self.bytes(self.batch, *self.results, self.count)

    @property
    def is_whole(self) -> bool:
        """Whether each filter sees all channels."""
        return bool(self.channels == self.depth)

    @cached_property
    def covered(self) -> tuple[int, ...]:
        """The spatial axes of which filters see all at once."""
        if self.channels_first or not self.is_whole:
            return ()
        axes = enumerate(zip(self.images, self.windows, self.pads, self.dilations, strict=True))
        return tuple([i for i, (n, k, pad, d) in axes if n == k > 1 and not any(pad) and d == 1])

    def folded(self) -> Sizes:
        """Those with the axes that are covered as channels."""
        depth = self.depth * prod([self.windows[i] for i in self.covered])
        images, windows = [
            tuple([1 if i in self.covered else n for i, n in enumerate(axes)]) for axes in (self.images, self.windows)
        ]
        return replace(self, images=images, windows=windows, depth=depth, channels=depth)


def result_counts(p: Any, lengths: Sequence[Any], windows: Sequence[int]) -> list[Any]:
    """The numbers of windows along each axis."""
    return [max(m or 0, 0) for m in result_lengths(lengths, windows, p.strides, p.dilations, p.padding)]


def forward(n: Sizes) -> Formulation:
    """How a convolution is computed."""
    if n.channels == 1 and n.places <= _FEW_PRODUCTS:
        return Formulation.SHIFTED
    if n.covered:
        return Formulation.COVERED
    if not n.is_whole:
        return Formulation.OWN
    if max(n.strides) == 1 and _is_faster_by_places(n, n.images, n.depth, n.count):
        return Formulation.PLACES
    if volume_chunks(n, n.results):
        return Formulation.VOLUMES
    return Formulation.LARGE_WINDOWS if _has_large_windows(n) else Formulation.OWN


def by_input(n: Sizes) -> Formulation:
    """How the derivative by images is computed."""
    if n.channels == 1 and n.places * n.count <= _FEW_PRODUCTS:
        return Formulation.SHIFTED
    if n.covered:
        return Formulation.COVERED
    if not n.is_whole:
        return Formulation.OWN
    if _is_faster_by_places(n, n.results, n.count, n.depth) or _is_shared_by_places(n):
        return Formulation.PLACES
    if volume_chunks(n, n.images, whole=max(n.strides) > 1):
        return Formulation.VOLUMES
    return Formulation.LARGE_WINDOWS if _has_large_windows(n) else Formulation.OWN


def by_filter(n: Sizes) -> Formulation:
    """How the derivative by filters is computed."""
    if n.covered:
        return Formulation.COVERED
    if not n.is_whole:
        return Formulation.OWN
    if max(n.strides) == 1 and _is_faster_by_places(n, n.images, n.depth, n.count):
        return Formulation.PLACES
    if _is_faster_by_patches(n) and not _has_large_windows(n):
        return Formulation.PATCHES
    return Formulation.OWN if n.channels_first else Formulation.PARTS


def has_few_channels(windows: Sequence[int], depth: int, count: int) -> bool:
    """Whether a convolution of `depth` channels gives so few, `count`, that one product is faster, if there is room."""
    places = prod(windows)
    return 1 < places <= MOST_PLACES and 0 < count <= _FEW and places * count <= _WIDER * depth


def has_strides(windows: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether windows of one or two axes, in strides, are those that XLA does not share out over threads."""
    return threads() > 1 and len(windows) < 3 and max(strides) > 1 and 1 < prod(windows) <= MOST_PLACES


def volume_chunks(n: Sizes, counts: Sequence[Any], whole: bool = False) -> int | None:
    """Into how many parts to cut a batch of volumes; None where XLA's own operation is better.

    That is where the patches of one volume do not stay in the cache; `whole` ones are made all the same. The other
    arrays have the lengths `counts`.
    """
    shape = (n.batch, *n.images)
    is_known = all(isinstance(m, int) for m in shape)
    if len(n.windows) != 3 or max(n.windows) == 1 or not is_known or 0 in (*shape, *counts, *n.windows, n.count):
        return None
    size = n.batch * prod(counts) * n.places * n.depth * n.itemsize
    fitting = [m for m in range(1, n.batch + 1) if n.batch % m == 0 and size / m <= _CACHE]
    if fitting:
        return fitting[0]
    return n.batch if whole or size / n.batch <= 2 * _CACHE else None


def parts_of(batch: int, places: int, count: int) -> int:
    """Into how many parts of equal size to cut a batch, for convolutions of parts."""
    least = _IMAGES if count >= _FEW_FILTERS else _FEW_FILTERS
    sizes = [n for n in range(min(least, batch), batch + 1) if batch % n == 0]
    return batch // max([n for n in sizes if n * places * count <= _IN_CACHE], default=sizes[0])


def depthwise_chunks(batch: int, size: int) -> int:
    """Into how many parts to cut a batch of images of `size` elements for the derivative by depthwise filters."""
    return max([n for n in range(1, batch + 1) if batch % n == 0 and size // n >= _SEEN], default=1)


def _is_faster_by_places(n: Sizes, convolved: Sequence[Any], depth: int, count: int) -> bool:
    """Whether what has `depth` channels of the lengths `convolved`, and gives so few, is multiplied at once."""
    if not n.is_float or not has_few_channels(n.windows, depth, count):
        return False
    if not all(isinstance(m, int) for m in (n.batch, *convolved)):
        return False
    return n.places * count <= depth or n.batch * prod(convolved) * n.places * count <= _LARGE


def _is_shared_by_places(n: Sizes) -> bool:
    """Whether the derivative by images is faster so because of strides, however many channels these have."""
    if not n.is_float or not has_strides(n.windows, n.strides):
        return False
    rows = (n.batch, *n.results)
    if not all(isinstance(m, int) for m in rows) or 0 in rows or n.count == 0:
        return False
    return bool(0 < prod(rows) * n.places * n.depth <= _SHARED)


def _has_large_windows(n: Sizes) -> bool:
    """Whether a window has more places than there are windows in an image."""
    return bool(n.places > prod(n.results) > 0)


def _is_faster_by_patches(n: Sizes) -> bool:
    """Whether products of patches are faster for the derivative by filters.

    Measured: they are for few filters on few images, or on many of which a part would be large. For an image of
    64 x 64 x 8 and 8 filters of 3 x 3 the convolution takes 1.8 ms, and they 0.3.
    """
    if not isinstance(n.batch, int):
        return False
    if len(n.windows) > 2 or max(n.windows) == 1:
        return True
    places, size = prod(n.results), prod(n.images) * n.depth
    if n.batch <= 16:
        made_at_once = n.batch // gcd(n.batch, MOST_CHUNKS) * n.places * n.depth
        are_few = isinstance(places, int) and places * made_at_once <= _MOST_PATCHES
        return (n.depth >= 128 and n.batch < _IMAGES) or (n.count < _FEW_FILTERS and are_few)
    if not isinstance(places, int) or not isinstance(size, int):
        return n.depth > 8
    return n.count < _FEW_FILTERS and n.batch // parts_of(n.batch, places, n.count) * size > _COPIED
