"""Sparse tensors of which less is known while the graph is built than when it runs."""

from __future__ import annotations

from typing import Any

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


def of_no_known_rank(dense: Any) -> tuple[pb.sparse.SparseTensor, dict[Any, Any]]:
    x = pb.sparse.placeholder(pb.float32)
    places = np.argwhere(dense)[::-1]
    return x, {x: (places, dense[tuple(places.T)], dense.shape)}


ANY_RANK: list[tuple[str, Any, Any]] = [
    ("sum", lambda x: pb.sparse.reduce_sum(x), lambda a: a.sum()),
    ("sum_of_rows", lambda x: pb.sparse.reduce_sum(x, -1), lambda a: a.sum(-1)),
    ("sum_kept", lambda x: pb.sparse.reduce_sum(x, [0], keepdims=True), lambda a: a.sum(0, keepdims=True)),
    ("max", lambda x: pb.sparse.reduce_max(x, 0), lambda a: np.where((a != 0).any(0), np.where(a, a, -9).max(0), 0)),
    ("transpose", lambda x: pb.sparse.to_dense(pb.sparse.transpose(x)), lambda a: a.T),
    ("reorder", lambda x: pb.sparse.reorder(x).values, lambda a: a[a != 0]),
    ("add", lambda x: pb.sparse.to_dense(pb.sparse.add(x, x)), lambda a: 2 * a),
    ("maximum", lambda x: pb.sparse.to_dense(pb.sparse.maximum(x, x)), lambda a: a),
    ("softmax", lambda x: pb.sparse.reduce_sum(pb.sparse.softmax(x)), lambda a: a.any(-1).sum()),
    ("times", lambda x: pb.sparse.to_dense(pb.sparse.reorder(x * [[2.0], [3.0]])), lambda a: a * [[2], [3]]),
    ("over", lambda x: pb.sparse.to_dense(pb.sparse.reorder(x / [2.0, 4.0, 8.0])), lambda a: a / [2, 4, 8]),
]


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize(("build", "wanted"), [row[1:] for row in ANY_RANK], ids=[row[0] for row in ANY_RANK])
def test_a_rank_may_be_known_in_the_run_only(build: Any, wanted: Any) -> None:
    dense = np.array([[0.0, 1.0, -2.0], [3.0, 0.0, 4.0]], np.float32)
    x, feeds = of_no_known_rank(dense)
    y = build(x)
    (dx,) = pb.gradients(pb.reduce_sum(y), x.values)
    found, slope = pb.Session(engine="numpy").run([y, pb.convert_to_tensor(dx)], feeds)
    np.testing.assert_allclose(found, wanted(dense), rtol=1e-6)
    assert slope.shape == (4,)


def test_what_does_not_fit_a_rank_of_the_run_is_an_error_of_the_run() -> None:
    x, feeds = of_no_known_rank(np.eye(2, dtype=np.float32))
    session = pb.Session(engine="numpy")
    for y, text in (
        (pb.sparse.reduce_sum(x, 2), "sparse.reduce_sum: there is no axis 2 of"),
        (pb.sparse.reduce_sum(x, -3), "sparse.reduce_sum: there is no axis -3 of"),
        ((x * [1.0, 2.0, 3.0]).values, "SparseTensor: the dense operand does not broadcast"),
    ):
        with pytest.raises(pb.errors.InvalidArgumentError, match=text):
            session.run(y, feeds)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_lengths_that_a_placeholder_declares_are_known(engine: str) -> None:
    x = pb.sparse.placeholder(pb.float32, [None, 3])
    w = pb.get_variable("w", [x.shape.as_list()[1], 2], initializer=pb.ones_initializer())
    y = pb.sparse.sparse_dense_matmul(2.0 * x, w)
    assert ((2.0 * x).get_shape().as_list(), y.shape.as_list()) == ([None, 3], [None, 2])
    value = pb.SparseTensorValue([[0, 1], [1, 2]], [1.0, 4.0], [2, 3])
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        assert session.run(y, {x: value}).tolist() == [[2.0, 2.0], [8.0, 8.0]]
        with pytest.raises(pb.errors.InvalidArgumentError) as error:
            session.run(y, {x: value._replace(dense_shape=[2, 4])})
    assert str(error.value) == (
        "cannot feed SparseTensor(float32[?,3], ? values) with the dense shape [2, 4]: its placeholder was declared "
        "with shape (?, 3). Declare None for lengths that differ from run to run."
    ).replace("(?, 3)", str(pb.TensorShape([None, 3])))
