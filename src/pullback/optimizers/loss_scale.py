"""Loss scaling (Micikevicius et al. 2018): gradients of a loss times a large number, so that 16 bits can hold them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from ..control_flow.conditional import cond
from ..core.dtypes import float32, int32
from ..core.graph import AbstractTensorLike, Graph, Operation, Tensor
from ..core.slices import IndexedSlices
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.elementwise.maximum import maximum
from ..primitives.identity.identity import group_operations, no_op
from ..primitives.indexing.where import where
from ..primitives.logic.comparison import is_finite
from ..primitives.reduction.reduce import reduce_all
from ..primitives.shape.stacking import stack
from ..primitives.variables.variable import Variable
from .optimizer import AbstractOptimizer, GradientAndVariable


class AbstractLossScale(ABC):
    """The number that a loss is multiplied by."""

    @abstractmethod
    def value(self, graph: Graph) -> Tensor:
        """The number, of float32, in `graph`."""

    @abstractmethod
    def update(self, finite: Tensor) -> Operation:
        """What makes the number ready for the next step, after one whose gradients were `finite` or not."""


class FixedLossScale(AbstractLossScale):
    """A loss scale that stays what it is. Steps whose gradients are not finite are skipped all the same.

    Raises:
        ValueError: the scale is less than 1.

    >>> import pullback as pb
    >>> optimizer = pb.train.GradientDescentOptimizer(0.1)
    >>> pb.train.LossScaleOptimizer(optimizer, pb.train.FixedLossScale(128.0)).get_name()
    'GradientDescent'
    """

    def __init__(self, loss_scale_value: float) -> None:
        if loss_scale_value < 1:
            raise ValueError(f"FixedLossScale: the scale must be 1 or more, not {loss_scale_value}")
        self._value = float(loss_scale_value)

    def value(self, graph: Graph) -> Tensor:
        """The number, of float32, in `graph`."""
        return convert_to_tensor(self._value, float32, graph=graph)

    def update(self, finite: Tensor) -> Operation:
        """Nothing."""
        del finite
        return no_op()


class DynamicLossScale(AbstractLossScale):
    """A loss scale that is multiplied after `increment_period` good steps in a row, and divided after a bad one.

    A step is bad if a gradient is infinite or NaN. The scale is never less than 1; it is a variable of the graph in
    which it is first used, and so is the number of good steps.

    Raises:
        ValueError: the scale is less than 1, the period no positive number, or the multiplier not more than 1.

    >>> import pullback as pb
    >>> v = pb.Variable(1.0)
    >>> scale = pb.train.DynamicLossScale(initial_loss_scale=8.0)
    >>> optimizer = pb.train.LossScaleOptimizer(pb.train.GradientDescentOptimizer(0.5), scale)
    >>> step = optimizer.apply_gradients([(pb.constant(float("inf")), v)])
    >>> with pb.Session() as session:
    ...     session.run(pb.global_variables_initializer())
    ...     session.run(step)
    ...     session.run([v, *scale.variables()])
    [np.float32(1.0), np.float32(4.0), np.int32(0)]
    """

    def __init__(
        self, initial_loss_scale: float = 2.0**15, increment_period: int = 2000, multiplier: float = 2.0
    ) -> None:
        if initial_loss_scale < 1 or increment_period < 1 or multiplier <= 1:
            raise ValueError(
                "DynamicLossScale: the scale must be 1 or more, the period positive and the multiplier more than 1, "
                f"not {initial_loss_scale}, {increment_period} and {multiplier}"
            )
        self._initial, self._period, self._multiplier = initial_loss_scale, increment_period, multiplier
        self._variables: dict[Graph, tuple[Variable, Variable]] = {}

    def variables(self) -> list[Variable]:
        """The scale and the number of good steps, of each graph that has them."""
        return [v for pair in self._variables.values() for v in pair]

    def value(self, graph: Graph) -> Tensor:
        """The number, of float32, in `graph`."""
        return self._of(graph)[0].value()

    def update(self, finite: Tensor) -> Operation:
        """What makes the number ready for the next step, after one whose gradients were `finite` or not."""
        scale, steps = self._of(finite.graph.outermost)
        now, good = scale.value(), steps.value() + 1
        enough = good >= self._period
        grown = where(is_finite(now * self._multiplier), now * self._multiplier, now)
        shrunk = maximum(now / self._multiplier, 1.0)
        after = where(finite, where(enough, grown, now), shrunk)
        count = cast(finite & ~enough, int32) * good
        return group_operations(scale.assign(after, read_value=False), steps.assign(count, read_value=False))

    def _of(self, graph: Graph) -> tuple[Variable, Variable]:
        graph = graph.outermost
        if graph not in self._variables:
            with graph.as_default(), graph.within(None):
                scale = Variable(self._initial, trainable=False, name="current_loss_scale", dtype=float32)
                steps = Variable(0, trainable=False, name="good_steps", dtype=int32)
            self._variables[graph] = scale, steps
        return self._variables[graph]


class LossScaleOptimizer:
    """An optimizer that differentiates the loss times a scale, and skips steps whose gradients are not finite.

    `compute_gradients` returns gradients of the loss itself: they are divided by the scale, in the dtype of the
    variables. For a graph that `pb.mixed_precision` has made compute in float16, whose smallest numbers are 6e-8.

    Args:
        inner_optimizer: any optimizer.
        loss_scale: "dynamic", a number, or a `DynamicLossScale` or `FixedLossScale`.

    Raises:
        ValueError: another scale.

    >>> import pullback as pb
    >>> v = pb.Variable([3.0, 4.0])
    >>> optimizer = pb.train.LossScaleOptimizer(pb.train.GradientDescentOptimizer(0.5))
    >>> step = optimizer.minimize(pb.reduce_sum(v * v) * 0.5)
    >>> with pb.Session() as session:
    ...     session.run(pb.global_variables_initializer())
    ...     session.run(step)
    ...     session.run(v)
    array([1.5, 2. ], dtype=float32)
    """

    def __init__(
        self, inner_optimizer: AbstractOptimizer, loss_scale: AbstractLossScale | float | str = "dynamic"
    ) -> None:
        if isinstance(loss_scale, str):
            if loss_scale != "dynamic":
                raise ValueError(f"LossScaleOptimizer: loss_scale must be 'dynamic' or a number, not {loss_scale!r}")
            loss_scale = DynamicLossScale()
        self.inner_optimizer = inner_optimizer
        self.loss_scale = loss_scale if isinstance(loss_scale, AbstractLossScale) else FixedLossScale(loss_scale)

    def minimize(
        self,
        loss: Tensor | AbstractTensorLike,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Operation:
        """One operation that takes a step if its gradients are finite; `options` are those of `compute_gradients`."""
        return self.apply_gradients(self.compute_gradients(loss, var_list, **options), global_step, name)

    def compute_gradients(
        self, loss: Tensor | AbstractTensorLike, var_list: Sequence[Variable] | None = None, **options: Any
    ) -> list[GradientAndVariable]:
        """A pair (gradient, variable) for each variable, by way of the scaled loss; `options` are the optimizer's."""
        y = convert_to_tensor(loss)
        scale = self.loss_scale.value(y.graph)
        pairs = self.inner_optimizer.compute_gradients(y * cast(scale, y.dtype), var_list, **options)
        return [(dy if dy is None else _divided(dy, scale), v) for dy, v in pairs]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """One operation that takes a step, and adds 1 to `global_step`, if all gradients are finite."""
        pairs = [(dy, v) for dy, v in grads_and_vars if dy is not None]
        finite = [reduce_all(is_finite(dy.values if isinstance(dy, IndexedSlices) else dy)) for dy, _ in pairs]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        good = reduce_all(stack(finite))

        def step() -> Tensor:
            with good.graph.acting.control_dependencies([self.inner_optimizer.apply_gradients(pairs, global_step)]):
                return convert_to_tensor(True)

        taken = cond(good, step, lambda: convert_to_tensor(False))
        return group_operations(taken.op, self.loss_scale.update(good), name=name)

    def get_name(self) -> str:
        """The name of the optimizer."""
        return self.inner_optimizer.get_name()

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot `name` of `var`, or None."""
        return self.inner_optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots, in alphabetical order."""
        return self.inner_optimizer.get_slot_names()

    def variables(self) -> list[Variable]:
        """All variables that the optimizer keeps, and those of the scale."""
        scale = self.loss_scale.variables() if isinstance(self.loss_scale, DynamicLossScale) else []
        return sorted([*self.inner_optimizer.variables(), *scale], key=lambda v: v.name)


def _divided(dy: Any, scale: Tensor) -> Any:
    """`dy / scale`; powers of two divide without rounding."""
    if isinstance(dy, IndexedSlices):
        return IndexedSlices(_divided(dy.values, scale), dy.indices, dy.dense_shape, dy.static_shape)
    return dy / cast(scale, dy.dtype)
