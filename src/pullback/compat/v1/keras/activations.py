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
from .backend.networks import hard_sigmoid as hard_sigmoid
from .named import getter

exponential = pb.exp


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


get: Any = getter(sys.modules[__name__], "activation", made=False)
