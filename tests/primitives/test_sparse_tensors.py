"""Sparse tensors of which less is known while the graph is built than when it runs."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb

VALUE = pb.SparseTensorValue([[0, 1], [2, 0]], [2.0, 3.0], [3, 2])
DENSE = np.array([[0, 2], [0, 0], [3, 0]], np.float32)
ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


@ENGINES
def test_the_lengths_of_a_placeholder_may_be_a_tensor(engine: str) -> None:
    x = pb.sparse.placeholder(pb.float32, pb.constant([3, 2]))
    assert x.shape.as_list() == [3, 2]
    assert x.dense_shape.dtype == pb.int64
    got = pb.Session(engine=engine).run(pb.sparse.to_dense(x), {x: VALUE})
    np.testing.assert_array_equal(got, DENSE)


@ENGINES
@pytest.mark.parametrize("adjoint", [False, True])
def test_a_matrix_whose_rank_only_a_run_knows_is_multiplied(engine: str, adjoint: bool) -> None:
    x = pb.sparse.placeholder(pb.float32)
    b = pb.constant(np.arange(6.0 if adjoint else 4.0, dtype=np.float32).reshape(-1, 2))
    y = pb.sparse.sparse_dense_matmul(x, b, adjoint_a=adjoint)
    db = pb.convert_to_tensor(pb.gradients(pb.reduce_sum(y * y), b)[0])
    got = pb.Session(engine=engine).run([y, db], {x: VALUE})
    a = DENSE.T if adjoint else DENSE
    wanted = a @ np.arange(b.shape[0] * 2, dtype=np.float32).reshape(-1, 2)
    np.testing.assert_allclose(got[0], wanted)
    np.testing.assert_allclose(got[1], 2 * a.T @ wanted)


def test_what_is_retained_may_be_said_by_a_tensor_of_unknown_rank() -> None:
    kept = pb.placeholder(pb.bool)
    y = pb.sparse.retain(pb.sparse.from_dense(DENSE), kept)
    got = pb.Session(engine="numpy").run(y, {kept: [False, True]})
    assert (got.indices.tolist(), got.values.tolist()) == ([[2, 0]], [3.0])
