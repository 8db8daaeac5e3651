"""FTRL-proximal optimizer ("follow the regularized leader")."""

from __future__ import annotations

from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.creation.fill import zeros_like
from ..primitives.elementwise.powers import pow as raised
from ..primitives.elementwise.powers import square
from ..primitives.elementwise.sign import absolute, sign
from ..primitives.indexing.where import where
from ..primitives.logic.comparison import greater
from ..primitives.variables.variable import Variable
from .optimizer import Scalars, Slots
from .parts import AbstractLocalOptimizer, Part


class FtrlOptimizer(AbstractLocalOptimizer):
    """x becomes what minimises the sum of all gradients so far, linearised, and of penalties l1 |x| and l2 x^2.

    With n the sum of squares of the gradients and z of the gradients, each made ready for the steps taken:
    n' = n + dy^2, z' = z + dy + 2 shrinkage x - (n'^-p - n^-p) / learning_rate x, where p = learning_rate_power; then
    x' = (sign(z') l1 - z') / (n'^-p / learning_rate + 2 l2 + beta / learning_rate) where |z'| > l1, else 0.

    Slots: "accum", n, which starts from `initial_accumulator_value`, and "linear", z. With a gradient of some rows, all
    change in those rows only. Their variables are called `accum_name` and `linear_name`, or as the optimizer is.

    Raises:
        ValueError: a strength, beta or `initial_accumulator_value` is negative, or `learning_rate_power` positive.

    Source: H. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.

    >>> import pullback as pb
    >>> x = pb.Variable([0.001, 10.0])
    >>> step = pb.train.FtrlOptimizer(0.1, l1_regularization_strength=1.0).minimize(pb.reduce_sum(x * x))
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(step)
    >>> session.run(x)[0]
    np.float32(0.0)
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        del use_locking
        not_negative = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
            "beta": beta or 0.0,
            "-learning_rate_power": -learning_rate_power,
        }
        for argument, value in not_negative.items():
            if value < 0.0:
                raise ValueError(f"FtrlOptimizer: {argument} must not be negative, but it is {value}")
        hyperparameters = {
            "learning_rate": learning_rate,
            "power": -learning_rate_power,
            "l1": l1_regularization_strength,
            "twice_l2": 2.0 * l2_regularization_strength,
            "twice_shrinkage": 2.0 * l2_shrinkage_regularization_strength,
            "beta": beta or 0.0,
        }
        slots = {"accum": initial_accumulator_value, "linear": 0.0}
        names = {"accum": accum_name, "linear": linear_name}
        super().__init__(name, hyperparameters, slots, variable_names=names)

    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        accum, linear = slots["accum"], slots["linear"]
        x, n, z = follow(part.read(variable), part.read(accum), part.read(linear), part.dy, scalars)
        return [part.write(accum, n), part.write(linear, z), part.write(variable, x)]


def follow(x: Tensor, n: Tensor, z: Tensor, dy: Tensor, scalars: Scalars) -> tuple[Tensor, Tensor, Tensor]:
    """x, n and z behind a step."""
    rate, power = scalars["learning_rate"], scalars["power"]
    after = n + square(dy)
    rise = (raised(after, power) - raised(n, power)) / rate
    z = z + dy + x * scalars["twice_shrinkage"] - rise * x
    curvature = (raised(after, power) + scalars["beta"]) / rate + scalars["twice_l2"]
    moved = (sign(z) * scalars["l1"] - z) / curvature
    return where(greater(absolute(z), scalars["l1"]), moved, zeros_like(z)), after, z
