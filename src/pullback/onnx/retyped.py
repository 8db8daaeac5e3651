"""Mixed precision of ONNX models: a model in another float dtype, wider to check one, narrower to ship one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, helper, numpy_helper
from onnx.helper import tensor_dtype_to_np_dtype

from ..core.dtypes import as_dtype
from .element_types import element_type_of
from .weights import array_of

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
_ELEMENT_TYPES = {"Cast": "to", "EyeLike": "dtype", "RandomNormal": "dtype", "RandomUniform": "dtype"}
"""The attributes of operators that name the dtype of their results."""


def retyped(model: ModelProto, dtype: Any, directory: Path | None = None) -> ModelProto:
    """A copy of `model` in which float16, bfloat16, float32 and float64 are all `dtype`; other dtypes stay.

    What stands in files beside the model, in `directory`, is read.
    """
    element_type = element_type_of(as_dtype(dtype))
    copy = ModelProto()
    copy.CopyFrom(model)
    for graph in _graphs(copy):
        del graph.value_info[:]
        for entry in (*graph.input, *graph.output):
            _retype_type(entry.type, element_type)
        for tensor in graph.initializer:
            tensor.CopyFrom(_retyped_tensor(tensor, element_type, directory))
        for node in graph.node:
            _retype_node(node, element_type)
    return copy


def _graphs(model: ModelProto) -> Iterator[GraphProto]:
    pending = [model.graph]
    while pending:
        graph = pending.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                pending.extend([attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs)


def _retype_type(of: TypeProto, element_type: int) -> None:
    kind = of.WhichOneof("value")
    if kind == "tensor_type" and of.tensor_type.elem_type in _FLOATS:
        of.tensor_type.elem_type = element_type
    elif kind in ("sequence_type", "optional_type"):
        _retype_type(getattr(of, kind).elem_type, element_type)


def _retyped_tensor(tensor: TensorProto, element_type: int, directory: Path | None = None) -> TensorProto:
    if tensor.data_type not in _FLOATS:
        return tensor
    array: Any = array_of(tensor, directory)
    return numpy_helper.from_array(np.asarray(array, tensor_dtype_to_np_dtype(element_type)), tensor.name)


def _retype_node(node: NodeProto, element_type: int) -> None:
    for attribute in node.attribute:
        if attribute.type == AttributeProto.TENSOR:
            attribute.t.CopyFrom(_retyped_tensor(attribute.t, element_type))
        elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            numbers = attribute.f if attribute.name == "value_float" else list(attribute.floats)
            value = numpy_helper.from_array(np.asarray(numbers, tensor_dtype_to_np_dtype(element_type)))
            attribute.CopyFrom(helper.make_attribute("value", value))
        elif _ELEMENT_TYPES.get(node.op_type) == attribute.name and attribute.i in _FLOATS:
            attribute.i = element_type
    if node.op_type == "ConstantOfShape" and not node.attribute:
        nothing = numpy_helper.from_array(np.zeros(1, tensor_dtype_to_np_dtype(element_type)))
        node.attribute.append(helper.make_attribute("value", nothing))
