"""Activations of Keras as layers: rectifiers, with slopes that are given or learnt, and softmax."""

from __future__ import annotations

from typing import Any

import pullback as pb

from . import backend, constraints, initializers, regularizers
from .base import Layer
from .plain import PlainLayer, refuse_others


class ReLU(PlainLayer):
    """`backend.relu` as a layer."""

    supports_masking = True

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **options: Any
    ) -> None:
        super().__init__(**options)
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rectified inputs."""
        return backend.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(PlainLayer):
    """`x` where it is positive, `alpha * x` elsewhere."""

    supports_masking = True

    def __init__(self, alpha: float = 0.3, **options: Any) -> None:
        super().__init__(**options)
        self.alpha = alpha

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rectified inputs."""
        return pb.nn.leaky_relu(inputs, self.alpha)


class ELU(PlainLayer):
    """`backend.elu` as a layer."""

    supports_masking = True

    def __init__(self, alpha: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.alpha = alpha

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rectified inputs."""
        return backend.elu(inputs, self.alpha)


class ThresholdedReLU(PlainLayer):
    """`x` where it is above `theta`, 0 elsewhere."""

    supports_masking = True

    def __init__(self, theta: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.theta = theta

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rectified inputs."""
        return inputs * pb.cast(inputs > self.theta, inputs.dtype)


class Softmax(PlainLayer):
    """`activations.softmax` as a layer."""

    supports_masking = True

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The shares; what a mask of the shape of the inputs hides has none."""
        mask = kwargs.get("mask", args[0] if args else None)
        hidden = 0.0 if mask is None else (1.0 - pb.cast(mask, inputs.dtype)) * -1e9
        return pb.nn.softmax(inputs + hidden, self.axis)


class PReLU(Layer):
    """`x` where it is positive, a slope that is learnt times `x` elsewhere, one for each place but `shared_axes`."""

    supports_masking = True

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **options: Any,
    ) -> None:
        refuse_others("PReLU", options)
        super().__init__(**options)
        self._parts = (
            initializers.get(alpha_initializer),
            regularizers.get(alpha_regularizer),
            constraints.get(alpha_constraint),
        )
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else list(shared_axes or [])

    def build(self, input_shape: Any) -> None:
        """Make the slopes."""
        lengths = [1 if a in self.shared_axes else n for a, n in enumerate(input_shape.as_list())][1:]
        initializer, regularizer, constraint = self._parts
        self.alpha = self.add_weight(
            "alpha", lengths, initializer=initializer, regularizer=regularizer, constraint=constraint
        )

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rectified inputs."""
        return pb.nn.relu(inputs) - self.alpha * pb.nn.relu(-inputs)
