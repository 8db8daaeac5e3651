"""Activations of Keras: `tf.keras.activations`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.activations.rectifiers import elu as elu
from ....primitives.activations.rectifiers import selu as selu
from ....primitives.activations.rectifiers import softsign as softsign
from ....primitives.activations.sigmoid import sigmoid as sigmoid
from ....primitives.activations.sigmoid import softplus as softplus
from ....primitives.activations.softmax import softmax as softmax
from ....primitives.elementwise.hyperbolic import tanh as tanh
from .backend.networks import hard_sigmoid as hard_sigmoid
from .named import found, serialize_keras_object

serialize = serialize_keras_object


def exponential(x: TensorLike) -> pb.Tensor:
    """`e` to the power of `x`."""
    return pb.exp(x)


def swish(x: TensorLike) -> pb.Tensor:
    """`x` times its sigmoid."""
    return pb.nn.silu(x)


def linear(x: TensorLike) -> pb.Tensor:
    """`x` itself."""
    return pb.convert_to_tensor(x)


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None) -> pb.Tensor:
    """`x` where it is positive, `alpha * x` elsewhere, and `max_value` at most."""
    y = pb.nn.leaky_relu(x, alpha) if alpha else pb.nn.relu(x)
    return y if max_value is None else pb.minimum(y, max_value)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The activation that `serialize` told of.

    Raises:
        ValueError: there is none of the name.
    """
    return found(name, _find, custom_objects, "activation function")


def get(identifier: Any) -> Any:
    """The activation of a name or of what `serialize` told of, a function itself, `linear` for None.

    Raises:
        ValueError: there is none of the name. TypeError: it is none of these.
    """
    if identifier is None or callable(identifier):
        return linear if identifier is None else identifier
    if not isinstance(identifier, str | Mapping):
        raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
    return deserialize(identifier)


def _find(name: str) -> Any:
    return getattr(sys.modules[__name__], name, None)
