"""What public programs of TensorFlow 1 do that few others do: each made one of them fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf


def value(x: Any) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(x)


def test_where_takes_numbers_beside_a_mask() -> None:
    np.testing.assert_array_equal(value(tf.where(tf.constant([[True, False]]), 1, 0)), [[1, 0]])


@pytest.mark.parametrize(("maxlen", "columns"), [(None, [[1, 1, 0], [1, 1, 1]]), (3, [[1, 0, 0], [1, 1, 0]])])
def test_lengths_of_a_mask_may_be_floats(maxlen: int | None, columns: list[list[int]]) -> None:
    np.testing.assert_array_equal(value(tf.sequence_mask([1.5, 2.5], maxlen, tf.int32)), columns)


def test_assign_takes_slices_of_variables() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(value(tf.assign(ref=v[1:3], value=[5.0, 6.0])), [1.0, 5.0, 6.0])
    with pytest.raises(TypeError, match="only a variable can be changed"):
        tf.assign(v * 2.0, [1.0] * 3)


def test_a_custom_getter_is_told_that_a_variable_is_trained() -> None:
    told: list[Any] = []

    def getter(getter: Any, name: str, **options: Any) -> Any:
        told.append(options["trainable"])
        return getter(name=name, **options)

    with tf.variable_scope("a", custom_getter=getter):
        tf.get_variable("x", [2])
        tf.get_variable("y", [2], trainable=False)
    assert told == [True, False]


def test_an_operation_of_a_branch_stands_for_false_beside_a_truth_value() -> None:
    v = tf.Variable(0.0)

    def then() -> Any:
        with tf.control_dependencies([v.assign_add(1.0)]):
            return tf.constant(True)

    ran = tf.cond(tf.placeholder_with_default(True, []), true_fn=then, false_fn=tf.no_op)
    did_not = tf.cond(tf.placeholder_with_default(False, []), true_fn=then, false_fn=tf.no_op)
    assert [x.dtype for x in (ran, did_not)] == [tf.bool, tf.bool]
    assert value([ran, did_not]) == [True, False]


def test_a_layer_in_a_given_scope_knows_its_variables_by_its_own_names() -> None:
    """As TF-Slim makes them, under other names."""

    def renamed(getter: Any, name: str, **options: Any) -> Any:
        return getter(name.replace("kernel", "weights"), **options)

    with tf.variable_scope("fc", custom_getter=renamed) as scope:
        layer = tf.layers.Dense(2, use_bias=False, _scope=scope, _reuse=None)
        with pytest.raises(AttributeError, match="no variable 'kernel'"):
            _ = layer.kernel
        first, second = layer(tf.ones([1, 3])), layer.apply(tf.ones([1, 3]))
    assert layer.kernel.op.name == "fc/weights"
    assert layer.bias is None
    assert len(tf.global_variables()) == 1
    np.testing.assert_array_equal(*value([first, second]))


def test_nadam_moves_rows_as_it_moves_all() -> None:
    tables = [tf.Variable([[1.0], [10.0]]) for _ in range(2)]
    losses = [tf.reduce_sum(tf.gather(tables[0], [0, 1, 1])), tf.reduce_sum(tables[1] * [[1.0], [2.0]])]
    steps = [tf.contrib.opt.NadamOptimizer(0.1).minimize(loss) for loss in losses]
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(steps)
        np.testing.assert_allclose(*session.run(tables), rtol=1e-6)


def test_scalars_and_texts_come_to_python_as_scalars_and_bytes() -> None:
    given = [tf.constant("ab"), tf.constant(["c"]), tf.constant(2), tf.constant([0.5])]

    def seen(*values: Any) -> list[str]:
        return [type(x).__name__ for x in values]

    for engine in ("numpy", "xla"):
        with tf.Session(engine=engine) as session:
            found = session.run(tf.py_func(lambda *values: " ".join(seen(*values)), given, tf.string))
            length = session.run(tf.numpy_function(lambda name: np.int64(len(name.decode())), given[:1], tf.int64))
        assert (found, length) == (b"bytes ndarray int32 ndarray", 2)
    for texts in (np.array(["a", "é"]), np.array([b"a", "é".encode()]), ["a", "é"]):
        returned = tf.py_func(lambda texts=texts: np.asarray(texts), [], tf.string)
        assert tf.Session(engine="numpy").run(returned).tolist() == [b"a", "é".encode()]
    with pytest.raises(TypeError, match=r"^py_func: func must be callable, not 3$"):
        tf.py_func(3, given, tf.string)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_texts_of_queues_and_maps_are_texts(engine: str) -> None:
    names = tf.placeholder(tf.string, [None, 2])
    queue = tf.FIFOQueue(10, [tf.string, tf.int64], [(2,), (2,)])
    fill = queue.enqueue_many([names, tf.zeros([tf.shape(names)[0], 2], tf.int64)])
    first, _ = queue.dequeue()
    several, _ = queue.dequeue_many(2)
    files = [tf.strings.length(name + ".png") for name in tf.unstack(first)]
    mapped = tf.map_fn(lambda name: name + ".png", several[0])
    steps = tf.while_loop(lambda x: tf.strings.length(x) < 3, lambda x: x + "a", ["q"], [tf.TensorShape([])])
    with tf.Session(engine=engine) as session:
        session.run(fill, {names: np.array([["a", "bc"]] * 5)})
        assert session.run(files) == [5, 6]
        assert session.run(mapped).tolist() == [b"a.png", b"bc.png"]
        assert session.run(steps) == b"qaa"
    assert {type(y.type.dtype) for op in names.graph.operations for y in op.outputs} <= {
        type(np.dtype(k)) for k in "Oifl"
    }
