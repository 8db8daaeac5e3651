"""Gradients of what ONNX's test suite lacks: whole models, old opsets, any value as an x, lengths that a run decides.

As for the suite, differences are the reference, and NumPy and onnxruntime have to agree with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb
import pullback.onnx

from .gradient_suite import SMOOTH, Sample, classified, engine_failure, onnxruntime_failure, run

Array = np.ndarray[Any, Any]


def _rand(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


@dataclass(frozen=True)
class Row:
    """A model as text, what is fed to it, and the values other than inputs that it is differentiated by."""

    text: str
    feeds: Mapping[str, Any]
    wrt: Sequence[str] = ()
    opset: int = 18

    def model(self) -> onnx.ModelProto:
        """The model."""
        made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {self.opset}]>\n{self.text}')
        onnx.checker.check_model(made)
        return made


ROWS = {
    "axes_of_a_run": Row(
        """g (float[2, 3, 4] x, int64[k] axes) => (float[a, b, c] y, float[d] z) {
        y = ReduceLogSumExp(x, axes)  s = ReduceSumSquare <keepdims = 0> (x, axes)  z = Sqrt(s) }""",
        {"x": _rand(2, 3, 4), "axes": np.array([2, 0])},
    ),
    "pads_and_slices_of_a_run": Row(
        """g (float["n", "m"] x, int64[4] pads, int64[1] from, int64[1] to, int64[1] step) => (float["k", "l"] y)
        <int64[1] axis = {1}> { p = Pad <mode = "reflect"> (x, pads)  y = Slice(p, from, to, axis, step) }""",
        {
            "x": _rand(3, 5),
            "pads": np.array([1, 2, 0, 1]),
            "from": np.array([-1]),
            "to": np.array([1]),
            "step": np.array([-2]),
        },
    ),
    "shape_of_a_run": Row(
        """g (float["n", "m"] x, int64[2] shape, int64[3] repeats) => (float["a", "b", "c"] y)
        <int64[1] first = {0}> { r = Reshape(x, shape)  u = Unsqueeze(r, first)  y = Tile(u, repeats) }""",
        {"x": _rand(3, 4), "shape": np.array([2, -1]), "repeats": np.array([2, 1, 3])},
    ),
    "perceptron_of_any_batch": Row(
        """g (float["batch", 4] x) => (float["batch", 3] y)
        <float[5, 4] w = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8, -0.9, 1.0, 1.1, 1.2, 0.3, -0.2, 0.1, 0.6, 0.5, 0.4,
         -0.3, 0.2}, float[5] b = {0.1, -0.2, 0.3, 0.4, 0.5}, float[5, 3] v = {0.3, 0.1, -0.2, 0.5, 0.4, 0.6, -0.7, 0.8,
         0.9, 0.1, 0.2, -0.3, 0.4, 0.5, 0.6}> {
        h = Gemm <transB = 1> (x, w, b)  r = Tanh(h)  m = MatMul(r, v)  y = LogSoftmax(m) }""".replace(
            "0.2>,", "0.2},"
        ),
        {"x": _rand(6, 4)},
        ["w", "b", "v", "h", "r"],
    ),
    "convolutions_of_any_size": Row(
        """g (float["n", 4, "h", "w"] x, float[6, 2, 3, 3] f, float[6, 1, 2, 2] d) => (float["n", 6, "k", "l"] y) {
        a = Conv <group = 2, strides = [2, 1], dilations = [1, 2], pads = [1, 2, 0, 1]> (x, f)
        b = Softplus(a)
        y = Conv <group = 6, auto_pad = "SAME_LOWER", strides = [1, 2]> (b, d) }""",
        {"x": _rand(2, 4, 7, 8), "f": _rand(6, 2, 3, 3), "d": _rand(6, 1, 2, 2)},
        ["a", "b"],
    ),
    "depthwise_convolutions_of_one_axis": Row(
        """g (float[2, 4, 12] x, float[4, 1, 3] f, float[4, 1, 9] d) => (float[2, 4, "k"] y) {
        a = Conv <group = 4, pads = [2, 0], dilations = [1]> (x, f)
        y = Conv <group = 4> (a, d) }""",
        {"x": _rand(2, 4, 12), "f": _rand(4, 1, 3), "d": _rand(4, 1, 9)},
        ["a"],
    ),
    "transposed_convolution_of_any_size": Row(
        """g (float["n", 4, "h"] x, float[4, 3, 3] f) => (float["n", 6, "k"] y) {
        y = ConvTranspose <group = 2, strides = [3], dilations = [2], pads = [2, 1], output_padding = [1]> (x, f) }""",
        {"x": _rand(2, 4, 5), "f": _rand(4, 3, 3)},
    ),
    "pools_with_a_part_of_a_window": Row(
        """g (float[1, 2, 7, 8] x) => (float[1, 2, "a", "b"] y, float[1, 2, "c", "d"] z) {
        y = MaxPool <kernel_shape = [3, 2], strides = [2, 3], ceil_mode = 1, pads = [1, 0, 0, 1]> (x)
        z = AveragePool <kernel_shape = [3, 2], strides = [2, 3], ceil_mode = 1, pads = [1, 0, 0, 1]> (x) }""",
        {"x": np.random.default_rng(0).permutation(112).reshape(1, 2, 7, 8).astype(np.float32) / 10},
    ),
    "nested_loops": Row(
        """g (float["k"] x, int64 n) => (float["k"] y, float["s", "k"] rows) <bool go = {1}, int64 two = {2}> {
        y, rows = Loop(n, go, x) <body = outer (int64 i, bool c, float["k"] v)
          => (bool c_out, float["k"] v_out, float["k"] row) {
          c_out = Identity(c)
          w = Loop(two, go, v) <body = inner (int64 j, bool d, float["k"] u) => (bool d_out, float["k"] u_out) {
            d_out = Identity(d)  t = Mul(u, x)  u_out = Sin(t) }>
          v_out = Add(w, x)  row = Mul(w, v_out) }> }""",
        {"x": _rand(3), "n": np.array(3)},
    ),
    "loop_that_ends_by_itself": Row(
        """g (float[2] x) => (float[2] y) <bool go = {1}, int64 n = {20}, float limit = {6.0}> {
        y = Loop(n, go, x) <body = body (int64 i, bool c, float[2] v) => (bool c_out, float[2] v_out) {
          s = Mul(v, v)  v_out = Add(s, x)  m = ReduceMax <keepdims = 0> (v_out)  c_out = Less(m, limit) }> }""",
        {"x": np.array([0.7, 0.9], np.float32)},
    ),
    "loop_that_grows": Row(
        """g (float["n"] x) => (float["m"] y) <int64 three = {3}, bool go = {1}> {
        y = Loop(three, go, x) <body = body (int64 i, bool c, float["k"] v) => (bool c_out, float["l"] v_out) {
          c_out = Identity(c)  s = Mul(v, v)  v_out = Concat <axis = 0> (s, x) }> }""",
        {"x": _rand(2)},
    ),
    "loop_of_no_steps": Row(
        """g (float[2] x, int64 n) => (float[2] y) <bool go = {1}> {
        a = Loop(n, go, x) <body = body (int64 i, bool c, float[2] v) => (bool c_out, float[2] v_out) {
          c_out = Identity(c)  v_out = Mul(v, x) }>
        y = Exp(a) }""",
        {"x": _rand(2), "n": np.array(0)},
    ),
    "branch_in_a_loop": Row(
        """g (float[2] x, bool[4] which) => (float[2] y) <int64 four = {4}, bool go = {1}> {
        y = Loop(four, go, x) <body = body (int64 i, bool c, float[2] v) => (bool c_out, float[2] v_out) {
          c_out = Identity(c)  here = Gather(which, i)
          v_out = If(here) <then_branch = yes () => (float[2] a) { a = Mul(v, x) },
            else_branch = no () => (float[2] b) { b = Exp(v) }> }> }""",
        {"x": _rand(2) / 4, "which": np.array([True, False, True, True])},
    ),
    "scan_backward": Row(
        """g (float[2] start, float[2, "n"] x) => (float[2] final, float[2, "n"] all) {
        final, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
          scan_input_directions = [1], scan_output_directions = [1],
          body = body (float[2] s, float[2] row) => (float[2] s_out, float[2] out)
          { p = Mul(s, row)  s_out = Sin(p)  out = Add(s_out, row) }> (start, x) }""",
        {"start": _rand(2), "x": _rand(2, 4)},
    ),
    "softmax_of_opset_9": Row(
        """g (float[2, 3, 2] x) => (float[2, 3, 2] y) { s = Softmax <axis = 1> (x)  y = LogSoftmax <axis = 2> (s) }""",
        {"x": _rand(2, 3, 2)},
        ["s"],
        opset=9,
    ),
    "attributes_of_opset_7": Row(
        """g (float[2, 3, 4] x, float[3] m, float[3] v) => (float[2, 4, 6] y) <float[3] one = {1, 1, 1}> {
        s = ReduceMean <axes = [2]> (x)  d = Sub(x, s)  c = Slice <axes = [1], starts = [0], ends = [3]> (d)
        b = BatchNormalization <epsilon = 0.1> (c, one, m, m, v)  u = Squeeze <axes = [2]> (s)
        e = Unsqueeze <axes = [2]> (u)  t = Add(b, e)  y = Pad <pads = [0, 1, 0, 0, 0, 2]> (t) }""",
        {"x": _rand(2, 3, 4), "m": _rand(3), "v": np.abs(_rand(3, seed=1)) + 0.5},
        opset=7,
    ),
    "parts_of_opset_11": Row(
        """g (float[2, 6] x) => (float[2, 3] y) {
        a, b, c = Split <axis = 1, split = [1, 2, 3]> (x)  d = ReduceSum <axes = [1]> (b)  m = Mul(c, a)  n = Mul(m, d)
        y = Clip(n) }""",
        {"x": _rand(2, 6)},
        ["a", "m"],
        opset=11,
    ),
    "resize_of_opset_10": Row(
        """g (float[1, 2, 3, 4] x) => (float[1, 2, "a", "b"] y) <float[4] scales = {1, 1, 2, 2}> {
        y = Resize <mode = "linear"> (x, scales) }""",
        {"x": _rand(1, 2, 3, 4)},
        opset=10,
    ),
    "smaller_by_resize_of_opset_10": Row(
        """g (float[1, 1, 4, 5] x) => (float[1, 1, "a", "b"] y) <float[4] scales = {1, 1, 0.6, 0.7}> {
        y = Resize <mode = "nearest"> (x, scales) }""",
        {"x": _rand(1, 1, 4, 5)},
        opset=10,
    ),
    "upsample_of_opset_9": Row(
        """g (float[1, 1, 3, 4] x) => (float[1, 1, "a", "b"] y) <float[4] scales = {1, 1, 1.5, 2.5}> {
        y = Upsample <mode = "nearest"> (x, scales) }""",
        {"x": _rand(1, 1, 3, 4)},
        opset=9,
    ),
    "upsample_of_opset_7": Row(
        """g (float[1, 1, 3, 4] x) => (float[1, 1, "a", "b"] y) {
        y = Upsample <mode = "linear", scales = [1.0, 1.0, 2.0, 1.5]> (x) }""",
        {"x": _rand(1, 1, 3, 4)},
        opset=7,
    ),
    "embedding_and_attention": Row(
        """g (int64["n"] words, float[9, 4] table, float[4, 4] q) => (float["n", 4] y) <float half = {0.5}> {
        e = Gather(table, words)  p = MatMul(e, q)  t = Transpose <perm = [1, 0]> (e)  s = MatMul(p, t)
        h = Mul(s, half)  a = Softmax(h)  y = MatMul(a, e) }""",
        {"words": np.array([2, 7, 2, 0, 8]), "table": _rand(9, 4), "q": _rand(4, 4)},
        ["e", "a"],
    ),
}


def _sample(name: str, row: Row) -> Sample:
    """The row as a test of the suite; what it expects is what onnxruntime computes."""
    model = row.model()
    inputs = [np.asarray(row.feeds[entry.name]) for entry in model.graph.input]
    return Sample(name, "beyond", model, inputs, run(model, row.feeds))


@pytest.mark.parametrize("name", ROWS)
def test_gradients_by_the_inputs_are_right(name: str) -> None:
    case = classified(_sample(name, ROWS[name]))
    assert (case.reason, case.reasons) == (SMOOTH, [""] * len(case.us))
    assert engine_failure(case, "numpy") == ""
    assert onnxruntime_failure(case) == ""


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.wrt])
def test_gradients_by_other_values_are_right(name: str) -> None:
    """The model is cut at the value, which becomes an input, and differences are taken by that."""
    row = ROWS[name]
    graph = pb.onnx.load(row.model())
    ys = [n for n in graph.output_names if graph[n].dtype == pb.float32]
    made = pb.onnx.differentiate(graph, ys, row.wrt)
    model = pb.onnx.export({n: graph[n] for n in ys} | made.outputs)
    found = dict(zip([entry.name for entry in model.graph.output], run(model, row.feeds), strict=True))
    session = pb.Session(graph=graph, engine="numpy")
    feeds = {graph[n]: np.asarray(a) for n, a in row.feeds.items()}
    values = dict(zip(row.wrt, session.run([graph[n] for n in row.wrt], feeds), strict=True))
    for name, value in values.items():
        u = _rand(*value.shape, seed=3)
        sums = []
        for step in (1e-2, -1e-2):
            outputs = session.run([graph[n] for n in ys], {**feeds, graph[name]: value + np.float32(step) * u})
            sums.append(sum(float(np.sum(y, dtype=np.float64)) for y in outputs))
        slope = float(np.vdot(found[f"gradients/{name}"], u))
        scale = float(np.abs(found[f"gradients/{name}"] * u).sum())
        np.testing.assert_allclose(slope, (sums[0] - sums[1]) / 2e-2, rtol=2e-2, atol=2e-3 * scale + 1e-3)
