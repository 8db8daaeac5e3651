"""`Tensor.set_shape`: knowledge that comes later, for the operations that are made after it."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


def test_what_is_made_later_knows_the_shape() -> None:
    x = pb.placeholder(pb.float32, name="x")
    before = pb.sin(x)
    x.set_shape([None, 3])
    x.set_shape([2, None])
    assert x.shape == x.get_shape() == [2, 3]
    assert (before.shape.rank, pb.sin(x).shape, (x * 2.0).shape) == (None, [2, 3], [2, 3])
    assert pb.get_variable("w", [x.shape[-1], 4]).shape == [3, 4]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_run_checks_what_was_said(engine: str) -> None:
    x = pb.placeholder(pb.float32, [None])
    x.set_shape([2])
    y = x * x
    session = pb.Session(engine=engine)
    assert session.run(y, {x: [1.0, 2.0]}).tolist() == [1.0, 4.0]
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"the value has shape \(3,\), which is not \(2,\)"):
        session.run(y, {x: np.zeros(3)})


@pytest.mark.parametrize("engine", ["numpy", "xla", "onnxruntime"])
def test_derivatives_are_by_the_tensor_that_was_there_before(engine: str) -> None:
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    x = pb.placeholder(pb.float32)
    h = x * 3.0
    early = pb.reduce_sum(h * h)
    h.set_shape([2])
    late = pb.reduce_sum(h * h * h)
    dx, dh, dh_early = pb.gradients(early + late, [x, h]) + pb.gradients(early, h)
    found = pb.Session(engine=engine).run([dx, dh, dh_early], {x: [1.0, 2.0]})
    expected = [[99.0, 360.0], [33.0, 120.0], [6.0, 12.0]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_bodies_know_what_is_known_around_them() -> None:
    x = pb.placeholder(pb.float32)
    x.set_shape([3])
    seen = []

    def body(i: pb.Tensor, y: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
        seen.append((x + 0.0).shape)
        return i + 1, y + x

    pb.while_loop(lambda i, y: i < 2, body, [0, pb.zeros([3])])
    assert seen[0] == [3]


def test_what_a_body_is_told_holds_inside_it() -> None:
    x = pb.placeholder(pb.float32)
    seen = []

    def branch() -> pb.Tensor:
        x.set_shape([3])
        x.set_shape([3])
        seen.append((x * 2.0).shape)
        return pb.reduce_sum(x)

    y = pb.cond(pb.placeholder_with_default(True, []), branch, lambda: 0.0)
    assert seen == [[3]]
    assert pb.sin(x).shape.rank is None
    assert pb.Session(engine="numpy").run(y, {x: [1.0, 2.0, 3.0]}) == 6.0


def test_a_call_that_fails_leaves_nothing_known() -> None:
    x = pb.placeholder(pb.float32)
    graph = x.graph

    def fail() -> None:
        with graph.transaction():
            x.set_shape([2])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert x.shape.rank is None
    assert pb.sin(x).shape.rank is None
