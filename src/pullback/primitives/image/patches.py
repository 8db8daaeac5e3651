"""Patch extraction (im2col): windows of images and volumes laid out as channels, and the transpose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import ADDS, MOVES, ZEROS
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.precision import widened
from ..base.windows import (
    Padding,
    at_offset,
    infer_windows,
    inside,
    offsets,
    padded,
    pads_of,
    result_lengths,
    spatial_lengths,
    spatial_padding,
    window_shape,
)
from ..creation.constant import convert_to_tensor
from ..shape.reshape import shape_to_use
from ..shape.size import shape

_FORMS = {2: "NHWC", 3: "NDHWC"}
_NAMES = {2: "extract_patches", 3: "extract_volume_patches"}


def extract_patches(
    images: TensorLike,
    sizes: int | Sequence[int],
    strides: int | Sequence[int],
    rates: int | Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The windows of images: each result has, as channels, all elements of its window, channels fastest.

    Elements of a window are `rates` apart; padding is zeros.

    Shapes: `images` [n, h, w, c]; `sizes`, `strides` and `rates` [1, rows, columns, 1]; the result [n, rows of windows,
    columns of windows, kh * kw * c]. Dtypes: any.

    Derivative: dx = sum of dy over the patches that hold an element.

    Raises:
        ValueError: the arguments do not fit the images.

    >>> import pullback as pb
    >>> x = pb.reshape(pb.range(9), [1, 3, 3, 1])
    >>> pb.Session().run(pb.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"))[0, 0]
    array([[0, 1, 3, 4],
           [1, 2, 4, 5]], dtype=int32)
    """
    what, form = _NAMES[2], _FORMS[2]
    size, steps = spatial_lengths(what, "sizes", sizes, 2, form), spatial_lengths(what, "strides", strides, 2, form)
    holes = spatial_lengths(what, "rates", rates, 2, form)
    return ExtractImagePatches(size, steps, holes, _padding(what, padding, 2))(convert_to_tensor(images), name=name)


def extract_volume_patches(
    input: TensorLike, ksizes: int | Sequence[int], strides: int | Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """The windows of volumes: each result has, as channels, all elements of its window, channels fastest.

    Shapes: `input` [n, d, h, w, c]; `ksizes` and `strides` [1, planes, rows, columns, 1]. Dtypes: any.

    Derivative: dx = sum of dy over the patches that hold an element.

    Raises:
        ValueError: the arguments do not fit the input.

    >>> import pullback as pb
    >>> x = pb.zeros([2, 4, 4, 6, 3])
    >>> pb.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID").shape
    TensorShape([2, 2, 2, 3, 24])
    """
    what, form = _NAMES[3], _FORMS[3]
    size, steps = spatial_lengths(what, "ksizes", ksizes, 3, form), spatial_lengths(what, "strides", strides, 3, form)
    return ExtractVolumePatches(size, steps, (1, 1, 1), _padding(what, padding, 3))(convert_to_tensor(input), name=name)


def _padding(what: str, padding: Any, count: int) -> Padding:
    if not isinstance(padding, str):
        raise ValueError(f"{what}: padding must be SAME or VALID, not {padding!r}")
    return spatial_padding(what, padding, count, _FORMS[count])


class AbstractPatches(Primitive):
    """All elements of each window side by side."""

    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    rates: tuple[int, ...]
    padding: Padding

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        what, form = _NAMES[len(self.ksize)], _FORMS[len(self.ksize)]
        batch, counts, channels = infer_windows(what, x, self.ksize, self.strides, self.rates, self.padding, form)
        depth = None if channels is None else channels * int(np.prod(self.ksize))
        return (TensorType(x.dtype, window_shape(batch, counts, depth, form)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        lengths = x.shape[1:-1]
        counts = result_lengths(lengths, self.ksize, self.strides, self.rates, self.padding)
        numbers = [max(m or 0, 0) for m in counts]
        x = padded(xp, x, pads_of(lengths, self.ksize, self.strides, self.rates, self.padding))
        pieces = [x[at_offset(o, numbers, self.strides, self.rates)] for o in offsets(self.ksize)]
        return xp.concatenate(pieces, axis=-1)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        window = (self.ksize, self.strides, self.rates, self.padding)
        (x,) = op.inputs
        dims = x.shape.sizes
        if dims is None or None in dims[1:]:
            return (lambda: PatchesBack(*window, None)(dy, shape(x)),)
        return (lambda: PatchesBack(*window, dims)(dy),)


class ExtractImagePatches(AbstractPatches):
    traits = (MOVES,)


class ExtractVolumePatches(AbstractPatches):
    traits = (MOVES,)


class PatchesBack(Primitive):
    """Patches added up where they came from, in an input of shape `input_sizes`, or the one that a second input holds;
    the batch is that of the patches."""

    traits = (ADDS, ZEROS)
    shape_inputs = (1,)

    ksize: tuple[int, ...]
    strides: tuple[int, ...]
    rates: tuple[int, ...]
    padding: Padding
    input_sizes: tuple[int | None, ...] | None

    def infer(self, dy: TensorType, sizes: TensorType | None = None) -> tuple[TensorType, ...]:
        del sizes
        batch = None if dy.shape.lengths is None else dy.shape.lengths[0]
        _, *lengths, channels = self.input_sizes or (None,) * (len(self.ksize) + 2)
        return (TensorType(dy.dtype, window_shape(batch, lengths, channels, _FORMS[len(self.ksize)])),)

    def kernel(self, xp: Any, dy: Any, sizes: Any = None) -> Any:
        _, *lengths, channels = shape_to_use(self.input_sizes, sizes)
        dtype, dy = dy.dtype, widened(dy)
        pads = pads_of(lengths, self.ksize, self.strides, self.rates, self.padding)
        around = [before + n + after for n, (before, after) in zip(lengths, pads, strict=True)]
        total = xp.zeros((dy.shape[0], *around, channels), dy.dtype)
        for i, offset in enumerate(offsets(self.ksize)):
            at = at_offset(offset, dy.shape[1:-1], self.strides, self.rates)
            piece = dy[..., i * channels : (i + 1) * channels]
            if xp is np:
                total[at] += piece
            else:
                total = total.at[at].add(piece)
        return total[inside(lengths, pads)].astype(dtype)

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        kind = ExtractImagePatches if len(self.ksize) == 2 else ExtractVolumePatches
        extract = kind(self.ksize, self.strides, self.rates, self.padding)
        return (partial(extract, d), None)[: len(op.inputs)]
