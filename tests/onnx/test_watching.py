"""Values inside the loops of a model: what they are at each step, and derivatives by each."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb

ort = pytest.importorskip("onnxruntime")

# y = x tanh(x) tanh(...) ...: `h` is carried, `t` is made in the body.
LOOP = """(float[n] x, int64 steps, bool go) => (float[n] y) {
    y = Loop (steps, go, x) <body = b (int64 i, bool c, float[n] h) => (bool c, float[n] new) {
        t = Tanh (h)  new = Mul (t, h) }> }"""
SCAN = """(float[n] x, float[k, n] rows) => (float[n] y, float[k, n] all) {
    y, all = Scan <num_scan_inputs = 1, body = b (float[n] h, float[n] row) => (float[n] new, float[n] out) {
        t = Mul (h, row)  new = Tanh (t)  out = Identity (new) }> (x, rows) }"""
X = np.array([0.5, 1.0, 1.5], np.float32)


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> agraph {text}')


def differentiated(text: str, wrt: list[str], of: str = "y") -> tuple[pb.onnx.OnnxGraph, dict[str, pb.Tensor]]:
    inside = [name for name in {*wrt, of} if name not in ("x", "y")]
    graph = pb.onnx.load(model(text), watch=inside)
    return graph, pb.onnx.differentiate(graph, [of], wrt).outputs


def run(graph: pb.onnx.OnnxGraph, outputs: dict[str, pb.Tensor], **feeds: Any) -> dict[str, np.ndarray[Any, Any]]:
    """What onnxruntime gives, after it was compared with NumPy."""
    written = pb.onnx.export(outputs, dict(zip(graph.input_names, graph.inputs, strict=True)))
    session = ort.InferenceSession(written.SerializeToString())
    read = {x.name for x in session.get_inputs()}
    found = session.run(list(outputs), {k: v for k, v in feeds.items() if k in read})
    expected = pb.Session(graph=graph, engine="numpy").run(outputs, {graph[k]: v for k, v in feeds.items()})
    for a, b in zip(found, expected.values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return expected


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_derivatives_by_each_step(steps: int) -> None:
    graph, outputs = differentiated(LOOP, ["x", "h", "t"])
    found = run(graph, outputs, x=X, steps=np.array(steps), go=np.array(True))
    h, states = X.astype(np.float64), []
    for _ in range(steps):
        states.append(h)
        h = h * np.tanh(h)
    slope, by_h, by_t = np.ones(3), [], []
    for h in reversed(states):
        by_t.append(slope * h)
        slope = slope * (np.tanh(h) + h / np.cosh(h) ** 2)
        by_h.append(slope)
    shape = (steps, 3)
    np.testing.assert_allclose(found["gradients/h"], np.reshape(by_h[::-1], shape), rtol=1e-5)
    np.testing.assert_allclose(found["gradients/t"], np.reshape(by_t[::-1], shape), rtol=1e-5)
    np.testing.assert_allclose(found["gradients/x"], slope, rtol=1e-5)


def test_derivatives_of_what_a_value_was_at_all_steps() -> None:
    graph, outputs = differentiated(LOOP, ["x"], of="t")
    found = run(graph, {"t": graph["t"], **outputs}, x=X, steps=np.array(2), go=np.array(True))
    first = np.tanh(X)
    np.testing.assert_allclose(found["t"], [first, np.tanh(X * first)], rtol=1e-5)
    slope = 1 - first**2 + (1 - np.tanh(X * first) ** 2) * (first + X * (1 - first**2))
    np.testing.assert_allclose(found["gradients/x"], slope, rtol=1e-5)


def test_derivatives_by_each_step_of_a_scan() -> None:
    graph, outputs = differentiated(SCAN, ["x", "t"])
    rows = np.array([[1.0, 2.0, 0.5], [0.5, -1.0, 2.0]], np.float32)
    found = run(graph, outputs, x=X, rows=rows)
    first = np.tanh(X * rows[0])
    last = 1 - np.tanh(first * rows[1]) ** 2
    np.testing.assert_allclose(found["gradients/t"], [last * rows[1] * (1 - first**2), last], rtol=1e-4)


def test_what_is_inside_no_loop_cannot_be_watched() -> None:
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=r"^onnx.load: watch: no loop of the model has a value 'z'$"
    ):
        pb.onnx.load(model(LOOP), watch=["z"])


def test_a_value_that_was_not_watched_is_said_to_be_inside_a_loop() -> None:
    graph = pb.onnx.load(model(LOOP))
    with pytest.raises(
        KeyError, match=r"the model has no value 't'; it is inside a loop: load the model with watch=\['t'\]"
    ):
        graph["t"]


def test_second_derivatives_by_each_step_are_refused() -> None:
    graph = pb.onnx.load(model(LOOP), watch=["t"])
    message = r"^onnx.differentiate: 't' is inside a loop; kind must be 'gradient' or 'vjp', not 'hvp'$"
    with pytest.raises(pb.errors.InvalidArgumentError, match=message):
        pb.onnx.differentiate(graph, ["y"], ["t"], "hvp")
