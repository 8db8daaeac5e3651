"""FTRL-proximal optimizer of Keras ("follow the regularized leader")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .....optimizers.ftrl import follow
from .....optimizers.parts import Part
from .base import Optimizer

_HYPERS = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength", "beta")


class Ftrl(Optimizer):
    """x becomes what minimises the sum of all gradients so far, linearised, and of penalties l1 |x| and l2 x^2.

    `train.FtrlOptimizer` has the formula. Slots: "accumulator", which starts from `initial_accumulator_value`, and
    "linear". With a gradient of some rows, all change in those rows only. `lr` changes nothing, as in TensorFlow.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        not_negative = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
            "-learning_rate_power": -learning_rate_power,
        }
        for argument, value in not_negative.items():
            if value < 0.0:
                raise ValueError(f"Ftrl: {argument} must not be negative, but it is {value}")
        given = learning_rate_power, l1_regularization_strength, l2_regularization_strength, beta
        self._set_hyper("learning_rate", learning_rate)
        for hyper, value in zip(_HYPERS, given, strict=True):
            self._set_hyper(hyper, value)
        self._initial_accumulator_value = initial_accumulator_value
        self._shrinkage = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", pb.constant_initializer(self._initial_accumulator_value))
            self.add_slot(var, "linear")

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        power, l1, l2, beta = [self._get_hyper(hyper, var.dtype) for hyper in _HYPERS]
        scalars = {
            "learning_rate": self._decayed_lr(var.dtype),
            "power": -power,
            "l1": l1,
            "twice_l2": 2.0 * l2,
            "twice_shrinkage": pb.constant(2.0 * self._shrinkage, var.dtype),
            "beta": beta,
        }
        n, z = self.get_slot(var, "accumulator"), self.get_slot(var, "linear")
        moved, squares, gradients = follow(part.read(var), part.read(n), part.read(z), part.dy, scalars)
        return [part.write(n, squares), part.write(z, gradients), part.write(var, moved)]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        hypers = {name: self._serialize_hyperparameter(name) for name in ("learning_rate", *_HYPERS)}
        return (
            super().get_config()
            | hypers
            | {
                "decay": self._initial_decay,
                "initial_accumulator_value": self._initial_accumulator_value,
                "l2_shrinkage_regularization_strength": self._shrinkage,
            }
        )
