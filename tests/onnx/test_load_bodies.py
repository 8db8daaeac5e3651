"""Models as graphs: bodies of branches and loops, functions, sequences."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import pullback as pb
from pullback.core import errors

from .models import model_of, parsed, run

# Branches, loops, functions

LOOP = """loop (float[2] x, int64 n, bool go) => (float[2] final, float[k, 2] all)
{
  final, all = Loop(n, go, x) <body = body (int64 i, bool c, float[2] v) => (bool c_out, float[2] v_out, float[2] row)
  { v_out = Mul(v, x)  row = Add(v_out, v)  ten = Constant<value_float = 10.0>()  m = ReduceMax<keepdims = 0>(v_out)
    c_out = Less(m, ten) }>
}"""


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_loop_with_a_condition(engine: str) -> None:
    graph = pb.onnx.load(parsed(LOOP))
    x = np.array([2.0, 0.5], np.float32)
    with graph.as_default():
        (dx,) = pb.gradients(graph["final"], graph["x"])
    final, slope = run(graph, [graph["final"], dx], engine, x=x, n=100, go=True)
    np.testing.assert_allclose(final, x**4)
    np.testing.assert_allclose(slope, 4 * x**3)
    assert run(graph, graph["final"], engine, x=x, n=2, go=True).tolist() == [8, 0.125]
    assert run(graph, graph["final"], engine, x=x, n=9, go=False).tolist() == [2, 0.5]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_loop_that_is_entered_or_not(engine: str) -> None:
    text = """g (float x, bool go) => (float y) <int64 three = {3}> {
      y = Loop(three, go, x) <body = body (int64 i, bool c, float v) => (bool c_out, float v_out) {
        c_out = Identity(c)  v_out = Mul(v, x) }> }"""
    graph = pb.onnx.load(parsed(text))
    assert run(graph, graph["y"], engine, x=np.float32(2), go=True) == 16
    assert run(graph, graph["y"], engine, x=np.float32(2), go=False) == 2
    (loop,) = [op for op in graph.operations if op.type == "Loop"]
    assert loop.primitive.condition is None


@pytest.mark.parametrize("count", ["two", "n"])
def test_the_number_of_the_step_is_a_vector_where_the_body_says_so(count: str) -> None:
    text = f"""g (float[6] x, int64[1] n) => (float[k, 2] y) <int64[1] two = {{2}}, bool yes = {{1}}> {{
      y = Loop({count}, yes) <body = step (int64[1] i, bool[1] go) => (bool[1] on, float[2] row) {{
        on = Identity(go)  begin = Add(i, two)  end = Add(begin, two)  row = Slice(x, begin, end) }}> }}"""
    graph = pb.onnx.load(parsed(text))
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"], graph["x"])
    y, slope = run(graph, [graph["y"], dx], "numpy", x=np.arange(6, dtype=np.float32), n=[2])
    assert y.tolist() == [[2, 3], [3, 4]]
    assert slope.tolist() == [0, 0, 1, 2, 1, 0]


def test_an_axis_of_length_one_goes_along_with_a_longer_one_in_an_einsum() -> None:
    text = 'g (double[3, 1] a, double[4, 2] b) => (double[3, 2] y) { y = Einsum<equation = "ij, jk -> ik">(a, b) }'
    graph = pb.onnx.load(parsed(text))
    a, b = np.arange(3.0)[:, None], np.arange(8.0).reshape(4, 2)
    with graph.as_default():
        (da,) = pb.gradients(graph["y"], graph["a"])
    y, slope = run(graph, [graph["y"], da], "numpy", a=a, b=b)
    assert y.tolist() == (a * b.sum(0)).tolist()
    assert slope.tolist() == [[28], [28], [28]]


def test_what_a_loop_stacks_has_a_row_for_each_step() -> None:
    graph = pb.onnx.load(parsed(LOOP))
    x = np.array([2.0, 0.5], np.float32)
    with graph.as_default():
        (dx,) = pb.gradients(graph["all"], graph["x"])
    rows, slope = run(graph, [graph["all"], dx], x=x, n=2, go=True)
    np.testing.assert_allclose(rows, [x**2 + x, x**3 + x**2])
    np.testing.assert_allclose(slope, 1 + 4 * x + 3 * x**2)
    assert run(graph, graph["all"], x=x, n=0, go=True).shape == (0, 2)


def test_a_loop_in_a_branch_in_a_loop() -> None:
    text = """nested (float x, bool deep) => (float y)
    <int64 two = {2}, bool go = {1}> {
      y = Loop(two, go, x) <outer = outer (int64 i, bool c, float v) => (bool c_out, float v_out) {
        c_out = Identity(c)
        v_out = If(deep) <
          then_branch = yes () => (float a) {
            a = Loop(two, go, v) <inner = inner (int64 j, bool d, float w) => (bool d_out, float w_out) {
              d_out = Identity(d)  w_out = Mul(w, x) }> },
          else_branch = no () => (float b) { b = Add(v, x) }>
      }>
    }""".replace("<outer =", "<body =").replace("<inner =", "<body =")
    graph = pb.onnx.load(parsed(text))
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"], graph["x"])
    assert run(graph, [graph["y"], dx], x=np.float32(2), deep=True) == [32, 80]
    assert run(graph, [graph["y"], dx], x=np.float32(2), deep=False) == [6, 3]


def test_a_loop_may_change_the_shape_of_what_it_carries() -> None:
    text = """grow (float[n] x) => (float[m] y) <int64 three = {3}, bool go = {1}> {
      y = Loop(three, go, x) <body = body (int64 i, bool c, float[k] v) => (bool c_out, float[l] v_out) {
        c_out = Identity(c)  v_out = Concat<axis = 0>(v, x) }> }"""
    graph = pb.onnx.load(parsed(text))
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"], graph["x"])
    y, slope = run(graph, [graph["y"], dx], x=np.array([1.0, 2.0], np.float32))
    assert y.tolist() == [1, 2] * 4
    assert slope.tolist() == [4, 4]


def test_a_scan_along_another_axis_and_backward() -> None:
    text = """scanned (float[2] start, float[2, 3] x) => (float[2] final, float[2, 3] all) {
      final, all = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
        scan_input_directions = [1], scan_output_directions = [1],
        body = body (float[2] s, float[2] row) => (float[2] s_out, float[2] out)
        { s_out = Add(s, row)  out = Identity(s_out) }>(start, x) }"""
    graph = pb.onnx.load(parsed(text))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with graph.as_default():
        (dx,) = pb.gradients(graph["all"], graph["x"])
    final, rows, slope = run(graph, [graph["final"], graph["all"], dx], start=np.zeros(2, np.float32), x=x)
    np.testing.assert_allclose(rows, x[:, ::-1].cumsum(1)[:, ::-1])
    np.testing.assert_allclose(final, x.sum(1))
    assert slope.tolist() == [[1, 2, 3]] * 2


def test_a_branch_whose_condition_is_known_is_taken_while_the_model_is_read() -> None:
    text = """g (float[2] x) => (float[2] y) <bool yes = {1}> {
      y = If(yes) <then_branch = a () => (float[2] p) { p = Neg(x) }, else_branch = b () => (float[2] q) { q = Exp(x) }>
    }"""
    graph = pb.onnx.load(parsed(text))
    assert {op.type for op in graph.operations} == {"Placeholder", "Const", "Neg"}


def test_functions_of_the_model_are_inlined() -> None:
    text = """<ir_version: 10, opset_import: ["" : 18, "mine" : 1]>
    g (float[2] x) => (float[2] y) { y = mine.twice <by = 3.0>(x) }
    <domain: "mine", opset_import: ["" : 18]> twice <by>(a) => (b)
    { c = Constant<value_float: float = @by>()  d = Mul(a, c)  b = Add(d, d) }"""
    graph = pb.onnx.load(onnx.parser.parse_model(text))
    assert run(graph, graph["y"], x=np.array([1.0, 2.0], np.float32)).tolist() == [6, 12]


def test_sequences_of_a_known_number_of_tensors() -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["s"]),
        helper.make_node("SequenceInsert", ["s", "z", "place"], ["t"]),
        helper.make_node("SequenceErase", ["t", "place"], ["u"]),
        helper.make_node("ConcatFromSequence", ["u"], ["y"], axis=0, new_axis=1),
        helper.make_node("SequenceAt", ["t", "place"], ["at"]),
    ]
    entries = [helper.make_tensor_value_info(n, 1, [2]) for n in "xz"] + [helper.make_tensor_value_info("place", 7, [])]
    outputs = [helper.make_tensor_value_info("y", 1, [2, 2]), helper.make_tensor_value_info("at", 1, [2])]
    graph = pb.onnx.load(model_of(nodes, entries, outputs))
    x, z = np.array([1.0, 2.0], np.float32), np.array([3.0, 4.0], np.float32)
    y, at = run(graph, list(graph.outputs), x=x, z=z, place=1)
    assert (y.tolist(), at.tolist()) == ([[1, 2], [1, 2]], [3, 4])


def test_an_input_that_is_a_sequence() -> None:
    sequence = helper.make_tensor_sequence_value_info("s", 1, None)
    node = helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0)
    model = model_of([node], [sequence], [helper.make_tensor_value_info("y", 1, [None])])
    graph = pb.onnx.load(model, elements={"s": 2})
    a, b = graph["s"].tensors
    y = pb.Session(graph=graph).run(graph["y"], {a: np.ones(1, np.float32), b: np.zeros(2, np.float32)})
    assert y.tolist() == [1, 0, 0]
    with pytest.raises(errors.InvalidArgumentError) as error:
        pb.onnx.load(model)
    assert str(error.value) == (
        "onnx.load: the input 's' is a sequence, or optional, and the number of axes of its tensors is not known; "
        "say how many tensors it has: elements={'s': 3}, or None for none"
    )


def test_the_values_of_each_step_of_a_loop_can_be_had() -> None:
    graph = pb.onnx.load(parsed(LOOP))
    with graph.as_default():
        values = pb.history(graph["final"])
    x = np.array([2.0, 0.5], np.float32)
    assert run(graph, values, x=x, n=3, go=True).tolist() == [[2, 0.5], [4, 0.25], [8, 0.125]]
