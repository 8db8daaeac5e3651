"""Tensors held constant: by the `stop_gradients` argument and by `stop_gradient` in the graph."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest

import pullback as pb

SUBSETS = list(chain.from_iterable(combinations("abcd", n) for n in range(1, 5)))


def run(fetches: Any) -> Any:
    with pb.Session(graph=pb.get_default_graph(), engine="numpy") as session:
        return session.run(fetches)


def network(stopped: tuple[str, ...]) -> tuple[dict[str, Any], Any]:
    """a -> b -> c -> d with short cuts; the tensors of `stopped` go on through `stop_gradient`."""
    tensors: dict[str, Any] = {}

    def keep(name: str, value: Any) -> Any:
        tensors[name] = value
        return pb.stop_gradient(value) if name in stopped else value

    a = keep("a", pb.constant(1.1, pb.float64))
    b = keep("b", pb.sin(a))
    c = keep("c", a * b)
    d = keep("d", pb.exp(c) * b)
    return tensors, d * d + a * c


@pytest.mark.parametrize("stopped", SUBSETS, ids="".join)
def test_every_subset_agrees_with_stop_gradient_in_the_graph(stopped: tuple[str, ...]) -> None:
    tensors, y = network(())
    by_argument = pb.gradients(
        y, [tensors[n] for n in "abcd"], stop_gradients=[tensors[n] for n in stopped], unconnected_gradients="zero"
    )
    marked, z = network(stopped)
    stops = {op.inputs[0]: op.outputs[0] for op in pb.get_default_graph().operations if op.type == "StopGradient"}
    # What is stopped in the graph gets its own gradient behind the stop.
    xs = [stops.get(marked[n], marked[n]) for n in "abcd"]
    in_graph = pb.gradients(z, xs, unconnected_gradients="zero")
    assert run(by_argument) == pytest.approx(run(in_graph))


def test_a_stopped_x_still_gets_its_own_gradient() -> None:
    x = pb.constant(2.0)
    h = x * x
    dx, dh = pb.gradients(h * 3.0, [x, h], stop_gradients=h)
    assert dx is None
    assert run(dh) == 3.0


def test_a_stopped_y_gives_none_upstream() -> None:
    x = pb.constant(2.0)
    y = x * x
    assert pb.gradients(y, x, stop_gradients=y) == [None]


def test_a_stop_holds_the_whole_operation() -> None:
    s = pb.constant([1.0, 2.0])
    a, b = pb.unstack(s)
    assert pb.gradients(b * 2.0, s, stop_gradients=[a]) == [None]


def test_stop_gradient_gives_none_upstream() -> None:
    x = pb.constant(2.0)
    assert pb.gradients(pb.stop_gradient(x * x), x) == [None]
