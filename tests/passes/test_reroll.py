"""Loop rolling: fewer operations, the same values and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor

COUNT = 20
Numbers = Sequence[float]
Code = Callable[[Tensor, Numbers], Tensor]


def chain(x: Tensor, numbers: Numbers) -> Tensor:
    y = x
    for a in numbers:
        y = pb.sin(y * a) + 0.1 * x
    return y


def of_two_states(x: Tensor, numbers: Numbers) -> Tensor:
    a, b = x, pb.cos(x)
    for c in numbers:
        a, b = b, pb.tanh(a * c) + pb.sin(b) * 0.5
    return a * b


def from_the_same_start(x: Tensor, numbers: Numbers) -> Tensor:
    """What the first piece reads as two different states is one tensor."""
    a = b = x
    for c in numbers:
        a, b = pb.sin(a * c), pb.sin(b + a)
    return a + b


def with_prefix_and_end(x: Tensor, numbers: Numbers) -> Tensor:
    y = chain(pb.exp(x) * 0.5, numbers)
    return pb.reduce_sum(pb.log(y * y + 1.0))


def sums(x: Tensor, numbers: Numbers) -> Tensor:
    total: Any = 0.0
    for a in numbers:
        total = total + pb.exp(pb.sin(x * a)) * a
    return total


def apart_and_added(x: Tensor, numbers: Numbers) -> Tensor:
    return pb.add_n([pb.exp(pb.sin(x * a)) * a for a in numbers])


def apart_and_stacked(x: Tensor, numbers: Numbers) -> Tensor:
    return pb.stack([pb.exp(pb.sin(x * a)) * a for a in numbers]) * 2.0


def every_state(x: Tensor, numbers: Numbers) -> Tensor:
    states = [x]
    for a in numbers:
        states.append(pb.sin(states[-1] * a) + 0.1 * x)
    return pb.reduce_sum(pb.stack(states[1:]), 0) + states[5] * states[7]


def dense(x: Tensor, numbers: Numbers) -> Tensor:
    y = pb.reshape(x, [1, 3])
    for a in numbers:
        y = pb.tanh(pb.matmul(y, pb.constant(np.full((3, 3), a), pb.float64)) + a)
    return y


def rows(x: Tensor, numbers: Numbers) -> Tensor:
    table = x * np.array(numbers)[:, None]
    y = x
    for k, a in enumerate(numbers):
        y = pb.sin(y * table[k]) + a * x
    return y


def rows_in_any_order(x: Tensor, numbers: Numbers) -> Tensor:
    table = x * np.array(numbers)[:, None]
    order = np.random.default_rng(0).integers(len(numbers), size=len(numbers))
    return pb.add_n([pb.exp(pb.sin(x * table[int(k)])) * table[3] for k in order])


def unstacked_rows(x: Tensor, numbers: Numbers) -> Tensor:
    total: Any = 0.0
    for row in pb.unstack(x * np.array(numbers)[:, None]):
        total = total + pb.exp(pb.sin(row * x)) * row
    return total


def branches(x: Tensor, numbers: Numbers) -> Tensor:
    y = x
    for a in numbers:
        y = pb.cond(y[0] > 0.2, lambda y=y: pb.sin(y), lambda y=y: pb.cos(y) * 0.5) * a
    return y


def inner_loops(x: Tensor, numbers: Numbers) -> Tensor:
    y = x
    for a in numbers:
        y = pb.while_loop(lambda i, u: i < 3, lambda i, u: (i + 1, pb.sin(u) * 0.9), [0, y])[1] * 0.5 + a
    return y


def branches_apart(x: Tensor, numbers: Numbers) -> Tensor:
    found = []
    for a in numbers:
        y = x * a
        found.append(pb.cond(y[0] > 0.5, lambda y=y: pb.sin(y), lambda y=y: pb.exp(y)))
    return pb.add_n(found)


CODES = [
    *(chain, of_two_states, from_the_same_start, with_prefix_and_end, sums, apart_and_added, apart_and_stacked),
    *(every_state, dense, rows, rows_in_any_order, unstacked_rows, branches, inner_loops, branches_apart),
]


def numbers(count: int = COUNT) -> Numbers:
    return [1.0 + 0.05 * k for k in range(count)]


@pytest.mark.parametrize(
    ("code", "engine"),
    [
        *((code, "numpy") for code in CODES),
        *((code, "xla") for code in (chain, dense, rows)),
        *(pytest.param(code, "xla", marks=pytest.mark.slow) for code in CODES if code not in (chain, dense, rows)),
    ],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)
def test_values_and_derivatives_are_the_same(code: Code, engine: str) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [3])
        y = code(x, numbers())
        rolled, report = pb.reroll(y)
        assert report.repeats
        assert rolled.shape == y.shape
        outputs = []
        for z in (y, rolled):
            dx = pb.gradients(z, x)[0]
            outputs.append([z, dx, pb.gradients(dx, x)[0]])
        found = pb.Session(engine=engine).run(outputs, {x: [0.3, 0.7, -0.4]})
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("code", CODES, ids=lambda f: f.__name__)
def test_the_rolled_gradient_has_as_many_operations_however_long_the_code_is(code: Code) -> None:
    counts = []
    for count in (30, 60):
        with pb.Graph().as_default() as graph:
            x = pb.placeholder(pb.float64, [3])
            y = code(x, numbers(count))
            before = len(graph.get_operations())
            pb.gradients(pb.reroll(y).fetches, x)
            counts.append(len(graph.get_operations()) - before)
    assert counts[1] - counts[0] <= (30 if code in (every_state, unstacked_rows) else 0)


def test_the_report_says_what_was_rolled_and_where() -> None:
    with pb.Graph().as_default():
        report = pb.reroll(chain(pb.placeholder(pb.float64, [3]), numbers())).report
        apart = pb.reroll(apart_and_added(pb.placeholder(pb.float64, [3]), numbers())).report
    assert str(report).startswith(
        "80 of 81 operations became 1 loop\n  a loop of 20 times 4 operations (test_reroll.py:"
    )
    assert "a batch of 20 operations of type Sin (test_reroll.py:" in str(apart)
    with pb.Graph().as_default():
        large = pb.reroll(apart_and_added(pb.placeholder(pb.float64, [100]), numbers())).report
    assert str(large).startswith(
        "80 of 82 operations became 1 batch\n  a batch of 20 times 4 operations (test_reroll.py:"
    )


def test_what_is_kept_or_fetched_on_the_way_is_there() -> None:
    with pb.Graph().as_default():
        x = y = pb.placeholder(pb.float64, [3])
        middle = x
        for k, a in enumerate(numbers(60)):
            y = pb.sin(y * a) + 0.1 * x
            middle = y if k == 29 else middle
        (rolled, same), report = pb.reroll([y, middle], keep=middle)
        assert same is middle
        assert [r.count for r in report.repeats] == [30]
        dm = pb.gradients(rolled, middle)[0]
        values = pb.Session().run([y, rolled, pb.gradients(y, middle)[0], dm], {x: [0.1, 0.2, 0.3]})
    np.testing.assert_allclose(values[0], values[1])
    np.testing.assert_allclose(values[2], values[3])


def test_random_numbers_assignments_and_what_waits_are_left_alone() -> None:
    with pb.Graph().as_default():
        y = pb.placeholder(pb.float64, [3])
        count = pb.Variable(0)
        for _ in range(COUNT):
            with pb.control_dependencies([count.assign_add(1)]):
                y = pb.sin(y + pb.random.normal([3], dtype=pb.float64)) * 1.1
        rolled, report = pb.reroll(y)
        assert rolled is y
        assert not report.repeats


def test_what_does_not_repeat_is_left_alone() -> None:
    with pb.Graph().as_default() as graph:
        x = y = pb.placeholder(pb.float64, [3])
        for k in range(COUNT):
            y = (pb.sin, pb.cos, pb.tanh, pb.exp)[k * k % 7 % 4](y) * 0.1
        before = len(graph.get_operations())
        assert pb.reroll([y, pb.reroll(y).fetches]).report.repeats == ()
        assert len(graph.get_operations()) == before
    del x


def test_branches_that_compute_other_things_are_no_repeat() -> None:
    with pb.Graph().as_default():
        x = y = pb.placeholder(pb.float64, [3])
        for a in numbers(30):
            y = pb.cond(y[0] > 0.2, lambda y=y, a=a: pb.sin(y * a), lambda y=y: y)
        assert pb.reroll(y).report.repeats == ()
    del x


def test_a_rolled_graph_is_exported() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [3], name="x")
        y = pb.reroll(chain(x, numbers(200))).fetches
        model = pb.onnx.export({"y": y, "dx": pb.gradients(y, x)[0]})
        expected = pb.Session().run(y, {x: [0.1, 0.2, 0.3]})
    assert len(model.graph.node) < 40
    session = onnxruntime.InferenceSession(model.SerializeToString())
    np.testing.assert_allclose(session.run(["y"], {"x": np.array([0.1, 0.2, 0.3], np.float32)})[0], expected, rtol=1e-4)


def test_wrong_fetches_are_refused() -> None:
    with pytest.raises(
        TypeError, match=r"^reroll: 1\.0 is no tensor; pass tensors, and lists or dictionaries of them$"
    ):
        pb.reroll([1.0])


@pytest.mark.parametrize(("level", "count", "loops"), [("fast", 300, 1), ("fast", 30, 0), ("safe", 300, 0)])
def test_long_runs_are_rolled_where_a_graph_is_optimised_at_the_level_fast(level: str, count: int, loops: int) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [3])
        y = chain(x, [0.5 + 0.5 * k / count for k in range(count)])
        lean, report = pb.optimize(y, level)
        assert report.counts.get("pieces that repeat", 0) == loops
        assert (lean.op.type == "Loop") == bool(loops)
        outputs = [[z, *pb.gradients(z, x)] for z in (y, lean)]
        found, expected = pb.Session(engine="numpy").run(outputs, {x: [0.3, 0.7, -0.4]})
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_what_is_fetched_and_read_on_the_way_stays_what_others_depend_on() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [3])
        factors = [0.5 + 0.001 * k for k in range(300)]
        middle = chain(x, factors)
        y = chain(middle, factors)
        (lean, before), report = pb.optimize([y, middle], "fast")
        assert report.counts["pieces that repeat"] == 1
        slopes = [pb.gradients(lean, before)[0], pb.gradients(y, middle)[0]]
        found, expected = pb.Session(engine="numpy").run(slopes, {x: [0.3, 0.7, -0.4]})
    np.testing.assert_allclose(found, expected)
