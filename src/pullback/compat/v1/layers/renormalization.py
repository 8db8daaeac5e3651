"""Batch renormalization: moving moments of a layer, and what moves a batch to where they would have put it.

S. Ioffe, "Batch Renormalization: Towards Reducing Minibatch Dependence in Batch-Normalized Models", 2017.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....core.graph import Operation, Tensor
from ....core.typing import TensorLike
from ....primitives.activations.rectifiers import relu
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import zeros_like
from ....primitives.elementwise.maximum import maximum, minimum
from ....primitives.elementwise.powers import sqrt, square
from ....primitives.identity.identity import stop_gradient
from ....primitives.variables.collections import GraphKeys, add_to_collection
from ....primitives.variables.variable import Variable
from .core import while_training
from .variables import Wish, layer_variable, meant

Pair = tuple[Tensor, Tensor]


class Moving(NamedTuple):
    """The moving moments of a layer, and how they follow those of batches."""

    mean: Variable
    variance: Variable
    momentum: float
    epsilon: float
    training: TensorLike | bool

    @classmethod
    def made(
        cls,
        shape: Sequence[int | None],
        wishes: tuple[Wish, Wish],
        momentum: float,
        epsilon: float,
        training: TensorLike | bool,
    ) -> Moving:
        """Moving moments with variables in the layer whose block is open."""
        mean = layer_variable("moving_mean", shape, wishes[0], False)
        return cls(mean, layer_variable("moving_variance", shape, wishes[1], False), momentum, epsilon, training)

    def read(self) -> Pair:
        """The moments so far."""
        return self.mean.read_value(), self.variance.read_value()

    def follow(self, batch: Pair) -> None:
        """Note what moves the moments towards those of the batch where the layer is trained."""
        for variable, value in ((self.mean, batch[0]), (self.variance, batch[1])):
            add_to_collection(GraphKeys.UPDATE_OPS, self.moved(variable, value, self.momentum))

    def moved(self, variable: Variable, value: Tensor, momentum: float, read_value: bool = False) -> Any:
        """What moves a variable towards `value` where the layer is trained."""
        change = (variable - value) * (1.0 - momentum)
        wanted = while_training(self.training, lambda: change, lambda: zeros_like(change))
        return variable.assign_sub(wanted, name="AssignMovingAvg", read_value=read_value)


class Renormalization(NamedTuple):
    """What a normalized batch is multiplied with, and what is added, for it to be as by moving moments.

    Both have no derivative. `clipping` has the least and the largest factor, "rmin" and "rmax", and the largest
    summand, "dmax"; what is not there has no limit.
    """

    deviation: Variable
    """The moving deviation by which the layer's moving variance is kept."""

    seen_mean: Variable
    seen_deviation: Variable
    clipping: Mapping[str, TensorLike]
    momentum: float

    @classmethod
    def made(
        cls,
        shape: Sequence[int | None],
        wishes: tuple[Wish, Wish],
        clipping: Mapping[str, TensorLike],
        momentum: float,
    ) -> Renormalization:
        """A renormalization with variables in the layer whose block is open.

        Raises:
            ValueError: there is no limit of such a name.
        """
        if unknown := set(clipping) - {"rmin", "rmax", "dmax"}:
            raise ValueError(f"batch_normalization: renorm_clipping has rmin, rmax and dmax, not {sorted(unknown)}")
        start = meant("initializers", wishes[1].initializer)

        def root_of_variance(*args: Any, **options: Any) -> Tensor:
            return sqrt(convert_to_tensor(start(*args, **options)))

        root = Wish(root_of_variance if start is not None else None)
        deviation = layer_variable("moving_stddev", shape, root, False)
        mean = layer_variable("renorm_mean", shape, wishes[0], False)
        return cls(deviation, mean, layer_variable("renorm_stddev", shape, root, False), clipping, momentum)

    def correction(self, batch: Pair, epsilon: float) -> Pair:
        """The factor and the summand for a batch of these moments."""
        known = maximum(self.seen_deviation.read_value(), epsilon**0.5)
        factor = sqrt(batch[1] + epsilon) / known
        summand = (batch[0] - self.seen_mean.read_value()) / known
        limits = {name: convert_to_tensor(value, factor.dtype) for name, value in self.clipping.items()}
        if "rmin" in limits:
            factor = maximum(factor, limits["rmin"])
        if "rmax" in limits:
            factor = minimum(factor, limits["rmax"])
        if "dmax" in limits:
            summand = minimum(maximum(summand, -limits["dmax"]), limits["dmax"])
        return stop_gradient(factor), stop_gradient(summand)

    def follow(self, moving: Moving, batch: Pair) -> None:
        """Note what moves all moments towards those of the batch where the layer is trained."""
        graph, epsilon = batch[0].graph.acting, moving.epsilon
        deviation = sqrt(batch[1] + epsilon)
        first: list[Operation] = [
            moving.moved(self.seen_mean, batch[0], self.momentum),
            moving.moved(self.seen_deviation, deviation, self.momentum),
        ]
        with graph.control_dependencies(first):
            add_to_collection(GraphKeys.UPDATE_OPS, moving.moved(moving.mean, batch[0], moving.momentum))
            spread = moving.moved(self.deviation, deviation, moving.momentum, read_value=True)
            before = moving.variance.read_value()
            variance = while_training(moving.training, lambda: relu(square(spread) - epsilon), lambda: before)
            update = moving.variance.assign(variance, name="AssignNewValue", read_value=False)
            add_to_collection(GraphKeys.UPDATE_OPS, update)
