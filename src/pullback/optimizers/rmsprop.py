"""RMSProp optimizer."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.elementwise.powers import rsqrt, square
from ..primitives.variables.variable import Variable
from .optimizer import Complement, Scalars, Slots
from .parts import AbstractLocalOptimizer, Part


class RMSPropOptimizer(AbstractLocalOptimizer):
    """x becomes x - b, where a = decay a + (1 - decay) dy^2 and b = momentum b + learning_rate dy / sqrt(a + epsilon).

    With `centered`, the mean c = decay c + (1 - decay) dy is kept too, and a - c^2 takes the place of a in b.

    Slots: "rms", a, which starts from 1; "momentum", b; and "mg", c. With a gradient of some rows, the slots change in
    those rows only.

    Source: T. Tieleman, G. Hinton, "Lecture 6.5: rmsprop", COURSERA, 2012; centered: A. Graves, arXiv:1308.0850, 2013.

    >>> import pullback as pb
    >>> x = pb.Variable([1.0, 10.0])
    >>> optimizer = pb.train.RMSPropOptimizer(0.1, centered=True)
    >>> step = optimizer.minimize(pb.reduce_sum(x * x))
    >>> optimizer.get_slot_names()
    ['mg', 'momentum', 'rms']
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        decay: TensorLike = 0.9,
        momentum: TensorLike = 0.0,
        epsilon: TensorLike = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        del use_locking
        hyperparameters = {
            "learning_rate": learning_rate,
            "decay": decay,
            "rest": Complement(decay),
            "momentum": momentum,
            "epsilon": epsilon,
        }
        mean = {"mg": 0.0} if centered else {}
        super().__init__(name, hyperparameters, {"rms": 1.0, **mean, "momentum": 0.0})
        self._centered = centered

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        new = self._new({name: part.read(slot) for name, slot in slots.items()}, part.dy, scalars)
        ops = [part.write(slots[name], value) for name, value in new.items()]
        return [*ops, part.subtract(variable, new["momentum"])]

    def _new(self, old: Mapping[str, Tensor], dy: Tensor, scalars: Scalars) -> dict[str, Tensor]:
        """The slots after a step."""
        decay, rest = scalars["decay"], scalars["rest"]
        new = {"rms": old["rms"] * decay + square(dy) * rest}
        spread = new["rms"]
        if self._centered:
            new["mg"] = old["mg"] * decay + dy * rest
            spread = spread - square(new["mg"])
        scaled = dy * scalars["learning_rate"] * rsqrt(spread + scalars["epsilon"])
        new["momentum"] = old["momentum"] * scalars["momentum"] + scaled
        return new
