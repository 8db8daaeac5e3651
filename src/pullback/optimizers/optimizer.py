"""Optimizer base class: gradients of a loss by variables, and their application, dense or row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from ..autodiff.choices import Aggregation
from ..autodiff.reverse import gradients
from ..core.dtypes import FLOATING, DType, bfloat16, float16, float32, float64
from ..core.errors import UnimplementedError, WrongKindError
from ..core.graph import AbstractTensorLike, Graph, Operation, Tensor, get_default_graph
from ..core.seen import seen
from ..core.slices import IndexedSlices
from ..layers.variables.scope import get_variable_scope, trainable_variables
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.fill import fill
from ..primitives.identity.identity import group_operations
from ..primitives.identity.sharding import Sharding
from ..primitives.shape.broadcast import broadcast_like
from ..primitives.sparse.unique_rows import sum_equal_rows
from ..primitives.variables.collections import GraphKeys
from ..primitives.variables.variable import Variable

GradientAndVariable = tuple[Any, Variable]
Slots = Mapping[str, Variable]
Scalars = Mapping[str, Tensor]
NO_POWERS: Mapping[str, Any] = MappingProxyType({})


class AbstractOptimizer(ABC):
    """A rule that changes variables so that a loss falls. Variables it keeps for each variable are its slots.

    `minimize(loss)` is `compute_gradients` and then `apply_gradients`; between the two, gradients can be changed.

    A gradient that is IndexedSlices changes only its rows, of the variable and of the slots: equal rows are added up
    first, rows that the gradient does not name stay as they are, and nothing of the size of the variable is made.

    A run acts in the order of making: all gradients are computed from the values before the step, and what is made
    after the step reads the values after it.

    >>> import pullback as pb
    >>> v = pb.Variable([3.0, 4.0])
    >>> optimizer = pb.train.GradientDescentOptimizer(0.5)
    >>> isinstance(optimizer, pb.train.Optimizer)
    True
    >>> (dv, _), = optimizer.compute_gradients(pb.reduce_sum(v * v))
    >>> step = optimizer.apply_gradients([(pb.clip_by_norm(dv, 5.0), v)])
    >>> with pb.Session() as session:
    ...     session.run(v.initializer)
    ...     session.run(step)
    ...     session.run(v)
    array([1.5, 2. ], dtype=float32)
    """

    GATE_NONE: ClassVar[int] = 0
    GATE_OP: ClassVar[int] = 1
    GATE_GRAPH: ClassVar[int] = 2
    sums_equal_rows: ClassVar[bool] = True
    """Whether `change_rows` needs each row once."""

    def __init__(
        self,
        name: str,
        hyperparameters: Mapping[str, Any],
        slots: Mapping[str, float],
        powers: Mapping[str, Any] = NO_POWERS,
        variable_names: Mapping[str, str | None] = NO_POWERS,
    ) -> None:
        """`hyperparameters` are numbers, tensors or functions that return them: rules get tensors of the right dtype.

        Each variable has `slots`, by name with the number they start from. `powers` are variables that belong to none:
        they start from a number and are multiplied by it after each step. `variable_names` are those of the variables
        that the slots are, by slot, where they are not called as the optimizer is.
        """
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._hyperparameters = hyperparameters
        self._slot_values = slots
        self._variable_names = variable_names
        self._power_bases = powers
        self._slots: dict[str, dict[Variable, Variable]] = {}
        self._powers: dict[tuple[Graph, str], Variable] = {}

    # What a rule states

    @abstractmethod
    def change(self, variable: Variable, dy: Tensor, slots: Slots, scalars: Scalars) -> list[Operation]:
        """The operations of one step with a dense gradient."""

    @abstractmethod
    def change_rows(self, variable: Variable, dy: IndexedSlices, slots: Slots, scalars: Scalars) -> list[Operation]:
        """The operations of one step with a gradient of some rows."""

    # What a user calls

    def get_name(self) -> str:
        """The name of the optimizer."""
        return self._name

    def minimize(
        self,
        loss: Tensor | AbstractTensorLike | Callable[[], Any],
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | Aggregation | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Tensor | AbstractTensorLike | None = None,
    ) -> Operation:
        """One operation that takes a step, and adds 1 to `global_step` where that is given.

        Raises:
            ValueError: the loss depends on none of the variables, or there are none.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if all(dy is None for dy, _ in pairs):
            names = [str(v) for _, v in pairs]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {names} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Tensor | AbstractTensorLike | Callable[[], Any],
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | Aggregation | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Tensor | AbstractTensorLike | None = None,
    ) -> list[GradientAndVariable]:
        """A pair (gradient, variable) for each variable: a tensor, IndexedSlices, or None where there is no path.

        `loss` may be a function of no arguments that returns it. `var_list`, which may have tensors in it, is all
        trainable variables unless given. `gate_gradients` is taken and adds nothing: a run acts in the order of making,
        so that every gradient is there before any variable changes.

        Raises:
            TypeError: the loss holds no floats, or `var_list` holds what is neither variable nor tensor.
            ValueError: there are no variables.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH. "
                f"Not {gate_gradients}"
            )
        y = convert_to_tensor(loss() if callable(loss) and not isinstance(loss, AbstractTensorLike) else loss)
        if y.dtype not in FLOATING:
            raise WrongKindError(f"compute_gradients: the loss must hold floats, but it is {y}")
        variables = _variables(var_list)
        dys = gradients(
            y,
            variables,
            None if grad_loss is None else [grad_loss],
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        return list(zip(dys, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """One operation that takes a step with the gradients given, and adds 1 to `global_step` where that is given.

        Raises:
            ValueError: there are no variables, or no gradient at all, or one of another shape.
            TypeError: a gradient has another dtype than its variable.
            UnimplementedError: a tensor stands where a variable should.
        """
        given = _checked_pairs(grads_and_vars)
        variables = [v for _, v in given]
        graph = variables[0].graph
        body_or_graph = graph.acting
        with graph.as_default():
            self._make_kept(variables)
        with body_or_graph.as_default(), graph.within(name or self._name) as scope:
            step = self._step_of(self._updates(given), global_step, scope)
        body_or_graph.add_to_collection(GraphKeys.TRAIN_OP, step)
        return step

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot `name` of `var`, or None."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """The names of the slots, in alphabetical order."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """All variables that the optimizer keeps: slots, and those that belong to no variable, by name."""
        kept = [v for slots in self._slots.values() for v in slots.values()] + list(self._powers.values())
        return sorted(kept, key=lambda v: v.name)

    # What rules use

    def power(self, name: str) -> Tensor:
        """The value of the power `name`, in the default graph."""
        return self._powers[get_default_graph().outermost, name].value()

    def _make_kept(self, variables: Sequence[Variable]) -> None:
        """Make the powers and the slots of `variables`, as far as they are not there.

        Programs of TensorFlow 1 have powers of 32 bits beside float64 variables too, and so have their checkpoints.
        """
        with variables[0].graph.colocate_with(variables[0].op):
            wide = any(v.dtype == float64 for v in variables) and not seen.references
            self._make_powers(variables[0].graph, float64 if wide else float32)
        for variable in variables:
            for name, value in self._slot_values.items():
                known = self._slots.setdefault(name, {})
                if variable not in known:
                    known[variable] = slot(variable, value, self._variable_names.get(name) or self._name)

    def _make_powers(self, graph: Graph, dtype: DType) -> None:
        for name, base in self._power_bases.items():
            if (graph, name) not in self._powers:
                self._powers[graph, name] = Variable(base, trainable=False, name=name, dtype=dtype)

    def _raise_powers(self, graph: Graph) -> list[Operation]:
        ops = []
        for name, base in self._power_bases.items():
            variable = self._powers[graph, name]
            raised = variable.value() * scalar(base, variable.dtype, "base")
            ops.append(variable.assign(raised, read_value=False))
        return ops

    def _slots_of(self, variable: Variable) -> dict[str, Variable]:
        return {name: self._slots[name][variable] for name in self._slot_values}

    def _scalars(self, dtype: DType) -> Scalars:
        return {name: scalar(value, dtype, name) for name, value in self._hyperparameters.items()}

    def _updates(self, given: Sequence[GradientAndVariable]) -> list[Operation]:
        scalars: dict[DType, Scalars] = {}
        for _, v in given:
            if v.dtype not in scalars:
                scalars[v.dtype] = self._scalars(v.dtype)
        return [op for dy, v in given for op in self._update(dy, v, self._slots_of(v), scalars[v.dtype])]

    def _update(self, dy: Any, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        graph = variable.graph
        with graph.within("update_" + variable.op.name), graph.colocate_with(variable.op):
            if isinstance(dy, IndexedSlices):
                rows = sum_equal_rows(dy) if self.sums_equal_rows else dy
                ops = self.change_rows(variable, rows, slots, scalars)
            else:
                ops = self.change(variable, dy, slots, scalars)
            if variable.constraint is not None:
                ops.append(variable.assign(variable.constraint(variable), read_value=False))
        return ops

    def _step_of(self, ops: list[Operation], global_step: Variable | None, name: str) -> Operation:
        """One operation for all of `ops` and the powers', after which `global_step` is 1 more."""
        ops = ops + self._raise_powers(get_default_graph().outermost)
        if global_step is None:
            return group_operations(*ops, name=name)
        return counted(global_step, ops, name)


@dataclass(frozen=True)
class Complement:
    """A hyperparameter: 1 - `value`, of which the subtraction is done in the variable's dtype, of 16 bits in float32.

    Of 0.999 bfloat16 would leave 0.
    """

    value: Any


def scalar(value: Any, dtype: DType, name: str) -> Tensor:
    """A hyperparameter, which may be a number, a tensor, a variable or a function of no arguments, in `dtype`.

    A number that is not 0 stays so: an epsilon of 1e-8 is the smallest number of float16. In programs of TensorFlow 1
    numbers are of 32 bits beside float64 variables too, as there.
    """
    if seen.references and dtype == float64:
        value = _of_32_bits(value)
    if isinstance(value, Complement):
        return _one_minus(value.value, dtype, name)
    if callable(value) and not isinstance(value, AbstractTensorLike):
        value = value()
    if isinstance(value, Tensor | AbstractTensorLike):
        return cast(value, dtype)
    kind: Any = dtype
    if kind in (float16, bfloat16) and isinstance(value, float) and value > 0.0 and not kind.type(value):
        value = ml_dtypes.finfo(kind).smallest_subnormal  # type: ignore[no-untyped-call]
    return convert_to_tensor(value, dtype, name=name)


def _of_32_bits(value: Any) -> Any:
    if isinstance(value, Complement):
        return Complement(_of_32_bits(value.value))
    return float(np.float32(value)) if isinstance(value, float) else value


def _one_minus(value: Any, dtype: Any, name: str) -> Tensor:
    wide: Any = float32 if dtype in (float16, bfloat16) else dtype
    if isinstance(value, int | float):
        return convert_to_tensor(np.subtract(wide.type(1), wide.type(value)).astype(dtype), name=name)
    return cast(1.0 - scalar(value, wide, name), dtype)


def slot(variable: Variable, value: float, name: str) -> Variable:
    """A variable of the shape and dtype of `variable`, filled with `value`, spread as it is.

    It is named after both, in the variable scope.
    """
    graph = variable.graph
    initial = None if variable.initial_value is None else variable.initial_value.op.primitive

    def filled() -> Tensor:
        number = convert_to_tensor(value, variable.dtype, name="value")
        if variable.shape.is_fully_defined():
            whole = fill(variable.shape, number)
        else:
            whole = broadcast_like(number, variable.initialized_value())
        return initial(whole) if isinstance(initial, Sharding) else whole

    with graph.within(None), graph.colocate_with(variable.op):
        return Variable(
            filled,
            trainable=False,
            validate_shape=variable.shape.is_fully_defined(),
            name=f"{get_variable_scope().prefix}{variable.op.name}/{name}",
        )


def _variables(var_list: Sequence[Variable] | Variable | None) -> list[Variable]:
    if var_list is None:
        variables = trainable_variables()
    else:
        variables = [var_list] if isinstance(var_list, Variable) else list(var_list)
    for v in variables:
        if not isinstance(v, Variable | Tensor):
            raise TypeError(f"Argument is not a pb.Variable: {v!r}")
    if not variables:
        raise ValueError("No variables to optimize.")
    return variables


def _checked_pairs(grads_and_vars: Iterable[GradientAndVariable]) -> list[GradientAndVariable]:
    """The pairs in which there is a gradient."""
    pairs = [_checked(dy, v) for dy, v in grads_and_vars]
    if not pairs:
        raise ValueError("No variables provided.")
    given = [(dy, v) for dy, v in pairs if dy is not None]
    if not given:
        raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
    return given


def _checked(dy: Any, variable: Any) -> GradientAndVariable:
    if isinstance(variable, Tensor):
        raise UnimplementedError(f"apply_gradients: {variable} is a tensor, which no step can change; give variables")
    if not isinstance(variable, Variable):
        raise TypeError(f"Argument is not a pb.Variable: {variable!r}")
    if dy is None:
        return None, variable
    if variable.dtype not in FLOATING:
        raise TypeError(f"apply_gradients: {variable!r} holds no floats")
    if not isinstance(dy, IndexedSlices):
        dy = convert_to_tensor(dy, variable.dtype)
    if dy.dtype != variable.dtype:
        raise TypeError(
            f"apply_gradients: the gradient {dy} has another dtype than {variable!r}; convert it with pb.cast"
        )
    if not dy.shape.is_compatible_with(variable.shape):
        raise ValueError(f"apply_gradients: the gradient {dy} does not have the shape of {variable!r}")
    return dy, variable


def counted(global_step: Variable, ops: Sequence[Operation], name: str) -> Operation:
    """The operation that adds 1 to `global_step` after `ops`."""
    graph = global_step.graph
    one = convert_to_tensor(1, global_step.dtype, name="value", graph=graph)
    with graph.control_dependencies(ops), graph.colocate_with(global_step.op):
        step: Operation = global_step.assign_add(one, name=name, read_value=False)
    return step
