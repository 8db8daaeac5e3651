"""Hessians, Jacobians and gradient checkers do what TensorFlow's do, and what it leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def compute(fetches: Any, feeds: Any = None) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


# Hessians


def test_a_scalar_has_a_scalar() -> None:
    x = pb.constant(2.0)
    assert compute(pb.hessians(x * x * x, x)) == [12.0]


@pytest.mark.parametrize("shape", [[2], [2, 3], [1, 2, 2]])
def test_the_shape_is_that_of_x_twice_for_every_rank(shape: list[int]) -> None:
    x = pb.ones(shape)
    (block,) = pb.hessians(x * x, x)
    assert block.shape.as_list() == [*shape, *shape]
    size = int(np.prod(shape))
    np.testing.assert_array_equal(compute(block).reshape(size, size), 2.0 * np.eye(size))


def test_ys_that_are_several_and_no_scalars_are_added_up(run: Any) -> None:
    x = pb.constant([1.0, 2.0])
    assert run(pb.hessians([x * x, x * x * x], x)[0]).tolist() == [[8.0, 0.0], [0.0, 14.0]]


def test_blocks_between_two_xs_are_left_out_unless_they_are_asked_for() -> None:
    x, y = pb.constant(2.0), pb.constant(3.0)
    assert compute(pb.hessians(x * y, [x, y])) == [0.0, 0.0]
    assert compute(pb.hessians(x * y, [x, y], blocks="all")) == [[0.0, 1.0], [1.0, 0.0]]


def test_an_unconnected_x_and_a_linear_one_have_zeros() -> None:
    x, other = pb.constant([1.0, 2.0]), pb.constant(3.0)
    assert [v.tolist() for v in compute(pb.hessians(2.0 * x, [x, other]))] == [[[0.0, 0.0], [0.0, 0.0]], 0.0]


def test_an_x_of_unknown_rank_is_only_known_in_a_run(run: Any) -> None:
    x = pb.placeholder(pb.float32, None)
    (block,) = pb.hessians(x * x, x)
    assert block.shape.rank is None
    assert run(block, {x: [1.0, 2.0]}).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_both_orders_of_arguments_are_taken_by_position() -> None:
    x = pb.constant([1.0, 2.0])
    y = pb.reduce_sum(x * x * x)
    (first,) = pb.hessians(y, x, "mine", False, False, pb.AggregationMethod.ADD_N)
    (later,) = pb.hessians(y, x, False, pb.AggregationMethod.ADD_N, "mine")
    assert compute(first).tolist() == compute(later).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_a_variable_and_its_handle_are_xs() -> None:
    v = pb.Variable([1.0, 2.0])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert [h.tolist() for h in session.run(pb.hessians(pb.reduce_sum(v * v * v), [v, v.handle]))] == [
        [[6.0, 0.0], [0.0, 12.0]]
    ] * 2


def test_numbers_are_constants_that_nothing_depends_on() -> None:
    assert compute(pb.hessians(1.0, 2.0)) == [0.0]
    assert compute(pb.hessian_diagonal(1.0, [2.0])) == [0.0]


def test_none_among_the_xs_is_refused() -> None:
    with pytest.raises(TypeError, match=r"xs\[1\] is None; pass a tensor, a variable, or leave it out"):
        pb.hessians(1.0, [pb.constant(1.0), None])


# Products with vectors


def test_a_product_needs_a_vector_for_each_x() -> None:
    x = pb.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r"xs and v must have the same length. Passed 1 xs and 0 v\."):
        pb.hessian_vector_product(x * x, [x], [])


def test_a_product_takes_all_blocks(run: Any) -> None:
    x, y = pb.constant(2.0), pb.constant(3.0)
    assert run(pb.hessian_vector_product(x * x * y, [x, y], [1.0, 10.0])) == [6.0 + 40.0, 4.0]


# Jacobians


def test_the_structure_is_that_of_the_inputs_with_none_where_unconnected() -> None:
    x, other = pb.constant([1.0, 2.0]), pb.constant(1.0)
    found = pb.jacobian(pb.stack([x[0] * x[1], x[1], x[0]]), {"a": x, "b": (other,)})
    assert found["b"] == (None,)
    assert compute(found["a"]).tolist() == [[2.0, 1.0], [0.0, 1.0], [1.0, 0.0]]


def test_use_pfor_changes_no_value(run: Any) -> None:
    x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    both = [pb.jacobian(pb.matmul(x, x), x, use_pfor) for use_pfor in (True, False)]
    first, second = run(both)
    np.testing.assert_array_equal(first, second)


def test_each_example_by_itself_with_an_unknown_number_of_them() -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    found = pb.batch_jacobian(x[:, 0] * x[:, 1], x)
    assert found.shape.as_list() == [None, 2]
    assert compute(found, {x: [[1.0, 2.0], [3.0, 4.0]]}).tolist() == [[2.0, 1.0], [4.0, 3.0]]


def test_another_number_of_examples_is_refused_while_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match=r"Need first dimension of output shape \(3, 2\) and inp shape \(2, 2\)"):
        pb.batch_jacobian(pb.ones([3, 2]), pb.ones([2, 2]))


def test_another_number_of_examples_is_refused_in_a_run(run: Any) -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    found = pb.batch_jacobian(pb.reduce_sum(x) * pb.ones([3, 2]), x)
    with pytest.raises(
        pb.errors.InvalidArgumentError, match="batch_jacobian: `output` and `inp` need as many examples"
    ):
        run(found, {x: [[1.0, 2.0], [3.0, 4.0]]})


# Checkers


def test_a_jacobian_by_a_checker_of_tensors_has_a_row_for_each_element_of_x() -> None:
    x = pb.placeholder(pb.float64, [2])
    with pb.Session(engine="numpy"):
        exact, numeric = pb.test.compute_gradient_v1(x, [2], pb.stack([x[0], x[1], x[0]]), [3], np.array([1.0, 2.0]))
    assert exact.shape == (2, 3)
    np.testing.assert_allclose(exact, numeric, atol=1e-9)


def test_a_jacobian_by_a_checker_of_functions_has_a_row_for_each_element_of_y() -> None:
    ((exact,), (numeric,)) = pb.test.compute_gradient(lambda x: pb.stack([x[0], x[1], x[0]]), [np.array([1.0, 2.0])])
    assert exact.shape == (3, 2)
    np.testing.assert_allclose(exact, numeric, atol=1e-9)


def test_complex_elements_count_twice() -> None:
    x = pb.placeholder(pb.complex128, [2])
    with pb.Session(engine="numpy"):
        exact, numeric = pb.test.compute_gradient_v1(x, [2], x * x, [2], np.array([1 + 2j, 3.0]))
    assert exact.shape == (4, 4)
    np.testing.assert_allclose(exact, numeric, atol=1e-6)


def test_a_list_of_xs_gives_a_list_of_pairs() -> None:
    x, y = pb.placeholder(pb.float64, []), pb.placeholder(pb.float64, [2])
    with pb.Session(engine="numpy"):
        pairs = pb.test.compute_gradient_v1([x, y], [[], [2]], x * y, [2])
    assert [exact.shape for exact, _ in pairs] == [(1, 2), (2, 2)]


def test_nothing_to_compare_is_no_error() -> None:
    x = pb.placeholder(pb.float32, [0, 2])
    with pb.Session(engine="numpy"):
        assert pb.test.compute_gradient_error(x, [0, 2], x * x, [0, 2]) == 0.0


def test_a_y_that_does_not_depend_on_x_is_an_error_for_tensors_and_zeros_for_functions() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    with pb.Session(engine="numpy"), pytest.raises(ValueError, match=r"does not depend on float32\[2\] 'x:0'"):
        pb.test.compute_gradient_error(x, [2], pb.zeros([0]), [0])
    ((exact,), _) = pb.test.compute_gradient(lambda x: pb.constant([1.0]), [np.ones(3)])
    assert exact.tolist() == [[0.0, 0.0, 0.0]]


def test_row_sparse_gradients_are_added_up() -> None:
    ((exact,), _) = pb.test.compute_gradient(lambda x: pb.gather(x, [1, 1]), [np.ones(3)])
    assert exact.tolist() == [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_checker_of_functions_takes_a_list_of_floats() -> None:
    with pytest.raises(ValueError, match="x must be a list or tuple, one element for each argument of f, not ndarray"):
        pb.test.compute_gradient(pb.sin, np.ones(3))
    with pytest.raises(TypeError, match=r"x\[0\] has dtype int64; only floats and complex numbers have gradients"):
        pb.test.compute_gradient(pb.sin, [np.array([1, 2])])


def test_a_checker_of_functions_takes_tensors_and_variables_for_their_values() -> None:
    x, weight = pb.constant([1.0, 2.0], pb.float64), pb.Variable(3.0, dtype=pb.float64)
    with pb.Session(engine="numpy") as session:
        session.run(weight.initializer)
        exact, numeric = pb.test.compute_gradient(lambda a, b: a * a * b, (x * 2.0, weight))
    assert [a.tolist() for a in exact] == [[[12.0, 0.0], [0.0, 24.0]], [[4.0], [16.0]]]
    assert pb.test.max_error(exact, numeric) < 1e-6
    with pytest.raises(TypeError, match=r"x\[0\] has dtype int32; only floats and complex numbers have gradients"):
        pb.test.compute_gradient(pb.sin, [pb.constant(1)])


def test_arrays_may_lie_in_memory_in_any_order() -> None:
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    exact, numeric = pb.test.compute_gradient(lambda x: pb.transpose(x * x), [x])
    np.testing.assert_allclose(numeric[0], exact[0], atol=1e-9)
    assert exact[0].sum() == 2 * x.sum()
    y = pb.placeholder(pb.float64, [2, 3])
    with pb.Session(engine="numpy"):
        exact_, numeric_ = pb.test.compute_gradient_v1(y, [2, 3], pb.sin(y), [2, 3], x)
    np.testing.assert_allclose(exact_, np.diag(np.cos(x.reshape(-1))))
    np.testing.assert_allclose(numeric_, exact_, atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (2, 3)])
def test_a_gradient_of_another_shape_than_x_is_refused(shape: tuple[int, int]) -> None:
    @pb.custom_gradient
    def turned(x: Any) -> Any:
        return pb.identity(x), pb.transpose

    x = pb.placeholder(pb.float32, None, name="x")
    n, m = shape
    empty = "" if n else "Empty "
    found = rf"{empty}gradient has wrong shape: expected \({n}, {m}\), got \({m}, {n}\), by float32\[...\] 'x:0'$"
    with pb.Session(engine="numpy"), pytest.raises(ValueError, match=found):
        pb.test.compute_gradient_error(x, shape, turned(x), shape)


def test_a_checker_of_tensors_takes_floats_and_a_session() -> None:
    x = pb.placeholder(pb.int32, [2])
    with pytest.raises(ValueError, match="there is no default session"):
        pb.test.compute_gradient_v1(x, [2], pb.cast(x, pb.float32), [2])
    with pb.Session(engine="numpy"), pytest.raises(TypeError, match=r"x\[0\] has dtype int32"):
        pb.test.compute_gradient_v1(x, [2], pb.cast(x, pb.float32), [2])


def test_the_largest_difference_of_nothing_is_zero() -> None:
    assert pb.test.max_error([], []) == 0.0
    assert pb.test.max_error([np.array([[1.0]])], [np.array([[1.5]])]) == 0.5
