"""RMSProp optimizer."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.graph import Operation, Tensor
from ..core.slices import IndexedSlices
from ..core.typing import TensorLike
from ..primitives.elementwise.powers import rsqrt, square
from ..primitives.variables.updates import scatter_rows
from ..primitives.variables.variable import Variable
from .optimizer import AbstractOptimizer, Complement, Scalars, Slots, read_rows


class RMSPropOptimizer(AbstractOptimizer):
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

    def change(self, variable: Variable, dy: Tensor, slots: Slots, scalars: Scalars) -> list[Operation]:
        new = self._new({name: slot.value() for name, slot in slots.items()}, dy, scalars)
        ops: list[Operation] = [slots[name].assign(value, read_value=False) for name, value in new.items()]
        return [*ops, variable.assign_sub(new["momentum"], read_value=False)]

    def change_rows(self, variable: Variable, dy: IndexedSlices, slots: Slots, scalars: Scalars) -> list[Operation]:
        old = {name: read_rows(slot, dy.indices) for name, slot in slots.items()}
        new = self._new(old, dy.values, scalars)
        ops = [scatter_rows("update", slots[name].handle, dy.indices, value) for name, value in new.items()]
        return [*ops, scatter_rows("sub", variable.handle, dy.indices, new["momentum"])]

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
