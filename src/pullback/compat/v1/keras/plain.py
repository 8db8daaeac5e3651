"""Layers of Keras without variables: what all of them take, and functions of tensors as layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pullback as pb

from . import activations
from .base import OF_INPUTS, Layer

_OF_ALL = (*OF_INPUTS, "name", "dtype", "trainable")


def refuse_others(layer: str, options: Mapping[str, Any], taken: tuple[str, ...] = ()) -> None:
    """Raise where `options` has a wish that the layer would not fulfil.

    Raises:
        NotImplementedError: there is one.
    """
    wishes = {name: value for name, value in options.items() if name not in (*_OF_ALL, *taken)}
    others = {n: v for n, v in wishes.items() if not (v is None or (isinstance(v, int | float) and v == 0))}
    if others:
        raise NotImplementedError(f"keras {layer}: not there: {others}; use functions of tf.nn, or a layer of your own")


def of_all(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `options` that all layers take."""
    return {name: value for name, value in options.items() if name in _OF_ALL}


class PlainLayer(Layer):
    """A layer without variables."""

    def __init__(self, **options: Any) -> None:
        refuse_others(type(self).__name__, options)
        super().__init__(**of_all(options))


class Lambda(Layer):
    """A function as a layer; `output_shape` is what the function makes."""

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        del output_shape
        refuse_others("Lambda", options | {"mask": mask})
        super().__init__(**of_all(options))
        self.function, self.arguments = function, dict(arguments or {})

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        return self.function(inputs, *args, **self.arguments, **kwargs)


class Activation(PlainLayer):
    """An activation, or its name, as a layer."""

    supports_masking = True

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = activations.get(activation)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The activation of the inputs."""
        return self.activation(inputs)


class ActivityRegularization(PlainLayer):
    """Its inputs, whose sums of magnitudes and of squares for an example are penalties, in `losses` of the layer."""

    supports_masking = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The inputs."""
        x = pb.convert_to_tensor(inputs)
        penalty = self.l1 * pb.reduce_sum(abs(x)) + self.l2 * pb.reduce_sum(pb.square(x))
        self.add_loss(penalty / pb.cast(pb.shape(x)[0], x.dtype))
        return x
