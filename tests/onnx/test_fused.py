"""Fused operators of onnxruntime: its values; derivatives of the model before it was optimised, or differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, helper, parser

import pullback as pb
from pullback.onnx.element_types import element_type_of

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


PLAIN = {
    "FusedMatMul, BiasGelu, SkipLayerNormalization": (
        """(float[2,3,4] x, float[4] w, float[4] b) => (float[2,3,4] y) {
            root = Constant <value = float {1.41421356}> () half = Constant <value = float {0.5}> ()
            one = Constant <value = float {1.0}> () t = Transpose <perm = [0, 2, 1]> (x) z = MatMul (x, t)
            products = MatMul (z, x) a = Add (products, b) d = Div (a, root) e = Erf (d) f = Add (e, one)
            g = Mul (a, f) k = Mul (g, half) s = Add (k, x) y = LayerNormalization (s, w, b) }""",
        {"x": normal(2, 3, 4), "w": normal(4), "b": normal(4)},
    ),
    "FusedGemm": (
        """(float[2,3] x, float[3,4] w, float[4] b) => (float[2,4] y) {
            g = Gemm <alpha = 0.5, beta = 2.0> (x, w, b) y = LeakyRelu <alpha = 0.3> (g) }""",
        {"x": normal(2, 3), "w": normal(3, 4), "b": normal(4)},
    ),
    "FusedConv": (
        "(float[1,2,4,4] x, float[3,2,2,2] w) => (float[1,3,3,3] y) { g = Conv (x, w) y = Relu (g) }",
        {"x": normal(1, 2, 4, 4), "w": normal(3, 2, 2, 2)},
    ),
    "QuickGelu": (
        """(float[2,3] x) => (float[2,3] y) {
            a = Constant <value = float {1.702}> () b = Mul (x, a) c = Sigmoid (b) y = Mul (x, c) }""",
        {"x": normal(2, 3)},
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_model_that_onnxruntime_optimised_is_read_and_differentiated(name: str, tmp_path: Path) -> None:
    text, feeds = PLAIN[name]
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> plain {text}')
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    optimised = onnx.load(tmp_path / "optimised.onnx")
    assert {node.op_type for node in optimised.graph.node} >= set(name.split(", "))
    for found, expected in zip(values(optimised, feeds), values(model, feeds), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-5)


def values(model: ModelProto, feeds: dict[str, Array]) -> list[Array]:
    """The outputs of a model, and the gradients of a weighted sum of the first by its inputs of floats."""
    graph = pb.onnx.load(model)
    with graph.as_default():
        y = graph.outputs[0]
        xs = [graph[name] for name, array in feeds.items() if array.dtype == np.float32]
        weights = np.cos(np.arange(y.shape.num_elements() or 1.0)).reshape(y.shape.as_list())
        fetches = [*graph.outputs, *pb.gradients(pb.reduce_sum(y * weights.astype(np.float32)), xs)]
    with pb.Session(graph=graph, engine="numpy") as session:
        found: list[Array] = session.run(fetches, {graph[name]: array for name, array in feeds.items()})
    return found


MASK = np.array([[1, 1, 0], [1, 0, 0]], np.int32)
BYTES = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
SCALE, ZERO = np.array(0.02, np.float32), np.array(7, np.uint8)
DIRECT: dict[str, tuple[str, dict[str, Any], dict[str, Array]]] = {
    "FusedMatMul": ("FusedMatMul", {"alpha": 0.5, "transA": 1}, {"a": normal(2, 4, 3), "b": normal(2, 4, 5)}),
    "Gelu": ("Gelu", {}, {"x": normal(2, 3)}),
    "FastGelu": ("FastGelu", {}, {"x": normal(2, 3), "b": normal(3)}),
    "SkipLayerNormalization": (
        "SkipLayerNormalization",
        {"epsilon": 1e-5},
        {"x": normal(2, 3, 4), "skip": normal(2, 3, 4), "w": normal(4), "b": normal(4), "added": normal(4)},
    ),
    "SkipSimplifiedLayerNormalization": (
        "SkipSimplifiedLayerNormalization",
        {"epsilon": 1e-5},
        {"x": normal(2, 3, 4), "skip": normal(2, 3, 4), "w": normal(4)},
    ),
    "EmbedLayerNormalization": (
        "EmbedLayerNormalization",
        {"epsilon": 1e-5},
        {
            "words": np.array([[1, 0, 2], [2, 2, 1]], np.int32),
            "segments": np.array([[0, 0, 1], [0, 1, 1]], np.int32),
            "of_words": normal(3, 4),
            "of_places": normal(5, 4),
            "of_segments": normal(2, 4),
            "w": normal(4),
            "b": normal(4),
        },
    ),
    "Attention": (
        "Attention",
        {"num_heads": 2},
        {"x": normal(2, 3, 4), "w": normal(4, 12), "b": normal(12)},
    ),
    "Attention with a mask": (
        "Attention",
        {"num_heads": 2},
        {"x": normal(2, 3, 4), "w": normal(4, 12), "b": normal(12), "seen": MASK},
    ),
    "Attention to what came before": (
        "Attention",
        {"num_heads": 2, "unidirectional": 1},
        {"x": normal(2, 3, 4), "w": normal(4, 12), "b": normal(12)},
    ),
    "MultiHeadAttention": (
        "MultiHeadAttention",
        {"num_heads": 2},
        {"q": normal(2, 3, 4), "k": normal(2, 5, 4), "v": normal(2, 5, 6), "b": normal(14)},
    ),
    "QGemm": (
        "QGemm",
        {"transB": 1},
        {"a": BYTES, "a_s": SCALE, "a_z": ZERO, "b": BYTES, "b_s": SCALE, "b_z": ZERO}
        | {"c": np.array([3, 5, 7], np.int32), "y_s": np.array(0.3, np.float32), "y_z": ZERO},
    ),
    "QLinearAdd": (
        "QLinearAdd",
        {},
        {
            "a": BYTES,
            "a_s": SCALE,
            "a_z": ZERO,
            "b": BYTES,
            "b_s": np.float32([0.04]).reshape(()),
            "b_z": ZERO,
            "y_s": np.float32([0.06]).reshape(()),
            "y_z": ZERO,
        },
    ),
    "QLinearMul": (
        "QLinearMul",
        {},
        {
            "a": BYTES,
            "a_s": SCALE,
            "a_z": ZERO,
            "b": BYTES,
            "b_s": SCALE,
            "b_z": ZERO,
            "y_s": np.float32([0.18]).reshape(()),
            "y_z": ZERO,
        },
    ),
}


@pytest.mark.parametrize("name", DIRECT)
def test_a_fused_operator_gives_what_onnxruntime_does_and_has_the_derivative_of_that(name: str) -> None:
    op_type, attributes, feeds = DIRECT[name]
    model = model_of(op_type, attributes, feeds)
    run = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run
    graph = pb.onnx.load(model)
    expected = np.asarray(run(["y"], feeds)[0])
    with pb.Session(graph=graph, engine="numpy") as session:
        found = session.run(graph["y"], {graph[key]: x for key, x in feeds.items()})
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=1e-4, atol=2e-5)
    floats = [key for key, x in feeds.items() if x.dtype == np.float32]
    if expected.dtype != np.float32:
        return
    weights = np.cos(np.arange(expected.size)).reshape(expected.shape).astype(np.float32)
    with graph.as_default():
        gradients = pb.gradients(graph["y"], [graph[key] for key in floats], grad_ys=weights)
    with pb.Session(graph=graph, engine="numpy") as session:
        dxs = session.run([pb.convert_to_tensor(dx) for dx in gradients], {graph[k]: x for k, x in feeds.items()})
    direction = {key: normal(*feeds[key].shape) for key in floats}
    sides = [run(["y"], {**feeds, **{k: feeds[k] + h * d for k, d in direction.items()}})[0] for h in (3e-3, -3e-3)]
    slope = float(np.sum(weights * (np.asarray(sides[0], np.float64) - sides[1]))) / 6e-3
    terms = [float(np.sum(dx * d)) for dx, d in zip(dxs, direction.values(), strict=True)]
    assert abs(sum(terms) - slope) <= 1e-2 * max(sum(map(abs, terms)), 1.0)


def model_of(op_type: str, attributes: dict[str, Any], feeds: dict[str, Array]) -> ModelProto:
    """A model of one node, whose further outputs nobody reads."""
    more = ["count"] if op_type == "EmbedLayerNormalization" else []
    node = helper.make_node(op_type, list(feeds), ["y", *more], domain="com.microsoft", **attributes)
    inputs = [helper.make_tensor_value_info(k, element_type_of(x.dtype), x.shape) for k, x in feeds.items()]
    kind = element_type_of(np.dtype(np.uint8 if op_type.startswith("Q") else np.float32))
    graph = helper.make_graph([node], "one", inputs, [helper.make_tensor_value_info("y", kind, None)])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)
