"""Embedding lookup by sparse tensors, and their reshaping, beside the same by arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

TABLE = np.arange(12.0).reshape(6, 2)
ROWS, IDS, WEIGHTS = [0, 0, 2, 2, 2], [1, 3, 0, 5, 5], [0.5, 2.0, 1.0, -1.0, 3.0]
PLACES = [[0, 0], [0, 3], [2, 0], [2, 1], [2, 2]]


def sparse(values: Any, dtype: Any = pb.int64) -> Any:
    return pb.sparse.SparseTensor(PLACES, pb.constant(values, dtype), [4, 5])


def expected(combiner: str, weights: Any) -> Any:
    found = np.zeros((4, 2))
    for row in (0, 2):
        chosen = [i for i, r in enumerate(ROWS) if r == row]
        w = np.array(weights)[chosen]
        share = {"sum": 1.0, "mean": w.sum(), "sqrtn": np.sqrt((w * w).sum())}[combiner]
        found[row] = (w[:, None] * TABLE[np.array(IDS)[chosen]]).sum(0) / share
    return found


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_the_rows_that_are_named_are_combined(combiner: Any, weighted: bool, engine: str) -> None:
    weights = sparse(WEIGHTS, pb.float64) if weighted else None
    y = pb.nn.embedding_lookup_sparse(TABLE, sparse(IDS), weights, combiner)
    assert y.shape == (4, 2)
    np.testing.assert_allclose(pb.Session(engine=engine).run(y), expected(combiner, WEIGHTS if weighted else [1.0] * 5))


def test_the_derivative_by_a_variable_is_of_the_rows_that_were_read() -> None:
    table = pb.Variable(TABLE)
    y = pb.nn.embedding_lookup_sparse(table, sparse(IDS), None, "sum")
    (dtable,) = pb.gradients(y * [[1.0], [10.0], [100.0], [1000.0]], table)
    assert isinstance(dtable, pb.IndexedSlices)
    found = pb.Session(engine="numpy").run(pb.convert_to_tensor(dtable))
    np.testing.assert_array_equal(found[:, 0], [100.0, 1.0, 0.0, 1.0, 0.0, 200.0])


@pytest.mark.parametrize("default", [None, 4])
def test_what_is_not_valid_is_left_out(default: int | None) -> None:
    ids = pb.sparse.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], pb.constant([1, -1, -5, 3]), [3, 2])
    weights = pb.sparse.SparseTensor(ids.indices, pb.constant([2.0, 1.0, 1.0, 0.0], pb.float64), [3, 2])
    session = pb.Session(engine="numpy")
    empty = [0.0, 0.0] if default is None else TABLE[4]
    found = session.run(pb.nn.safe_embedding_lookup_sparse(TABLE, ids, None, default_id=default))
    np.testing.assert_array_equal(found, [TABLE[1], empty, TABLE[3]])
    found = session.run(pb.nn.safe_embedding_lookup_sparse(TABLE, ids, weights, "sum", default_id=default))
    np.testing.assert_array_equal(found, [2.0 * TABLE[1], empty, [0.0, 0.0]])


@pytest.mark.parametrize(("combiner", "row"), [("sum", -2.0 * TABLE[1] + TABLE[2]), ("mean", TABLE[2])])
def test_weights_below_zero_are_left_out_of_means_alone(combiner: Any, row: Any) -> None:
    ids = pb.sparse.SparseTensor([[0, 0], [0, 1]], pb.constant([1, 2]), [1, 2])
    weights = pb.sparse.SparseTensor(ids.indices, pb.constant([-2.0, 1.0], pb.float64), [1, 2])
    y = pb.nn.safe_embedding_lookup_sparse(TABLE, ids, weights, combiner)
    np.testing.assert_array_equal(pb.Session(engine="numpy").run(y), [row])


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_several_tables_hold_the_rows_as_version_1_says(strategy: str) -> None:
    parts = [TABLE[::2], TABLE[1::2]] if strategy == "mod" else [TABLE[:3], TABLE[3:]]
    whole = tf.nn.embedding_lookup_sparse(TABLE, sparse(IDS), None, combiner="sum")
    cut = tf.nn.embedding_lookup_sparse(parts, sparse(IDS), None, strategy, combiner="sum")
    safe = tf.nn.safe_embedding_lookup_sparse(parts, sparse(IDS), None, "sum", 3, partition_strategy=strategy)
    found = pb.Session(engine="numpy").run([whole, cut, safe])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2][[1, 3]], [TABLE[3], TABLE[3]])


def test_weights_of_version_1_have_the_dtype_of_the_tables() -> None:
    ids, weights = (pb.sparse.SparseTensor([[0, 0]], pb.constant([x]), [1, 1]) for x in (1, 2.0))
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, weights, "sum")
    assert found.dtype == tf.float32
    assert pb.Session(engine="numpy").run(found).tolist() == [(2.0 * TABLE[1]).tolist()]
    for tables in (pb.constant(TABLE, pb.float64), [TABLE[:3], TABLE[3:]], tf.Variable(TABLE)):
        with pytest.raises(ValueError, match=r"has another dtype than the weights, float32; cast one$"):
            tf.nn.safe_embedding_lookup_sparse(tables, ids, weights)


def test_another_combiner_is_refused() -> None:
    with pytest.raises(ValueError, match=r"combiner must be 'sum', 'mean' or 'sqrtn', not 'max'$"):
        pb.nn.embedding_lookup_sparse(TABLE, sparse(IDS), None, "max")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"^embedding_lookup_sparse: the ids must be a SparseTensor, or ragged, not \[1\]$"
    ):
        pb.nn.embedding_lookup_sparse(TABLE, [1], None)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [[20], [5, 4], [2, -1, 5], [-1, 10]])
def test_another_shape_keeps_the_elements_where_they_lie(shape: list[int], known: bool, engine: str) -> None:
    x = sparse(WEIGHTS, pb.float64)
    lengths = pb.placeholder(pb.int64, [2])
    given = x if known else pb.sparse.SparseTensor(x.indices, x.values, lengths)
    y = pb.sparse.reshape(given, shape)
    assert (y.shape.as_list() == np.zeros(20).reshape(shape).shape) or not known or y.shape.is_fully_defined()
    session, fed = pb.Session(engine=engine), {lengths: [4, 5]}
    before, indices, values, after = session.run([pb.sparse.to_dense(x), y.indices, y.values, y.dense_shape], fed)
    dense = np.zeros(after)
    dense[tuple(indices.T)] = values
    np.testing.assert_array_equal(dense, before.reshape(shape))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("weighted", "options", "expected"),
    [
        (False, {}, [[[2, 3], [6, 7], [0, 0]], [[0, 0], [0, 0], [8, 9]]]),
        (False, {"default_id": 2}, [[[2, 3], [6, 7], [4, 5]], [[4, 5], [4, 5], [8, 9]]]),
        (True, {"combiner": "sum"}, [[[2, 3], [3, 3.5], [0, 0]], [[0, 0], [0, 0], [-8, -9]]]),
    ],
)
def test_bags_may_have_several_axes(weighted: bool, options: Any, expected: Any, engine: str) -> None:
    """The numbers are TensorFlow 2.21's."""
    places, shape = [[0, 0, 0], [0, 0, 2], [0, 1, 0], [1, 2, 1]], [2, 3, 3]
    ids = pb.sparse.SparseTensor(places, pb.constant([1, -1, 3, 4], pb.int64), shape)
    weights = ids.with_values(pb.constant([1.0, 2.0, 0.5, -1.0], pb.float64)) if weighted else None
    y = pb.nn.safe_embedding_lookup_sparse(TABLE, ids, weights, **options)
    assert y.shape == (2, 3, 2)
    fed = pb.sparse.placeholder(pb.int64, [None, 3, None])
    z = pb.nn.safe_embedding_lookup_sparse(TABLE, fed)
    assert z.shape.as_list() == [None, None, 2]
    session = pb.Session(engine=engine)
    np.testing.assert_allclose(session.run(y), expected)
    value = pb.SparseTensorValue([[0, 0, 0], [1, 2, 1]], [1, 4], shape)
    assert session.run(z, {fed: value}).tolist() == [[[2, 3], [0, 0], [0, 0]], [[0, 0], [0, 0], [8, 9]]]
