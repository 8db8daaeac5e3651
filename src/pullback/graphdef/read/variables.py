"""GraphDef import of variables: handles and references, reads, assignments, scatter updates, optimizers' updates."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import resource
from ...core.graph import get_default_graph
from ...core.operation import Tensor
from ...core.shape import TensorShape
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant_in
from ...primitives.identity.identity import identity
from ...primitives.indexing.gather import gather
from ...primitives.indexing.scatter_nd import gather_nd
from ...primitives.shape.size import shape
from ...primitives.variables.operations import (
    AssignAddVariableOp,
    AssignSubVariableOp,
    AssignVariableOp,
    ResourceGather,
    VarHandleOp,
    VariableShape,
    VarIsInitializedOp,
    read_variable,
    variable_type,
)
from ...primitives.variables.updates import scatter_rows, scatter_slices
from ..nodes import Node, reader
from ..restoring import shared_name
from ..translation import Reference
from .operands import handle_of, tensor_of

_ASSIGNMENTS: dict[str, Any] = {
    "AssignVariableOp": AssignVariableOp,
    "AssignAddVariableOp": AssignAddVariableOp,
    "AssignSubVariableOp": AssignSubVariableOp,
    "Assign": AssignVariableOp,
    "AssignAdd": AssignAddVariableOp,
    "AssignSub": AssignSubVariableOp,
}


def _handle(node: Node) -> Tensor:
    """The handle of a variable, or its value where that is to be a constant."""
    value = node.region.translation.values.get(node.proto.name)
    if value is not None:
        return constant_in(get_default_graph().acting, value, node.exactly)
    shared = shared_name(node.proto)
    made: Tensor | None = node.region.translation.handles.get(shared)
    if made is not None and made.op.graph is get_default_graph().acting:
        return made
    known = node.region.translation.variables.get(node.proto.name)
    trainable, collections = (True, ()) if known is None else known
    shape = node.attribute("shape", TensorShape.UNKNOWN)
    primitive = VarHandleOp(
        node.attribute("dtype"), shape, node.text("shared_name") or node.name, trainable, collections
    )
    handle: Tensor = node.make(primitive)
    node.region.translation.handles[shared] = handle
    return handle


@reader("VarHandleOp")
def handle(node: Node) -> Any:
    return _handle(node)


@reader("VariableV2", "Variable", "TemporaryVariable")
def reference(node: Node) -> Any:
    handle = _handle(node)
    return Reference(handle) if handle.dtype == resource else handle


@reader("ReadVariableOp")
def read(node: Node, handle: Tensor) -> Any:
    return identity(handle, name=node.exactly) if _is_constant(handle) else read_variable(handle, name=node.exactly)


def _is_constant(handle: Tensor) -> bool:
    """Whether a variable is a constant here, whose handle is its value."""
    return handle.dtype != resource


@reader("VariableShape")
def shape_of(node: Node, handle: Tensor) -> Any:
    if _is_constant(handle):
        return shape(handle, node.attribute("out_type", "int32"), name=node.exactly)
    lengths = VariableShape()
    dtype = node.attribute("out_type", "int32")
    return node.make(lengths, handle) if dtype == "int32" else cast(lengths(handle), dtype, name=node.exactly)


@reader("VarIsInitializedOp", "IsVariableInitialized", anything=True)
def is_initialized(node: Node, x: Any) -> Any:
    return node.make(VarIsInitializedOp(), handle_of(node, x))


@reader("ResourceGather")
def gather_rows(node: Node, handle: Tensor, indices: Tensor) -> Any:
    if node.attribute("batch_dims", 0):
        node.refuse("batch_dims other than 0 are not read")
    if _is_constant(handle):
        return gather(handle, indices, name=node.exactly)
    type_ = variable_type(handle)
    return node.make(ResourceGather(type_.dtype, type_.shape), handle, indices)


@reader("ResourceGatherNd")
def gather_by_vectors(node: Node, handle: Tensor, indices: Tensor) -> Any:
    value = handle if _is_constant(handle) else read_variable(handle)
    return gather_nd(value, indices, name=node.exactly)


@reader(*_ASSIGNMENTS, anything=True)
def assign(node: Node, target: Any, value: Any) -> Any:
    """A reference assigned to is the variable afterwards."""
    handle = handle_of(node, target)
    type_ = variable_type(handle)
    node.make(_ASSIGNMENTS[node.op_type](type_.dtype, type_.shape), handle, tensor_of(node, value))
    return _afterwards(target)


@reader(
    "ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax", anything=True
)
@reader("ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul", anything=True)
@reader("ResourceScatterDiv", "ResourceScatterMin", "ResourceScatterMax", anything=True)
def scatter(node: Node, target: Any, indices: Any, updates: Any) -> Any:
    kind: Any = node.op_type.removeprefix("Resource").removeprefix("Scatter").lower()
    scatter_rows(kind, handle_of(node, target), tensor_of(node, indices), tensor_of(node, updates), node.exactly)
    return _afterwards(target)


@reader("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub", anything=True)
@reader("ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub", anything=True)
def scatter_nd(node: Node, target: Any, indices: Any, updates: Any) -> Any:
    kind: Any = node.op_type.removeprefix("Resource").removeprefix("ScatterNd").lower()
    scatter_slices(kind, handle_of(node, target), tensor_of(node, indices), tensor_of(node, updates), node.exactly)
    return _afterwards(target)


@reader("DestroyResourceOp", "DestroyTemporaryVariable", anything=True)
def destroy(node: Node, *xs: Any) -> Any:
    """Nothing: a session forgets its variables when it is closed."""
    del node, xs


def _afterwards(target: Any) -> Reference | None:
    """The variable after the assignment that was made last; None where the node has no output."""
    if not isinstance(target, Reference):
        return None
    return Reference(target.handle, get_default_graph().acting.operations[-1])
