"""Which lengths are known to be the same, and what is left out of a model because of that."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb

ort = pytest.importorskip("onnxruntime")


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> agraph {text}')


def gradient(text: str, *wrt: str) -> onnx.ModelProto:
    graph = pb.onnx.load(model(text))
    made = pb.onnx.differentiate(graph, ["y"], wrt or ["x"])
    return pb.onnx.export(made.outputs, dict(zip(graph.input_names, graph.inputs, strict=True)))


def kinds(written: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in written.graph.node}


def run(written: onnx.ModelProto, **feeds: Any) -> list[np.ndarray[Any, Any]]:
    session = ort.InferenceSession(written.SerializeToString())
    read = {x.name for x in session.get_inputs()}
    found: list[np.ndarray[Any, Any]] = session.run(None, {k: v for k, v in feeds.items() if k in read})
    return found


@pytest.mark.parametrize(
    "between",
    [
        "Conv <pads = [1, 1, 1, 1]> (x, w)",
        "MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)",
        "Transpose <perm = [0, 1, 2, 3]> (x)",
        "Softmax <axis = 1> (x)",
        "Reshape (x, s)",
    ],
)
def test_a_gate_needs_no_sum_at_run_time(between: str) -> None:
    text = f"(float[N, 4, H, W] x, float[4, 4, 3, 3] w) => (float[?, ?, ?, ?] y) {{ s = Shape (x) z = {between} "
    written = gradient(text + "g = Sigmoid (x) y = Mul (z, g) }")
    assert "NonZero" not in kinds(written)


def test_a_gate_of_one_number_for_each_channel_is_summed_over_the_others() -> None:
    written = gradient("(float[N, 4, H, W] x) => (float[?, ?, ?, ?] y) { g = GlobalAveragePool (x) y = Mul (x, g) }")
    assert "NonZero" not in kinds(written)
    x = np.random.default_rng(0).standard_normal((2, 4, 3, 5)).astype(np.float32)
    (dx,) = run(written, x=x)
    np.testing.assert_allclose(dx, np.broadcast_to(2 * x.mean((2, 3), keepdims=True), x.shape), rtol=1e-5, atol=1e-6)


def test_a_reshaped_batch_is_still_the_batch() -> None:
    text = (
        "(float[N, T, 6] x) => (float[?, ?, ?] y)"
        "<int64[1] zero = {0}, int64[1] one = {1}, int64[2] rest = {2, 3}, int64[3] back = {0, 0, 6}> {"
        " s = Shape (x) n = Gather <axis = 0> (s, zero) t = Gather <axis = 0> (s, one)"
        " q = Concat <axis = 0> (n, t, rest) h = Reshape (x, q) e = Exp (h) k = Reshape (e, back) y = Mul (k, x) }"
    )
    written = gradient(text)
    assert "NonZero" not in kinds(written)
    x = np.random.default_rng(1).standard_normal((2, 5, 6)).astype(np.float32)
    (dx,) = run(written, x=x)
    np.testing.assert_allclose(dx, np.exp(x) * (1 + x), rtol=1e-5)


def test_lengths_that_may_differ_are_compared_in_a_run() -> None:
    written = gradient("(float[N] a, float[M] b) => (float[?] y) { y = Mul (a, b) }", "a", "b")
    assert "NonZero" in kinds(written)
    a, b = np.arange(3, dtype=np.float32), np.full(1, 2, np.float32)
    da, db = run(written, a=a, b=b)
    assert [da.tolist(), db.tolist()] == [[2, 2, 2], [3]]


def test_what_holds_in_a_branch_is_not_taken_to_hold_outside() -> None:
    a, b = (pb.placeholder(pb.float32, [None], name=name) for name in "ab")
    c = pb.placeholder(pb.bool, [], name="c")
    y = pb.cond(c, lambda: pb.add_n([a, b]), lambda: a) + a * b
    da, db = pb.gradients(y, [a, b])
    written = pb.onnx.export({"da": da, "db": db}, {"a": a, "b": b, "c": c})
    feeds = {"a": np.arange(3, dtype=np.float32), "b": np.full(1, 2, np.float32), "c": np.array(False)}
    found = run(written, **feeds)
    assert [x.tolist() for x in found] == [[3, 3, 3], [3]]
