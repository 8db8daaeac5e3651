"""Optimised models: a node that is several operations is written as the node that it was, or better; never as more."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import pullback as pb
import pullback.onnx

CHANNELS = "float[3] s = {1.0, 2.0, 3.0}, float[3] b = {0.5, 0.2, 0.0}, float[3] m = {0.1, 0.2, 0.3}"
NODES = {
    "BatchNormalization": ("z = BatchNormalization(a, s, b, m, s)", CHANNELS),
    "InstanceNormalization": ("z = InstanceNormalization(a, s, b)", CHANNELS),
    "GroupNormalization": ("z = GroupNormalization<num_groups = 3>(a, s, b)", CHANNELS),
    "LayerNormalization": ("z = LayerNormalization(a, s)", "float[2] s = {1.0, 2.0}"),
    "Gelu": ("z = Gelu(a)", ""),
    "Mish": ("z = Mish(a)", ""),
    "LpNormalization": ("z = LpNormalization(a)", ""),
    "Split": ("z, other = Split<axis = 0, num_outputs = 2>(a)", ""),
    "GRU": (
        "z, last = GRU<hidden_size = 1, linear_before_reset = 1>(a, w, r)",
        "float[1,3,2] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, float[1,3,1] r = {0.5, 0.6, 0.7}",
    ),
}


def model_of(node: str, constants: str) -> onnx.ModelProto:
    """The node between operations that do nothing, and the square of what it gives."""
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
    model (float[4,3,2] x) => (float[p,q,s] y) <float one = {{1.0}}{constants and ","} {constants}>
    {{ a = Mul(x, one) {node} c = Mul(z, one) y = Mul(c, c) }}"""
    return onnx.parser.parse_model(text)


def kinds(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def with_derivative(model: onnx.ModelProto, optimize: str | None) -> onnx.ModelProto:
    graph = pb.onnx.load(model)
    made = pb.onnx.differentiate(graph, optimize=optimize)
    return pb.onnx.export({**made.ys, **made.outputs}, graph.input_tensors)


def run(model: onnx.ModelProto) -> list[Any]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {"x": np.random.default_rng(0).normal(size=(4, 3, 2)).astype(np.float32)}))


@pytest.mark.parametrize("kind", NODES)
def test_a_node_between_what_is_rewritten_stays_a_node(kind: str) -> None:
    graph = pb.onnx.load(model_of(*NODES[kind]))
    once, _ = pb.optimize(graph.output_tensors)
    twice, _ = pb.optimize({"y": once["y"] * 1.0})
    for lean in (once, twice):
        assert kinds(pb.onnx.export(lean, graph.input_tensors)) == [kind, "Mul"]


@pytest.mark.parametrize("kind", NODES)
def test_an_optimised_derivative_has_no_more_nodes_than_the_plain_one(kind: str) -> None:
    plain, lean = [with_derivative(model_of(*NODES[kind]), optimize) for optimize in (None, "safe")]
    assert len(kinds(lean)) <= len(kinds(plain))
    for found, expected in zip(run(lean), run(plain), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_nodes_that_became_one_are_that_one() -> None:
    graph = pb.onnx.load(model_of("e = Exp(a) t = Add(one, e) z = Log(t)", ""))
    lean, _ = pb.optimize(graph.output_tensors)
    assert kinds(pb.onnx.export(lean, graph.input_tensors)) == ["Softplus", "Mul"]


def test_what_is_given_in_the_place_of_an_input_of_a_node_is_read_by_it() -> None:
    graph = pb.onnx.load(model_of(*NODES["Gelu"]))
    lean, _ = pb.optimize(graph.output_tensors, keep=graph["a"])
    made = pb.onnx.export(lean, {"a": graph["a"]})
    assert kinds(made) == ["Gelu", "Mul"]
    assert [entry.name for entry in made.graph.input] == ["a"]
