"""GraphDef export of variables: handles, reads, assignments."""

from __future__ import annotations

from typing import Any

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
from ..exporting import with_dtype, writer

writer(ResourceGather)(with_dtype("dtype"))
writer(VariableShape)(with_dtype("out_type"))


@writer(VarHandleOp)
def handle(body: Body, p: Any) -> Any:
    return body.main("VarHandleOp", dtype=p.dtype, shape=p.shape, shared_name=body.op.name)


@writer(ReadVariableOp)
def read(body: Body, p: Any, resource: Ref) -> Any:
    return body.main("ReadVariableOp", resource, dtype=body.op.outputs[0].dtype)


@writer(InitializedValue)
def initialized(body: Body, p: Any, resource: Ref, initial: Ref) -> Any:
    """Initializers act in the order of making: the variable has its value by then."""
    del initial
    return read(body, p, resource)


@writer(AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp)
def assign(body: Body, p: Any, resource: Ref, value: Ref) -> Any:
    body.main(p.type, resource, value)
    return ()


@writer(*ROW_UPDATES.values(), *SLICE_UPDATES.values())
def scatter(body: Body, p: Any, resource: Ref, indices: Ref, updates: Ref) -> Any:
    body.main(p.type, resource, indices, updates)
    return ()
