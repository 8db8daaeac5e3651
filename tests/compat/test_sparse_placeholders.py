"""Sparse placeholders of version 1: the lengths they are declared with are a default, and a run may have others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

VALUE = tf.SparseTensorValue(np.array([[0, 1], [0, 4], [1, 2]]), np.float32([1.0, 2.0, 3.0]), np.array([2, 5]))
DENSE = np.arange(10, dtype=np.float32).reshape(2, 5)
FUNCTIONS: dict[str, Callable[[tf.SparseTensor], Any]] = {
    "to_dense": tf.sparse_tensor_to_dense,
    "to_dense_of_default": lambda x: tf.sparse_tensor_to_dense(x, -1.0),
    "matmul": lambda x: tf.sparse_tensor_dense_matmul(x, tf.placeholder_with_default(DENSE.T, [None, 2])),
    "matmul_adjoint": lambda x: tf.sparse_tensor_dense_matmul(x, tf.constant(DENSE), adjoint_a=True),
    "add": lambda x: tf.sparse_add(x, tf.constant(DENSE)),
    "add_sparse": lambda x: tf.sparse_tensor_to_dense(tf.sparse_add(x, x)),
    "multiply": lambda x: tf.sparse_tensor_to_dense(x * tf.constant(DENSE)),
    "divide": lambda x: tf.sparse_tensor_to_dense(x / tf.constant(DENSE[:1])),
    "reduce_sum": lambda x: tf.sparse_reduce_sum(x, 0),
    "reduce_max": lambda x: tf.sparse_reduce_max(x, 1),
    "softmax": lambda x: tf.sparse_tensor_to_dense(tf.sparse_softmax(x)),
    "transpose": lambda x: tf.sparse_tensor_to_dense(tf.sparse_transpose(x)),
    "reorder": lambda x: tf.sparse_tensor_to_dense(tf.sparse_reorder(x)),
    "reshape": lambda x: tf.sparse_tensor_to_dense(tf.sparse_reshape(x, [5, 2])),
    "shape": tf.shape,
    "loss": lambda x: tf.reduce_sum(tf.square(x.values)),
}
HOST_ONLY: dict[str, Callable[[tf.SparseTensor], Any]] = {
    "concat": lambda x: tf.sparse_tensor_to_dense(tf.sparse_concat(1, [x, x])),
    "fill_empty_rows": lambda x: tf.sparse_tensor_to_dense(tf.sparse_fill_empty_rows(x, 9.0)[0]),
    "maximum": lambda x: tf.sparse_tensor_to_dense(tf.sparse_maximum(x, x)),
    "slice": lambda x: tf.sparse_tensor_to_dense(tf.sparse_slice(x, [0, 1], [2, 4])),
}


def _value(function: Callable[[tf.SparseTensor], Any], shape: Any, engine: str) -> Any:
    x = tf.sparse_placeholder(tf.float32, shape)
    return tf.Session(engine=engine).run(function(x), {x: VALUE})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_lengths_than_the_declared_ones_are_taken_as_they_are_fed(name: str, engine: str) -> None:
    expected = _value(FUNCTIONS[name], [None, None], "numpy")
    np.testing.assert_allclose(_value(FUNCTIONS[name], [3, 4], engine), expected, rtol=1e-6)


@pytest.mark.parametrize("name", HOST_ONLY)
def test_so_are_they_where_a_run_decides_how_many_values_there_are(name: str) -> None:
    expected = _value(HOST_ONLY[name], [None, None], "numpy")
    np.testing.assert_array_equal(_value(HOST_ONLY[name], [3, 4], "numpy"), expected)


def test_the_declared_lengths_are_told_and_are_no_lengths_of_dense_tensors() -> None:
    x = tf.sparse_placeholder(tf.float32, [3, 4], "x")
    assert x.shape == [3, 4]
    assert x.get_shape().as_list() == [3, 4]
    assert tf.sparse_tensor_to_dense(x).shape.as_list() == [None, None]
    assert [op.type for op in tf.get_default_graph().get_operations()][:4] == [
        "Const", "PlaceholderWithDefault", "Placeholder", "Placeholder",
    ]  # fmt: skip
    assert [part.name for part in (x.indices, x.values, x.dense_shape)] == ["x/indices:0", "x/values:0", "x/shape:0"]
    assert tf.sparse_placeholder(tf.float32, [None, 4]).shape.as_list() == [None, 4]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_without_lengths_the_declared_ones_are_taken(engine: str) -> None:
    x = tf.sparse_placeholder(tf.float32, [2, 6])
    y = tf.sparse_tensor_to_dense(x)
    assert tf.Session(engine=engine).run(y, {x: (VALUE.indices, VALUE.values)}).shape == (2, 6)


def test_another_number_of_axes_is_refused() -> None:
    x = tf.sparse_placeholder(tf.float32, [3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot feed"):
        tf.Session(engine="numpy").run(tf.sparse_tensor_to_dense(x), {x: VALUE})
