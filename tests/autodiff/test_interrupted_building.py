"""Building that is interrupted leaves the graph, its names, scopes and the default graph as they were."""

from __future__ import annotations

import contextlib
import sys
from types import FrameType
from typing import Any

import pytest

import pullback as pb
from pullback.core import graph as graphs

BLOCKS = contextlib.__file__, graphs.__file__
"""Where blocks of `with` are entered and left."""
EVERY = 40


def layers(x: Any, w: Any) -> Any:
    for _ in range(2):
        x = pb.tanh(pb.matmul(x, w))
    return x


def loss_of(x: Any, w: Any) -> Any:
    looped = pb.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, layers(y, w)), [0, x])[1]
    chosen = pb.cond(pb.reduce_sum(x) > 0.0, lambda: layers(x, w), lambda: x)
    return pb.reduce_sum(layers(x, w) + looped + chosen)


class Interrupt:
    """Raises KeyboardInterrupt at the call or return of that number, of those where blocks are entered and left."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event in ("call", "return") and frame.f_code.co_filename in BLOCKS:
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt


def state_of(graph: pb.Graph) -> Any:
    """The operations, a name that is free, and where the thread is."""
    operations = [(op.name, op.type, [x.name for x in op.inputs]) for op in graph.operations]
    free = graph.unique_name("gradients", mark_as_used=False)
    return operations, free, pb.get_default_graph(), graph.scope, len(graphs.open_bodies)


def interrupted(number: int) -> bool:
    """Whether building gradients comes to the event of that number; all of them is there then, or nothing."""
    with pb.Graph().as_default() as graph:
        x, w = pb.placeholder(pb.float32, [None, 8]), pb.placeholder(pb.float32, [8, 8])
        loss, before = loss_of(x, w), state_of(graph)
        sys.setprofile(Interrupt(number))
        try:
            pb.gradients(loss, [x, w])
        except KeyboardInterrupt:
            pass
        else:
            return False
        finally:
            sys.setprofile(None)
        after = state_of(graph)
        assert after[2:] == before[2:]
        assert after == before or after[0][-1] == LAST
        pb.gradients(loss, [x, w])
        return True


def last_of_gradients() -> Any:
    """The operation that the gradients end with."""
    with pb.Graph().as_default() as graph:
        x, w = pb.placeholder(pb.float32, [None, 8]), pb.placeholder(pb.float32, [8, 8])
        pb.gradients(loss_of(x, w), [x, w])
        return state_of(graph)[0][-1]


LAST = last_of_gradients()


@pytest.mark.parametrize("first", [1, pytest.param(0, marks=pytest.mark.slow)])
def test_interrupted_gradients_leave_nothing(first: int) -> None:
    step = EVERY if first else 1
    number = first or 1
    while interrupted(number):
        number += step
    assert number > 10 * EVERY
