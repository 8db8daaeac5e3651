"""Optimizers that programs derive from `tf.train.Optimizer`: rules in terms of `_apply_dense` and `_create_slots`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....optimizers.optimizer import GradientAndVariable, Scalars, Slots, counted, slot


class Optimizer(pb.train.Optimizer):
    """A rule that changes variables so that a loss falls; a subclass says how one variable is changed.

    `_apply_dense(grad, var)`, or `_resource_apply_dense`, returns the operation of one step, `_apply_sparse(grad, var)`
    or `_resource_apply_sparse(values, var, indices)` that with a gradient of some rows, each of them once;
    `_create_slots(var_list)` makes what is kept for each variable, by `_zeros_slot` and its like; `_prepare` comes
    before all, `_finish(update_ops, name_scope)` after. Every optimizer of `tf.train` is an instance.

    >>> import pullback.compat.v1 as tf
    >>> class SignDescent(tf.train.Optimizer):
    ...     def __init__(self, rate, name="SignDescent"):
    ...         super().__init__(False, name)
    ...         self.rate = rate
    ...     def _apply_dense(self, grad, var):
    ...         return var.assign_sub(self.rate * tf.sign(grad))
    >>> x = tf.Variable([1.0, -2.0])
    >>> step = SignDescent(0.5).minimize(tf.reduce_sum(x * x))
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(step)
    ...     session.run(x)
    array([ 0.5, -1.5], dtype=float32)
    """

    def __init__(self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False) -> None:
        super().__init__(name, {}, {})
        self._use_locking = use_locking
        self._own: dict[tuple[str, pb.Graph], pb.Variable] = {}

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return pb.train.Optimizer in other.__mro__ if cls is Optimizer else NotImplemented

    # What a subclass overrides

    def _prepare(self) -> None:
        """Make what the rule needs once in a step: learning rates as tensors."""

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        """Make what is kept for each variable."""

    def _apply_dense(self, grad: Any, var: pb.Variable) -> Any:
        return self._resource_apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: pb.Variable) -> Any:
        raise self._missing("_apply_dense", "_resource_apply_dense")

    def _apply_sparse(self, grad: pb.IndexedSlices, var: pb.Variable) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: pb.Variable, indices: Any) -> Any:
        raise self._missing("_apply_sparse", "_resource_apply_sparse")

    def _apply_sparse_duplicate_indices(self, grad: pb.IndexedSlices, var: pb.Variable) -> Any:
        return self._apply_sparse(grad, var)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> pb.Operation:
        return pb.group(*update_ops, name=name_scope)

    # What a subclass calls

    def _zeros_slot(self, var: pb.Variable, slot_name: str, op_name: str) -> pb.Variable:
        return self._slot_or(var, slot_name, lambda: slot(var, 0.0, op_name))

    def _get_or_make_slot(self, var: pb.Variable, val: Any, slot_name: str, op_name: str) -> pb.Variable:
        return self._slot_or(var, slot_name, lambda: _beside(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: pb.Variable, initializer: Callable[..., Any], shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> pb.Variable:
        return self._slot_or(var, slot_name, lambda: _beside(var, initializer(shape, dtype), op_name))

    def _slot_dict(self, slot_name: str) -> dict[pb.Variable, pb.Variable]:
        return self._slots.setdefault(slot_name, {})

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: pb.Variable) -> pb.Variable:
        key = name, colocate_with.graph
        if key not in self._own:
            with colocate_with.graph.colocate_with(colocate_with.op):
                self._own[key] = pb.Variable(initial_value, trainable=False, name=name)
        return self._own[key]

    def _get_non_slot_variable(self, name: str, graph: pb.Graph | None = None) -> pb.Variable | None:
        return self._own.get((name, graph or pb.get_default_graph().outermost))

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    # What `AbstractOptimizer` asks

    @property
    def sums_equal_rows(self) -> bool:  # type: ignore[override]
        """Whether rows come once each: unless the subclass takes equal rows itself."""
        mine = type(self)._apply_sparse_duplicate_indices
        return mine is Optimizer._apply_sparse_duplicate_indices

    def variables(self) -> list[pb.Variable]:
        """All variables that the optimizer keeps, by name."""
        return sorted([*super().variables(), *self._own.values()], key=lambda v: v.name)

    def change(self, variable: pb.Variable, dy: Any, slots: Slots, scalars: Scalars) -> list[pb.Operation]:
        return [self._apply_dense(dy, variable)]

    def change_rows(
        self, variable: pb.Variable, dy: pb.IndexedSlices, slots: Slots, scalars: Scalars
    ) -> list[pb.Operation]:
        return [self._apply_sparse_duplicate_indices(dy, variable)]

    def _make_kept(self, variables: Sequence[pb.Variable]) -> None:
        self._create_slots(variables)

    def _updates(self, given: Sequence[GradientAndVariable]) -> list[pb.Operation]:
        self._prepare()
        return super()._updates(given)

    def _step_of(self, ops: list[pb.Operation], global_step: pb.Variable | None, name: str) -> pb.Operation:
        if global_step is None:
            return self._finish(ops, name)
        return counted(global_step, [self._finish(ops, "update")], name)

    def _slot_or(self, var: pb.Variable, name: str, make: Callable[[], pb.Variable]) -> pb.Variable:
        known = self._slot_dict(name)
        if var not in known:
            known[var] = make()
        return known[var]

    def _missing(self, *names: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} says neither {' nor '.join(names)}: define one of them")


def _beside(var: pb.Variable, value: Any, op_name: str) -> pb.Variable:
    """A variable with the initial value `value`, named after `var` and `op_name`."""
    with var.graph.within(None), var.graph.colocate_with(var.op):
        return pb.Variable(value, trainable=False, name=f"{var.op.name}/{op_name}")
