"""Sparse tensors through branches, loops and functions."""

from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


def diagonal(values: Any) -> pb.SparseTensor:
    return pb.SparseTensor([[0, 0], [1, 1]], values, [2, 2])


@ENGINES
def test_a_branch_gives_a_sparse_tensor(engine: str) -> None:
    values, which = pb.constant([1.0, 2.0]), pb.placeholder(pb.bool, [])
    x = diagonal(values)
    y = pb.cond(which, lambda: x * 3.0, lambda: pb.sparse.transpose(x))
    (dx,) = pb.gradients(pb.sparse.to_dense(y) ** 2, values)
    with pb.Session(engine=engine) as session:
        assert [session.run([y.values, dx], {which: p}) for p in (True, False)] == [
            [pytest.approx([3.0, 6.0]), pytest.approx([18.0, 36.0])],
            [pytest.approx([1.0, 2.0]), pytest.approx([2.0, 4.0])],
        ]


@ENGINES
def test_a_loop_carries_a_sparse_tensor(engine: str) -> None:
    values = pb.constant([1.0, 2.0])
    _, y = pb.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * pb.reduce_sum(x.values)), [0, diagonal(values)])
    (dx,) = pb.gradients(pb.sparse.reduce_sum(y), values)
    # s = 1 + 2 becomes s ** 2, 9, then 81, then 6561: its derivative is 8 s ** 7.
    found = pb.Session(engine=engine).run([pb.sparse.reduce_sum(y), dx])
    assert found == [6561.0, pytest.approx([17496.0, 17496.0])]


def test_a_step_may_leave_fewer_values() -> None:
    x = pb.SparseTensor([[0], [1], [2]], [1.0, 2.0, 3.0], [3])
    _, y = pb.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, pb.sparse.retain(x, x.values > 1.0 + i)), [0.0, x])
    assert y.values.shape.as_list() == [None]
    assert pb.Session(engine="numpy").run(pb.sparse.to_dense(y)).tolist() == [0.0, 0.0, 3.0]


@ENGINES
def test_a_function_takes_and_gives_sparse_tensors(engine: str) -> None:
    twice = pb.function(lambda x: x * 2.0)
    y = twice(twice(diagonal(pb.constant([1.0, 2.0]))))
    np.testing.assert_array_equal(pb.Session(engine=engine).run(pb.sparse.to_dense(y)), [[4.0, 0.0], [0.0, 8.0]])


def test_a_sparse_tensor_and_a_dense_one_are_different_results() -> None:
    x = diagonal(pb.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"overall structure of return values, not SparseTensor and Tensor$"):
        pb.cond(pb.placeholder(pb.bool, []), lambda: x, lambda: pb.sparse.to_dense(x))
