"""Proximal optimizers: penalties l1 |x| + l2 x^2 / 2 are part of the step, and set small numbers to exactly 0.

J. Duchi, Y. Singer, "Efficient online and batch learning using forward backward splitting", JMLR 10, 2009.
"""

from __future__ import annotations

from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.elementwise.maximum import maximum
from ..primitives.elementwise.powers import rsqrt, sqrt, square
from ..primitives.elementwise.sign import absolute, sign
from ..primitives.variables.variable import Variable
from .optimizer import Scalars, Slots
from .parts import AbstractLocalOptimizer, Part


class ProximalGradientDescentOptimizer(AbstractLocalOptimizer):
    """x becomes shrink(x - learning_rate dy, learning_rate l1) / (1 + learning_rate l2).

    `shrink(x, s)` is `sign(x) max(|x| - s, 0)`; l1 and l2 are the regularization strengths.

    >>> import pullback as pb
    >>> x = pb.Variable([0.01, 1.0])
    >>> optimizer = pb.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.5)
    >>> step = optimizer.minimize(pb.reduce_sum(x * x))
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(step)
    >>> session.run(x)
    array([0.  , 0.75], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        del use_locking
        strengths = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        super().__init__(name, {"learning_rate": learning_rate, **strengths}, {})

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        x = _penalised(part.read(variable), part.dy, scalars["learning_rate"], scalars)
        return [part.write(variable, x)]


class ProximalAdagradOptimizer(AbstractLocalOptimizer):
    """x becomes shrink(x - r dy, r l1) / (1 + r l2), where r = learning_rate / sqrt(a) and a = a + dy^2.

    `shrink(x, s)` is `sign(x) max(|x| - s, 0)`; l1 and l2 are the regularization strengths.

    Slot: "accumulator", a, which starts from `initial_accumulator_value`.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    >>> import pullback as pb
    >>> x = pb.Variable([1.0, 10.0])
    >>> step = pb.train.ProximalAdagradOptimizer(0.1).minimize(pb.reduce_sum(x * x))
    >>> step.name
    'ProximalAdagrad'
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        del use_locking
        strengths = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        slots = {"accumulator": initial_accumulator_value}
        super().__init__(name, {"learning_rate": learning_rate, **strengths}, slots)

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        a = part.read(slots["accumulator"]) + square(part.dy)
        x = _penalised(part.read(variable), part.dy, scalars["learning_rate"] * rsqrt(a), scalars)
        return [part.write(slots["accumulator"], a), part.write(variable, x)]


class AdagradDAOptimizer(AbstractLocalOptimizer):
    """Adagrad by dual averaging: x becomes -learning_rate shrink(g, t l1) / (t l2 learning_rate + sqrt(a)).

    g is the sum of all gradients, a of their squares, t the number of the step: `global_step` + 1. x itself has no part
    in it, so that variables that start from anything but 0 jump there. `shrink(x, s)` is `sign(x) max(|x| - s, 0)`.

    Slots: "gradient_accumulator", g, and "gradient_squared_accumulator", a, which starts from
    `initial_gradient_squared_accumulator_value`. With a gradient of some rows, all change in those rows only.

    Raises:
        ValueError: `initial_gradient_squared_accumulator_value` is not positive.

    Source: J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", JMLR 12, 2011.

    >>> import pullback as pb
    >>> x, count = pb.Variable([0.0, 0.0]), pb.train.create_global_step()
    >>> optimizer = pb.train.AdagradDAOptimizer(0.1, count, l1_regularization_strength=0.5)
    >>> step = optimizer.minimize(pb.reduce_sum(x * [0.25, 1.0]), count)
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(step)
    >>> session.run(x)[0] == 0.0
    np.True_
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        start = initial_gradient_squared_accumulator_value
        if start <= 0.0:
            raise ValueError(f"initial_gradient_squared_accumulator_value must be positive: {start}")
        del use_locking
        hyperparameters = {
            "learning_rate": learning_rate,
            "step": global_step,
            "l1": l1_regularization_strength,
            "l2": l2_regularization_strength,
        }
        super().__init__(name, hyperparameters, {"gradient_accumulator": 0.0, "gradient_squared_accumulator": start})

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        g = part.read(slots["gradient_accumulator"]) + part.dy
        a = part.read(slots["gradient_squared_accumulator"]) + square(part.dy)
        return [
            part.write(slots["gradient_accumulator"], g),
            part.write(slots["gradient_squared_accumulator"], a),
            part.write(variable, _averaged(g, a, scalars)),
        ]


def _penalised(x: Tensor, dy: Tensor, rate: Tensor, scalars: Scalars) -> Tensor:
    return _shrunk(x - rate * dy, rate * scalars["l1"]) / (1.0 + rate * scalars["l2"])


def _averaged(g: Tensor, a: Tensor, scalars: Scalars) -> Tensor:
    step = scalars["step"] + 1.0
    rate = scalars["learning_rate"]
    return -rate * _shrunk(g, step * scalars["l1"]) / (step * scalars["l2"] * rate + sqrt(a))


def _shrunk(x: Tensor, by: Tensor) -> Tensor:
    """Soft thresholding: `x` nearer to 0 by `by`, and not beyond."""
    return sign(x) * maximum(absolute(x) - by, 0.0)
