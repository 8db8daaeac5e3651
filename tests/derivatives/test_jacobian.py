"""`jacobian`, `batch_jacobian`, and forward derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def test_the_shape_is_that_of_the_output_then_that_of_the_input(run: Any) -> None:
    x = pb.constant(np.arange(6.0).reshape(2, 3))
    j = run(pb.jacobian(pb.reduce_sum(x * x, axis=1), x))
    expected = np.zeros((2, 2, 3))
    expected[0, 0], expected[1, 1] = 2.0 * np.arange(3.0), 2.0 * np.arange(3.0, 6.0)
    np.testing.assert_allclose(j, expected)


def test_inputs_may_be_nested_and_unconnected(run: Any) -> None:
    x, other = pb.constant(np.array([1.0, 2.0])), pb.constant(3.0)
    found = pb.jacobian(pb.sin(x), {"x": x, "rest": [other]})
    assert found["rest"] == [None]
    np.testing.assert_allclose(run(found["x"]), np.diag(np.cos([1.0, 2.0])))


@pytest.mark.parametrize("batch_size", [1, 2, 64, None])
def test_the_number_of_rows_at_once_changes_nothing(run: Any, batch_size: int | None) -> None:
    x = pb.constant(np.linspace(0.1, 1.0, 5))
    j = run(pb.jacobian(pb.sin(x) * pb.reduce_sum(x), x, batch_size=batch_size))
    v = np.linspace(0.1, 1.0, 5)
    np.testing.assert_allclose(j, np.diag(np.cos(v) * v.sum()) + np.sin(v)[:, None])


def test_row_sparse_derivatives_are_made_dense(run: Any) -> None:
    table = pb.constant(np.ones((3, 2)))
    j = run(pb.jacobian(pb.gather(table, [2, 0]), table))
    assert j.shape == (2, 2, 3, 2)
    assert j[0, 0, 2, 0] == 1.0
    assert j.sum() == 4.0


def test_a_jacobian_of_nothing(run: Any) -> None:
    x = pb.constant(np.ones(3))
    assert run(pb.jacobian(x[:0], x)).shape == (0, 3)


def test_a_scalar_by_a_scalar(run: Any) -> None:
    x = pb.constant(2.0, pb.float64)
    np.testing.assert_allclose(run(pb.jacobian(x * x, x)), 4.0)


def test_each_example_by_itself(run: Any) -> None:
    x = pb.constant(np.arange(6.0).reshape(3, 2))
    w = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])
    j = run(pb.batch_jacobian(pb.matmul(x * x, w), x))
    np.testing.assert_allclose(j, 2.0 * np.arange(6.0).reshape(3, 1, 2) * w.T)


def test_each_example_by_several_inputs_in_one_walk(run: Any) -> None:
    x, z, other = pb.constant(np.arange(6.0).reshape(3, 2)), pb.constant(np.ones((3, 1))), pb.constant(np.ones((3, 4)))
    y = pb.sin(x) * z
    found = pb.batch_jacobian(y, {"x": x, "rest": [z, other]})
    assert found["rest"][1] is None
    assert [op.type for op in y.graph.operations].count("Loop") == 1
    by_x, by_z, alone = run([found["x"], found["rest"][0], pb.batch_jacobian(y, z)])
    np.testing.assert_allclose(by_x, np.cos(np.arange(6.0).reshape(3, 2))[:, :, None] * np.eye(2))
    np.testing.assert_array_equal(by_z, alone)


def test_examples_of_unknown_number() -> None:
    x = pb.placeholder(pb.float64, [None, 2])
    j = pb.batch_jacobian(x * x, x)
    value = pb.Session(engine="numpy").run(j, {x: np.ones((3, 2))})
    np.testing.assert_allclose(value, np.broadcast_to(2.0 * np.eye(2), (3, 2, 2)))


def test_examples_must_be_as_many() -> None:
    with pytest.raises(ValueError, match=r"Need first dimension of output shape \(2,\) and inp shape \(3,\)"):
        pb.batch_jacobian(pb.zeros([2]), pb.zeros([3]))


def test_an_input_that_the_output_does_not_depend_on() -> None:
    assert pb.batch_jacobian(pb.zeros([2, 1]), pb.zeros([2, 3])) is None


def test_a_forward_derivative_is_the_jacobian_times_the_vector(run: Any) -> None:
    x, w = pb.constant(np.array([1.0, 2.0])), pb.constant(np.array([[0.5, 1.0], [2.0, 0.1], [1.0, 1.0]]))
    y = pb.sin(pb.linalg.matvec(w, x))
    vx, vw = np.array([0.3, -1.0]), np.arange(6.0).reshape(3, 2)
    (tangent,) = run(pb.jvp(y, [x, w], [vx, vw]))
    jx, jw = run(pb.jacobian(y, [x, w]))
    np.testing.assert_allclose(tangent, jx @ vx + np.tensordot(jw, vw, 2))


def test_a_forward_derivative_of_what_does_not_depend_on_x_is_zero(run: Any) -> None:
    x, other = pb.constant(1.0), pb.constant([1.0, 2.0])
    np.testing.assert_array_equal(run(pb.jvp(other, x, 1.0))[0], [0.0, 0.0])


def test_a_forward_derivative_needs_one_vector_for_each_x() -> None:
    x = pb.constant(1.0)
    with pytest.raises(ValueError, match="jvp: 2 vs for 1 xs; pass one like each x"):
        pb.jvp(x, x, [1.0, 2.0])
