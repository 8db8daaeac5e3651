"""Derivatives of LSTM and GRU in closed form: those that the loop over the steps has, to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb
from tests.onnx.models import parsed, run

GATES = {"LSTM": 4, "GRU": 3}
DIRECTIONS = ["forward", "reverse", "bidirectional"]
FEEDS = ["x", "w", "r", "b", "h", "c"]


def graph_of(op: str, direction: str, *, closed: bool, steps: int = 3, dtype: str = "double") -> pb.onnx.OnnxGraph:
    """A recurrent node that gives all states and the last; lengths of the sequences are said where it is not closed."""
    count, size = 2 if direction == "bidirectional" else 1, GATES[op] * 2
    of_cell = f"double[{count}, 2, 2] c" if op == "LSTM" else f"double[{count}] c"
    more = ", c" if op == "LSTM" else ""
    attributes = f'<hidden_size = 2, direction = "{direction}"{"" if op == "LSTM" else ", linear_before_reset = 1"}>'
    text = f"""g (double[{steps}, 2, 3] x, double[{count}, {size}, 3] w, double[{count}, {size}, 2] r,
                   double[{count}, {2 * size}] b, double[{count}, 2, 2] h, {of_cell})
                => (double[{steps}, {count}, 2, 2] y, double[{count}, 2, 2] last)
                <int32[2] lengths = {{{steps}, {steps}}}>
                {{ y, last = {op} {attributes} (x, w, r, b, {"" if closed else "lengths"}, h{more}) }}"""
    return pb.onnx.load(parsed(text.replace("double", dtype)))


def derivatives(graph: pb.onnx.OnnxGraph, names: list[str], order: int) -> list[np.ndarray[Any, Any]]:
    """The derivatives by `names` of a function of the outputs; of order two along a direction."""
    random = np.random.default_rng(0)
    feeds = {name: random.standard_normal(graph[name].shape.known) for name in FEEDS}
    with graph.as_default():
        loss = pb.reduce_sum(pb.square(graph["y"])) + pb.reduce_sum(pb.sin(graph["last"]))
        xs = [graph[name] for name in names]
        found = pb.gradients(loss, xs)
        if order == 2:
            vectors = [pb.constant(random.standard_normal(x.shape.known)) for x in xs]
            found = pb.hessian_vector_product(loss, xs, vectors)
        return [np.asarray(dx) for dx in run(graph, found, **feeds)]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("op", GATES)
def test_derivatives_are_those_of_the_loop(op: str, direction: str, order: int) -> None:
    names = FEEDS if op == "LSTM" else FEEDS[:-1]
    closed, loop = [derivatives(graph_of(op, direction, closed=c), names, order) for c in (True, False)]
    for a, b in zip(closed, loop, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("op", GATES)
def test_of_no_step_the_first_state_has_the_derivative(op: str) -> None:
    closed, loop = [derivatives(graph_of(op, "forward", closed=c, steps=0), ["r", "h"], 1) for c in (True, False)]
    for a, b in zip(closed, loop, strict=True):
        np.testing.assert_array_equal(a, b)


def written(op: str, direction: str, dtype: str = "float") -> tuple[pb.onnx.OnnxGraph, Any, onnx.ModelProto]:
    graph = graph_of(op, direction, closed=True, dtype=dtype)
    made = pb.onnx.differentiate(graph, ["y"], ["x", "w", "r", "b"], "vjp")
    outputs, inputs = [dict(zip(*pair, strict=True)) for pair in _ends(graph)]
    return graph, made, pb.onnx.export(outputs | made.outputs, inputs | made.inputs)


@pytest.mark.parametrize("op", GATES)
def test_the_steps_are_computed_once_and_weights_get_one_product(op: str) -> None:
    model = written(op, "forward")[2]
    kinds = [node.op_type for node in model.graph.node]
    bodies = [attribute.g for node in model.graph.node for attribute in node.attribute if attribute.name == "body"]
    products = [[node.op_type in ("MatMul", "Gemm") for node in body.node].count(True) for body in bodies]
    assert op not in kinds
    assert products == [1, 1]


@pytest.mark.parametrize("op", GATES)
def test_without_a_derivative_the_node_is_written_as_it_was(op: str) -> None:
    graph = graph_of(op, "bidirectional", closed=True, dtype="float")
    outputs, inputs = [dict(zip(*pair, strict=True)) for pair in _ends(graph)]
    assert [node.op_type for node in pb.onnx.export(outputs, inputs).graph.node] == [op]


def _ends(graph: pb.onnx.OnnxGraph) -> Any:
    return (graph.output_names, graph.outputs), (graph.input_names, graph.inputs)


@pytest.mark.parametrize("dtype", ["float", "double"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("op", GATES)
def test_onnxruntime_gives_what_numpy_gives(op: str, direction: str, dtype: str) -> None:
    ort = pytest.importorskip("onnxruntime")
    graph, made, model = written(op, direction, dtype)
    random = np.random.default_rng(0)
    given = {x: random.standard_normal(x.shape.known).astype(x.dtype) for x in [*graph.inputs, *made.inputs.values()]}
    names = [x.name for x in model.graph.input]
    session = ort.InferenceSession(model.SerializeToString())
    found = session.run(list(made.outputs), dict(zip(names, given.values(), strict=True)))
    expected = pb.Session(graph=graph, engine="numpy").run(list(made.outputs.values()), given)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
