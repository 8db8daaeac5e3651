"""What models of other exporters do that ours do not: each row was met in a model that people use."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb

ort = pytest.importorskip("onnxruntime")


def model(text: str, opset: int = 18) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> agraph {text}')


def gradient_on_both(proto: onnx.ModelProto, of: str, wrt: str, **feeds: Any) -> np.ndarray[Any, Any]:
    """The gradient that onnxruntime gives, after it was compared with NumPy's."""
    graph = pb.onnx.load(proto)
    made = pb.onnx.differentiate(graph, [of], [wrt])
    written = pb.onnx.export(made.outputs, dict(zip(graph.input_names, graph.inputs, strict=True)))
    session = ort.InferenceSession(written.SerializeToString())
    read = {x.name for x in session.get_inputs()}
    (found,) = session.run(None, {name: array for name, array in feeds.items() if name in read})
    session = pb.Session(graph=graph, engine="numpy")
    (expected,) = session.run(list(made.outputs.values()), {graph[name]: array for name, array in feeds.items()})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    return found


def test_a_length_of_minus_one_is_open() -> None:
    # Paddle's exporter.
    proto = model("(float[N, 3] x) => (float[N, 3] y) { y = Tanh (x) }")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    assert pb.onnx.load(proto).inputs[0].shape.as_list() == [None, 3]


def test_a_transposition_that_says_no_order_turns_all_axes_around() -> None:
    # Attention of Paddle's exporter: the derivative's transposition meets the model's own.
    proto = model(
        "(float[4, 2, 3] x) => (float[4, 2, 3] y)"
        "{ t = Transpose (x) e = Exp (t) s = Transpose <perm = [2, 1, 0]> (t) m = Mul (s, x) y = Add (m, x) }"
    )
    x = np.random.default_rng(0).standard_normal((4, 2, 3)).astype(np.float32)
    np.testing.assert_allclose(gradient_on_both(proto, "y", "x", x=x), 2 * x + 1, rtol=1e-5)


def test_a_part_of_a_shape_is_not_the_whole() -> None:
    proto = model(
        "(float[N, M] x) => (float[?, ?] y)"
        "{ k = Shape <start = 1> (x) one = Constant <value_ints = [1]> () s = Concat <axis = 0> (one, k)"
        " r = ReduceSum <keepdims = 1> (x) w = Expand (r, s) y = Mul (w, w) }"
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(gradient_on_both(proto, "y", "x", x=x), np.full((2, 3), 2 * 15 * 3.0), rtol=1e-5)


def test_filters_say_the_rank_of_what_a_branch_gives() -> None:
    # Silero's voice detector: onnx does not infer the shapes of branches whose ranks differ.
    proto = model(
        "(float[2, 1, 8] x, bool c, float[3, 1, 2] w) => (float[?, ?, ?] y) {"
        " h = If (c) <then_branch = a () => (float[?, ?, ?] t) { t = Tanh (x) },"
        " else_branch = b () => (float[?, ?] u) { d = Constant <value_ints = [2, 8]> () u = Reshape (x, d) }>"
        " y = Conv (h, w) }"
    )
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((2, 1, 8)).astype(np.float32), rng.standard_normal((3, 1, 2)).astype(np.float32)
    gradient_on_both(proto, "y", "x", x=x, w=w, c=np.array(True))
    gradient_on_both(proto, "y", "w", x=x, w=w, c=np.array(True))


def test_a_real_signal_needs_no_last_axis_of_one() -> None:
    proto = model(
        "(float[2, 32] x) => (float[?, ?, ?, 2] y)"
        "<int64 step = {8}, float[8] window = {1., 1., 1., 1., 1., 1., 1., 1.}>"
        "{ y = STFT (x, step, window) }"
    )
    x = np.random.default_rng(2).standard_normal((2, 32)).astype(np.float32)
    graph = pb.onnx.load(proto)
    found = pb.Session(graph=graph, engine="numpy").run(graph["y"], {graph["x"]: x})
    expected = np.fft.rfft(x.reshape(2, 4, 8))
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, rtol=1e-5, atol=1e-5)
