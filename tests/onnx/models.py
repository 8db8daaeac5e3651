"""Small models for the tests of reading: in words, of one node, and their runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

import pullback as pb

Array = np.ndarray[Any, Any]


def parsed(text: str, opset: int = 21) -> onnx.ModelProto:
    """A model of the textual form, without its head."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')


def run(graph: pb.onnx.OnnxGraph, fetches: Any, engine: str = "numpy", **feeds: Any) -> Any:
    """The values of `fetches` for inputs by name."""
    return pb.Session(graph=graph, engine=engine).run(fetches, {graph[name]: x for name, x in feeds.items()})


def of_node(
    op: str,
    inputs: dict[str, Array],
    *,
    fixed: Sequence[str] = (),
    kinds: Sequence[Any] = (None,),
    opset: int = 21,
    **attributes: Any,
) -> Any:
    """The outputs of one node on the NumPy engine; inputs not `fixed` are given in the run, with unknown lengths.

    `kinds` are the dtypes of the outputs, None for that of the first input.
    """
    names = [f"y{i}" for i in range(len(kinds))]
    node = helper.make_node(op, list(inputs), names, **attributes)
    entries = [
        helper.make_tensor_value_info(name, element(x.dtype), [None] * x.ndim)
        for name, x in inputs.items()
        if name and name not in fixed
    ]
    first = next(iter(inputs.values())).dtype
    made = [helper.make_tensor_value_info(n, element(k or first), None) for n, k in zip(names, kinds, strict=True)]
    constants = [numpy_helper.from_array(inputs[name], name) for name in fixed]
    graph = pb.onnx.load(model_of([node], entries, made, constants, opset))
    given = {name: x for name, x in inputs.items() if name and name not in fixed}
    values = run(graph, list(graph.outputs), **given)
    return values[0] if len(kinds) == 1 else values


def element(dtype: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def model_of(nodes: Any, inputs: Any, outputs: Any, initializers: Any = (), opset: int = 21) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "test", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


CHAIN = """chain (float[batch, 3] x) => (float[batch, 3] y)
<float[3] w = {1.0, 2.0, 3.0}> { h = Mul(x, w)  r = Tanh(h)  y = Add(r, h) }"""
