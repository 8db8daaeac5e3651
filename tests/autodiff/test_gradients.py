"""What `gradients` returns: which entries, of what value, type and name."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pullback as pb


def run(fetches: Any, feeds: Any = None) -> Any:
    with pb.Session(graph=pb.get_default_graph(), engine="numpy") as session:
        return session.run(fetches, feeds)


def test_the_result_is_a_list_also_for_one_x() -> None:
    x = pb.constant(3.0)
    dxs = pb.gradients(x * x, x)
    assert isinstance(dxs, list)
    assert run(dxs) == [6.0]


def test_a_tuple_of_xs_gives_a_list() -> None:
    a, b = pb.constant(3.0), pb.constant(4.0)
    assert run(pb.gradients([a * b], (a, b))) == [4.0, 3.0]


def test_duplicated_xs_give_the_same_object() -> None:
    x = pb.constant(3.0)
    first, second = pb.gradients(x * x, [x, x])
    assert first is second


def test_a_listed_x_does_not_hide_another_upstream_of_it() -> None:
    x = pb.constant(1.0)
    y = x * 2.0
    assert run(pb.gradients(y * 3.0, [x, y])) == [6.0, 3.0]


def test_partial_derivatives_come_from_stopping_the_xs() -> None:
    x = pb.constant(1.0)
    y = x * 2.0
    dx, dy = pb.gradients(x + y, [x, y], stop_gradients=[x, y])
    assert run([dx, dy]) == [1.0, 1.0]


def test_ys_are_summed_and_duplicated_ys_count_twice() -> None:
    x = pb.constant(2.0)
    y = x * x
    assert run(pb.gradients([y, y], x)) == [8.0]
    assert run(pb.gradients([y, 3.0 * x], x)) == [7.0]


def test_a_y_that_feeds_another_y_adds_its_own_cotangent() -> None:
    x = pb.constant(2.0)
    y = x * x
    z = y * 3.0
    assert run(pb.gradients([z, y], [x], grad_ys=[1.0, 10.0])) == [52.0]


def test_y_that_is_x_returns_its_own_cotangent() -> None:
    x = pb.constant(2.0)
    (dx,) = pb.gradients(x, x)
    assert dx.name == "gradients/grad_ys_0:0"
    (twice,) = pb.gradients([x, x], x)
    assert twice.name == "gradients_1/AddN:0"
    assert run(twice) == 2.0


def test_integer_y_that_is_x_has_ones_of_its_dtype() -> None:
    n = pb.constant(3)
    (dn,) = pb.gradients(n, n)
    assert dn.dtype == pb.int32
    assert run(dn) == 1


def test_an_integer_tensor_breaks_the_path_with_none() -> None:
    x = pb.constant(3.0)
    assert pb.gradients(pb.cast(pb.cast(x, pb.int32), pb.float32) * 2.0, x) == [None]


def test_unconnected_xs_are_none_or_zeros() -> None:
    x, other = pb.constant([1.0, 2.0]), pb.constant([1, 2, 3])
    assert pb.gradients(x * x, other) == [None]
    (zeros,) = pb.gradients(x * x, other, unconnected_gradients=pb.UnconnectedGradients.ZERO)
    assert zeros.name == "zeros_like:0"
    assert zeros.dtype == pb.int32
    np.testing.assert_array_equal(run(zeros), [0, 0, 0])
    assert pb.gradients(x * x, other, unconnected_gradients="none") == [None]


def test_no_xs_and_no_ys() -> None:
    x = pb.constant(1.0)
    assert pb.gradients(x, []) == []
    assert pb.gradients([], [x, x]) == [None, None]


def test_numbers_become_constants_named_after_their_place() -> None:
    assert pb.gradients(3.0, [2.0]) == [None]
    names = [op.name for op in pb.get_default_graph().operations]
    assert "gradients/y_0" in names
    assert "gradients/x_0" in names


def test_reached_is_the_operation_not_its_output() -> None:
    s = pb.constant([1.0, 2.0])
    a, b = pb.unstack(s)
    assert pb.gradients(b * 2.0, a) == [None]
    np.testing.assert_array_equal(run(pb.gradients(b * 2.0, s)[0]), [0.0, 2.0])


def test_intermediates_and_constants_are_xs() -> None:
    x = pb.constant(2.0)
    h = pb.tanh(x)
    assert run(pb.gradients(h * h, h)) == [pytest.approx(2 * np.tanh(2.0))]


def test_second_and_third_derivatives() -> None:
    x = pb.constant(2.0)
    y = x * x * x * x
    for expected in (32.0, 48.0, 48.0, 24.0):
        (y,) = pb.gradients(y, x)
        assert run(y) == expected


def test_seeds_weight_the_ys() -> None:
    x = pb.constant([1.0, 2.0])
    (dx,) = pb.gradients(x * x, x, grad_ys=[[10.0, 100.0]])
    np.testing.assert_array_equal(run(dx), [20.0, 400.0])


def test_a_number_given_as_seed_adopts_the_dtype_of_y() -> None:
    x = pb.constant(2.0, pb.float64)
    (dx,) = pb.gradients(x * x, x, grad_ys=2.5)
    assert dx.dtype == pb.float64
    assert run(dx) == 10.0


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (lambda x: pb.math.real(x * x), 2 - 4j),
        (lambda x: pb.abs(x), (1 + 2j) / 5**0.5),
    ],
)
def test_complex_convention_is_the_conjugate_of_the_holomorphic_derivative(y: Any, expected: complex) -> None:
    x = pb.constant(1 + 2j)
    assert run(pb.gradients(y(x), x)[0]) == pytest.approx(expected)


def test_conjugate_of_a_conjugate() -> None:
    x = pb.constant(1 + 2j)
    assert run(pb.gradients(pb.math.conj(x), x, grad_ys=1j)[0]) == -1j


def test_a_chain_of_ten_thousand_operations_meets_no_recursion_limit() -> None:
    x = y = pb.constant(1.0, pb.float64)
    for _ in range(10_000):
        y = y * 1.0001
    assert run(pb.gradients(y, x)[0]) == pytest.approx(1.0001**10_000)


def test_the_result_knows_the_static_shape_of_x() -> None:
    x = pb.placeholder(pb.float32, [2, 3])
    flat = pb.reshape(pb.placeholder_with_default(x, [None, None]), [-1])
    (dx,) = pb.gradients(flat * 2.0, x)
    assert dx.shape == [2, 3]


def test_a_graph_that_is_not_the_default_one_gets_the_operations() -> None:
    x = pb.constant(2.0)
    with pb.Graph().as_default() as other:
        (dx,) = pb.gradients(x * x, x)
    assert dx.graph is x.graph
    assert other.operations == []


def test_a_finished_graph_can_be_differentiated_after_it_ran() -> None:
    x = pb.constant(2.0)
    y = x * x
    with pb.Session(graph=pb.get_default_graph(), engine="numpy") as session:
        assert session.run(y) == 4.0
        assert session.run(pb.gradients(y, x)) == [4.0]


def test_two_threads_differentiate_one_graph_at_once() -> None:
    graph = pb.get_default_graph()
    x = y = pb.constant(1.0, pb.float64)
    for _ in range(300):
        y = y * 1.001
    results: list[Any] = []

    def work() -> None:
        results.append(pb.gradients(y, x)[0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({op.name for op in graph.operations}) == len(graph.operations)
    assert [op.index for op in graph.operations] == list(range(len(graph.operations)))
    np.testing.assert_allclose(run(results), [1.001**300] * 8)
