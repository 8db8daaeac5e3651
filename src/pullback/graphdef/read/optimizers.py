"""GraphDef import of optimizers' updates: of whole variables, and of some of their rows."""

from __future__ import annotations

from typing import Any

from ...core.operation import Operation, Tensor
from ...primitives.elementwise.powers import sqrt, square
from ...primitives.identity.identity import no_op
from ...primitives.indexing.gather import gather
from ...primitives.variables.operations import AssignVariableOp, read_variable, variable_type
from ...primitives.variables.updates import scatter_rows
from ..nodes import Node, reader
from ..translation import Reference
from .operands import handle_of, tensor_of


def _given(node: Node, inputs: tuple[Any, ...], count: int) -> tuple[list[Tensor], list[Tensor]]:
    """The handles of the variables, which come first, and the other inputs."""
    return [handle_of(node, x) for x in inputs[:count]], [tensor_of(node, x) for x in inputs[count:]]


def _assigned(node: Node, inputs: tuple[Any, ...], handles: list[Tensor], values: list[Tensor]) -> Any:
    """The variables with new values."""
    done = []
    for handle, value in zip(handles, values, strict=True):
        type_ = variable_type(handle)
        done.append(AssignVariableOp(type_.dtype, type_.shape).operation(handle, value))
    return _after(node, inputs, handles, done)


def _after(node: Node, inputs: tuple[Any, ...], handles: list[Tensor], done: list[Operation]) -> Any:
    """The first variable, where that is the node's output; what waits for the node waits for all that was done."""
    with done[0].graph.control_dependencies(done):
        no_op(name=node.exactly)
    return Reference(handles[0], done[-1]) if isinstance(inputs[0], Reference) else None


@reader("ApplyGradientDescent", "ResourceApplyGradientDescent", anything=True)
def gradient_descent(node: Node, *inputs: Any) -> Any:
    (v,), (rate, dv) = _given(node, inputs, 1)
    return _assigned(node, inputs, [v], [read_variable(v) - rate * dv])


@reader("ApplyMomentum", "ResourceApplyMomentum", anything=True)
def momentum(node: Node, *inputs: Any) -> Any:
    (v, a), (rate, dv, decay) = _given(node, inputs, 2)
    moved = read_variable(a) * decay + dv
    step = dv * rate + moved * decay * rate if node.attribute("use_nesterov", False) else moved * rate
    return _assigned(node, inputs, [v, a], [read_variable(v) - step, moved])


@reader("ResourceApplyKerasMomentum", anything=True)
def keras_momentum(node: Node, *inputs: Any) -> Any:
    (v, a), (rate, dv, decay) = _given(node, inputs, 2)
    moved = read_variable(a) * decay - dv * rate
    step = moved * decay - dv * rate if node.attribute("use_nesterov", False) else moved
    return _assigned(node, inputs, [v, a], [read_variable(v) + step, moved])


@reader("ApplyAdam", "ResourceApplyAdam", anything=True)
def adam(node: Node, *inputs: Any) -> Any:
    (v, m, s), (power1, power2, rate, beta1, beta2, epsilon, dv) = _given(node, inputs, 3)
    old_m, old_s = read_variable(m), read_variable(s)
    new_m, new_s = old_m + (dv - old_m) * (1.0 - beta1), old_s + (square(dv) - old_s) * (1.0 - beta2)
    scale = rate * sqrt(1.0 - power2) / (1.0 - power1)
    ahead = dv * (1.0 - beta1) + beta1 * new_m if node.attribute("use_nesterov", False) else new_m
    after = read_variable(v) - ahead * scale / (sqrt(new_s) + epsilon)
    return _assigned(node, inputs, [v, m, s], [after, new_m, new_s])


@reader("ApplyRMSProp", "ResourceApplyRMSProp", anything=True)
def rmsprop(node: Node, *inputs: Any) -> Any:
    (v, s, m), (rate, rho, decay, epsilon, dv) = _given(node, inputs, 3)
    old_s = read_variable(s)
    new_s = old_s + (square(dv) - old_s) * (1.0 - rho)
    new_m = read_variable(m) * decay + rate * dv / sqrt(new_s + epsilon)
    return _assigned(node, inputs, [v, s, m], [read_variable(v) - new_m, new_s, new_m])


@reader("ApplyAdagrad", "ResourceApplyAdagrad", "ApplyAdagradV2", "ResourceApplyAdagradV2", anything=True)
def adagrad(node: Node, *inputs: Any) -> Any:
    (v, s), (rate, *epsilon, dv) = _given(node, inputs, 2)
    total = read_variable(s) + square(dv) if node.attribute("update_slots", True) else read_variable(s)
    root = sqrt(total) + epsilon[0] if epsilon else sqrt(total)
    return _assigned(node, inputs, [v, s], [read_variable(v) - rate * dv / root, total])


@reader("SparseApplyMomentum", "ResourceSparseApplyMomentum", anything=True)
def momentum_of_rows(node: Node, *inputs: Any) -> Any:
    (v, a), (rate, rows, numbers, decay) = _given(node, inputs, 2)
    moved = gather(read_variable(a), numbers) * decay + rows
    step = rows * rate + moved * decay * rate if node.attribute("use_nesterov", False) else moved * rate
    return _rows_assigned(node, inputs, numbers, [v, a], [gather(read_variable(v), numbers) - step, moved])


@reader("SparseApplyAdagrad", "ResourceSparseApplyAdagrad", anything=True)
@reader("SparseApplyAdagradV2", "ResourceSparseApplyAdagradV2", anything=True)
def adagrad_of_rows(node: Node, *inputs: Any) -> Any:
    (v, s), (rate, *epsilon, rows, numbers) = _given(node, inputs, 2)
    total = gather(read_variable(s), numbers)
    total = total + square(rows) if node.attribute("update_slots", True) else total
    root = sqrt(total) + epsilon[0] if epsilon else sqrt(total)
    after = gather(read_variable(v), numbers) - rate * rows / root
    return _rows_assigned(node, inputs, numbers, [v, s], [after, total])


def _rows_assigned(
    node: Node, inputs: tuple[Any, ...], numbers: Tensor, handles: list[Tensor], rows: list[Tensor]
) -> Any:
    """The variables with new rows of these numbers, no two of which are the same."""
    done = [scatter_rows("update", handle, numbers, new) for handle, new in zip(handles, rows, strict=True)]
    return _after(node, inputs, handles, done)
