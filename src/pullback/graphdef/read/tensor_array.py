"""GraphDef import of arrays: TensorArray of version 1, lists of version 2."""

from __future__ import annotations

from typing import Any

from ...control_flow.tensor_array import TensorArray
from ...core.dtypes import variant
from ...core.operation import Tensor
from ...core.shape import TensorShape
from ...primitives.creation.constant import constant_value
from ...primitives.creation.ranges import range_
from ...primitives.shape.size import shape
from ..nodes import LeftOut, Node, calling, reader

# TensorArray: its handle stands for nothing, its flow for the array.


@reader("TensorArrayV3", "TensorArrayV2", outputs=("handle", "flow"))
def tensor_array(node: Node, size: Tensor) -> Any:
    made = TensorArray(
        node.attribute("dtype"),
        size,
        node.attribute("dynamic_size", False),
        element_shape=node.attribute("element_shape", TensorShape.UNKNOWN),
    )
    return None, made


@reader("TensorArrayReadV3", "TensorArrayReadV2", array=-1)
def read(node: Node, handle: Any, index: Tensor, flow: TensorArray) -> Any:
    del handle
    return flow.read(index, name=node.exactly)


@reader("TensorArrayWriteV3", "TensorArrayWriteV2", outputs=("flow_out",), array=-1)
def write(node: Node, handle: Any, index: Tensor, value: Tensor, flow: TensorArray) -> Any:
    del handle
    return flow.write(index, value, name=node.exactly)


@reader("TensorArrayGatherV3", "TensorArrayGatherV2", array=-1)
def gather(node: Node, handle: Any, indices: Tensor, flow: TensorArray) -> Any:
    """All elements, where these are the numbers of all."""
    del handle
    known, size = node.static(indices), constant_value(flow.size())
    if known is not None and size is not None and known.tolist() == list(range(int(size))):
        return flow.stack(name=node.exactly)
    if _counts_to(indices, flow.size()):
        return flow.stack(name=node.exactly)
    return flow.gather(indices, name=node.exactly)


def _counts_to(indices: Tensor, size: Tensor) -> bool:
    """Whether the indices are 0, 1, ... up to a size that is not known."""
    op = indices.op
    return op.type == "Range" and len(op.inputs) == 3 and op.inputs[1] is size


@reader("TensorArrayScatterV3", "TensorArrayScatterV2", outputs=("flow_out",), array=-1)
def scatter(node: Node, handle: Any, indices: Tensor, value: Tensor, flow: TensorArray) -> Any:
    """The array of all rows, where these are the numbers of all."""
    del handle, indices
    return flow.unstack(value, name=node.exactly)


@reader("TensorArrayConcatV3", "TensorArrayConcatV2", outputs=("value", "lengths"), array=-1)
def concat(node: Node, handle: Any, flow: TensorArray) -> Any:
    del handle
    return flow.concat(name=node.exactly)


@reader("TensorArraySplitV3", "TensorArraySplitV2", outputs=("flow_out",), array=-1)
def split(node: Node, handle: Any, value: Tensor, lengths: Tensor, flow: TensorArray) -> Any:
    del handle
    return flow.split(value, lengths, name=node.exactly)


@reader("TensorArraySizeV3", "TensorArraySizeV2", array=-1)
def size(node: Node, handle: Any, flow: TensorArray) -> Any:
    del handle
    return flow.size(name=node.exactly)


@reader("TensorArrayCloseV3", "TensorArrayCloseV2", anything=True)
def close(node: Node, handle: Any) -> None:
    del node, handle


@reader("TensorArrayGradV3", "TensorArrayGradV2", "TensorArrayGradWithShape", anything=True)
@reader("StackV2", "StackPushV2", "StackPopV2", "StackCloseV2", anything=True)
@reader("OptionalFromValue", "OptionalNone", "OptionalGetValue", "OptionalHasValue", anything=True)
@reader("TensorListPopBack", "TensorListElementShape", anything=True)
def of_a_derivative(node: Node, *xs: Any) -> LeftOut:
    """TensorFlow's own derivative of a loop: it is left out; `gradients` makes ours."""
    del xs
    return node.left_out(derivative=True)


# Lists


@reader("TensorListReserve", "EmptyTensorList")
def reserve(node: Node, element_shape: Tensor, count: Tensor) -> Any:
    """An array of no elements; one of arrays is kept for TensorFlow's own derivative of a loop, and left out."""
    if node.attribute("element_dtype") is variant:
        return node.left_out(derivative=True)
    empty = node.op_type == "EmptyTensorList"
    known = node.static(element_shape)
    row = TensorShape.UNKNOWN
    if known is not None and known.ndim == 1:
        row = TensorShape([None if n < 0 else int(n) for n in known])
    grows = empty or node.proto.attr["element_dtype"].type in node.region.translation.growing
    return TensorArray(node.attribute("element_dtype"), 0 if empty else count, grows, element_shape=row)


@reader("TensorListFromTensor")
def from_tensor(node: Node, rows: Tensor, element_shape: Tensor) -> Any:
    del node, element_shape
    return TensorArray(rows.dtype, shape(rows)[0]).unstack(rows)


@reader("TensorListStack", array=0)
def stack(node: Node, array: TensorArray, element_shape: Tensor) -> Any:
    del element_shape
    return array.stack(name=node.exactly)


@reader("TensorListGetItem", array=0)
def get_item(node: Node, array: TensorArray, index: Tensor, element_shape: Tensor) -> Any:
    del element_shape
    return array.read(index, name=node.exactly)


reader("TensorListSetItem", array=0)(calling(TensorArray.write, 3))
reader("TensorListLength", array=0)(calling(TensorArray.size, 1))


@reader("TensorListPushBack", array=0)
def push_back(node: Node, array: TensorArray, value: Tensor) -> Any:
    return array.write(array.size(), value, name=node.exactly)


@reader("TensorListGather", array=0)
def list_gather(node: Node, array: TensorArray, indices: Tensor, element_shape: Tensor) -> Any:
    del element_shape
    return array.gather(indices, name=node.exactly)


@reader("TensorListScatter", "TensorListScatterV2")
def list_scatter(node: Node, rows: Tensor, indices: Tensor, element_shape: Tensor, *count: Tensor) -> Any:
    del element_shape
    many = shape(rows)[0] if not count or node.integers(count[0], "the number of elements") == [-1] else count[0]
    return TensorArray(rows.dtype, many).scatter(indices, rows, name=node.exactly)


@reader("TensorListConcat", "TensorListConcatV2", outputs=("tensor", "lengths"), array=0)
def list_concat(node: Node, array: TensorArray, *given: Tensor) -> Any:
    del given
    return array.concat(name=node.exactly)


@reader("TensorListResize", array=0)
def resize(node: Node, array: TensorArray, count: Tensor) -> Any:
    """The first elements, or all and zeros behind them."""
    return TensorArray(array.dtype, count, element_shape=array.element_shape).scatter(
        range_(array.size()), array.stack(), name=node.exactly
    )
