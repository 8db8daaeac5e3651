"""Gradient descent optimizer, and with momentum."""

from __future__ import annotations

from ..core.graph import Operation
from ..core.typing import TensorLike
from ..primitives.variables.variable import Variable
from .optimizer import Scalars, Slots
from .parts import AbstractLocalOptimizer, Part


class GradientDescentOptimizer(AbstractLocalOptimizer):
    """x becomes x - learning_rate dy.

    `learning_rate` may be a number, a tensor, or a function of no arguments that returns either.

    >>> import pullback as pb
    >>> x = pb.Variable(1.0)
    >>> step = pb.train.GradientDescentOptimizer(0.1).minimize(x * x)
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(step)
    >>> session.run(x)
    np.float32(0.8)
    """

    sums_equal_rows = False

    def __init__(self, learning_rate: TensorLike, use_locking: bool = False, name: str = "GradientDescent") -> None:
        del use_locking
        super().__init__(name, {"learning_rate": learning_rate}, {})

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        return [part.subtract(variable, part.dy * scalars["learning_rate"])]


class MomentumOptimizer(AbstractLocalOptimizer):
    """x becomes x - learning_rate a, where a = momentum a + dy; with Nesterov's, x - learning_rate (dy + momentum a).

    Slot: "momentum", a. With a gradient of some rows, a falls in those rows only.

    Source: I. Sutskever, J. Martens, G. Dahl, G. Hinton, "On the importance of initialization and momentum in deep
    learning", 2013.

    >>> import pullback as pb
    >>> x = pb.Variable(1.0)
    >>> optimizer = pb.train.MomentumOptimizer(0.1, momentum=0.9)
    >>> step = optimizer.minimize(x * x)
    >>> optimizer.get_slot(x, "momentum")
    <Variable 'Variable/Momentum:0' float32[]>
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        del use_locking
        super().__init__(name, {"learning_rate": learning_rate, "momentum": momentum}, {"momentum": 0.0})
        self._use_nesterov = use_nesterov

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        a = part.read(slots["momentum"]) * scalars["momentum"] + part.dy
        direction = part.dy + a * scalars["momentum"] if self._use_nesterov else a
        return [
            part.write(slots["momentum"], a),
            part.subtract(variable, direction * scalars["learning_rate"]),
        ]
