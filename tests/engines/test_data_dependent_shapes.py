"""Shapes that only a run knows: what XLA leaves to the host, and what it says where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

jax = pytest.importorskip("jax")

Example = Callable[[pb.Tensor, pb.Tensor], Any]
"""From a placeholder float64[None] and the number of steps to tensors."""
RUNS = [([0.5, -0.2, 1.5], 3), ([0.5, -0.2, 1.5], 3), ([2.0, 1.0], 0), ([-1.0], 5)]


def selected(x: pb.Tensor, n: pb.Tensor) -> Any:
    del n
    v = pb.Variable(np.float64(2.0))
    return pb.sin(pb.boolean_mask(v * x, v * x > 0.0))


def places(x: pb.Tensor, n: pb.Tensor) -> Any:
    del n
    return pb.cos(pb.gather_nd(pb.exp(x), pb.where(x > 0.0)))


def distinct(x: pb.Tensor, n: pb.Tensor) -> Any:
    values, index = pb.unique(pb.cast(x * 2.0, pb.int32) + n)
    return pb.segment_sum(x, pb.sort(index)) * pb.cast(values, pb.float64)


def reshaped(x: pb.Tensor, n: pb.Tensor) -> Any:
    del n
    columns = pb.Variable(1, trainable=False)
    return pb.tanh(pb.reshape(x, pb.stack([-1, columns])))


def as_long_as_what_was_found(x: pb.Tensor, n: pb.Tensor) -> Any:
    del n
    found = pb.size(pb.where(x > 0.0))
    return pb.reduce_sum(x) * pb.ones(pb.stack([found + 1]), pb.float64)


def rest_of_rows(x: pb.Tensor, n: pb.Tensor) -> Any:
    return pb.sin(pb.slice(x, pb.stack([n % 2]), pb.placeholder_with_default([-1], [1])))


def growing(x: pb.Tensor, n: pb.Tensor) -> Any:
    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.concat([y, pb.sin(y[-1:])], 0)]

    return pb.while_loop(lambda i, y: i < n, body, [0, x], [pb.TensorShape([]), pb.TensorShape([None])])[1]


def shrinking_inside(x: pb.Tensor, n: pb.Tensor) -> Any:
    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.sin(y) * pb.reduce_sum(pb.boolean_mask(y, y > 0.1))]

    return pb.while_loop(lambda i, y: i < n, body, [0, x])[1]


def rows(x: pb.Tensor, n: pb.Tensor) -> Any:
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, pb.sin(y) * x), (0, x))[1]
    return [pb.history(y), pb.sort(pb.history(y), 0)]


def counted(x: pb.Tensor, n: pb.Tensor) -> Any:
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, pb.sin(y)), (0, x), maximum_iterations=9)[1]
    return pb.cumsum(pb.history(y), 0, reverse=True)


def array_that_grows(x: pb.Tensor, n: pb.Tensor) -> Any:
    array = pb.TensorArray(pb.float64, size=0, dynamic_size=True)
    return pb.while_loop(lambda i, a: i < n + 1, lambda i, a: (i + 1, a.write(i, pb.sin(x))), (0, array))[1].stack()


def branches(x: pb.Tensor, n: pb.Tensor) -> Any:
    return pb.cond(n > 1, lambda: pb.concat([x, x], 0), lambda: pb.exp(x), strict=False)


def branch_for_each_length(x: pb.Tensor, n: pb.Tensor) -> Any:
    """The derivatives of the branches take cotangents of different shapes."""
    y = pb.switch_case(n % 2, [lambda: pb.exp(x), lambda: pb.concat([x, pb.sin(x[:1])], 0)])
    return pb.tanh(y)


def called(x: pb.Tensor, n: pb.Tensor) -> Any:
    del n

    def double(a: Any) -> Any:
        return np.concatenate([a, a])

    return x[0] * pb.numpy_function(double, [pb.exp(x)], pb.float64)


EXAMPLES: list[Example] = [
    *(selected, places, distinct, reshaped, as_long_as_what_was_found, rest_of_rows, growing, shrinking_inside),
    *(rows, counted, array_that_grows, branches, branch_for_each_length, called),
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_host_computes_them_and_their_derivatives(graph: pb.Graph, example: Example) -> None:
    x, n = pb.placeholder(pb.float64, [None]), pb.placeholder(pb.int32, [])
    ys = example(pb.square(x), n)
    ys = ys if isinstance(ys, list) else [ys]
    (dx,) = pb.gradients(ys, x)
    fetches = [*ys, dx, *pb.gradients(dx, x, unconnected_gradients="zero")]
    sessions = [pb.Session(engine=engine) for engine in ("xla", "numpy")]
    for values, steps in RUNS:
        found, expected = [_run(session, fetches, {x: values, n: steps}) for session in sessions]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def _run(session: pb.Session, fetches: Any, feeds: Any) -> Any:
    session.run(pb.global_variables_initializer())
    return session.run(fetches, feeds)


REFUSALS: dict[Example, str] = {
    reshaped: "(Reshape) on float64[3], int32[2] gives a shape that depends on values computed by the run, "
    "and XLA compiles for fixed shapes.\n  made at ",
    growing: "loop: loop variable 1 is float64[3] before a step and float64[4] after it, and XLA compiles for fixed",
    rows: "loop: to keep one row per step, XLA needs a bound on the steps; pass maximum_iterations= (operation 'while/",
    branches: "(If): the branches give float64[6] and float64[3], and XLA compiles for fixed shapes.\n  made at ",
    called: "(PyFunc) returns float64[...], and XLA compiles for whole shapes.\n  made at ",
}


@pytest.mark.parametrize("example", REFUSALS)
def test_there_is_no_host_beside_a_mesh(graph: pb.Graph, example: Example) -> None:
    x, n = pb.placeholder(pb.float64, [None]), pb.placeholder(pb.int32, [])
    y = example(x, n)
    session = pb.Session(engine="xla", mesh={"x": 1})
    with pytest.raises(pb.errors.InvalidArgumentError, match=re.escape(REFUSALS[example])):
        _run(session, y, {x: RUNS[0][0], n: RUNS[0][1]})


def test_variables_are_changed_by_rows_that_a_run_chose(graph: pb.Graph) -> None:
    def trained(engine: str) -> Any:
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        losses = [session.run([loss, step], {ids: [0, 1, 1, 3]})[0] for _ in range(4)]
        return [losses, *session.run([table, seen])]

    table, ids = pb.Variable(np.ones((5, 2))), pb.placeholder(pb.int32, [None])
    seen = pb.Variable(np.zeros(5), trainable=False)
    chosen = pb.boolean_mask(ids, pb.gather(table, ids)[:, 0] > 0.75)
    loss = pb.reduce_sum(pb.square(pb.gather(table, chosen)))
    with pb.control_dependencies([seen.scatter_add(pb.IndexedSlices(pb.ones(pb.shape(chosen), pb.float64), chosen))]):
        step = pb.train.AdamOptimizer(0.1).minimize(loss)
    for a, b in zip(trained("xla"), trained("numpy"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_random_numbers_are_drawn_once_and_those_of_the_other_engine(graph: pb.Graph) -> None:
    pb.random.set_seed(3)
    x = pb.random.normal([20])
    kept = pb.boolean_mask(x, x > 0.0)
    fetches = [x, kept, pb.random.uniform(pb.shape(kept))]
    xla, numpy = [pb.Session(engine=engine) for engine in ("xla", "numpy")]
    for _ in range(3):
        found, expected = xla.run(fetches), numpy.run(fetches)
        np.testing.assert_array_equal(found[1], found[0][found[0] > 0.0])
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_python_is_called_once_in_each_run(graph: pb.Graph) -> None:
    calls: list[int] = []

    def noted(a: Any) -> Any:
        calls.append(len(a))
        return np.float64(a.sum())

    x = pb.placeholder(pb.float64, [None])
    total = pb.numpy_function(noted, [pb.exp(x)], pb.TensorSpec([], pb.float64))
    y = pb.reduce_sum(pb.boolean_mask(x * total, x * total > 0.0))
    session = pb.Session(engine="xla")
    for values in ([1.0, -1.0], [1.0, 2.0, 3.0]):
        session.run(y, {x: values})
    assert calls == [2, 3]


def test_a_failed_run_changes_no_variable(graph: pb.Graph) -> None:
    v, x = pb.Variable(np.float64(1.0)), pb.placeholder(pb.float64, [None])
    with pb.control_dependencies([v.assign_add(1.0)]):
        kept = pb.boolean_mask(x, x > v)
    checked = pb.numpy_function(lambda a: np.float64(1 / len(a)), [kept], pb.float64)
    session = pb.Session(engine="xla")
    session.run(v.initializer)
    with pytest.raises(pb.errors.InvalidArgumentError, match="division by zero"):
        session.run([checked, v], {x: [0.0]})
    assert session.run(v) == 1.0
    session.run(checked, {x: [3.0]})
    assert session.run(v) == 2.0


def test_masks_that_are_fed_are_compiled_in_until_there_are_many(graph: pb.Graph) -> None:
    x, mask = pb.placeholder(pb.float64, [None]), pb.placeholder(pb.bool, [None])
    y = pb.sin(pb.boolean_mask(x, mask))
    session, values = pb.Session(engine="xla"), np.arange(5.0)
    for i in range(20):
        chosen = np.array([bool(i >> k & 1) for k in range(5)])
        np.testing.assert_allclose(session.run(y, {x: values, mask: chosen}), np.sin(values[chosen]))
    (program,) = (p for p in session._engine.programs if p.plan.fetches == (y,))  # type: ignore[attr-defined]
    assert len(program.compiled) == 15


def test_a_large_feed_that_decides_a_length_is_not_compiled_in_each_time() -> None:
    """As in hard negative mining: as many negatives as there are positives, for labels that differ in each step."""
    labels = pb.placeholder(pb.float32, [None])
    x = pb.Variable(np.linspace(0.0, 1.0, 300, dtype=np.float32))
    count = pb.cast(pb.reduce_sum(labels), pb.int32)
    hardest = pb.math.top_k(x * (1.0 - labels), count).values
    step = x.assign_sub(0.1 * pb.gradients(pb.reduce_sum(hardest), x)[0])
    compiled = []

    def note(event: str, duration: float, **kwargs: object) -> None:
        del duration, kwargs
        compiled.append(event)

    with pb.Session(engine="xla") as session:
        session.run(x.initializer)
        rng = np.random.default_rng(0)
        jax.monitoring.register_event_duration_secs_listener(note)
        try:
            counts = []
            for _ in range(6):
                given = np.zeros(300)
                given[rng.choice(300, 7, replace=False)] = 1.0
                found, _ = session.run([hardest, step], {labels: given})
                counts.append(sum("backend_compile" in event for event in compiled))
                assert found.shape == (7,)
        finally:
            jax.monitoring.unregister_event_duration_listener(note)
    assert counts[2:] == [counts[2]] * 4
