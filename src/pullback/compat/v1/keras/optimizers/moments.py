"""Adam of Keras and its like: optimizers that keep two moments of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .....optimizers.parts import Part
from .....primitives.variables.updates import scatter_rows
from .base import Optimizer


class AbstractMoments(Optimizer):
    """What keeps two moments of gradients."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        for slot in ("m", "v"):
            for var in var_list:
                self.add_slot(var, slot)

    def _betas(self, var: pb.Variable) -> tuple[Any, Any]:
        return self._get_hyper("beta_1", var.dtype), self._get_hyper("beta_2", var.dtype)

    def _fallen(self, part: Part, slot: pb.Variable, share: Any, value: Any) -> list[pb.Operation]:
        """Let a mean fall in all rows, and add to those of which there is a gradient."""
        whole = slot.assign(slot.value() * share, read_value=False)
        assert part.rows is not None
        return [whole, scatter_rows("add", slot.handle, part.rows, value * (1.0 - share))]

    def _moved(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        """The operations after which both means have seen the gradient."""
        m, v, (first, second) = self.get_slot(var, "m"), self.get_slot(var, "v"), self._betas(var)
        if part.rows is not None:
            return self._fallen(part, m, first, part.dy) + self._fallen(part, v, second, pb.square(part.dy))
        return [
            part.write(m, part.read(m) * first + part.dy * (1.0 - first)),
            part.write(v, part.read(v) * second + pb.square(part.dy) * (1.0 - second)),
        ]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        hypers = {key: self._serialize_hyperparameter(key) for key in ("learning_rate", "beta_1", "beta_2")}
        first = {"learning_rate": hypers.pop("learning_rate"), "decay": self._initial_decay}
        return super().get_config() | first | hypers | {"epsilon": self.epsilon}


class Adam(AbstractMoments):
    """x becomes x - r m / (sqrt(v) + epsilon), as `tf.train.AdamOptimizer`; with `amsgrad` v is the largest one so far.

    Slots: "m", "v" and "vhat". With a gradient of some rows all rows move.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        super()._create_slots(var_list)
        for var in var_list if self.amsgrad else ():
            self.add_slot(var, "vhat")

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        ops = self._moved(part, var)
        v = self.get_slot(var, "v").value()
        if self.amsgrad:
            largest = self.get_slot(var, "vhat")
            ops.append(largest.assign(pb.maximum(largest.value(), v), read_value=False))
            v = largest.value()
        first, second = self._betas(var)
        t = self._step_number(var.dtype)
        rate = self._decayed_lr(var.dtype) * pb.sqrt(1.0 - pb.pow(second, t)) / (1.0 - pb.pow(first, t))
        step = rate * self.get_slot(var, "m").value() / (pb.sqrt(v) + self.epsilon)
        return [*ops, var.assign_sub(step, read_value=False)]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        return super().get_config() | {"amsgrad": self.amsgrad}


class Adamax(AbstractMoments):
    """x becomes x - learning_rate / (1 - beta_1^t) m / (v + epsilon), where v = max(beta_2 v, |dy|).

    Slots: "m" and "v". With a gradient of some rows, only those change.

    Source: D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, section 7.1.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        slots, (first, second) = [self.get_slot(var, name) for name in ("m", "v")], self._betas(var)
        m = part.read(slots[0]) * first + part.dy * (1.0 - first)
        v = pb.maximum(part.read(slots[1]) * second, pb.abs(part.dy))
        rate = self._decayed_lr(var.dtype) / (1.0 - pb.pow(first, self._step_number(var.dtype)))
        return [part.write(slots[0], m), part.write(slots[1], v), part.subtract(var, rate * m / (v + self.epsilon))]


class Nadam(AbstractMoments):
    """Adam whose first moment looks ahead, as Nesterov's momentum does.

    Slots: "m" and "v", which fall in all rows; with a gradient of some rows, only those of x change.

    Source: T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop, 2016, with a momentum that grows.

    Raises:
        ValueError: `learning_rate` is a schedule.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        if callable(learning_rate):
            raise ValueError("Nadam: learning_rate is a number, and not a schedule, for its momentum follows one")
        self._cache: pb.Variable | None = None

    def _create_hypers(self) -> None:
        super()._create_hypers()
        if self._cache is None:
            self._cache = self.add_weight("momentum_cache", [], initializer="ones")
            self._weights.append(self._cache)

    def _prepare(self, var_list: Sequence[pb.Variable]) -> None:
        dtype = var_list[0].dtype
        first = self._get_hyper("beta_1", dtype)
        assert self._cache is not None

        def momentum(t: Any) -> Any:
            return first * (1.0 - 0.5 * pb.pow(pb.cast(0.96, dtype), self._initial_decay * t))

        t = self._step_number(dtype)
        now, then = momentum(t), momentum(t + 1.0)
        schedule = pb.cast(self._cache.value(), dtype) * now
        self._momenta = now, then, schedule, schedule * then
        self._cached = self._cache.assign(pb.cast(schedule, self._cache.dtype), read_value=False)

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        now, then, schedule, following = [pb.cast(x, var.dtype) for x in self._momenta]
        ops = [self._cached, *self._moved(part, var)]
        m, v = part.read(self.get_slot(var, "m")), part.read(self.get_slot(var, "v"))
        second = self._get_hyper("beta_2", var.dtype)
        ahead = (1.0 - now) * part.dy / (1.0 - schedule) + then * m / (1.0 - following)
        spread = v / (1.0 - pb.pow(second, self._step_number(var.dtype)))
        step = self._get_hyper("learning_rate", var.dtype) * ahead / (pb.sqrt(spread) + self.epsilon)
        return [*ops, part.subtract(var, step)]
