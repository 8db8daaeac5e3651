"""Loops that the tests of both engines differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

Loop = Callable[[pb.Tensor, pb.Tensor, pb.Tensor], pb.Tensor]
"""From a start, a weight and a number of steps to what is differentiated."""
FEW = pb.Memory(budget=150)
"""Room for a dozen states of the loops below: 8 checkpoints and blocks of 4 rows, or so."""
COUNTS = [0, 1, 4, 8, 9, 12, 13, 16, 17, 33, 64, 65, 129]
"""Steps around the number of checkpoints, that of the rows that are computed again at once, and far beyond."""


def two_variables(x: pb.Tensor, w: pb.Tensor, n: pb.Tensor) -> pb.Tensor:
    """A loop in which each of two variables depends on both."""

    def body(i: pb.Tensor, y: pb.Tensor, z: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.sin(y * w) + 0.9 * y - 0.1 * z * y, 0.5 * z + y * w]

    _, y, z = pb.while_loop(lambda i, y, z: i < n, body, [0, x, x * 0.3])
    return y + z


def nested(x: pb.Tensor, w: pb.Tensor, n: pb.Tensor) -> pb.Tensor:
    """A loop in a branch in a loop; how many steps the inner one makes depends on the values."""

    def inner(y: pb.Tensor) -> pb.Tensor:
        steps = pb.cast(pb.abs(y) * 3.0, pb.int32) % 5
        return pb.while_loop(lambda j, z: j < steps, lambda j, z: [j + 1, pb.sin(z * w) + 0.1 * y], [0, y * w])[1]

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.cond(y > 0.2, lambda: inner(y), lambda: y + 0.7 * w)]

    y: pb.Tensor = pb.while_loop(lambda i, y: i < n, body, [0, x])[1]
    return y


def with_random_numbers(x: pb.Tensor, w: pb.Tensor, n: pb.Tensor) -> pb.Tensor:
    """A loop that draws a random number in each step."""

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.sin(y) * w * pb.random.uniform([], seed=3, dtype=pb.float64) + x]

    y: pb.Tensor = pb.while_loop(lambda i, y: i < n, body, [0, x])[1]
    return y


class Derivatives:
    """The value of a loop and its derivatives up to some order, on one engine, for any number of steps."""

    def __init__(self, loop: Loop, order: int, engine: str, memory: pb.Memory | None = None) -> None:
        with pb.Graph().as_default() as graph:
            self.x, self.w = pb.placeholder(pb.float64, []), pb.placeholder(pb.float64, [])
            self.n = pb.placeholder(pb.int32, [])
            latest = [loop(self.x, self.w, self.n)]
            found = list(latest)
            for _ in range(order):
                latest = pb.gradients(latest, [self.x, self.w], memory=memory)
                found += latest
        self.session = pb.Session(graph=graph, engine=engine)
        self.run = self.session.make_callable(found, [self.x, self.w, self.n])

    def __call__(self, steps: int) -> np.ndarray[Any, Any]:
        return np.array(self.run(0.7, 1.3, steps))
