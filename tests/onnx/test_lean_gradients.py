"""What gradients reuse: indices as they were, the mean and the scale that a LayerNormalization has."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

import pullback as pb
import pullback.onnx

TEXT = """<ir_version: 10, opset_import: ["" : 18]>
rows (float[5,2] table, int64[n] i) => (float loss) {
    r = Gather(table, i) s = Mul(r, r) loss = ReduceSum<keepdims=0>(s) }"""
TABLE = np.arange(10, dtype=np.float32).reshape(5, 2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("indices", [[-1, 4, 0, -5], [3], []])
def test_negative_indices_are_those_of_the_last_rows(indices: list[int], sparse: bool) -> None:
    graph = pullback.onnx.load(onnx.parser.parse_model(TEXT))
    made = pullback.onnx.differentiate(graph, wrt=["table"], sparse=sparse)
    model = pullback.onnx.export(made.outputs, dict(zip(graph.input_names, graph.inputs, strict=True)))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"table": TABLE, "i": np.array(indices, np.int64)})
    expected = np.zeros_like(TABLE)
    np.add.at(expected, np.array(indices, np.int64), 2 * TABLE[indices])
    if sparse:
        rows, values = found
        assert (rows >= 0).all()
        dense = np.zeros_like(TABLE)
        np.add.at(dense, rows, values)
        found = [dense]
    np.testing.assert_array_equal(found[0], expected)


def test_nodes_of_a_gather_of_rows() -> None:
    graph = pullback.onnx.load(onnx.parser.parse_model(TEXT))
    made = pullback.onnx.differentiate(graph, wrt=["table"], sparse=True)
    model = pullback.onnx.export(made.outputs)
    assert [node.op_type for node in model.graph.node] == ["Mod", "Gather", "Add"]


def test_layer_normalisation_gives_its_mean_and_scale_to_the_gradient() -> None:
    text = """<ir_version: 10, opset_import: ["" : 18]>
    norm (float[3,4] x, float[4] g, float[3,4] c) => (float loss) {
        n = LayerNormalization(x, g) y = Mul(n, c) loss = ReduceSum<keepdims=0>(y) }"""
    graph = pullback.onnx.load(onnx.parser.parse_model(text))
    made = pullback.onnx.differentiate(graph, wrt=["x", "g"])
    inputs = dict(zip(graph.input_names, graph.inputs, strict=True))
    model = pullback.onnx.export({"loss": graph["loss"], **made.outputs}, inputs)
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("LayerNormalization") == 1
    assert not {"Sqrt", "Reciprocal", "Add"} & set(kinds)
    random = np.random.default_rng(0)
    feeds = {name: random.normal(size=x.shape.known).astype(np.float32) for name, x in inputs.items()}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = pb.Session(graph=graph, engine="numpy").run(
        list(made.outputs.values()), {inputs[name]: x for name, x in feeds.items()}
    )
    for a, b in zip(session.run(None, feeds)[1:], expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
