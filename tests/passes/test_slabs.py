"""Slabs of arrays: unrolled recurrent networks become loops, however their code takes its steps apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor

STEPS, BATCH, WIDTH = 12, 2, 3
DATA = np.random.default_rng(0).normal(size=[BATCH, STEPS, WIDTH])

Steps = Callable[[Tensor], Iterable[Tensor]]
WAYS: dict[str, Steps] = {
    "unstack": lambda x: pb.unstack(x, STEPS, 1),
    "split and squeeze": lambda x: [pb.squeeze(part, [1]) for part in pb.split(x, STEPS, 1)],
    "items": lambda x: [x[:, t] for t in range(STEPS)],
    "items from the end": lambda x: [x[:, t - STEPS, :] for t in range(STEPS)],
    "items behind an ellipsis": lambda x: (lambda turned: [turned[..., t] for t in range(STEPS)])(
        pb.transpose(x, [0, 2, 1])
    ),
    "items in another order": lambda x: [x[:, 5 * t % STEPS] for t in range(STEPS)],
    "slices": lambda x: (pb.reduce_sum(x[:, t : t + 1], 1) for t in range(STEPS)),
    "pairs": lambda x: (pb.reduce_sum(x[:, t : t + 2], 1) for t in range(STEPS - 1)),
    "sizes": lambda x: [pb.squeeze(pb.slice(x, [0, t, 0], [-1, 1, -1]), [1]) for t in range(STEPS)],
    "gathers": lambda x: [pb.gather(x, t, axis=1) for t in range(STEPS)],
    "rows": lambda x: pb.split(pb.reshape(pb.transpose(x, [1, 0, 2]), [-1, WIDTH]), STEPS, 0),
}


def _network(x: Tensor, steps: Steps) -> tuple[Tensor, list[Any]]:
    """The outputs of a recurrent network, and its variables, which each step reads."""
    weights = pb.Variable(np.random.default_rng(1).normal(size=[2 * WIDTH, WIDTH]), dtype=pb.float64)
    offset = pb.Variable([0.1, -0.2, 0.3], dtype=pb.float64)
    state = pb.zeros_like(x[:, 0]) + 0.5
    outputs = []
    for part in steps(x):
        state = pb.tanh(pb.matmul(pb.concat([part, state], 1), weights) + offset)
        outputs.append(state * 2.0)
    return pb.stack(outputs, 1), [weights, offset]


@pytest.mark.parametrize("batch", [BATCH, None], ids=["known", "unknown"])
@pytest.mark.parametrize("way", list(WAYS))
def test_a_network_is_one_loop_of_the_same_values_and_derivatives(way: str, batch: int | None) -> None:
    if way == "rows" and batch is None:
        pytest.skip("the steps of an unknown number of examples are cut apart at unknown places")
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [batch, STEPS, WIDTH])
        y, variables = _network(x, WAYS[way])
        rolled, report = pb.reroll(y)
        assert [repeat.count >= STEPS - 2 for repeat in report.repeats] == [True]
        assert rolled.shape.as_list() == y.shape.as_list()
        before = len(graph.get_operations())
        runs = [[rolled, *pb.gradients(pb.square(rolled), [x, *variables])]]
        assert len(graph.get_operations()) - before < 60
        runs.append([y, *pb.gradients(pb.square(y), [x, *variables])])
        with pb.Session(engine="numpy") as session:
            session.run(pb.global_variables_initializer())
            found = session.run([[pb.convert_to_tensor(z) for z in run] for run in runs], {x: DATA})
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def _of_a_variable(before_step: Callable[[int, Any], None]) -> tuple[Any, Any]:
    """A chain each step of which reads a variable, and that chain rolled."""
    w = pb.Variable(0.5, dtype=pb.float64)
    y = pb.constant([0.3, 0.7], pb.float64)
    for n in range(40):
        before_step(n, w)
        y = pb.sin(y * w) + 0.1
    return y, pb.reroll(y)


def test_what_acts_on_a_variable_parts_its_reads() -> None:
    actions: list[Any] = []

    def act(n: int, w: Any) -> None:
        if n == 20:
            actions.append(w.assign(2.0))

    y, (rolled, report) = _of_a_variable(act)
    assert [repeat.count for repeat in report.repeats] == [20, 20]
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        whole = session.run([rolled, y, *actions])
        np.testing.assert_allclose(whole[0], whole[1], rtol=1e-12)
        session.run(pb.global_variables_initializer())
        assert not np.allclose(session.run([rolled, y])[0], whole[0])


def test_a_read_that_is_kept_stays_itself() -> None:
    reads: list[Any] = []
    w = pb.Variable(0.5, dtype=pb.float64)
    y = pb.constant([0.3, 0.7], pb.float64)
    for _ in range(40):
        reads.append(w.read_value())
        y = pb.sin(y * reads[-1]) + 0.1
    rolled = pb.reroll(y, keep=reads[0]).fetches
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        found, expected = session.run([pb.gradients(z, reads[0])[0] for z in (rolled, y)])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_an_array_that_is_too_short_for_all_steps_is_refused_as_before() -> None:
    x = pb.placeholder(pb.float64, [None, 3])
    y = pb.zeros([3], pb.float64)
    for n in range(20):
        y = pb.tanh(y + x[n]) * 0.5
    rolled, report = pb.reroll(y)
    assert report.repeats
    session = pb.Session(engine="numpy")
    np.testing.assert_allclose(*session.run([rolled, y], {x: np.ones([25, 3])}))
    for z in (rolled, y):
        with pytest.raises(Exception, match=r"(?s)shape|out of bounds|out of range"):
            session.run(z, {x: np.ones([15, 3])})


def test_long_unrolled_networks_of_variables_are_rolled_at_the_level_fast() -> None:
    w = pb.Variable(0.5, dtype=pb.float64)
    y = pb.constant([0.3, 0.7], pb.float64)
    for n in range(400):
        y = pb.sin(y * w) + n / 400
    lean, report = pb.optimize(y, "fast")
    assert report.counts["pieces that repeat"] == 1
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        (found, expected) = session.run([[z, *pb.gradients(z, w)] for z in (lean, y)])
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
