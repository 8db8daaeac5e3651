"""Activation functions of recurrent cells, also by their names."""

from __future__ import annotations

from collections.abc import Callable

from ...core.operation import Tensor
from ...primitives.activations.rectifiers import elu, relu, selu, softsign
from ...primitives.activations.sigmoid import sigmoid, softplus
from ...primitives.elementwise.exponential import exp
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.identity.identity import identity

Activation = Callable[[Tensor], Tensor]
_BY_NAME: dict[str, Activation] = {
    "tanh": tanh,
    "sigmoid": sigmoid,
    "relu": relu,
    "elu": elu,
    "selu": selu,
    "softplus": softplus,
    "softsign": softsign,
    "exponential": exp,
    "linear": identity,
}


def activation_of(given: Activation | str | None) -> Activation:
    """The function that is given, or named; `tanh` for None.

    Raises:
        ValueError: there is no function of that name.
    """
    if not isinstance(given, str):
        return given or tanh
    if given not in _BY_NAME:
        raise ValueError(f"activation: there is no function named {given!r}; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[given]


def name_of(activation: Activation) -> str | None:
    """The name of a function that has one here."""
    return next((name for name, known in _BY_NAME.items() if known is activation), None)
