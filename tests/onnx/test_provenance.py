"""What a model says of its nodes is taken where they are what it says, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb
from pullback.onnx.hints import HINT


def model_of(f: Any, *dims: Any, dtype: str = "float64") -> onnx.ModelProto:
    x = pb.placeholder(dtype, list(dims), name="x")
    return pb.onnx.export({"y": f(x)}, {"x": x})


def kind(model: onnx.ModelProto) -> str:
    """The op type of what the model gives."""
    return pb.onnx.load(model)["y"].op.type


def hints(model: onnx.ModelProto) -> list[Any]:
    return [entry for node in model.graph.node for entry in node.metadata_props if entry.key == HINT]


FUNCTIONS = {
    "Sigmoid": pb.sigmoid,
    "Lgamma": pb.math.lgamma,
    "Acosh": pb.acosh,
    "Selu": pb.nn.selu,
    "BesselI1": pb.math.bessel_i1,
    "Cumprod": lambda x: pb.math.cumprod(pb.broadcast_to(x, [3]), 0),
    "MatrixInverse": lambda x: pb.linalg.inv(pb.reshape(x, [1, 1]) + pb.eye(1, dtype=x.dtype)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_written_as_several_nodes_is_read_as_it_was(name: str) -> None:
    model = model_of(FUNCTIONS[name], 1)
    assert len(model.graph.node) > 1
    assert {node.domain for node in model.graph.node} == {""}
    assert kind(model) == name


STOPPED = {
    "a product": lambda x: x * pb.stop_gradient(x),
    "what looks through rounding": lambda x: x + pb.stop_gradient(pb.round(x) - x),
    "inside a branch": lambda x: pb.cond(pb.reduce_sum(x) > 0.0, lambda: x * pb.stop_gradient(x), lambda: x),
    "in every step": lambda x: pb.foldl(lambda y, k: y * pb.stop_gradient(x) * k, pb.constant([1.0, 2.0], x.dtype), x),
}


@pytest.mark.parametrize("name", STOPPED)
def test_what_is_not_differentiated_is_not_when_it_is_read_again(name: str) -> None:
    at = np.array([0.7, 1.4])
    x = pb.placeholder(pb.float64, [2], name="x")
    y = STOPPED[name](x)
    expected = pb.Session(engine="numpy").run(pb.gradients(y, x)[0], {x: at})
    graph = pb.onnx.load(pb.onnx.export({"y": y}, {"x": x}))
    dx = pb.gradients(graph["y"], graph["x"])[0]
    np.testing.assert_array_equal(pb.Session(graph=graph, engine="numpy").run(dx, {graph["x"]: at}), expected)


def test_what_must_not_be_differentiated_must_not_when_it_is_read_again() -> None:
    graph = pb.onnx.load(model_of(lambda x: 2.0 * pb.prevent_gradient(x, "no slopes"), 2))
    with pytest.raises(LookupError, match="no slopes"):
        pb.gradients(graph["y"], graph["x"])


def test_it_is_read_so_of_lengths_that_a_run_decides() -> None:
    assert kind(model_of(pb.math.bessel_i1, None, 3)) == "BesselI1"


def test_it_is_read_so_of_a_constant_and_of_the_value_of_a_variable() -> None:
    x = pb.placeholder(pb.float64, [2], name="x")
    v = pb.Variable(np.array([2.0, 0.0]))
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    for factor in (pb.constant([2.0, 0.0], pb.float64), pb.convert_to_tensor(v)):
        model = pb.onnx.export({"y": pb.math.multiply_no_nan(factor, x)}, {"x": x}, session=session)
        assert kind(model) == "MulNoNan"


def test_it_is_read_so_inside_a_loop() -> None:
    model = model_of(lambda x: pb.while_loop(lambda s: pb.reduce_sum(s) < 3, lambda s: [pb.sigmoid(s) + s], [x])[0], 2)
    graph = pb.onnx.load(model)
    inner = {op.type for outer in graph.operations for f in outer.primitive.functions for op in f.operations}
    assert "Sigmoid" in inner


def test_it_is_read_so_when_onnx_has_converted_the_model() -> None:
    model = model_of(lambda x: pb.pad(pb.sigmoid(x), [[1, 1]]), 2)
    assert model.opset_import[0].version < 21
    assert "Sigmoid" in {op.type for op in pb.onnx.load(model).operations}


def test_it_is_read_so_when_the_loaded_model_is_written_again() -> None:
    graph = pb.onnx.load(model_of(pb.math.lgamma, 2))
    again = pb.onnx.export({"y": graph["y"]}, {"z": graph["x"]})
    assert kind(again) == "Lgamma"


@pytest.mark.parametrize("change", ["an attribute", "a constant", "an operator"])
def test_nodes_that_were_changed_mean_what_they_say(change: str) -> None:
    model = model_of(pb.nn.selu, 2)
    if change == "a constant":
        tensor = next(t for t in model.graph.initializer if t.data_type == onnx.TensorProto.DOUBLE)
        tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor) * 2 + 1, tensor.name))
    elif change == "an operator":
        next(node for node in model.graph.node if node.op_type == "Mul").op_type = "Add"
    else:
        node = next(node for node in model.graph.node if node.op_type == "Where")
        node.input[1], node.input[2] = node.input[2], node.input[1]
    graph = pb.onnx.load(model)
    assert graph["y"].op.type != "Selu"
    plain = onnx.ModelProto()
    plain.CopyFrom(model)
    for node in plain.graph.node:
        del node.metadata_props[:]
    feed = np.array([0.5, -2.0])
    values = []
    for each in (graph, pb.onnx.load(plain)):
        values.append(pb.Session(graph=each, engine="numpy").run(each["y"], {each["x"]: feed}))
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[]",
        "7",
        "{}",
        '{"type": "NoSuchType", "inputs": [[0]], "opset": 18}',
        '{"type": "Lgamma", "inputs": [[0]], "opset": 18}',
        '{"type": "Lgamma", "inputs": [[99]], "opset": 18}',
        '{"type": "Lgamma", "inputs": [[]], "opset": 18}',
        '{"type": "Lgamma", "inputs": [], "opset": 18}',
        '{"type": "Lgamma", "inputs": [[0, 0]], "opset": -1}',
        '{"type": "Lgamma", "inputs": [[0, 0]], "opset": "x"}',
        '{"type": "Lgamma", "inputs": [[0, 0]], "opset": 18, "output": [7, 7]}',
        '{"type": "Lgamma", "inputs": [[0, 0]], "opset": 18, "attributes": {"a": 1}}',
        '{"type": "BesselJn", "inputs": [[0, 0]], "opset": 18, "attributes": {"order": 1000000000}}',
        '{"type": "PyFunc", "inputs": [[0, 0]], "opset": 18}',
        '{"type": "Lgamma", "inputs": [{"array": "AAAA", "dtype": "float64", "shape": [-1]}], "opset": 18}',
        "[" * 3000,
    ],
)
def test_what_makes_no_sense_is_not_taken(said: str) -> None:
    model = model_of(pb.math.lgamma, 2)
    for entry in hints(model):
        entry.value = said
    assert kind(model) == "SelectV2"
