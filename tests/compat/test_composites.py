"""Functions of version 1, given sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

ROWS = [[1.0, -4.0], [], [9.0]]


def ragged() -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_splits(tf.constant([1.0, -4.0, 9.0]), [0, 2, 2, 3])


def sparse(values: Any = (1.0, -4.0, 9.0)) -> tf.SparseTensor:
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], tf.constant(list(values)), [2, 3])


def run(fetches: Any) -> Any:
    return tf.Session(engine="numpy").run(fetches)


@pytest.mark.parametrize(
    ("function", "alone"),
    [
        (tf.abs, np.abs),
        (tf.math.square, np.square),
        (tf.nn.relu, lambda x: np.maximum(x, 0)),
        (lambda x: tf.cast(x, tf.float64), np.float64),
        (lambda x: tf.clip_by_value(x, -2.0, 2.0), lambda x: np.clip(x, -2, 2)),
        (tf.identity, lambda x: x),
        (tf.zeros_like, np.zeros_like),
    ],
)
def test_functions_of_elements_take_both(function: Callable[[Any], Any], alone: Callable[[Any], Any]) -> None:
    values = np.array([1.0, -4.0, 9.0], np.float32)
    rows, places = function(ragged()), function(sparse())
    assert isinstance(rows, tf.RaggedTensor)
    assert isinstance(places, tf.SparseTensor)
    found = run([rows.flat_values, rows.row_splits, places.values, places.indices])
    for value, wanted in zip(
        found, (alone(values), [0, 2, 2, 3], alone(values), [[0, 1], [1, 0], [1, 2]]), strict=True
    ):
        np.testing.assert_array_equal(value, wanted)


def test_several_ragged_ones_go_together_where_their_rows_do() -> None:
    x = ragged()
    assert run(tf.maximum(x, tf.square(x)).to_tensor()).tolist() == [[1.0, 16.0], [0.0, 0.0], [81.0, 0.0]]
    assert run(tf.math.reduce_sum(tf.add_n([x, x, x]), axis=1)).tolist() == [-9.0, 0.0, 27.0]


def test_its_derivative_is_that_of_the_values() -> None:
    values = tf.constant([1.0, -4.0, 9.0])
    rows = tf.square(tf.RaggedTensor.from_row_lengths(values, [2, 0, 1]))
    places = tf.square(tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [2, 3]))
    for y in (tf.reduce_sum(rows), tf.sparse_reduce_sum(places)):
        assert run(tf.gradients(y, values)[0]).tolist() == [2.0, -8.0, 18.0]


@pytest.mark.parametrize(
    "function",
    [
        tf.sort,
        tf.argmax,
        lambda x: tf.roll(x, 1, [0]),
        lambda x: tf.maximum(x, [1.0, 2.0, 3.0]),
        tf.convert_to_tensor,
        tf.linalg.trace,
    ],
)
@pytest.mark.parametrize("make", [ragged, sparse])
def test_what_mixes_elements_is_refused(make: Callable[[], Any], function: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"Tensor\(float32\[.*\], 3 values\) is not an array of numbers"):
        function(make())


@pytest.mark.parametrize("function", [tf.exp, tf.cos, tf.ones_like, lambda x: tf.maximum(x, 1.0)])
def test_what_makes_something_of_zero_is_refused_of_sparse_ones(function: Callable[[Any], Any]) -> None:
    assert isinstance(function(ragged()), tf.RaggedTensor)
    with pytest.raises(TypeError, match=r"^SparseTensor\(float32\[2,3\], 3 values\) is not an array of numbers"):
        function(sparse())


def test_the_shape_of_a_sparse_one_is_that_of_the_dense_one() -> None:
    x = sparse()
    shapes = [tf.shape(x), tf.shape(x, out_type=tf.int64), tf.size(x), tf.rank(x)]
    found = run(shapes)
    assert [y.tolist() for y in found] == [[2, 3], [2, 3], 6, 2]
    assert [y.dtype for y in shapes] == [tf.int32, tf.int64, tf.int32, tf.int32]


def test_the_shape_of_the_arrays_of_a_sparse_one_is_that_of_the_dense_one() -> None:
    x = tf.SparseTensorValue([[0, 1]], [1.0], [2, 3])
    assert [y.tolist() for y in run([tf.shape(x), tf.size(input=x), tf.rank(x)])] == [[2, 3], 6, 2]


def test_numbers_of_rows_may_be_converted_before_they_are_looked_up() -> None:
    ids = tf.cast(sparse([0.0, 1.0, 1.0]), tf.int64)
    found = tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [10.0]]), ids, None, combiner="sum")
    assert run(found).tolist() == [[1.0], [20.0]]


def test_errors_inside_of_a_loop_over_ragged_tensors_stay_what_they_are() -> None:
    def body(i: Any, x: Any) -> Any:
        raise TypeError("of the body")

    with pytest.raises(TypeError, match=r"^of the body$"):
        tf.while_loop(lambda i, x: i < 3, body, [tf.constant(0), ragged()])


def test_several_tables_take_ragged_numbers_of_rows() -> None:
    tables = [tf.constant([[1.0], [3.0]]), tf.constant([[2.0], [4.0]])]
    ids = tf.RaggedTensor.from_row_lengths([0, 1, 2, 3], [1, 0, 3])
    found = tf.nn.embedding_lookup_sparse(tables, ids, None, combiner="sum")
    assert run(found).tolist() == [[1.0], [0.0], [9.0]]


def nested() -> tf.RaggedTensor:
    return tf.ragged.constant([[[1.0, 4.0], [5.0]], [], [[9.0, 2.0, 3.0]]])


ARRANGED: dict[str, tuple[Callable[[], Any], Any]] = {
    "keepdims 0": (lambda: tf.reduce_sum(nested(), 0, keepdims=True), [[[10.0, 6.0, 3.0], [5.0]]]),
    "keepdims 2": (lambda: tf.reduce_sum(nested(), 2, keepdims=True), [[[5.0], [5.0]], [], [[14.0]]]),
    "keepdims 0 and 2": (lambda: tf.reduce_sum(nested(), [0, 2], keepdims=True), [[[19.0], [5.0]]]),
    "variance": (lambda: tf.math.reduce_variance(nested()[::2], 1), [[4.0, 0.0], [0.0, 0.0, 0.0]]),
    "std": (lambda: tf.math.reduce_std(nested()[:1], 2), [[1.5, 0.0]]),
    "tile": (lambda: tf.tile(ragged(), [2, 2]), [[1.0, -4.0, 1.0, -4.0], [], [9.0, 9.0]] * 2),
    "tile 0 times": (lambda: tf.tile(ragged(), [1, 0]), [[], [], []]),
    "tile inside": (
        lambda: tf.tile(nested(), tf.constant([1, 1, 2])),
        [[[1.0, 4.0, 1.0, 4.0], [5.0, 5.0]], [], [[9.0, 2.0, 3.0] * 2]],
    ),
    "expand 0": (lambda: tf.expand_dims(ragged(), 0), [ROWS]),
    "expand 1": (lambda: tf.expand_dims(ragged(), dim=-2), [[row] for row in ROWS]),
    "expand 2": (lambda: tf.expand_dims(ragged(), -1), [[[1.0], [-4.0]], [], [[9.0]]]),
    "reverse": (lambda: tf.reverse(nested(), [0, 1]), [[[9.0, 2.0, 3.0]], [], [[5.0], [1.0, 4.0]]]),
    "reverse inside": (lambda: tf.reverse(nested(), [-1]), [[[4.0, 1.0], [5.0]], [], [[3.0, 2.0, 9.0]]]),
    "gather_nd of rows": (lambda: tf.gather_nd(nested(), [[0, 1], [2, 0]]), [[5.0], [9.0, 2.0, 3.0]]),
    "gather_nd of elements": (lambda: tf.gather_nd(nested(), [[0, 1, 0], [2, 0, 2]]), [5.0, 3.0]),
    "gather_nd of one row": (lambda: tf.gather_nd(ragged(), [0]), [1.0, -4.0]),
    "gather_nd by rows": (
        lambda: tf.gather_nd(ROWS[:1], tf.ragged.constant([[[0, 1]], [[0, 0], [0, 1]]], ragged_rank=1)),
        [[-4.0], [1.0, -4.0]],
    ),
    "rank": (lambda: tf.rank(nested()), 3),
    "size": (lambda: tf.size(nested(), out_type=tf.int64), 6),
    "dropout": (lambda: tf.nn.dropout(nested(), rate=0.0), [[[1.0, 4.0], [5.0]], [], [[9.0, 2.0, 3.0]]]),
}


@pytest.mark.parametrize("act", ARRANGED)
def test_ragged_tensors_are_arranged_row_by_row(act: str) -> None:
    make, wanted = ARRANGED[act]
    found = run(make())
    assert (found.to_list() if isinstance(found, tf.ragged.RaggedTensorValue) else found.tolist()) == wanted


def test_ragged_tensors_that_are_arranged_have_derivatives() -> None:
    values = tf.constant([1.0, 2.0, 6.0])
    x = tf.RaggedTensor.from_row_lengths(values, [2, 1])
    for y, wanted in (
        (tf.reverse(x, [0, 1]) * tf.ragged.constant([[1.0], [10.0, 100.0]]), [100.0, 10.0, 1.0]),
        (tf.tile(x, [1, 2])[:, 1:] * tf.ragged.constant([[100.0, 1000.0, 10000.0], [7.0]]), [1000.0, 10100.0, 7.0]),
        (tf.gather_nd(x, [[0, 1], [0, 1], [1, 0]]), [0.0, 2.0, 1.0]),
        (tf.math.reduce_variance(x, 1), [-0.5, 0.5, 0.0]),
        (tf.math.reduce_variance(x), [-4 / 3, -2 / 3, 2.0]),
    ):
        (slope,) = tf.gradients(getattr(y, "flat_values", y), values)
        np.testing.assert_allclose(run(tf.convert_to_tensor(slope)), wanted, rtol=1e-5)


def test_places_and_axes_that_a_ragged_tensor_does_not_have_are_errors() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="gather_nd: a place is outside its row: "):
        run(tf.gather_nd(ragged(), [[0, 2]]))
    with pytest.raises(ValueError, match="of a ragged tensor the last axis of indices must have a known length, not"):
        tf.gather_nd(ragged(), tf.placeholder(tf.int32, [2, None]))
    with pytest.raises(ValueError, match=r"^expand_dims: axis=3 out of bounds: expected -3<=axis<3$"):
        tf.expand_dims(ragged(), 3)
    with pytest.raises(ValueError, match=r"^reverse: axis=2 out of bounds: expected -2<=axis<2$"):
        tf.reverse(ragged(), [2])
