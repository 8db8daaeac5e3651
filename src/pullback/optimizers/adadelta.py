"""Adadelta optimizer."""

from __future__ import annotations

from ..core.graph import Operation, Tensor
from ..core.slices import IndexedSlices
from ..core.typing import TensorLike
from ..primitives.elementwise.powers import sqrt, square
from ..primitives.variables.updates import scatter_rows
from ..primitives.variables.variable import Variable
from .optimizer import AbstractOptimizer, Complement, Scalars, Slots, read_rows


class AdadeltaOptimizer(AbstractOptimizer):
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

    def change(self, variable: Variable, dy: Tensor, slots: Slots, scalars: Scalars) -> list[Operation]:
        a, b, u = _moved(slots["accum"].value(), slots["accum_update"].value(), dy, scalars)
        return [
            slots["accum"].assign(a, read_value=False),
            slots["accum_update"].assign(b, read_value=False),
            variable.assign_sub(u * scalars["learning_rate"], read_value=False),
        ]

    def change_rows(self, variable: Variable, dy: IndexedSlices, slots: Slots, scalars: Scalars) -> list[Operation]:
        rows = dy.indices
        a, b, u = _moved(read_rows(slots["accum"], rows), read_rows(slots["accum_update"], rows), dy.values, scalars)
        return [
            scatter_rows("update", slots["accum"].handle, rows, a),
            scatter_rows("update", slots["accum_update"].handle, rows, b),
            scatter_rows("sub", variable.handle, rows, u * scalars["learning_rate"]),
        ]


def _moved(a: Tensor, b: Tensor, dy: Tensor, scalars: Scalars) -> tuple[Tensor, Tensor, Tensor]:
    """What becomes of `a` and `b`, and the step u."""
    a = a * scalars["rho"] + square(dy) * scalars["rest"]
    u = sqrt(b + scalars["epsilon"]) / sqrt(a + scalars["epsilon"]) * dy
    return a, b * scalars["rho"] + square(u) * scalars["rest"], u
