"""Activations of Keras: `tf.keras.activations`."""

from __future__ import annotations

import sys
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
from .named import getter

exponential = pb.exp


def linear(x: TensorLike) -> pb.Tensor:
    """`x` itself."""
    return pb.convert_to_tensor(x)


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None) -> pb.Tensor:
    """`x` where it is positive, `alpha * x` elsewhere, and `max_value` at most."""
    y = pb.nn.leaky_relu(x, alpha) if alpha else pb.nn.relu(x)
    return y if max_value is None else pb.minimum(y, max_value)


def hard_sigmoid(x: TensorLike) -> pb.Tensor:
    """`0.2 * x + 0.5` between 0 and 1."""
    return pb.clip_by_value(pb.convert_to_tensor(x) * 0.2 + 0.5, 0.0, 1.0)


get: Any = getter(sys.modules[__name__], "activation", made=False)
