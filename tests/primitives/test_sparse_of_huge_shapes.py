"""Sparse tensors whose shapes have far more positions than there is memory for, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]
LONG = [10**6, 2**31 + 5, 2**40]
Matrix = pb.sparse.SparseTensor


def matrix(n: int, width: int) -> tuple[Matrix, Any]:
    """A matrix of four values, the last in the last place, and these."""
    places = [[0, 0], [2, width - 1], [n - 1, 1], [n - 1, width - 1]]
    values = pb.constant([4.0, 2.0, 1.0, 3.0])
    return Matrix(places, values, [n, width]), values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", LONG)
def test_softmax_has_no_memory_for_rows_without_values(n: int, engine: str) -> None:
    x, values = matrix(n, 7)
    y = pb.sparse.softmax(x)
    (slope,) = pb.gradients(y.values, [values], grad_ys=[pb.constant([1.0, 1.0, 1.0, 0.0])])
    found, slope = pb.Session(engine=engine).run([y.values, slope])
    low, high = 1 / (1 + np.exp(2.0)), 1 / (1 + np.exp(-2.0))
    np.testing.assert_allclose(found, [1, 1, low, high], rtol=1e-6)
    np.testing.assert_allclose(slope, [0, 0, low * high, -low * high], rtol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dense_shape", [[3, 2], None])
def test_softmax_of_a_shape_that_only_a_run_knows(dense_shape: Any, engine: str) -> None:
    x = pb.sparse.placeholder(pb.float32, dense_shape)
    y = pb.sparse.softmax(x).values
    given = pb.sparse.SparseTensorValue([[0, 0], [0, 1], [2, 1]], [1.0, 1.0, 5.0], [3, 2])
    np.testing.assert_allclose(pb.Session(engine=engine).run(y, {x: given}), [0.5, 0.5, 1.0])


@pytest.mark.parametrize("n", LONG)
def test_matrices_are_added_joined_and_summed(n: int) -> None:
    x, _ = matrix(n, n if n < 2**31 else 2**20)
    session = pb.Session(engine="numpy")
    np.testing.assert_array_equal(session.run(pb.sparse.add(x, x).values), [8, 4, 2, 6])
    joined = session.run(pb.sparse.concat(1, [x, x]))
    np.testing.assert_array_equal(joined.values, [4, 4, 2, 2, 1, 3, 1, 3])
    assert joined.indices[:, 0].tolist() == [0, 0, 2, 2, *[n - 1] * 4]
    np.testing.assert_array_equal(session.run(pb.sparse.reduce_sum_sparse(x, 1).values), [4, 2, 4])


@pytest.mark.parametrize(
    "build",
    [lambda x: pb.sparse.concat(1, [x, x]), lambda x: pb.sparse.add(x, x), lambda x: pb.sparse.reshape(x, [1, -1])],
)
def test_more_positions_than_numbers_are_refused(build: Callable[[Matrix], Any]) -> None:
    x, _ = matrix(2**32, 2**32)
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"^a sparse tensor of shape \[.*\] has .* positions"):
        build(x)


class TestMapValues:
    def test_values_are_mapped_with_their_derivatives(self) -> None:
        x, values = matrix(4, 3)
        y = pb.sparse.map_values(lambda xs, by: pb.add_n(xs) * by, [x, x], by=3.0)
        found, slope = pb.Session().run([y.values, pb.gradients(y.values, [values])[0]])
        np.testing.assert_array_equal(found, [24, 12, 6, 18])
        np.testing.assert_array_equal(slope, [6, 6, 6, 6])

    def test_what_has_other_positions_is_refused(self) -> None:
        x, _ = matrix(4, 3)
        y = Matrix([[0, 0], [2, 1], [3, 1], [3, 2]], [1.0, 2.0, 3.0, 4.0], [4, 3])
        made = pb.sparse.map_values(pb.add, x, y)
        with pytest.raises(pb.errors.InvalidArgumentError, match=r"sparse\.map_values: positions differ"):
            pb.Session(engine="numpy").run(made.values)
        with pytest.raises(ValueError, match="have not as many positions"):
            pb.sparse.map_values(pb.add, x, Matrix([[0, 0]], [1.0], [4, 3]))

    @pytest.mark.parametrize("op", [pb.reduce_sum, lambda x: x[:1], lambda x: pb.stack([x, x], 1)])
    def test_one_value_for_each_is_needed(self, op: Any) -> None:
        with pytest.raises(ValueError, match="has not one value for each of SparseTensor"):
            pb.sparse.map_values(op, matrix(4, 3)[0])

    def test_a_sparse_tensor_is_needed(self) -> None:
        with pytest.raises(ValueError, match="there is no SparseTensor among the arguments"):
            pb.sparse.map_values(pb.add, 1.0, [2.0])
