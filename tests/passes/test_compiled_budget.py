"""Budgets of compiled programs: what XLA allocates is within them, whatever was predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor
from pullback.passes.compiled_budget import Attempt, loosest

ROWS, WIDTH = 64, 32


def attention(x: Tensor, weights: Any) -> Tensor:
    for w in weights:
        shares = pb.nn.softmax(pb.matmul(x @ w, x, transpose_b=True))
        x = pb.tanh(x + shares @ x)
    return x


def net(x: Tensor) -> list[Tensor]:
    weights = [pb.Variable(pb.random.stateless_normal([WIDTH, WIDTH], [0, i]) / 8) for i in range(4)]
    loss = pb.reduce_mean(pb.square(attention(x, weights)))
    return [loss, *pb.gradients(loss, weights)]


def taken(session: pb.Session, fetches: Any, feeds: Any = None) -> int:
    memory = session.compiled_memory(fetches, feeds)
    return memory["temporary"] + memory["outputs"] - memory["aliased"]


@pytest.mark.parametrize("share", [0.6, 0.45])
def test_what_is_allocated_is_within_the_budget(share: float) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [4, ROWS, WIDTH])
        fetches, session = net(x), pb.Session(engine="xla")
        budget = round(taken(session, fetches) * share)
        found, report = pb.rematerialize(fetches, budget, session=session)
        assert report.budget == budget
        assert taken(session, found) == report.compiled_peak <= budget
        assert f"(budget {budget:,}; compiled {report.compiled_peak:,}, allocated)" in str(report)
        session.run(pb.global_variables_initializer())
        feeds = {x: np.random.default_rng(0).normal(size=x.shape.known)}
        for a, b in zip(session.run(fetches, feeds), session.run(found, feeds), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


def test_what_fits_stays_as_it_is() -> None:
    with pb.Graph().as_default():
        fetches, session = net(pb.placeholder(pb.float32, [4, ROWS, WIDTH])), pb.Session(engine="xla")
        plain = taken(session, fetches)
        report = pb.rematerialize(fetches, plain, session=session).report
        assert report.compiled_peak == plain
        assert not report.recomputed


def test_lengths_that_only_a_run_knows_are_given() -> None:
    with pb.Graph().as_default():
        x, session = pb.placeholder(pb.float32, ["batch", ROWS, WIDTH]), pb.Session(engine="xla")
        fetches, feeds = net(x), {x: np.zeros([4, ROWS, WIDTH], np.float32)}
        budget = round(taken(session, fetches, feeds) * 0.6)
        found, report = pb.rematerialize(fetches, budget, sizes={"batch": 4}, session=session)
        assert taken(session, found, feeds) == report.compiled_peak <= budget


def test_gradients_keep_to_a_budget_of_a_program() -> None:
    with pb.Graph().as_default():
        x, session = pb.placeholder(pb.float32, [4, ROWS, WIDTH]), pb.Session(engine="xla")
        weights = [pb.Variable(pb.zeros([WIDTH, WIDTH])) for _ in range(4)]
        loss = pb.reduce_mean(pb.square(attention(x, weights)))
        budget = round(taken(session, [loss, *pb.gradients(loss, weights)]) * 0.6)
        memory = pb.Memory(budget=budget, session=session)
        assert str(memory) == f"Memory(budget={budget})"
        assert taken(session, [loss, *pb.gradients(loss, weights, memory=memory)]) <= budget


def test_refusals_name_the_least_and_leave_the_graph_as_it_was() -> None:
    with pb.Graph().as_default() as graph:
        x, session = pb.placeholder(pb.float32, [4, ROWS, WIDTH]), pb.Session(engine="xla")
        fetches = net(x)
        before = len(graph.operations)
        with pytest.raises(pb.errors.ResourceExhaustedError, match="is 20,000 bytes of a compiled program, and the"):
            pb.rematerialize(fetches, "20kB", session=session)
        with pytest.raises(NotImplementedError, match="the NumPy engine compiles nothing"):
            pb.rematerialize(fetches, "1MB", session=pb.Session(engine="numpy"))
        assert len(graph.operations) == before


class TestLoosest:
    plain = Attempt(2000, 2000)

    def test_what_fits_is_taken_as_it_is(self) -> None:
        assert loosest(lambda limit: Attempt(limit, 0), self.plain, 2000) == self.plain

    def test_a_plan_is_made_tighter_by_what_it_is_over(self) -> None:
        tried = []

        def attempt(limit: int) -> Attempt:
            tried.append(limit)
            return Attempt(limit, 2 * limit)

        assert loosest(attempt, self.plain, 1000) == Attempt(485, 970)
        assert tried == [1000, 485]

    def test_a_plan_that_leaves_room_is_made_looser(self) -> None:
        assert loosest(lambda limit: Attempt(limit, limit * 3 // 5), self.plain, 1000) == Attempt(1617, 970)

    def test_between_what_is_refused_and_what_is_over_there_may_be_one(self) -> None:
        def attempt(limit: int) -> Attempt:
            if limit < 600:
                raise pb.errors.ResourceExhaustedError("too small")
            return Attempt(limit, limit + 350)

        found = loosest(attempt, self.plain, 1000)
        assert 850 <= found.taken <= 1000

    def test_the_least_is_named(self) -> None:
        def attempt(limit: int) -> Attempt:
            if limit < 900:
                raise pb.errors.ResourceExhaustedError("the graph needs 900.")
            return Attempt(limit, 2 * limit)

        with pytest.raises(pb.errors.ResourceExhaustedError) as error:
            loosest(attempt, self.plain, 1000)
        assert str(error.value) == (
            "rematerialize: the budget is 1,000 bytes of a compiled program, and the least that was allocated for a "
            "plan is 1,818. Beyond that: the graph needs 900."
        )


def test_a_program_is_looked_at_without_values() -> None:
    with pb.Graph().as_default():
        x, n = pb.placeholder(pb.float32, [4, ROWS, WIDTH]), pb.placeholder(pb.int32, [])
        session = pb.Session(engine="xla")
        step = pb.train.AdamOptimizer().minimize(net(x)[0])
        before = session.compiled_memory(step)
        session.run(pb.global_variables_initializer())
        assert session.compiled_memory(step, {x: np.ones(x.shape.known, np.float32)}) == before
        with pytest.raises(pb.errors.InvalidArgumentError, match="needs a placeholder that was not fed"):
            session.compiled_memory(pb.zeros([n]) + 1.0)
