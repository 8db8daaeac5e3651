"""Layers of Keras that change numbers at random in training: dropout of channels and steps, and noise."""

from __future__ import annotations

from typing import Any, ClassVar

import pullback as pb

from . import backend
from .backend.state import checked_format
from .plain import PlainLayer


class AbstractNoise(PlainLayer):
    """A layer that gives its inputs as they are, but in training."""

    supports_masking = True

    def call(self, inputs: Any, training: Any = None, **kwargs: Any) -> Any:
        """The inputs, changed in training; a tensor `training` decides in a run."""
        return backend.in_train_phase(lambda: self.changed(inputs), inputs, training)

    def changed(self, x: pb.Tensor) -> pb.Tensor:
        """What inputs are in training."""
        raise NotImplementedError(f"{type(self).__name__} defines no changed()")


class SpatialDropout2D(AbstractNoise):
    """Images of which, in training, the share `rate` of the channels is 0."""

    axes: ClassVar[int] = 2

    def __init__(self, rate: float, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.rate, self.data_format = rate, checked_format(data_format)

    def changed(self, x: pb.Tensor) -> pb.Tensor:
        """The images without these channels."""
        lengths, ones = pb.shape(x), [1] * self.axes
        last = self.data_format == "channels_last"
        kept: Any = [lengths[:1], ones, lengths[-1:]] if last else [lengths[:2], ones]
        return backend.dropout(x, self.rate, pb.concat(kept, 0))


class SpatialDropout1D(SpatialDropout2D):
    """Sequences of which, in training, the share `rate` of the channels is 0."""

    axes = 1

    def __init__(self, rate: float, **options: Any) -> None:
        super().__init__(rate, **options)


class SpatialDropout3D(SpatialDropout2D):
    """Volumes of which, in training, the share `rate` of the channels is 0."""

    axes = 3


class GaussianNoise(AbstractNoise):
    """Inputs with normal numbers of that deviation added in training."""

    def __init__(self, stddev: float, **options: Any) -> None:
        super().__init__(**options)
        self.stddev = stddev

    def changed(self, x: pb.Tensor) -> pb.Tensor:
        """The noisy inputs."""
        return x + pb.random.normal(pb.shape(x), 0.0, self.stddev, x.dtype)


class GaussianDropout(AbstractNoise):
    """Inputs times normal numbers around 1, with the deviation that dropout of the share `rate` has, in training."""

    def __init__(self, rate: float, **options: Any) -> None:
        super().__init__(**options)
        self.rate = rate

    def changed(self, x: pb.Tensor) -> pb.Tensor:
        """The noisy inputs."""
        if not 0 < self.rate < 1:
            return x
        return x * pb.random.normal(pb.shape(x), 1.0, (self.rate / (1.0 - self.rate)) ** 0.5, x.dtype)
