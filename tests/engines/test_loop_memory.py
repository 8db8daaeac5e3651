"""Memory of loops: how much is kept, and that what is far from a checkpoint is not computed again and again."""

from __future__ import annotations

import numpy as np

import pullback as pb
from pullback.engines.loop_memory import sizes


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
