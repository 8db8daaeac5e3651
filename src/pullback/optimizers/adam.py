"""Adam optimizer."""

from __future__ import annotations

from ..core.graph import Operation, Tensor
from ..core.slices import IndexedSlices
from ..core.typing import TensorLike
from ..primitives.elementwise.powers import sqrt, square
from ..primitives.variables.updates import scatter_rows
from ..primitives.variables.variable import Variable
from .optimizer import Complement, Scalars, Slots, scalar
from .parts import AbstractLocalOptimizer, Part


class AbstractAdam(AbstractLocalOptimizer):
    """What all kinds of Adam share: their parameters, slots and rate, and the step with a dense gradient."""

    def __init__(
        self,
        learning_rate: TensorLike = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        del use_locking
        hyperparameters = {
            "rate": self._rate,
            "beta1": beta1,
            "rest1": Complement(beta1),
            "beta2": beta2,
            "rest2": Complement(beta2),
            "epsilon": epsilon,
        }
        super().__init__(name, hyperparameters, {"m": 0.0, "v": 0.0}, {"beta1_power": beta1, "beta2_power": beta2})
        self._learning_rate = learning_rate

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        m, v = self._moments(part.read(slots["m"]), part.read(slots["v"]), part.dy, scalars)
        return [
            part.write(slots["m"], m),
            part.write(slots["v"], v),
            part.subtract(variable, self._step(self._ahead(m, part.dy, scalars), v, scalars)),
        ]

    def _rate(self) -> Tensor:
        """The learning rate with the bias of both moments taken out."""
        power1, power2 = self.power("beta1_power"), self.power("beta2_power")
        return scalar(self._learning_rate, power1.dtype, "learning_rate") * sqrt(1.0 - power2) / (1.0 - power1)

    def _moments(self, m: Tensor, v: Tensor, dy: Tensor, scalars: Scalars) -> tuple[Tensor, Tensor]:
        return m * scalars["beta1"] + dy * scalars["rest1"], v * scalars["beta2"] + square(dy) * scalars["rest2"]

    def _move_moments(self, dy: IndexedSlices, slots: Slots, scalars: Scalars) -> list[Operation]:
        """Let all moments fall, and add to those of the rows of `dy`."""
        m, v, rows = slots["m"], slots["v"], dy.indices
        return [
            m.assign(m.value() * scalars["beta1"], read_value=False),
            v.assign(v.value() * scalars["beta2"], read_value=False),
            scatter_rows("add", m.handle, rows, dy.values * scalars["rest1"]),
            scatter_rows("add", v.handle, rows, square(dy.values) * scalars["rest2"]),
        ]

    def _ahead(self, m: Tensor, dy: Tensor, scalars: Scalars) -> Tensor:
        """Along what the variable steps."""
        del dy, scalars
        return m

    def _step(self, m: Tensor, v: Tensor, scalars: Scalars) -> Tensor:
        return m * scalars["rate"] / (sqrt(v) + scalars["epsilon"])


class AdamOptimizer(AbstractAdam):
    """x becomes x - r m / (sqrt(v) + epsilon), where m = beta1 m + (1 - beta1) dy and v = beta2 v + (1 - beta2) dy^2.

    In step t, r = learning_rate sqrt(1 - beta2^t) / (1 - beta1^t).

    Slots: "m" and "v". With a gradient of some rows, m and v fall and x moves in all rows, as if the others were zeros:
    a pass over three tables in every step. `LazyAdamOptimizer` changes those rows only.

    Source: D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, with epsilon as in the paragraph
    before section 2.1.

    >>> import pullback as pb
    >>> x = pb.Variable([1.0, 10.0])
    >>> step = pb.train.AdamOptimizer(0.1).minimize(pb.reduce_sum(x * x))
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(step)
    >>> session.run(x).round(4)
    array([0.9, 9.9], dtype=float32)
    """

    def change_rows(self, variable: Variable, dy: IndexedSlices, slots: Slots, scalars: Scalars) -> list[Operation]:
        moved = self._move_moments(dy, slots, scalars)
        step = self._step(slots["m"].value(), slots["v"].value(), scalars)
        return [*moved, variable.assign_sub(step, read_value=False)]


class LazyAdamOptimizer(AbstractAdam):
    """As `AdamOptimizer`; with a gradient of some rows, m, v and x change in those rows only.

    That costs as much as there are rows, whatever the size of the table, and is another method: what was not looked at
    keeps its moments.

    >>> import pullback as pb
    >>> table = pb.Variable([[1.0], [10.0]])
    >>> step = pb.train.LazyAdamOptimizer(0.1).minimize(pb.reduce_sum(pb.gather(table, [1]) ** 2.0))
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(step)
    >>> session.run(table).round(4)
    array([[1. ],
           [9.9]], dtype=float32)
    """
