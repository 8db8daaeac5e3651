"""Sparse tensors joined, split and compared: what is refused, what version 1 calls it, how many values come out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

X = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -3.0, 0.0]]


def sparse(dense: Any = X) -> pb.sparse.SparseTensor:
    array = np.asarray(dense, np.float32)
    at = np.argwhere(array)
    return pb.sparse.SparseTensor(at, array[tuple(at.T)], array.shape)


def run(x: Any) -> Any:
    return pb.Session(engine="numpy").run(x)


def test_sums_of_two_that_are_less_than_the_threshold_are_left_out() -> None:
    a = pb.sparse.SparseTensor([[0], [1], [3]], [2.0, -0.5, 1.0], [4])
    b = pb.sparse.SparseTensor([[0], [3]], [-1.5, 4.0], [4])
    total = pb.sparse.add(a, b, 1.0)
    da = pb.convert_to_tensor(pb.gradients(total.values, a.values)[0])
    indices, values, da = pb.Session(engine="numpy").run([total.indices, total.values, da])
    assert (indices.tolist(), values.tolist(), da.tolist()) == ([[1], [3]], [-0.5, 5.0], [0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x, y: pb.sparse.add(x, y), "sparse.add: the shapes differ"),
        (lambda x, y: pb.sparse.add(x, pb.ones([4, 4])), "sparse.add: the shapes differ"),
        (lambda x, y: pb.sparse.sparse_dense_matmul(x, pb.ones([4, 2])), "inner lengths differ"),
        (lambda x, y: pb.sparse.sparse_dense_matmul(y, pb.ones([3, 2]), adjoint_a=True), "inner lengths differ"),
        (lambda x, y: pb.sparse.sparse_dense_matmul(pb.ones([2, 4]), x), "inner lengths differ"),
        (lambda x, y: x * pb.ones([4, 4]), "does not broadcast to"),
        (lambda x, y: x / pb.ones([2, 1]), "does not broadcast to"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(make: Any, message: str) -> None:
    x = pb.sparse.SparseTensor([[0, 1], [2, 2]], [1.0, 3.0], [3, 3])
    with pytest.raises(ValueError, match=message):
        make(x, pb.sparse.SparseTensor([[3, 3]], [1.0], [4, 4]))


def test_joined_positions_are_in_the_order_of_the_array() -> None:
    found = run(pb.sparse.concat(1, [sparse(), sparse()]))
    assert found.indices.tolist() == [[0, 0], [0, 2], [0, 3], [0, 5], [2, 1], [2, 4]]
    assert found.values.tolist() == [1.0, 2.0, 1.0, 2.0, -3.0, -3.0]


def test_lengths_that_differ_are_expanded_where_it_is_asked_for() -> None:
    wide = sparse([[0.0, 0.0, 0.0, 7.0]])
    with pytest.raises(
        ValueError,
        match=r"^sparse.concat: the lengths of axis 1 differ: SparseTensor\(float32\[3,3\], 3 values\) and "
        r"SparseTensor\(float32\[1,4\], 1 values\)$",
    ):
        pb.sparse.concat(0, [sparse(), wide])
    joined = pb.sparse.concat(0, [sparse(), wide], expand_nonconcat_dims=True)
    assert joined.shape.as_list() == [4, 4]
    np.testing.assert_array_equal(run(pb.sparse.to_dense(joined))[:, 3], [0.0, 0.0, 0.0, 7.0])


def test_the_first_parts_are_the_longer_ones() -> None:
    parts = pb.sparse.split(sparse(), 2, 0)
    assert [part.shape.as_list() for part in parts] == [[2, 3], [1, 3]]
    assert [run(part.values).tolist() for part in parts] == [[1.0, 2.0], [-3.0]]


def test_a_part_that_would_end_outside_is_shorter() -> None:
    part = pb.sparse.slice(sparse(), [2, 1], [5, 5])
    assert part.shape.as_list() == [1, 2]
    assert run(pb.sparse.to_dense(part)).tolist() == [[-3.0, 0.0]]


def test_sparse_sums_have_no_places_without_values() -> None:
    found = run(pb.sparse.reduce_sum_sparse(sparse(), 1, keepdims=True))
    assert (found.indices.tolist(), found.values.tolist(), found.dense_shape.tolist()) == (
        [[0, 0], [2, 0]],
        [3.0, -3.0],
        [3, 1],
    )


def test_the_maximum_of_no_values_is_zero() -> None:
    np.testing.assert_array_equal(run(pb.sparse.reduce_max(sparse(), 1)), [2.0, 0.0, -3.0])


def test_both_have_one_shape_to_be_compared() -> None:
    with pytest.raises(
        ValueError, match=r"^SparseMaximum: the shapes differ: SparseTensor\(float32\[3,3\], 3 values\) and"
    ):
        pb.sparse.maximum(sparse(), sparse([[1.0]]))


def test_positions_of_either_are_compared_whatever_is_known_of_shapes() -> None:
    a, b = pb.sparse.placeholder(pb.float32, [None, None]), pb.sparse.placeholder(pb.float32, [None, None])
    y = pb.sparse.to_dense(pb.sparse.minimum(a, b))
    values = [
        pb.SparseTensorValue([[0, 1]], [5.0], [1, 3]),
        pb.SparseTensorValue([[0, 0], [0, 1]], [2.0, -1.0], [1, 3]),
    ]
    found = pb.Session(engine="numpy").run(y, dict(zip([a, b], values, strict=True)))
    np.testing.assert_array_equal(found, [[0.0, -1.0, 0.0]])


def test_a_shape_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match=r"does not fit into the shape \[3, 2\]$"):
        pb.sparse.reset_shape(sparse(), [3, 2])
    with pytest.raises(ValueError, match=r"does not fit into the shape \[3\]$"):
        pb.sparse.reset_shape(sparse(), [3])


def test_a_dense_factor_may_have_any_shape_that_a_run_knows() -> None:
    factor = pb.placeholder(pb.float32, None)
    y, session = (sparse() * factor).values, pb.Session(engine="numpy")
    found = [session.run(y, {factor: value}).tolist() for value in (2.0, [1.0, 10.0, 100.0], [[2.0], [3.0], [4.0]])]
    assert found == [[2.0, 4.0, -6.0], [1.0, 200.0, -30.0], [2.0, 4.0, -12.0]]


def test_version_1_has_the_parameters_in_its_order() -> None:
    assert tf.sparse_concat(concat_dim=0, sp_inputs=[sparse(), sparse()]).shape.as_list() == [6, 3]
    assert tf.sparse_concat(1, [sparse(), sparse([[1.0]])], None, True).shape.as_list() == [3, 4]
    assert [x.shape.as_list() for x in tf.sparse_split(sp_input=sparse(), num_split=3, split_dim=1)] == [[3, 1]] * 3
    assert tf.sparse_reduce_sum_sparse(sparse(), reduction_axes=0, keep_dims=True).shape.as_list() == [1, 3]


def test_ids_for_several_axes_are_merged() -> None:
    ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    merged = tf.sparse_merge([ids, ids.with_values([1, 3])], ids.with_values([0.5, 1.0]), [3, 4])
    found = run(merged)
    assert (found.indices.tolist(), found.dense_shape.tolist()) == ([[0, 2, 1], [1, 0, 3]], [2, 3, 4])


def test_rows_that_are_masked_are_left_out() -> None:
    rows = pb.IndexedSlices(pb.constant([[1.0], [2.0], [3.0]]), pb.constant([4, 1, 6]), pb.constant([9, 1]))
    assert run(pb.sparse.mask(rows, [1, 2]).indices).tolist() == [4, 6]


def test_filled_rows_keep_the_order_within_rows() -> None:
    x = pb.sparse.SparseTensor([[2, 3], [2, 2], [0, 1]], [1.0, 3.0, 2.0], [3, 5])
    full, empty = pb.sparse.fill_empty_rows(x, -1.0)
    found, missing = pb.Session(engine="numpy").run([full, empty])
    assert found.indices.tolist() == [[0, 1], [1, 0], [2, 3], [2, 2]]
    assert found.values.tolist() == [2.0, -1.0, 1.0, 3.0]
    assert missing.tolist() == [False, True, False]


def test_a_dense_tensor_times_a_sparse_one_is_sparse() -> None:
    x, d = pb.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2]), pb.constant([[5.0], [7.0]])
    for product in (d * x, x * d):
        assert pb.Session(engine="numpy").run(product.values).tolist() == [10.0, 21.0]
    with pytest.raises(TypeError, match="unsupported operand"):
        d / x


def test_a_dense_tensor_and_a_ragged_one_are_ragged() -> None:
    x = pb.ragged.constant([[1.0, 2.0], [3.0]])
    for total in (pb.constant(1.0) + x, x + pb.constant(1.0)):
        assert pb.Session(engine="numpy").run(total).to_list() == [[2.0, 3.0], [4.0]]
