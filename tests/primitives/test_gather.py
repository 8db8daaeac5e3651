"""Gather and its kin: the form of their gradients, and what is out of range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.primitives.indexing.slicing import Take
from pullback.primitives.segment.sums import SegmentGather


def gradient(y: pb.Tensor, x: pb.Tensor) -> object:
    return pb.gradients(y, x)[0]


def test_rows_along_axis_0_give_slices_with_a_constant_int32_shape() -> None:
    table = pb.zeros([5, 3])
    dt = gradient(pb.gather(table, [[1, 2], [0, 1]]), table)
    assert isinstance(dt, pb.IndexedSlices)
    assert (dt.values.shape, dt.indices.shape, dt.shape) == ([4, 3], [4], [5, 3])
    assert dt.dense_shape is not None
    assert (dt.dense_shape.op.type, dt.dense_shape.dtype) == ("Const", pb.int32)


def test_another_axis_gives_a_tensor() -> None:
    table = pb.zeros([5, 3])
    assert isinstance(gradient(pb.gather(table, [1, 2], axis=1), table), pb.Tensor)


SPARSE = [[0, 1], [2, 0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: pb.sparse_tensor_dense_matmul(pb.SparseTensor(SPARSE, [1.0, 2.0], [3, 4]), x),
        lambda x: tf.sparse_segment_sum(x, [0, 3], [0, 1]),
        lambda x: tf.sparse_segment_mean(x, [0, 3], [0, 1]),
        lambda x: tf.sparse_segment_sqrt_n(x, [0, 3], [0, 1]),
        lambda x: pb.sparse.reorder(pb.SparseTensor(SPARSE, x[:2, 0], [3, 4])).values,
        lambda x: pb.sparse.concat(0, [pb.SparseTensor(SPARSE, x[:2, 0], [3, 4])] * 2).values,
    ],
    ids=["matmul", "sum", "mean", "sqrt_n", "reorder", "concat"],
)
def test_what_is_no_lookup_gives_a_tensor(make: Any) -> None:
    x = pb.Variable(np.ones([4, 3], np.float32))
    (dx,) = pb.gradients(make(x), [x])
    assert type(dx) is pb.Tensor
    assert dx.shape == [4, 3]


def test_batches_give_a_tensor() -> None:
    table = pb.zeros([2, 3])
    assert isinstance(gradient(pb.gather(table, [[1], [2]], batch_dims=1), table), pb.Tensor)


def test_index_vectors_of_one_number_give_slices() -> None:
    table = pb.zeros([5, 3])
    assert isinstance(gradient(pb.gather_nd(table, [[1], [4]]), table), pb.IndexedSlices)
    assert isinstance(gradient(pb.gather_nd(table, [[1, 0], [4, 1]]), table), pb.Tensor)


def test_a_vector_of_indices_adds_no_operation_but_the_shape() -> None:
    graph = pb.get_default_graph()
    table = pb.placeholder(pb.float32, [5, 3])
    y = pb.gather(table, [1, 1])
    before = len(graph.operations)
    pb.gradients(y, table)
    assert [op.type for op in graph.operations[before:]] == ["Const", "Const"]


@pytest.mark.parametrize(
    ("pick", "text"),
    [
        (lambda x, i: pb.gather(x, i), "gather: indices[1] = -1 is not in [0, 3)"),
        (lambda x, i: pb.gather_nd(x, i[:, None]), "gather_nd: indices[1] = [-1] does not index into shape [3]"),
        (
            lambda x, i: pb.scatter_nd(i[None, :, None], x[None, :2, None], [3, 1]),
            "scatter_nd: indices[0,1] = [-1] does not index into shape [3,1]",
        ),
        *[
            (
                lambda x, i, kind=kind: getattr(pb, f"tensor_scatter_nd_{kind}")(x, i[:, None], x[:2]),
                f"tensor_scatter_nd_{kind}: indices[1] = [-1] does not index into shape [3]",
            )
            for kind in ("update", "add", "sub", "min", "max")
        ],
    ],
)
def test_numpy_says_which_index_is_out_of_range(pick: object, text: str) -> None:
    x, i = pb.placeholder(pb.float32, [3]), pb.placeholder(pb.int32, [2])
    y = pick(x, i)  # type: ignore[operator]
    with pb.Session(engine="numpy") as session, pytest.raises(pb.errors.InvalidArgumentError) as caught:
        session.run(y, {x: [1.0, 2.0, 3.0], i: [0, -1]})
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "indices", "updates", "found"),
    [
        ("add", [[0, 1], [1, -1]], [1, 1], "indices[1] = [1, -1]"),
        ("sub", [[[2]]], [[[1, 1]]], "indices[0,0] = [2]"),
        ("update", [[-1]], [[1, 1]], "indices[0] = [-1]"),
    ],
)
def test_an_index_vector_outside_a_variable_is_named_as_it_was_given(
    kind: str, indices: object, updates: object, found: str
) -> None:
    v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    changed = getattr(pb, f"scatter_nd_{kind}")(v, indices, updates)
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        session.run(changed)
    assert f"scatter_nd_{kind}: {found} does not index into shape [2,2]" in str(caught.value)


def test_xla_gives_nan_out_of_range() -> None:
    pytest.importorskip("jax")
    x, i = pb.placeholder(pb.float32, [3]), pb.placeholder(pb.int32, [3])
    with pb.Session(engine="xla") as session:
        values = session.run([pb.gather(x, i), pb.gather_nd(x, i[:, None])], {x: [1.0, 2.0, 3.0], i: [0, -1, 3]})
    for value in values:
        np.testing.assert_array_equal(value, [1.0, np.nan, np.nan])


def test_numbers_of_64_bits_are_not_taken_for_their_lower_half_on_xla() -> None:
    pytest.importorskip("jax")
    x, i, v = pb.placeholder(pb.float32, [2]), pb.placeholder(pb.int64, [2]), pb.Variable([1.0, 2.0])
    read = [
        pb.gather(x, i),
        pb.gather(pb.stack([x]), [i], batch_dims=1)[0],
        pb.gather_nd(x, i[:, None]),
        pb.gather(v, i),
    ]
    read += [Take(0)(x, i), pb.TensorArray(pb.float32, 2).unstack(x).gather(i)]
    added = [
        pb.scatter_nd(i[:, None], x, [2]),
        pb.math.unsorted_segment_sum(x, i, 2),
        v.scatter_add(pb.IndexedSlices(x, i)),
    ]
    counted = [pb.math.bincount(i, minlength=2, maxlength=2)]
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        found = session.run([read, added, counted], {x: [1.0, 2.0], i: [1 << 32, 1]})
    for value in found[0]:
        np.testing.assert_array_equal(value, [np.nan, 2.0])
    np.testing.assert_array_equal(found[1], [[0.0, 2.0], [0.0, 2.0], [1.0, 4.0]])
    assert [value.tolist() for value in found[2]] == [[0, 1]]


def test_positions_that_are_known_to_be_within_cost_no_mask_on_xla() -> None:
    pytest.importorskip("jax")
    x, n = pb.placeholder(pb.float32, [300, 2]), 300
    ids = {"within": np.arange(n)[::-1], "below": np.arange(n) - 1, "above": np.arange(n) + 1}
    rows = {name: pb.gather(x, i) for name, i in ids.items()}
    masks = {name: pb.xla.to_stablehlo(y, [x]).mlir_module().count("stablehlo.select") for name, y in rows.items()}
    assert masks["within"] == 0 < min(masks["below"], masks["above"])
    given = np.arange(600, dtype=np.float32).reshape(300, 2)
    found = pb.Session(engine="xla").run(rows, {x: given})
    np.testing.assert_array_equal(found["within"], given[::-1])
    np.testing.assert_array_equal(found["below"], [[np.nan] * 2, *given[:-1]])
    np.testing.assert_array_equal(found["above"], [*given[1:], [np.nan] * 2])


def test_only_the_rows_of_a_variable_are_read() -> None:
    table = pb.Variable(np.ones((6, 2), np.float32))
    rows = pb.nn.embedding_lookup(table, [1, 4])
    assert rows.op.type == "ResourceGather"
    assert isinstance(pb.gradients(rows, table)[0], pb.IndexedSlices)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: pb.gather(x, [0.5]), TypeError, "gather: indices must be integers, not float32[1]"),
        (
            lambda x: pb.gather(x, [0], axis=2),
            ValueError,
            "gather: Shape must be at least rank 3 but is rank 2 to have an axis 2: float32[2,3]",
        ),
        (
            lambda x: pb.gather(x, [0], axis=0, batch_dims=1),
            ValueError,
            "gather: with axis=0, batch_dims=1, these do not fit together: float32[2,3] and int32[1]",
        ),
        (
            lambda x: pb.gather_nd(x, [[0, 0, 0]]),
            ValueError,
            "gather_nd: with batch_dims=0, these do not fit together: float32[2,3] and int32[1,3]",
        ),
        (
            lambda x: pb.scatter_nd([[0]], [1.0, 2.0], [3]),
            ValueError,
            "scatter_nd: float32[2] at int32[1,1] does not fit the shape (3,). "
            "The outer 1 dimensions of indices.shape=(1,) must be those of updates.shape=(2,)",
        ),
        (
            lambda x: pb.scatter_nd([[0]], [[1.0, 2.0]], [3, 3]),
            ValueError,
            "scatter_nd: float32[1,2] at int32[1,1] does not fit the shape (3, 3). "
            "The inner 1 dimensions of input.shape=(3, 3) must be those of updates.shape=(1, 2)",
        ),
        (
            lambda x: pb.boolean_mask(x, x > 0, axis=1),
            ValueError,
            "boolean_mask: the shape of float32[2,3] 'x:0' from axis 1 on is not that of bool[2,3] 'Greater:0'",
        ),
        (
            lambda x: pb.math.unsorted_segment_sum(x, [0, 1, 2], 2),
            ValueError,
            "unsorted_segment_sum: the shape of float32[2,3] must begin with that of int32[3]",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: object, error: type[Exception], text: str) -> None:
    x = pb.placeholder(pb.float32, [2, 3], name="x")
    with pytest.raises(error) as caught:
        call(x)  # type: ignore[operator]
    assert str(caught.value) == text


def test_rows_picked_by_segment_have_a_gradient_where_their_number_is_unknown() -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    (dx,) = pb.gradients(SegmentGather()(x, pb.constant([1, 1, 5])), x)
    assert pb.Session().run(dx, {x: np.ones([3, 2], np.float32)}).tolist() == [[0, 0], [2, 2], [0, 0]]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_updates_that_are_not_one_for_each_index_are_refused_in_the_run(engine: str) -> None:
    with pb.Graph().as_default():
        indices, updates = pb.placeholder(pb.int64, [None, None, 1]), pb.placeholder(pb.float32, [None, None])
        ys = [pb.scatter_nd(indices, updates, [4]), pb.tensor_scatter_nd_add(pb.zeros([4]), indices, updates)]
        for y in ys:
            with pytest.raises(
                pb.errors.InvalidArgumentError, match=r"float32\[1,2\] at int64\[2,1,1\] does not fit the shape \(4,\)"
            ):
                pb.Session(engine=engine).run(y, {indices: np.zeros((2, 1, 1)), updates: np.ones((1, 2))})


@pytest.mark.parametrize("kind", ["add", "sub", "update", "max", "min"])
def test_updates_that_are_no_tensors_become_the_dtype_of_the_tensor(kind: str) -> None:
    scatter = getattr(pb, f"tensor_scatter_nd_{kind}")
    x = pb.constant([1.0, 2.0])
    for updates in ([3], np.array([3]), (3.0,)):
        assert scatter(x, [[0]], updates).op.inputs[2].dtype == pb.float32
    assert scatter([1, 2], [[0]], pb.constant([3.0])).dtype == pb.float32
    with pytest.raises(TypeError, match=r"dtypes differ: float32\[2\] and int32\[1\]; convert one with pb.cast"):
        scatter(x, [[0]], pb.constant([3]))
    with pytest.raises(TypeError, match=r"dtypes differ: int32\[1\] and float32\[1\]; convert one with pb.cast"):
        scatter(pb.constant([1]), [[0]], [3.5])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_scattered_bools_are_true_where_one_is(engine: str) -> None:
    y = pb.scatter_nd([[0], [2], [0], [1]], [True, True, True, False], [4], name="any")
    assert y.op.name == "any"
    assert pb.Session(engine=engine).run(y).tolist() == [True, False, True, False]


@pytest.mark.parametrize(("reduce", "start", "combine"), [("sum", 0, np.add), ("prod", 1, np.multiply)])
def test_many_long_rows_are_combined_in_their_order_and_those_out_of_range_dropped(
    reduce: str, start: int, combine: np.ufunc
) -> None:
    random = np.random.default_rng(0)
    x, ids = random.normal(size=(25, 100, 2)).astype(np.float32).T, random.integers(-1, 8, (2, 100))
    wanted = np.full((7, 25), start, np.float32)
    for row, number in zip(x.reshape(200, 25), ids.reshape(200), strict=True):
        if 0 <= number < 7:
            wanted[number] = combine(wanted[number], row)
    found = getattr(pb.math, f"unsorted_segment_{reduce}")(x, ids, 7)
    assert np.array_equal(pb.Session(engine="numpy").run(found), wanted)


def test_masks_of_other_lengths_than_the_axis() -> None:
    """Only a run knows that they do not fit: a short one goes on with False, a long one reads beyond the end."""
    x, mask = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.bool, [None])
    session = pb.Session(engine="numpy")
    y = pb.boolean_mask(x, mask)
    assert session.run(y, {x: np.arange(5.0), mask: [True, False, True]}).tolist() == [0, 2]
    assert session.run(y, {x: np.arange(2.0), mask: [True, True, False]}).tolist() == [0, 1]
    with pytest.raises(pb.errors.InvalidArgumentError, match="index 2 is out of bounds"):
        session.run(y, {x: np.arange(2.0), mask: [True, True, True]})
