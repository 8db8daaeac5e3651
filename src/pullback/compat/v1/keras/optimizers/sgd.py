"""Gradient descent of Keras, with momentum and Nesterov's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .....optimizers.parts import Part
from .base import Optimizer


class SGD(Optimizer):
    """x becomes x + a, where a = momentum a - learning_rate dy; with `nesterov`, x + momentum a - learning_rate dy.

    Slot: "momentum", a, unless momentum is 0. Rows of which there is no gradient stay as they are.
    """

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1], not {momentum}.")
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("momentum", momentum)
        self._momentum = isinstance(momentum, pb.Tensor) or callable(momentum) or momentum > 0
        self.nesterov = nesterov

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        for var in var_list if self._momentum else ():
            self.add_slot(var, "momentum")

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        step = self._decayed_lr(var.dtype) * part.dy
        if not self._momentum:
            return [part.subtract(var, step)]
        slot, share = self.get_slot(var, "momentum"), self._get_hyper("momentum", var.dtype)
        a = part.read(slot) * share - step
        return [part.write(slot, a), part.subtract(var, step - a * share if self.nesterov else -a)]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        return super().get_config() | {
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "decay": self._initial_decay,
            "momentum": self._serialize_hyperparameter("momentum"),
            "nesterov": self.nesterov,
        }
