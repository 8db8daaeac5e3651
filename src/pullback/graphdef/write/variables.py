"""GraphDef export of variables: handles, reads, assignments."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.variables.operations import (
    AssignAddVariableOp,
    AssignSubVariableOp,
    AssignVariableOp,
    InitializedValue,
    ReadVariableOp,
    ResourceGather,
    VarHandleOp,
    VariableShape,
)
from ...primitives.variables.updates import ROW_UPDATES, SLICE_UPDATES
from ..body import Body, Ref
from ..exporting import writer


@writer(VarHandleOp)
def handle(body: Body, op: Operation) -> Any:
    primitive: Any = op.primitive
    return body.main("VarHandleOp", dtype=primitive.dtype, shape=primitive.shape, shared_name=op.name)


@writer(ReadVariableOp)
def read(body: Body, op: Operation, resource: Ref) -> Any:
    return body.main("ReadVariableOp", resource, dtype=op.outputs[0].dtype)


@writer(InitializedValue)
def initialized(body: Body, op: Operation, resource: Ref, initial: Ref) -> Any:
    """Initializers act in the order of making: the variable has its value by then."""
    del initial
    return read(body, op, resource)


@writer(ResourceGather)
def rows(body: Body, op: Operation, resource: Ref, indices: Ref) -> Any:
    return body.main("ResourceGather", resource, indices, dtype=op.outputs[0].dtype)


@writer(AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp)
def assign(body: Body, op: Operation, resource: Ref, value: Ref) -> Any:
    body.main(op.type, resource, value)
    return ()


@writer(*ROW_UPDATES.values(), *SLICE_UPDATES.values())
def scatter(body: Body, op: Operation, resource: Ref, indices: Ref, updates: Ref) -> Any:
    body.main(op.type, resource, indices, updates)
    return ()


@writer(VariableShape)
def variable_shape(body: Body, op: Operation, resource: Ref) -> Any:
    return body.main("VariableShape", resource, out_type=op.outputs[0].dtype)
