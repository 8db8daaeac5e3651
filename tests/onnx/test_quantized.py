"""Derivatives of quantized models: none, unless a rule hands cotangents straight through."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb

ort = pytest.importorskip("onnxruntime")

TEXT = """<ir_version: 8, opset_import: ["" : 18]> agraph (float[N, 3] x) => (float[N, 2] y)
<float s = {0.5}, int8 z = {3}, float t = {0.25}, int8 o = {0}, int8[3, 2] w = {1, -2, 3, 4, -5, 6}> {
 [first] q = QuantizeLinear (x, s, z)
 a = DequantizeLinear (q, s, z)
 b = DequantizeLinear (w, t, o)
 c = MatMul (a, b)
 [last] p = QuantizeLinear (c, t, o)
 y = DequantizeLinear (p, t, o)
}"""
W = np.array([[1, -2], [3, 4], [-5, 6]], np.float32) * 0.25
X = np.array([[0.3, -1.1, 2.0], [0.9, 0.1, -0.7]], np.float32)


def straight(op: Any, dy: Any) -> Any:
    return dy, None


def test_a_rule_for_the_operator_hands_cotangents_through_all_its_nodes() -> None:
    graph = pb.onnx.load(onnx.parser.parse_model(TEXT))
    made = pb.onnx.differentiate(graph, ["y"], ["x"], rules={"QuantizeLinear": straight})
    written = pb.onnx.export({"y": graph["y"], **made.outputs}, {"x": graph["x"]})
    assert [node.op_type for node in written.graph.node][:6] == [node.op_type for node in graph.model.graph.node]
    session = ort.InferenceSession(written.SerializeToString())
    y, dx = session.run(None, {"x": X})
    (expected,) = ort.InferenceSession(onnx.parser.parse_model(TEXT).SerializeToString()).run(None, {"x": X})
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_allclose(dx, np.broadcast_to(W.sum(1), X.shape), rtol=1e-6)


def test_a_rule_for_one_node_leaves_the_others() -> None:
    graph = pb.onnx.load(onnx.parser.parse_model(TEXT))
    made = pb.onnx.differentiate(graph, ["y"], ["c"], rules={"last": straight})
    (dc,) = pb.Session(graph=graph, engine="numpy").run(list(made.outputs.values()), {graph["x"]: X})
    assert dc.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(pb.errors.InvalidArgumentError, match="'y' has no derivative by 'x'"):
        pb.onnx.differentiate(graph, ["y"], ["x"], rules={"first": straight})


def test_without_a_rule_the_error_says_which_one_to_give() -> None:
    graph = pb.onnx.load(onnx.parser.parse_model(TEXT))
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.onnx.differentiate(graph, ["y"], ["x"])
    assert str(caught.value).splitlines()[-1] == (
        "QuantizeLinear rounds, and has no derivative of its own. To hand cotangents on as they are, as in training "
        "for quantization: rules={'QuantizeLinear': ...}, or --rule QuantizeLinear=identity."
    )


def test_integers_that_are_not_scaled_back_take_no_rule() -> None:
    text = TEXT.replace("y = DequantizeLinear (p, t, o)", "y = Cast <to = 1> (p)")
    graph = pb.onnx.load(onnx.parser.parse_model(text))
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.onnx.differentiate(graph, ["y"], ["x"], rules={"last": straight})
    assert str(caught.value) == (
        "onnx.differentiate: rules: no DequantizeLinear reads what last gives, and integers have no derivative"
    )
