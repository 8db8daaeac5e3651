"""Which lengths are known to be the same, and what is left out of a model because of that."""

from __future__ import annotations

from collections.abc import Iterator
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
    return {node.op_type for node in nodes(written.graph)}


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """All nodes, those of graphs inside nodes too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes(attribute.g)


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


@pytest.mark.parametrize(("name", "compared"), [("N", False), ("?", True), ("None", True)])
def test_lengths_of_one_name_are_equal_unless_that_is_no_name(name: str, compared: bool) -> None:
    proto = model("(float[N] a, float[N] b) => (float[?] y) { y = Mul (a, b) }")
    for entry in proto.graph.input:
        entry.type.tensor_type.shape.dim[0].dim_param = name
    graph = pb.onnx.load(proto)
    made = pb.onnx.differentiate(graph, ["y"], ["a"])
    written = pb.onnx.export(made.outputs, dict(zip(graph.input_names, graph.inputs, strict=True)))
    assert ("NonZero" in kinds(written)) == compared


def test_axes_that_were_joined_and_taken_apart_again_are_the_same() -> None:
    text = (
        "(float[N, T, 6] x) => (float[?, ?, ?] y)"
        "<int64[1] zero = {0}, int64[1] one = {1}, int64[2] flat = {-1, 6}, int64[1] six = {6}> {"
        " s = Shape (x) n = Gather <axis = 0> (s, zero) t = Gather <axis = 0> (s, one) f = Reshape (x, flat)"
        " e = Exp (f) q = Concat <axis = 0> (n, t, six) h = Reshape (e, q)"
        " m = Mul (n, t) p = Concat <axis = 0> (m, six) k = Reshape (h, p) z = Mul (k, f) y = Reshape (z, q) }"
    )
    written = gradient(text)
    assert "NonZero" not in kinds(written)
    x = np.random.default_rng(2).standard_normal((2, 5, 6)).astype(np.float32)
    (dx,) = run(written, x=x)
    np.testing.assert_allclose(dx, np.exp(x) * (1 + x), rtol=1e-5)


def test_what_is_left_for_an_axis_is_not_known_beside_a_length_that_is_not() -> None:
    text = (
        "(float[N] x, int64[1] k) => (float[?, ?] y) <int64[1] rest = {-1}>"
        "{ q = Concat <axis = 0> (k, rest) h = Reshape (x, q) y = Mul (h, x) }"
    )
    x = np.array([1, 2, 4], np.float32)
    (dx,) = run(gradient(text), x=x, k=np.array([3]))
    assert dx.tolist() == [14, 14, 14]


def test_the_beginning_of_a_table_that_is_as_long_as_a_text_is_not_repeated() -> None:
    # Positions of transformers: `self.positions[:x.shape[1]]`.
    text = (
        "(float[N, T, 2] x) => (float[?, ?, ?] y) <float[4, 2] table = {0, 1, 2, 3, 4, 5, 6, 7}, int64[1] zero = {0}>"
        "{ t = Shape <start = 1, end = 2> (x) p = Slice (table, zero, t, zero) e = Add (x, p) y = Mul (e, x) }"
    )
    written = gradient(text, "x")
    assert "NonZero" not in kinds(written)
    x = np.random.default_rng(4).standard_normal((2, 3, 2)).astype(np.float32)
    (dx,) = run(written, x=x)
    np.testing.assert_allclose(dx, 2 * x + np.arange(6, dtype=np.float32).reshape(3, 2), rtol=1e-5)
    (dx,) = run(written, x=x[:, :1])
    np.testing.assert_allclose(dx, 2 * x[:, :1] + np.arange(2, dtype=np.float32), rtol=1e-5)


def test_cotangents_have_the_lengths_of_what_they_are_of() -> None:
    text = "(float[N] x, int64[M] k) => (float[M] y) { y = Gather (x, k) }"
    graph = pb.onnx.load(model(text))
    made = pb.onnx.differentiate(graph, ["y"], ["x"], "vjp")
    written = pb.onnx.export(made.outputs, {"x": graph["x"], "k": graph["k"], **made.inputs})
    assert written.graph.input[2].type.tensor_type.shape.dim[0].dim_param == "M"
    graph = pb.onnx.load(model("(float[N] x, float[M] w) => (float[?] y) { s = Mul (x, w) y = Mul (s, s) }"))
    made = pb.onnx.differentiate(graph, ["y"], ["s"], "vjp")
    written = pb.onnx.export({"y": graph["y"], **made.outputs}, {"x": graph["x"], "w": graph["w"], **made.inputs})
    assert "NonZero" not in kinds(written)


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_the_batch_of_a_recurrent_node_stays_the_batch_in_every_step(kind: str) -> None:
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[kind]
    apart = ", linear_before_reset = 1" if kind == "GRU" else ""
    text = (
        f"(float[T, N, 2] x, float[1, {3 * gates}, 2] w, float[1, {3 * gates}, 3] r) => (float[?, ?, ?, ?] y)"
        f"{{ a, h = {kind} <hidden_size = 3{apart}> (x, w, r) y = Mul (a, h) }}"
    )
    written = gradient(text, "x", "w", "r")
    assert "NonZero" not in kinds(written)


def test_a_length_that_changes_in_a_loop_is_not_taken_for_that_before_it() -> None:
    x = pb.placeholder(pb.float32, [None], name="x")
    shapes = [pb.TensorShape([]), pb.TensorShape([None])]
    _, y = pb.while_loop(
        lambda i, v: i < 2, lambda i, v: (i + 1, pb.concat([v, v * v], 0)), [0, x], shape_invariants=shapes
    )
    z = pb.reduce_sum(y * y)
    written = pb.onnx.export({"dx": pb.gradients(z, x)[0]}, {"x": x})
    a = np.array([0.5, 2], np.float32)
    (dx,) = run(written, x=a)
    # x, x^2, x^2, x^4, squared.
    np.testing.assert_allclose(dx, 2 * a + 8 * a**3 + 8 * a**7, rtol=1e-5)


def swapped(turns: int) -> tuple[list[pb.Tensor], list[pb.Tensor]]:
    """`a` and `b`, of two lengths, changing places `turns` times, and the derivatives of a sum of both by them."""
    a, b = (pb.placeholder(pb.float32, [None], name=name) for name in "ab")
    free = [pb.TensorShape([]), pb.TensorShape([None]), pb.TensorShape([None])]
    _, c, d = pb.while_loop(
        lambda i, x, y: i < turns, lambda i, x, y: (i + 1, y * 2.0, x * x), [0, a, b], shape_invariants=free
    )
    return [a, b], pb.gradients(pb.reduce_sum(c * c) + 3.0 * pb.reduce_sum(d), [a, b])


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_arrays_of_two_lengths_may_change_places_in_a_loop(turns: int) -> None:
    (a, b), dxs = swapped(turns)
    feeds = {a: np.array([0.5, 2, 3], np.float32), b: np.array([1, -2], np.float32)}
    expected = pb.Session(engine="numpy").run(dxs, feeds)
    found = pb.Session(engine="onnxruntime").run(dxs, feeds)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_lengths_keep_their_names_from_model_to_model() -> None:
    text = "(float[batch, time] x, float[time] w) => (float[?, ?] y) { t = Mul (x, w) y = Concat <axis = 0> (t, x) }"
    written = gradient(text, "x", "w")
    again = pb.onnx.load(written)
    assert [str(x.type) for x in again.inputs] == ["float32[batch,time]", "float32[time]"]
    names = {d.dim_param for entry in written.graph.value_info for d in entry.type.tensor_type.shape.dim}
    assert names >= {"batch", "time"}
    assert all("?" not in name for name in names)
    y = pb.onnx.load(model(text))["y"]
    exported = pb.onnx.export({"y": y})
    assert [d.dim_param for d in exported.graph.output[0].type.tensor_type.shape.dim] == ["2*batch", "time"]


def test_names_of_lengths_that_are_no_words_are_names_all_the_same() -> None:
    proto = model("(float[N] a, float[N] b) => (float[?] y) { y = Mul (a, b) }")
    for entry in proto.graph.input:
        entry.type.tensor_type.shape.dim[0].dim_param = "past seq + 1"
    graph = pb.onnx.load(proto)
    assert str(graph["y"].type) == "float32[past seq + 1]"
    written = pb.onnx.export({"y": graph["y"]})
    assert written.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "past seq + 1"


def test_lengths_without_names_that_may_differ_are_written_under_two() -> None:
    x = pb.placeholder(pb.float32, [None, None], name="x")
    written = pb.onnx.export({"y": pb.tanh(x)}, {"x": x})
    for entry in (written.graph.input[0], written.graph.output[0]):
        assert [d.dim_param for d in entry.type.tensor_type.shape.dim] == ["x_0", "x_1"]
