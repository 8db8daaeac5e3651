"""Optimizers of Keras that divide by the size of the gradients so far: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .....optimizers.parts import Part
from .....primitives.variables.updates import scatter_rows
from .base import Optimizer


class RMSprop(Optimizer):
    """x becomes x - learning_rate dy / (sqrt(a) + epsilon), where a = rho a + (1 - rho) dy^2.

    With `momentum`, x - b, where b = momentum b + learning_rate dy / sqrt(a + epsilon). With `centered` the square of
    the mean c = rho c + (1 - rho) dy is taken from a there.

    Slots: "rms", a, "momentum", b, and "mg", c. With a gradient of some rows, only those of x change; a and c fall in
    all rows without momentum.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1], not {momentum}.")
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self._set_hyper("momentum", momentum)
        self._momentum = isinstance(momentum, pb.Tensor) or callable(momentum) or momentum > 0
        self.epsilon, self.centered = epsilon, centered

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        wanted = {"rms": True, "momentum": self._momentum, "mg": self.centered}
        for name in [name for name, is_wanted in wanted.items() if is_wanted]:
            for var in var_list:
                self.add_slot(var, name)

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        ops, a = self._mean(part, var, "rms", pb.square(part.dy))
        if self.centered:
            more, c = self._mean(part, var, "mg", part.dy)
            ops, a = ops + more, a - pb.square(c)
        step = self._decayed_lr(var.dtype) * part.dy
        if not self._momentum:
            return [*ops, part.subtract(var, step / (pb.sqrt(a) + self.epsilon))]
        slot = self.get_slot(var, "momentum")
        b = part.read(slot) * self._get_hyper("momentum", var.dtype) + step * pb.rsqrt(a + self.epsilon)
        return [*ops, part.write(slot, b), part.subtract(var, b)]

    def _mean(self, part: Part, var: pb.Variable, name: str, value: Any) -> tuple[list[pb.Operation], Any]:
        """The operations that let a mean see `value`, and what it is then."""
        slot, rho = self.get_slot(var, name), self._get_hyper("rho", var.dtype)
        if part.rows is None or self._momentum:
            new = part.read(slot) * rho + value * (1.0 - rho)
            return [part.write(slot, new)], new
        fallen = slot.assign(slot.value() * rho, read_value=False)
        added = scatter_rows("add", slot.handle, part.rows, value * (1.0 - rho))
        return [fallen, added], part.read(slot)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        return super().get_config() | {
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "decay": self._initial_decay,
            "rho": self._serialize_hyperparameter("rho"),
            "momentum": self._serialize_hyperparameter("momentum"),
            "epsilon": self.epsilon,
            "centered": self.centered,
        }


class Adagrad(Optimizer):
    """x becomes x - learning_rate dy / (sqrt(a) + epsilon), where a = a + dy^2.

    Slot: "accumulator", a, which starts from `initial_accumulator_value`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", pb.constant_initializer(self._initial_accumulator_value))

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        slot = self.get_slot(var, "accumulator")
        a = part.read(slot) + pb.square(part.dy)
        step = self._decayed_lr(var.dtype) * part.dy / (pb.sqrt(a) + self.epsilon)
        return [part.write(slot, a), part.subtract(var, step)]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        return super().get_config() | {
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "decay": self._initial_decay,
            "initial_accumulator_value": self._initial_accumulator_value,
            "epsilon": self.epsilon,
        }


class Adadelta(Optimizer):
    """x becomes x - learning_rate u, where u = dy sqrt(b + epsilon) / sqrt(a + epsilon).

    a = rho a + (1 - rho) dy^2 before that, and b = rho b + (1 - rho) u^2 after it: slots "accum_grad" and "accum_var".
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float | None = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        for slot in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, slot)

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        slots = [self.get_slot(var, name) for name in ("accum_grad", "accum_var")]
        rho = self._get_hyper("rho", var.dtype)
        a = part.read(slots[0]) * rho + pb.square(part.dy) * (1.0 - rho)
        b = part.read(slots[1])
        u = part.dy * pb.sqrt(b + self.epsilon) * pb.rsqrt(a + self.epsilon)
        return [
            part.write(slots[0], a),
            part.write(slots[1], b * rho + pb.square(u) * (1.0 - rho)),
            part.subtract(var, u * self._decayed_lr(var.dtype)),
        ]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        return super().get_config() | {
            "learning_rate": self._serialize_hyperparameter("learning_rate"),
            "decay": self._initial_decay,
            "rho": self._serialize_hyperparameter("rho"),
            "epsilon": self.epsilon,
        }
