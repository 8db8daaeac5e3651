"""`optimize=` of `gradients`, sessions and functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.needs import needed


def _loss(x: pb.Tensor) -> pb.Tensor:
    """A softmax loss as one writes it by hand, which overflows."""
    shares = pb.exp(x) / pb.reduce_sum(pb.exp(x), 1, keepdims=True)
    return -pb.reduce_sum(pb.log(shares * 1.0)[:, 0])


FAR = np.array([[0.0, 500.0], [500.0, 0.0]], np.float32)
SLOPES = np.array([[-1.0, 1.0], [0.0, 0.0]])


@pytest.fixture
def x() -> pb.Tensor:
    return pb.placeholder(pb.float32, ["batch", 2], name="x")


def test_gradients_optimise_what_they_differentiate(x: pb.Tensor) -> None:
    (dx,) = pb.gradients(_loss(x), x, optimize="safe")
    np.testing.assert_array_equal(pb.Session(engine="numpy").run(dx, {x: FAR}), SLOPES)
    (plain,) = pb.gradients(_loss(x), x)
    assert np.isnan(pb.Session(engine="numpy").run(plain, {x: FAR})).any()


def test_gradients_optimise_what_they_give(x: pb.Tensor) -> None:
    y = pb.reduce_sum(pb.tanh(x) * 3.0 * 1.0)
    before = len(x.graph.operations)
    (dx,) = pb.gradients(y, x, optimize="fast")
    assert all(op.name.startswith("gradients/") for op in x.graph.operations[before:])
    assert sum(op.type == "Mul" for op in _needed(dx)) == 0


def _needed(y: pb.Tensor) -> list[pb.Operation]:
    return list(needed([y.op], lambda op: [x.op for x in op.inputs]))


def test_xs_and_stops_are_what_they_were(x: pb.Tensor) -> None:
    h = pb.nn.softmax(x)
    held = pb.exp(x)
    y = pb.log(h) * 1.0 + pb.log(1.0 + held)
    dh, dx = pb.gradients(y, [h, x], stop_gradients=held, optimize="safe")
    plain = pb.gradients(y, [h, x], stop_gradients=held)
    values = pb.Session(engine="numpy").run([[dh, dx], plain], {x: [[0.1, 0.2]]})
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_an_x_that_no_y_depends_on_is_still_none(x: pb.Tensor) -> None:
    other = pb.constant(1.0)
    assert pb.gradients(x * 1.0, [x, other], optimize="safe")[1] is None


def test_slices_stay_slices() -> None:
    table = pb.Variable(np.ones([4, 2], np.float32))
    (slices,) = pb.gradients(pb.gather(table * 1.0, [1, 1]) + pb.gather(table, [0, 2]), table, optimize="safe")
    assert isinstance(pb.gradients(pb.gather(table, [1, 1]) * 1.0, table, optimize="safe")[0], pb.IndexedSlices)
    with pb.Session(engine="numpy") as session:
        session.run(table.initializer)
        np.testing.assert_array_equal(session.run(pb.convert_to_tensor(slices)).sum(), 8)


def test_rules_for_derivatives_are_used_where_operations_were_rewritten_around_them(x: pb.Tensor) -> None:
    y = pb.log(pb.nn.softmax(pb.identity(x) * 1.0, name="shares"))
    for key in ("shares", "Softmax"):
        rules = {key: lambda op, dy: dy * op.outputs[0] * 7.0}
        (dx,) = pb.gradients(y, x, rules=rules, optimize="safe")
        np.testing.assert_allclose(pb.Session(engine="numpy").run(dx, {x: [[1.0, 2.0]]}), [[7.0, 7.0]], rtol=1e-6)


def test_second_derivatives_of_optimised_ones(x: pb.Tensor) -> None:
    y = pb.reduce_sum(pb.log(1.0 + pb.exp(x)))
    (dx,) = pb.gradients(y, x, optimize="safe")
    (ddx,) = pb.gradients(dx, x, optimize="safe")
    s = 1 / (1 + np.exp(-0.3))
    np.testing.assert_allclose(pb.Session(engine="numpy").run(ddx, {x: [[0.3, 0.3]]}), [[s * (1 - s)] * 2], rtol=1e-5)


def test_gradients_inside_a_loop() -> None:
    def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        (dy,) = pb.gradients(pb.log(1.0 + pb.exp(y * 1.0)), y, optimize="safe")
        return [i + 1, y - dy]

    y = pb.while_loop(lambda i, _: i < 2, step, [0, pb.constant(200.0)])[1]
    assert pb.Session(engine="numpy").run(y) == 198.0


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_session_optimises_what_it_runs(engine: str, x: pb.Tensor) -> None:
    y = _loss(x)
    assert pb.Session(engine=engine, optimize="safe").run(y, {x: FAR}) == 500.0
    assert not np.isfinite(pb.Session(engine=engine).run(y, {x: FAR}))


def test_a_session_draws_the_random_numbers_that_it_would_draw(x: pb.Tensor) -> None:
    def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.log(pb.nn.softmax(y)) + pb.random.normal([2], seed=3)]

    y = pb.while_loop(lambda i, _: i < 3, step, [0, pb.zeros([2])])[1]
    runs = []
    for optimize in (None, "safe"):
        session = pb.Session(engine="numpy", optimize=optimize)
        runs.append([session.run(y), *session.run([y, pb.zeros([])])[:1]])
    np.testing.assert_allclose(*runs, rtol=1e-6)


def test_a_session_updates_variables_as_before() -> None:
    v = pb.Variable([1.0, 2.0])
    y = pb.reduce_sum(pb.square(v * 1.0))
    step = v.assign_sub(0.1 * pb.gradients(y, v)[0] * 1.0)
    values = []
    for optimize in (None, "safe"):
        session = pb.Session(engine="numpy", optimize=optimize)
        session.run(v.initializer)
        session.run(step)
        values.append(session.run([v, y]))
    np.testing.assert_allclose(values[0][0], values[1][0])


def test_a_function_is_optimised_when_it_is_traced() -> None:
    calls = pb.function(lambda x: pb.log(1.0 + pb.exp(x)) * 1.0, optimize="safe")
    assert calls(np.float32(200.0)) == 200.0
    x = pb.constant(200.0)
    y = calls(x)
    assert [op.type for op in y.op.primitive.functions[0].operations] == ["Softplus"]
    assert pb.Session(engine="numpy").run([y, *pb.gradients(y, x)]) == [200.0, 1.0]


def test_a_function_of_variables_and_random_numbers_is_optimised() -> None:
    v = pb.Variable(2.0)

    @pb.function(optimize="safe")
    def f(x: Any) -> Any:
        return pb.random.normal([], seed=1) * 0.0 + x * 1.0 * v

    x = pb.constant(3.0)
    y = f(x)
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run([y, *pb.gradients(y, [x, v])]) == [6.0, 2.0, 3.0]


def test_another_level_is_refused(x: pb.Tensor) -> None:
    for refused in (
        lambda: pb.gradients(x, x, optimize="fats"),
        lambda: pb.Session(optimize="fats"),
        lambda: pb.function(lambda x: x, optimize="fats"),
    ):
        with pytest.raises(ValueError, match="the level must be 'exact', 'safe' or 'fast', not 'fats'"):
            refused()


def test_onnxruntime_is_told_what_to_do_instead() -> None:
    with pytest.raises(ValueError, match=r"for onnxruntime use pb\.optimize"):
        pb.Session(engine="onnxruntime", optimize="safe")


@pytest.mark.parametrize("level", ["exact", "safe", "fast"])
def test_an_optimised_model_with_its_derivative_computes_its_values_once(level: str) -> None:
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 10, opset_import: ["" : 21]> net (float[n, 4] x) => (float y)
    <float[4, 4] w = {1, 2, 3, 4, 1, 2, 3, 4, 1, 0, 3, 4, 1, 2, 0, 4}, float one = {1}>
    { a = Mul(x, one)  b = MatMul(a, w)  c = Tanh(b)  d = MatMul(c, w)  e = Sigmoid(d)
      y = ReduceSum<keepdims = 0>(e) }"""
    graph = pb.onnx.load(onnx.parser.parse_model(text))
    plain = pb.onnx.differentiate(graph)
    lean = pb.onnx.differentiate(graph, optimize=level)
    models = [pb.onnx.export({**made.ys, **made.outputs}, {"x": graph["x"]}) for made in (plain, lean)]
    old, new = ([node.op_type for node in model.graph.node] for model in models)
    assert len(new) < len(old)
    assert new.count("Tanh") == new.count("Sigmoid") == 1
