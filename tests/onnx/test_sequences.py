"""Sequences of which only a run knows how many tensors they have: values of onnxruntime, derivatives, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import pullback as pb
from pullback import errors
from pullback.cli import main

from .models import parsed, run

Array = np.ndarray[Any, Any]
GO_ON = "go_on = Identity (c)"
X = np.sin(np.arange(12.0)).reshape(3, 4)
LOOP = "(int64 i, bool c, seq(double[{0}]) s) => (bool go_on, seq(double[{0}]) t)"
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "rows that a loop puts behind each other, stacked": (
        f"""(double[3,4] x, int64 n) => (double[a,b,d] y) <bool yes = {{1}}> {{
        e = SequenceEmpty <dtype = 11> ()
        r = Loop (n, yes, e) <body = b {LOOP.format("3, 4")} {{ {GO_ON}
            d = Cast <to = 11> (i) z = Add (x, d) w = Sin (z) t = SequenceInsert (s, w) }}>
        y = ConcatFromSequence <axis = -1, new_axis = 1> (r) }}""",
        {"n": 5},
    ),
    "two tensors in each step, behind one that was there": (
        f"""(double[3,4] x, int64 n) => (double[a,b] y) <bool yes = {{1}}> {{
        e = SequenceConstruct (x)
        r = Loop (n, yes, e) <body = b {LOOP.format("3, 4")} {{ {GO_ON}
            d = Cast <to = 11> (i) z = Mul (x, d) w = Sin (z) v = Tanh (w)
            u = SequenceInsert (s, w) t = SequenceInsert (u, v) }}>
        y = ConcatFromSequence <axis = 1> (r) }}""",
        {"n": 3},
    ),
    "tensors that get longer": (
        f"""(double[3,4] x, int64 n) => (double[a,b] y)
        <bool yes = {{1}}, int64 one = {{1}}, int64[1] zero = {{0}}, int64[1] axis = {{1}}> {{
        e = SequenceEmpty <dtype = 11> ()
        r = Loop (n, yes, e) <body = b {LOOP.format("3, k")} {{ {GO_ON}
            end = Add (i, one) last = Unsqueeze (end, zero) part = Slice (x, zero, last, axis)
            w = Mul (part, part) t = SequenceInsert (s, w) }}>
        y = ConcatFromSequence <axis = 1> (r) }}""",
        {"n": 4},
    ),
    "a step that reads what the last one put there": (
        f"""(double[3,4] x, int64 n) => (double[a,b] y, int64 m) <bool yes = {{1}}, int64 last = {{-1}}> {{
        e = SequenceConstruct (x)
        r = Loop (n, yes, e) <body = b {LOOP.format("k, 4")} {{ {GO_ON}
            p = SequenceAt (s, last) w = Sin (p) v = Concat <axis = 0> (w, x) t = SequenceInsert (s, v) }}>
        y = SequenceAt (r, last) m = SequenceLength (r) }}""",
        {"n": 2},
    ),
    "a condition ends the loop": (
        """(double[3,4] x, int64 n) => (double[a,b] y) <bool yes = {1}, double most = {9.0}> {
        e = SequenceEmpty <dtype = 11> ()
        r, z = Loop (n, yes, e, x) <body = b (int64 i, bool c, seq(double[3,4]) s, double[3,4] v) =>
            (bool go_on, seq(double[3,4]) t, double[3,4] w) {
            w = Mul (v, v) t = SequenceInsert (s, w)
            d = Add (v, v) m = ReduceMax <keepdims = 0> (d) go_on = Less (m, most) }>
        q = ConcatFromSequence <axis = 0> (r) y = Add (q, q) }""",
        {"n": 3},
    ),
    "parts of a length that is an input, mapped": (
        """(double[3,4] x, int64 n) => (double[a,b] y) {
        parts = SplitToSequence <axis = 1> (x, n)
        made = SequenceMap (parts, x) <body = b (double[3,k] p, double[3,4] w) => (double[3,l] q) {
            h = Mul (p, p) z = ReduceSum <keepdims = 1> (w) q = Mul (h, z) }>
        y = ConcatFromSequence <axis = 1> (made) }""",
        {"n": 3},
    ),
    "parts of as many lengths as are given": (
        """(double[3,4] x, int64[k] n) => (double[a,b] y) <int64 place = {-2}> {
        parts = SplitToSequence <axis = -1> (x, n) y = SequenceAt (parts, place) }""",
        {"n": np.array([1, 2, 1])},
    ),
    "one put in, another taken out": (
        """(double[3,4] x, int64 n) => (double[a,b] y) <int64 one = {1}> {
        parts = SplitToSequence <axis = 0> (x, one) more = SplitToSequence <axis = 0> (x, n)
        v = Sin (x) w = SequenceInsert (more, v, n) u = SequenceErase (w, one) t = SequenceErase (u)
        y = ConcatFromSequence <axis = 0> (t) }""",
        {"n": 1},
    ),
    "branches with different numbers of tensors": (
        """(double[3,4] x, int64 n) => (double[a,b] y) <int64 one = {1}> {
        many = Less (one, n)
        s = If (many) <then_branch = yes () => (seq(double[3,4]) p) { v = Sin (x) p = SequenceConstruct (v, x, v) },
            else_branch = no () => (seq(double[3,4]) q) { q = SequenceConstruct (x) }>
        y = ConcatFromSequence <axis = 0> (s) }""",
        {"n": 2},
    ),
}


def feeds_of(name: str) -> tuple[Any, dict[str, Array]]:
    text, given = CASES[name]
    return parsed(f"g {text}", 17), {"x": X, **{k: np.asarray(v, np.int64) for k, v in given.items()}}


def on_onnxruntime(model: Any, feeds: dict[str, Array]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, feeds)
    return found


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_onnxruntime_and_the_derivative_that_of_differences(name: str) -> None:
    model, feeds = feeds_of(name)
    graph = pb.onnx.load(model)
    with graph.as_default():
        loss = pb.reduce_sum(pb.square(graph["y"]) + graph["y"])
        (dx,) = pb.gradients(loss, graph["x"])
    found = run(graph, [*graph.outputs, dx], **feeds)
    for a, b in zip(found, on_onnxruntime(model, feeds), strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    u = np.cos(np.arange(12.0)).reshape(3, 4)
    ends = [run(graph, loss, **{**feeds, "x": X + h * u}) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(np.vdot(found[-1], u), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
    written = pb.onnx.export({"y": graph["y"], "dx": dx}, {name: graph[name] for name in feeds})
    y, slope = on_onnxruntime(written, feeds)
    np.testing.assert_allclose(y, found[0], rtol=1e-12)
    np.testing.assert_allclose(slope, found[-1], rtol=1e-9)


def test_numbers_of_tensors_that_are_fed_run_on_xla() -> None:
    model, feeds = feeds_of("one put in, another taken out")
    graph = pb.onnx.load(model)
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"], graph["x"])
    for a, b in zip(*[run(graph, [graph["y"], dx], engine, **feeds) for engine in ("numpy", "xla")], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("given", [None, [1.5], [2.0, 3.0]])
def test_tensors_of_different_ranks_behind_a_sequence_that_may_be_missing(given: list[float] | None) -> None:
    text = """g (int64 n, optional(seq(float)) o) => (seq(float[]) y) <bool yes = {1}> {
    y = Loop (n, yes, o) <body = b (int64 i, bool c, optional(seq(float)) s) => (bool go_on, seq(float[]) t) {
        go_on = Identity (c) there = OptionalHasElement (s)
        q = If (there) <then_branch = a () => (seq(float[]) p) { p = OptionalGetElement (s) },
            else_branch = b () => (seq(float[]) r) {
                one = Constant <value = float {1.0}> () r = SequenceConstruct (one) }>
        v = Constant <value = float[2] {4.0, 5.0}> () t = SequenceInsert (q, v) }> }"""
    graph = pb.onnx.load(parsed(text), elements={"o": None if given is None else len(given)})
    y, o = graph["y"], graph["o"]
    arrays = None if given is None else [np.float32(v) for v in given]
    for n in (1, 2):
        found = pb.Session(graph=graph, engine="numpy").run(list(y.tensors), {graph["n"]: n, **o.feeds(arrays)})
        assert [a.tolist() for a in y.arrays(*found)] == [*(given or [1.0]), *[[4.0, 5.0]] * n]


@pytest.mark.parametrize("there", [False, True])
def test_a_run_decides_whether_there_is_a_tensor(there: bool) -> None:
    text = """g (optional(float[2]) x) => (float[2] y, optional(float[2]) z) {
    has = OptionalHasElement (x)
    z = If (has) <then_branch = a () => (optional(float[2]) p) {
            q = OptionalGetElement (x) r = Neg (q) p = Optional (r) },
        else_branch = b () => (optional(float[2]) e) { e = Optional <type = float[2]> () }>
    y = If (has) <then_branch = c () => (float[2] u) { u = OptionalGetElement (x) },
        else_branch = d () => (float[2] v) { v = Constant <value = float[2] {7.0, 8.0}> () }> }"""
    graph = pb.onnx.load(parsed(text))
    feeds = graph["x"].feeds(np.float32([1, 2]) if there else None)
    z = graph["z"]
    y, *found = pb.Session(graph=graph, engine="numpy").run([graph["y"], *z.tensors], feeds)
    assert y.tolist() == ([1, 2] if there else [7, 8])
    value = z.arrays(*found)
    assert (value if value is None else value.tolist()) == ([-1, -2] if there else None)


def test_an_input_of_any_number_of_tensors() -> None:
    text = """g (seq(float[k,2]) s, int64 place) => (float[a,2] y, float[b,2] z) {
    y = ConcatFromSequence <axis = 0> (s) z = SequenceAt (s, place) }"""
    graph = pb.onnx.load(parsed(text))
    arrays = [np.full((n, 2), n, np.float32) for n in (3, 0, 1)]
    values, dims = graph["s"].tensors
    with graph.as_default():
        (slope,) = pb.gradients(pb.reduce_sum(graph["z"] * 2.0), values)
    session, feeds = pb.Session(graph=graph, engine="numpy"), {**graph["s"].feeds(arrays), graph["place"]: -1}
    y, z, dy = session.run([graph["y"], graph["z"], slope], feeds)
    assert y.tolist() == np.concatenate(arrays).tolist()
    assert z.tolist() == [[1, 1]]
    assert dy.tolist() == [0] * 6 + [2, 2]
    assert [a.tolist() for a in graph["s"].arrays(*session.run([values, dims], feeds))] == [a.tolist() for a in arrays]


def test_tensors_of_different_ranks_have_no_concatenation() -> None:
    text = """g (int64 n, float[2] x) => (float[m] y) <bool yes = {1}, float one = {1.0}> {
    e = SequenceConstruct (one)
    r = Loop (n, yes, e) <body = b (int64 i, bool c, seq(float[]) s) => (bool go_on, seq(float[]) t) {
        go_on = Identity (c) t = SequenceInsert (s, x) }>
    y = ConcatFromSequence <axis = 0> (r) }"""
    with pytest.raises(errors.UnimplementedError) as error:
        pb.onnx.load(parsed(text))
    assert str(error.value) == (
        "onnx.load: node 'y' (ConcatFromSequence, opset 21): the number of axes of the tensors in the sequence must be "
        "known, and the same"
    )


def test_the_command_differentiates_by_the_elements_of_a_sequence(tmp_path: Path) -> None:
    text = """g (seq(double[k]) s, int64 n) => (seq(double[j]) y) <bool yes = {1}> {
    y = Loop (n, yes, s) <body = b (int64 i, bool c, seq(double[k]) q) => (bool go_on, seq(double[k]) t) {
        go_on = Identity (c) z = SequenceAt (q, i) w = Mul (z, z) t = SequenceInsert (q, w) }> }"""
    onnx.save(parsed(text), tmp_path / "g.onnx")
    assert main.main(["grad", str(tmp_path / "g.onnx"), "--of", "y/0"]) == 0
    feeds = {"s/0": np.array([1.0, 2.0, 3.0]), "s/1": np.array([[1], [2]]), "n": np.array(2)}
    *_, slope = on_onnxruntime(onnx.load(tmp_path / "g_grad.onnx"), feeds)
    assert slope.tolist() == [3, 5, 7]


@pytest.mark.parametrize("kind", ["Loop", "Scan"])
def test_sequences_cannot_be_stacked(kind: str) -> None:
    loop = """g (float[2] x, int64 n, seq(float[2]) s) => (seq(float[2]) a, float[m,2] y) <bool yes = {1}> {
    a, y = Loop (n, yes, s) <body = b (int64 i, bool c, seq(float[2]) q) => (bool go_on, seq(float[2]) t, float[2] z) {
        go_on = Identity (c) t = SequenceInsert (q, x) z = Identity (t) }> }"""
    scan = """g (float[2] x, float[3,2] rows) => (float[2] a, float[m,2] y) {
    a, y = Scan <num_scan_inputs = 1, body = b (float[2] q, float[2] row) => (float[2] t, float[2] z) {
        t = Identity (q) z = SequenceConstruct (row) }> (x, rows) }"""
    with pytest.raises(errors.InvalidArgumentError, match="must be tensors, not sequences"):
        pb.onnx.load(parsed(loop if kind == "Loop" else scan))
