"""Cotangents given by the user (`grad_ys`): of the shape of y, which is looked at in the run where it is not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def derivative(y_shape: Any, seed_shape: Any) -> tuple[pb.Tensor, pb.Tensor, pb.Tensor]:
    """The derivative of `sin(x)` for a seed, x and the seed."""
    x, seed = pb.placeholder(pb.float32, y_shape), pb.placeholder(pb.float32, seed_shape, name="seed")
    (dx,) = pb.gradients(pb.sin(x), x, grad_ys=seed)
    return dx, x, seed


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("shapes", [([None], [None]), ([2], [None]), ([None], None), (None, [None]), (["n"], ["m"])])
@pytest.mark.parametrize("length", [1, 3])
def test_a_seed_of_another_length_is_refused_in_the_run(length: int, shapes: Any, engine: str) -> None:
    dx, x, seed = derivative(*shapes)
    session = pb.Session(engine=engine)
    assert session.run(dx, {x: [0.0, 0.0], seed: [1.0, 2.0]}).tolist() == [1.0, 2.0]
    with pytest.raises(pb.errors.InvalidArgumentError, match=rf"of float32\[{length}\] must be that of float32\[2\]"):
        session.run(dx, {x: [0.0, 0.0], seed: np.ones(length)})


@pytest.mark.parametrize("shapes", [([2], [2]), ([], []), (["n"], ["n"])])
def test_nothing_is_looked_at_where_the_shapes_are_known_to_be_equal(shapes: Any) -> None:
    dx, _, _ = derivative(*shapes)
    assert [op.type for op in dx.graph.operations if op.name == "gradients/grad_ys_0"] == ["Identity"]


def test_what_is_computed_from_y_is_known_to_have_its_shape() -> None:
    x = pb.placeholder(pb.float32, [None])
    y = pb.sin(x)
    (dx,) = pb.gradients(y, x, grad_ys=y * 2.0)
    assert "EnsureShapeLike" not in {op.type for op in dx.graph.operations}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_derivatives_go_through_a_seed_that_is_looked_at(engine: str) -> None:
    dx, x, seed = derivative([None], [None])
    found = pb.Session(engine=engine).run(pb.gradients(dx, [seed, x]), {x: [0.0], seed: [5.0]})
    assert [d.tolist() for d in found] == [[1.0], [0.0]]


def test_the_seed_brings_what_is_known_of_the_shape_of_y() -> None:
    x, seed = pb.placeholder(pb.float32, ["batch", 4]), pb.placeholder(pb.float32)
    (dx,) = pb.gradients(pb.sin(x), x, grad_ys=seed)
    assert str(dx.type) == "float32[batch,4]"
