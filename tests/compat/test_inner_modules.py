"""Names of TensorFlow's inner modules: shapes, known cases, scopes, steps on variables."""

from __future__ import annotations

import importlib

import pytest

import pullback.compat.v1 as tf


@pytest.mark.usefixtures("installed")
def test_shapes_are_what_is_known_of_vectors() -> None:
    known = importlib.import_module("tensorflow.python.framework.tensor_util").constant_value_as_shape
    x = tf.placeholder(tf.float32, [None, 4])
    for vector, expected in (
        (tf.constant([2, -1]), [2, None]),
        (tf.shape(x), [None, 4]),
        (tf.concat([tf.shape(x)[:1], [7]], 0), [None, 7]),
        (tf.stack([tf.shape(x)[0], 5]), [None, 5]),
        (tf.placeholder(tf.int32, [3]), [None] * 3),
        (tf.constant([], tf.int32), []),
    ):
        assert known(vector).as_list() == expected
    assert known(tf.placeholder(tf.int32, [None])).rank is known(tf.constant(-1)).rank is None
    with pytest.raises(ValueError, match=r"^constant_value_as_shape: a scalar must be -1"):
        known(tf.constant(3))


@pytest.mark.usefixtures("installed")
def test_cases_that_are_known_are_not_built() -> None:
    smart = importlib.import_module("tensorflow.python.framework.smart_cond")
    open_ = tf.placeholder_with_default(False, [])
    pairs = [(tf.constant(False), lambda: 1), (True, lambda: 2), (open_, lambda: 3)]
    assert smart.smart_case(pairs) == 2
    assert smart.smart_case(pairs[:1], lambda: 4) == 4
    asked = [(open_, lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))]
    assert tf.Session(engine="numpy").run(smart.smart_case(asked, lambda: tf.constant(3))) == 2
    assert [smart.smart_constant_value(x) for x in (True, 1, open_)] == [True, True, None]
    with pytest.raises(TypeError, match=r"^Argument `pred` must be a Tensor, or a Python bool, or 1 or 0"):
        smart.smart_constant_value(5)


@pytest.mark.usefixtures("installed")
def test_names_within_and_without_a_scope() -> None:
    ops = importlib.import_module("tensorflow.python.framework.ops")
    for name, within in (("a/b", "s/a/b"), ("^a", "^s/a"), ("loc:@a", "loc:@s/a")):
        assert ops.prepend_name_scope(name, "s") == ops.prepend_name_scope(name, "s/") == within
        assert ops.strip_name_scope(within, "s") == ops.prepend_name_scope(name, "") == name
    assert ops.uid() < ops.uid()
    inplace = importlib.import_module("tensorflow.python.ops.inplace_ops")
    empty = inplace.empty([2, 3], tf.float32)
    assert tf.Session(engine="numpy").run(inplace.empty_like(empty)).tolist() == [[0.0] * 3] * 2
    shapes = importlib.import_module("tensorflow.python.framework.tensor_shape")
    assert [s.as_list() for s in (shapes.vector(3), shapes.matrix(2, None))] == [[3], [2, None]]


def test_paddings_that_blocks_need() -> None:
    paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 3])
    assert (tf.get_static_value(paddings).tolist(), tf.get_static_value(crops).tolist()) == ([[0, 1], [0, 0]],) * 2
    lengths = tf.placeholder(tf.int32, [2])
    made = tf.required_space_to_batch_paddings(lengths, [2, 4], [[1, 0], [2, 1]])
    found = tf.Session(engine="numpy").run(made, {lengths: [5, 6]})
    assert [x.tolist() for x in found] == [[[1, 0], [2, 4]], [[0, 0], [0, 3]]]
    assert [x.shape.as_list() for x in made] == [[2, 2], [2, 2]]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_steps_on_variables_and_their_rows(engine: str) -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    ops = importlib.import_module("tensorflow.python.ops.resource_variable_ops")
    training = importlib.import_module("tensorflow.python.training.training_ops")
    added = ops.resource_scatter_add(v.handle, [1, 1], [[1.0, 1.0], [2.0, 2.0]])
    with tf.control_dependencies([added]):
        moved = training.apply_gradient_descent(v, 0.5, tf.ones([2, 2]))
    with tf.Session(engine=engine) as session:
        session.run(v.initializer)
        assert session.run(moved).tolist() == [[0.5, 1.5], [5.5, 6.5]]
    eager = importlib.import_module("tensorflow.python.framework.ops").EagerTensor
    assert not isinstance(moved, eager)
