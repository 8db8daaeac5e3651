"""Memory of loops: how much is kept, and that what is far from a checkpoint is not computed again and again."""

from __future__ import annotations

from math import log2
from typing import Any

import jax
import numpy as np
import pytest

import pullback as pb
from pullback.engines.loop_memory import sizes

computed: list[str] = []


class CountedSine(pb.Primitive):
    """sin(2 x), which notes each time that a run computes it."""

    type = "CountedSine"

    def infer(self, x: Any) -> Any:
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        if xp is np:
            computed.append(self.type)
        elif isinstance(x, jax.Array):
            jax.debug.callback(lambda: computed.append(self.type))
        return xp.sin(x + x)

    def gradient(self, op: Any, dy: Any) -> Any:
        x = op.inputs[0]
        return (dy * 2.0 * pb.cos(x + x),)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
@pytest.mark.parametrize("order", [1, 2])
def test_tight_budgets_take_n_log_n_steps_for_each_derivative(engine: str, order: int) -> None:
    with pb.Graph().as_default():
        x, count = pb.placeholder(pb.float64, [2]), pb.placeholder(pb.int32, [])
        y = pb.while_loop(lambda i, y: i < count, lambda i, y: [i + 1, CountedSine()(y) + x], [0, x])[1]
        for _ in range(order):
            (y,) = pb.gradients(y, x, memory=pb.Memory(budget=1))
        session = pb.Session(engine=engine)
        for n in (100, 1000, 10_000 if order == 1 else 2000):
            computed.clear()
            session.run(y, {x: [0.3, 0.7], count: n})
            if engine == "xla":
                jax.effects_barrier()
            assert 2 * n < len(computed) <= n * log2(n) ** order / 2


def test_states_are_kept_between_checkpoints_that_are_far_apart() -> None:
    assert sizes(256, pb.Memory(every=100)).levels == 0
    assert sizes(256, pb.Memory(every=4000)).levels > 0


def test_checkpoints_that_are_far_apart_give_the_same_derivative() -> None:
    with pb.Graph().as_default():
        x, count = pb.placeholder(pb.float64, [2]), pb.placeholder(pb.int32, [])
        y = pb.while_loop(lambda i, y: i < count, lambda i, y: [i + 1, pb.sin(y * 1.1) + 0.1 * x], [0, x])[1]
        policies = pb.Memory(every=1000), pb.Memory()
        far, kept = [pb.gradients(y, x, memory=policy) for policy in policies]
        compiled, interpreted = pb.Session(engine="xla"), pb.Session(engine="numpy")
        for steps in (0, 1, 999, 2500):
            feed = {x: [0.3, 0.7], count: steps}
            np.testing.assert_allclose(compiled.run(far, feed), interpreted.run(kept, feed), rtol=1e-9)


def test_room_that_takes_memory_as_it_is_written_to_is_for_more_steps_where_no_policy_says_otherwise() -> None:
    state = 256 << 10
    assert sizes(state, pb.Memory(), is_lazy=True).checkpoints > 1900 > 32 == sizes(state, pb.Memory()).checkpoints
    assert sizes(256, pb.Memory(), is_lazy=True).checkpoints == 8192
    for memory in (pb.Memory(budget=1 << 22), pb.Memory(budget=1 << 22, every=100)):
        assert sizes(state, memory, is_lazy=True) == sizes(state, memory)


@pytest.mark.parametrize("is_lazy", [False, True])
def test_no_more_is_kept_than_a_bound_on_the_steps_needs(is_lazy: bool) -> None:
    for every, least in ((1, 700), (100, 7)):
        found = sizes(256, pb.Memory(every=every), most_steps=700, is_lazy=is_lazy)
        assert least <= found.checkpoints < least + found.block
