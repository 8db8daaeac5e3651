"""`hessians`, their diagonal, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def test_the_hessian_of_a_sum_of_cubes(run: Any) -> None:
    x = pb.constant(np.array([1.0, 2.0]))
    (h,) = run(pb.hessians(pb.reduce_sum(x * x * x), x))
    np.testing.assert_allclose(h, [[6.0, 0.0], [0.0, 12.0]])


def test_the_shape_is_that_of_x_twice(run: Any) -> None:
    x = pb.constant(np.arange(6.0).reshape(2, 3))
    (h,) = run(pb.hessians(pb.reduce_sum(x) ** 2.0, x))
    assert h.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(h, np.full((2, 3, 2, 3), 2.0))


def test_several_ys_are_added_and_need_not_be_scalars(run: Any) -> None:
    x = pb.constant(np.array([1.0, 2.0]))
    (h,) = run(pb.hessians([x * x, pb.sin(x)], x))
    np.testing.assert_allclose(h, np.diag(2.0 - np.sin([1.0, 2.0])))


def test_blocks_between_all_xs(run: Any) -> None:
    x, w = pb.constant(2.0, pb.float64), pb.constant(np.array([1.0, 3.0]))
    blocks = run(pb.hessians(x * x * pb.reduce_sum(w), [x, w], blocks="all"))
    np.testing.assert_allclose(blocks[0][0], 8.0)
    np.testing.assert_allclose(blocks[0][1], [4.0, 4.0])
    np.testing.assert_allclose(blocks[1][0], [4.0, 4.0])
    np.testing.assert_allclose(blocks[1][1], np.zeros((2, 2)))


def test_a_linear_function_has_zeros_and_so_has_an_unconnected_x(run: Any) -> None:
    x, other = pb.constant(np.ones(2)), pb.constant(np.ones(3))
    linear, unconnected = run(pb.hessians(pb.reduce_sum(3.0 * x), [x, other]))
    np.testing.assert_array_equal(linear, np.zeros((2, 2)))
    np.testing.assert_array_equal(unconnected, np.zeros((3, 3)))


def test_the_later_order_of_arguments_is_understood(run: Any) -> None:
    x = pb.constant(np.array([1.0, 2.0]))
    (h,) = pb.hessians(x * x, x, False, pb.AggregationMethod.ADD_N, "mine")
    assert h.op.name.startswith("mine/")
    np.testing.assert_allclose(run(h), 2.0 * np.eye(2))


def test_a_placeholder_of_unknown_length(run: Any) -> None:
    x = pb.placeholder(pb.float64, [None])
    (h,) = pb.hessians(pb.reduce_sum(x * x * x), x)
    for n in (0, 1, 3):
        np.testing.assert_allclose(
            pb.Session(engine="numpy").run(h, {x: np.arange(n, dtype=float)}), np.diag(6.0 * np.arange(n))
        )


def test_a_variable_is_an_x(run: Any) -> None:
    v = pb.Variable(np.array([1.0, 2.0]))
    h = pb.hessians(pb.reduce_sum(pb.exp(v)), v)
    session = pb.Session()
    session.run(v.initializer)
    np.testing.assert_allclose(session.run(h)[0], np.diag(np.exp([1.0, 2.0])))


def test_a_third_derivative_through_a_hessian(run: Any) -> None:
    x = pb.constant(np.array([0.5, 2.0]))
    (h,) = pb.hessians(pb.reduce_sum(pb.sin(x)), x)
    np.testing.assert_allclose(run(pb.gradients(h, x))[0], -np.cos([0.5, 2.0]))


def test_another_word_for_blocks_is_refused() -> None:
    x = pb.constant(1.0)
    with pytest.raises(ValueError, match="hessians: blocks must be 'diagonal' or 'all', not 'some'"):
        pb.hessians(x * x, x, blocks="some")


def test_a_failing_call_leaves_the_graph_as_it_was() -> None:
    x = pb.constant(1.0)
    y = pb.prevent_gradient(x * x)
    before = str(x.graph)
    with pytest.raises(LookupError):
        pb.hessians(y, x)
    assert str(x.graph) == before


@pytest.mark.parametrize("size", [0, 1, 5])
def test_the_diagonal_without_the_rest(run: Any, size: int) -> None:
    x = pb.constant(np.linspace(0.5, 2.0, size))
    y = pb.reduce_sum(pb.sin(x)) * pb.reduce_sum(x * x)
    full, diagonal = run([pb.hessians(y, x)[0], pb.hessian_diagonal(y, x)[0]])
    np.testing.assert_allclose(diagonal, np.diag(full))


def test_a_product_is_that_with_the_whole_hessian(run: Any) -> None:
    x, w = pb.constant(np.array([1.0, 2.0])), pb.constant(np.array([[0.5, 1.0], [2.0, 0.1]]))
    y = pb.reduce_sum(pb.sin(pb.linalg.matvec(w, x)))
    vx, vw = np.array([0.3, -1.0]), np.array([[1.0, 2.0], [0.0, -1.0]])
    products = run(pb.hessian_vector_product(y, [x, w], [vx, vw]))
    blocks = run(pb.hessians(y, [x, w], blocks="all"))
    np.testing.assert_allclose(products[0], blocks[0][0] @ vx + np.tensordot(blocks[0][1], vw, 2))
    np.testing.assert_allclose(products[1], blocks[1][0] @ vx + np.tensordot(blocks[1][1], vw, 2))


def test_products_need_one_vector_for_each_x() -> None:
    x = pb.constant(1.0)
    with pytest.raises(ValueError, match="xs and v must have the same length"):
        pb.hessian_vector_product(x * x, [x], [1.0, 2.0])


def test_the_gauss_newton_product_drops_the_curvature_of_the_outputs(run: Any) -> None:
    x = pb.constant(np.array([1.0, 2.0]))
    z = pb.sin(x) * pb.reduce_sum(x)
    j = run(pb.jacobian(z, x))
    v = np.array([1.0, -0.5])
    (product,) = run(pb.gauss_newton_vector_product(pb.reduce_sum(z * z), z, x, [v]))
    np.testing.assert_allclose(product, 2.0 * j.T @ (j @ v))
