"""Layers of Keras that move elements: other shapes, zeros around images, parts of them, rows repeated, global pools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import pullback as pb

from . import backend
from .backend.networks import padded
from .backend.state import checked_format
from .base import Layer
from .plain import PlainLayer


class Reshape(PlainLayer):
    """Each example in the shape `target_shape`, of which one length may be -1."""

    def __init__(self, target_shape: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The examples in that shape."""
        if -1 in self.target_shape and inputs.shape[1:].is_fully_defined():
            others = math.prod(n for n in self.target_shape if n != -1)
            target = [inputs.shape[1:].num_elements() // others if n == -1 else n for n in self.target_shape]
            return pb.reshape(inputs, [-1, *target])
        return pb.reshape(inputs, pb.concat([pb.shape(inputs)[:1], list(self.target_shape)], 0))


class Permute(PlainLayer):
    """Each example with its axes, counted from 1, in the order `dims`."""

    def __init__(self, dims: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self.dims = tuple(dims)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The examples in that order."""
        return pb.transpose(inputs, [0, *self.dims])


class Masking(Layer):
    """Sequences, of which the steps whose elements are all `mask_value` do not count; these become 0.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.keras.layers.Masking()(tf.constant([[[1.0, 2.0], [0.0, 0.0]]]))
    >>> y = tf.keras.layers.GlobalAveragePooling1D()(x)
    >>> tf.Session().run(y).tolist()
    [[1.0, 2.0]]
    """

    supports_masking = True

    def __init__(self, mask_value: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.mask_value = mask_value

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The sequences."""
        counts = pb.reduce_any(pb.not_equal(inputs, self.mask_value), -1, keepdims=True)
        return inputs * pb.cast(counts, inputs.dtype)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The steps that count."""
        del mask
        return pb.reduce_any(pb.not_equal(inputs, self.mask_value), -1)


class RepeatVector(PlainLayer):
    """Each row [batch, units] `n` times, [batch, n, units]."""

    def __init__(self, n: int, **options: Any) -> None:
        super().__init__(**options)
        self.n = n

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rows."""
        return backend.repeat(inputs, self.n)


class Spatial(PlainLayer):
    """What treats the axes between batch and channels, which `data_format` says."""

    axes: ClassVar[int] = 2

    def __init__(self, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.data_format = checked_format(data_format)

    def places(self) -> list[int]:
        """The numbers of these axes."""
        start = 1 if self.data_format == "channels_last" else 2
        return list(range(start, start + self.axes))


def _pairs(value: Any, axes: int) -> list[list[int]]:
    """Two numbers for each axis; of sequences a pair is that of the one axis."""
    if isinstance(value, int):
        return [[value, value]] * axes
    if axes == 1 and all(isinstance(n, int) for n in value):
        return [list(value)]
    return [[n, n] if isinstance(n, int) else list(n) for n in value]


class ZeroPadding2D(Spatial):
    """Images with zeros around them."""

    def __init__(self, padding: Any = 1, data_format: str | None = None, **options: Any) -> None:
        super().__init__(data_format, **options)
        self.padding = _pairs(padding, self.axes)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The larger images."""
        return padded(inputs, self.padding, self.data_format)


class ZeroPadding1D(ZeroPadding2D):
    """Sequences with zeros before and behind."""

    axes = 1


class ZeroPadding3D(ZeroPadding2D):
    """Volumes with zeros around them."""

    axes = 3


class Cropping2D(Spatial):
    """Images without some rows and columns at the edges."""

    def __init__(self, cropping: Any = 0, data_format: str | None = None, **options: Any) -> None:
        super().__init__(data_format, **options)
        self.cropping = _pairs(cropping, self.axes)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The smaller images."""
        parts = [slice(None)] * (self.axes + 2)
        for place, (before, behind) in zip(self.places(), self.cropping, strict=True):
            parts[place] = slice(before, -behind or None)
        return inputs[tuple(parts)]


class Cropping1D(Cropping2D):
    """Sequences without some steps at the ends."""

    axes = 1

    def __init__(self, cropping: Any = (1, 1), **options: Any) -> None:
        super().__init__(cropping, **options)


class Cropping3D(Cropping2D):
    """Volumes without some planes at the edges."""

    axes = 3

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **options: Any) -> None:
        super().__init__(cropping, data_format, **options)


class UpSampling2D(Spatial):
    """Images with each row and column repeated, or, with interpolation="bilinear", with rows and columns between."""

    def __init__(
        self, size: Any = 2, data_format: str | None = None, interpolation: str = "nearest", **options: Any
    ) -> None:
        super().__init__(data_format, **options)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(
                f"keras UpSampling2D: interpolation must be 'nearest' or 'bilinear', not {interpolation!r}"
            )
        self.size = [size] * self.axes if isinstance(size, int) else list(size)
        self.interpolation = interpolation

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The larger images."""
        if self.interpolation == "bilinear":
            return self._between(inputs)
        for place, count in zip(self.places(), self.size, strict=True):
            inputs = pb.repeat(inputs, count, axis=place)
        return inputs

    def _between(self, images: pb.Tensor) -> pb.Tensor:
        first = self.data_format == "channels_first"
        x = pb.transpose(images, [0, 2, 3, 1]) if first else images
        lengths: Any = pb.shape(x)[1:3] * pb.constant(self.size)
        if x.shape[1:3].is_fully_defined():
            lengths = [n * k for n, k in zip(x.shape[1:3].as_list(), self.size, strict=True)]
        y = pb.image.resize(x, lengths, "bilinear")
        return pb.transpose(y, [0, 3, 1, 2]) if first else y


class UpSampling1D(UpSampling2D):
    """Sequences with each step repeated."""

    axes = 1

    def __init__(self, size: int = 2, **options: Any) -> None:
        super().__init__(size, **options)


class UpSampling3D(UpSampling2D):
    """Volumes with each plane repeated."""

    axes = 3

    def __init__(self, size: Any = (2, 2, 2), data_format: str | None = None, **options: Any) -> None:
        super().__init__(size, data_format, **options)


class GlobalAveragePooling2D(Spatial):
    """The mean of each channel over height and width."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The means."""
        return pb.reduce_mean(inputs, self.places())


class GlobalMaxPooling2D(Spatial):
    """The largest element of each channel over height and width."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The largest elements."""
        return pb.reduce_max(inputs, self.places())


class GlobalAveragePooling1D(GlobalAveragePooling2D):
    """The mean of each channel over the steps that count."""

    axes = 1

    def call(self, inputs: Any, mask: Any = None, **kwargs: Any) -> Any:
        """The means."""
        if mask is None:
            return super().call(inputs)
        axis = self.places()[0]
        counts = pb.expand_dims(pb.cast(mask, inputs.dtype), 3 - axis)
        return pb.reduce_sum(inputs * counts, axis) / pb.reduce_sum(counts, axis)


class GlobalMaxPooling1D(GlobalMaxPooling2D):
    """The largest element of each channel over the steps."""

    axes = 1


class GlobalAveragePooling3D(GlobalAveragePooling2D):
    """The mean of each channel over a volume."""

    axes = 3


class GlobalMaxPooling3D(GlobalMaxPooling2D):
    """The largest element of each channel over a volume."""

    axes = 3
