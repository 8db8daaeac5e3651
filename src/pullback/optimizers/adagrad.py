"""Adagrad optimizer."""

from __future__ import annotations

from ..core.graph import Operation
from ..core.typing import TensorLike
from ..primitives.elementwise.powers import rsqrt, square
from ..primitives.variables.variable import Variable
from .optimizer import Scalars, Slots
from .parts import AbstractLocalOptimizer, Part


class AdagradOptimizer(AbstractLocalOptimizer):
    """x becomes x - learning_rate dy / sqrt(a), where a = a + dy^2.

    Slot: "accumulator", a, which starts from `initial_accumulator_value`.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Source: J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", JMLR 12, 2011.

    >>> import pullback as pb
    >>> x = pb.Variable([1.0, 10.0])
    >>> step = pb.train.AdagradOptimizer(0.1).minimize(pb.reduce_sum(x * x))
    >>> step.name
    'Adagrad'
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        del use_locking
        super().__init__(name, {"learning_rate": learning_rate}, {"accumulator": initial_accumulator_value})

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        a = part.read(slots["accumulator"]) + square(part.dy)
        return [
            part.write(slots["accumulator"], a),
            part.subtract(variable, part.dy * scalars["learning_rate"] * rsqrt(a)),
        ]
