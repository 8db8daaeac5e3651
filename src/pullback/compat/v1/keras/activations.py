"""Activations of Keras: `tf.keras.activations`."""

from __future__ import annotations

import sys
from typing import Any

from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....primitives.activations.rectifiers import elu as elu
from ....primitives.activations.rectifiers import leaky_relu
from ....primitives.activations.rectifiers import relu as plain_relu
from ....primitives.activations.rectifiers import selu as selu
from ....primitives.activations.rectifiers import softsign as softsign
from ....primitives.activations.sigmoid import sigmoid as sigmoid
from ....primitives.activations.sigmoid import softplus as softplus
from ....primitives.activations.softmax import softmax as softmax
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.elementwise.clip import clip_by_value
from ....primitives.elementwise.exponential import exp
from ....primitives.elementwise.hyperbolic import tanh as tanh
from ....primitives.elementwise.maximum import minimum
from .named import getter

exponential = exp


def linear(x: TensorLike) -> Tensor:
    """`x` itself."""
    return convert_to_tensor(x)


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None) -> Tensor:
    """`x` where it is positive, `alpha * x` elsewhere, and `max_value` at most."""
    y = leaky_relu(x, alpha) if alpha else plain_relu(x)
    return y if max_value is None else minimum(y, max_value)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """`0.2 * x + 0.5` between 0 and 1."""
    return clip_by_value(convert_to_tensor(x) * 0.2 + 0.5, 0.0, 1.0)


get: Any = getter(sys.modules[__name__], "activation", made=False)
