"""Adadelta optimizer."""

from __future__ import annotations

from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.elementwise.powers import sqrt, square
from ..primitives.variables.variable import Variable
from .optimizer import Complement, Scalars, Slots
from .parts import AbstractLocalOptimizer, Part


class AdadeltaOptimizer(AbstractLocalOptimizer):
    """x becomes x - learning_rate u, where u = sqrt(b + epsilon) / sqrt(a + epsilon) dy.

    Before, a becomes rho a + (1 - rho) dy^2; after, b becomes rho b + (1 - rho) u^2.

    Slots: "accum", a, and "accum_update", b. With a gradient of some rows, all change in those rows only.

    Source: M. Zeiler, "ADADELTA: an adaptive learning rate method", 2012.

    >>> import pullback as pb
    >>> x = pb.Variable([1.0, 10.0])
    >>> optimizer = pb.train.AdadeltaOptimizer(1.0)
    >>> step = optimizer.minimize(pb.reduce_sum(x * x))
    >>> optimizer.get_slot(x, "accum")
    <Variable 'Variable/Adadelta:0' float32[2]>
    """

    def __init__(
        self,
        learning_rate: TensorLike = 0.001,
        rho: TensorLike = 0.95,
        epsilon: TensorLike = 1e-08,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        del use_locking
        hyperparameters = {"learning_rate": learning_rate, "rho": rho, "rest": Complement(rho), "epsilon": epsilon}
        super().__init__(name, hyperparameters, {"accum": 0.0, "accum_update": 0.0})

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        accum, updates = slots["accum"], slots["accum_update"]
        a, b, u = _moved(part.read(accum), part.read(updates), part.dy, scalars)
        return [
            part.write(accum, a),
            part.write(updates, b),
            part.subtract(variable, u * scalars["learning_rate"]),
        ]


def _moved(a: Tensor, b: Tensor, dy: Tensor, scalars: Scalars) -> tuple[Tensor, Tensor, Tensor]:
    """What becomes of `a` and `b`, and the step u."""
    a = a * scalars["rho"] + square(dy) * scalars["rest"]
    u = sqrt(b + scalars["epsilon"]) / sqrt(a + scalars["epsilon"]) * dy
    return a, b * scalars["rho"] + square(u) * scalars["rest"], u
