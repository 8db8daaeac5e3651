"""Initialisation by TensorFlow 1's names: tables, checks, partitioners, scopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf


def test_tables_are_filled() -> None:
    v = tf.Variable(1.0)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, v.initializer)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(v) == 1.0


def test_a_variable_without_a_value_is_named() -> None:
    tf.Variable(1.0, name="v")
    check = tf.assert_variables_initialized()
    with tf.Session() as session, pytest.raises(pb.errors.InvalidArgumentError, match="uninitialized value v"):
        session.run(check)
    with tf.Session() as session, pytest.raises(pb.errors.InvalidArgumentError, match="uninitialized value v"):
        session.run(check.op)


def test_what_is_nan_is_named() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.log(x, name="y")
    check = tf.add_check_numerics_ops()
    with tf.Session(engine="numpy") as session:
        session.run(check, {x: 1.0})
        with pytest.raises(pb.errors.InvalidArgumentError, match="y: y:0"):
            session.run(check, {x: -1.0})


@pytest.mark.parametrize(
    "partitioner",
    [tf.fixed_size_partitioner(4), tf.variable_axis_size_partitioner(8), tf.min_max_variable_partitioner(4)],
)
def test_a_partitioned_variable_is_one(partitioner: object) -> None:
    assert tf.get_variable("v", [8, 2], partitioner=partitioner).shape == [8, 2]


def test_partitioners_count_bytes() -> None:
    shape, texts = tf.TensorShape([10, 3]), tf.TensorShape([4])
    found = [
        tf.fixed_size_partitioner(3, axis=-1)(shape, tf.float32),
        tf.variable_axis_size_partitioner(36)(shape, tf.float32),
        tf.variable_axis_size_partitioner(36)(shape, tf.float64),
        tf.variable_axis_size_partitioner(1, axis=1, max_shards=2)(shape, tf.float32),
        tf.variable_axis_size_partitioner(32)(texts, tf.string),
        tf.min_max_variable_partitioner(9, min_slice_size=50)(shape, tf.float32),
        tf.min_max_variable_partitioner(9, axis=1, min_slice_size=1)(shape, tf.float32),
        tf.min_max_variable_partitioner(9)(shape, tf.float32),
    ]
    assert found == [[1, 3], [4, 1], [10, 1], [1, 2], [2], [3, 1], [1, 3], [1, 1]]
    for make in (tf.variable_axis_size_partitioner, tf.min_max_variable_partitioner):
        with pytest.raises(ValueError, match=rf"^{make.__name__}: the shape must be fully defined and have an axis 2"):
            make(8, axis=2)(shape, tf.float32)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_rows_of_a_partitioned_variable_are_dealt_out_as_to_several_tables(strategy: str) -> None:
    rng = np.random.RandomState(0)
    start = rng.rand(10, 2).astype(np.float32)
    parts = [start[:4], start[4:7], start[7:]]
    v = tf.get_variable("v", initializer=start, partitioner=tf.fixed_size_partitioner(3))
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([5, 9, 2], tf.int64), [2, 2])

    def results(table: Any) -> list[Any]:
        sampled = (tf.constant([1, 6], tf.int64), tf.constant([[0.3]] * 2), tf.constant([0.1, 0.2]))
        given = {"num_sampled": 2, "num_classes": 10, "sampled_values": sampled, "partition_strategy": strategy}
        rows, labels = tf.ones([2, 2]), tf.constant([[3], [8]], tf.int64)
        return [
            tf.nn.embedding_lookup(table, [[9, 0], [4, 7]], strategy),
            tf.nn.embedding_lookup_sparse(table, ids, None, strategy, combiner="sum"),
            tf.nn.safe_embedding_lookup_sparse(table, ids, default_id=1, partition_strategy=strategy),
            tf.nn.nce_loss(table, tf.zeros([10]), labels, rows, **given),
            tf.nn.sampled_softmax_loss(table, tf.zeros([10]), labels, rows, **given),
        ]

    slope = tf.gradients(tf.nn.embedding_lookup(v, [9, 1], strategy), v)[0]
    assert isinstance(slope, tf.IndexedSlices)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for found, wanted in zip(*session.run([results(v), results([tf.constant(x) for x in parts])]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert session.run(slope).indices.tolist() == ([3, 4] if strategy == "mod" else [9, 1])


def test_the_scopes_of_the_first_versions() -> None:
    with tf.op_scope([], None, "a"), tf.variable_op_scope([], None, "b"):
        assert (tf.constant(1.0).name, tf.get_variable("v", []).name) == ("a/b/Const:0", "b/v:0")


@pytest.mark.parametrize(
    ("indices", "values", "expected"),
    [
        (1, 5.0, [-1, 5, -1]),
        ([0, 2], 5.0, [5, -1, 5]),
        ([0, 2], [5.0, 7.0], [5, -1, 7]),
        ([[0], [2]], [5.0, 7.0], [5, -1, 7]),
        (np.zeros([0], np.int32), np.zeros([0], np.float32), [-1, -1, -1]),
    ],
)
def test_sparse_values_become_dense(indices: object, values: object, expected: list[int]) -> None:
    dense = tf.sparse_to_dense(indices, [3], values, -1.0)
    np.testing.assert_array_equal(tf.Session().run(dense), expected)


def test_sparse_values_are_differentiated_at_their_places() -> None:
    values = tf.constant([5.0, 7.0])
    dense = tf.sparse_to_dense([0, 2], [3], values)
    (dvalues,) = tf.gradients(dense, values, [tf.constant([1.0, 2.0, 3.0])])
    np.testing.assert_array_equal(tf.Session().run(dvalues), [1, 3])


def test_variables_without_values_are_named() -> None:
    first, second = tf.Variable(1.0, name="first"), tf.get_variable("second", [])
    tf.get_local_variable("third", [])
    missing, of_one = tf.report_uninitialized_variables(), tf.report_uninitialized_variables([second])
    with tf.Session(engine="numpy") as session:
        session.run(first.initializer)
        assert session.run([missing, of_one], {})[0].tolist() == [b"second", b"third"]
        session.run(second.initializer)
        assert session.run(of_one).tolist() == []


def test_creators_stand_between_each_other_and_the_variable() -> None:
    seen = []

    def telling(next_creator: Any, **options: Any) -> Any:
        seen.append(options["name"])
        return next_creator(**options)

    def doubling(next_creator: Any, **options: Any) -> Any:
        return next_creator(**{**options, "initial_value": 2 * options["initial_value"]})

    with tf.variable_creator_scope(telling), tf.variable_creator_scope(doubling):
        v = tf.Variable(3.0, False, name="v")
    after = tf.Variable(3.0)
    session = tf.Session(engine="numpy")
    session.run(tf.global_variables_initializer())
    assert (session.run([v, after]), seen, v.trainable) == ([6.0, 3.0], ["v"], False)
    assert isinstance(v, tf.Variable)


def test_operations_tell_their_type_and_devices_their_parts() -> None:
    assert (tf.Variable(0.0).op.op_def.is_stateful, tf.constant(1.0).op.op_def.name) == (True, "Const")
    with pytest.raises(ValueError, match=r"has the part 'nothing', which is not known$"):
        tf.DeviceSpec.from_string("/nothing")
    with pytest.raises(NotImplementedError, match=r"^autograph: Python's own if, while and for are not translated"):
        tf.autograph.to_graph(lambda x: x)


def test_initializers_of_programs_are_told_which_part_they_make() -> None:
    seen: list[Any] = []

    def made(shape: Any, dtype: Any, partition_info: Any) -> Any:
        seen.append((shape, partition_info))
        return tf.ones(shape, dtype)

    class Halves(tf.keras.initializers.Initializer):  # type: ignore[misc, name-defined]
        def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.fill(shape, tf.cast(0.5, dtype))

    v = tf.get_variable("partition", [2], initializer=made)
    w = tf.get_variable("halves", [2], initializer=Halves)
    with tf.Session(engine="numpy") as session:
        session.run([v.initializer, w.initializer])
        assert [x.tolist() for x in session.run([v, w])] == [[1.0, 1.0], [0.5, 0.5]]
    assert seen == [([2], None)]
    assert isinstance(tf.zeros_initializer(), tf.initializers.Initializer)
    assert isinstance(tf.random_normal_initializer(), tf.keras.initializers.Initializer)
    with pytest.raises(TypeError, match="abstract"):
        tf.initializers.Initializer()


def test_the_last_of_constant_values_stands_in_all_further_places() -> None:
    made = [
        tf.constant_initializer([1, 2])([2, 2]),
        tf.initializers.constant([[1.5]], tf.float64)([2]),
        tf.constant_initializer(7)([2], tf.int32),
        tf.keras.initializers.Constant([1.0, 2.0])([3]),
    ]
    found = pb.Session(engine="numpy").run(made)
    assert [x.tolist() for x in found] == [[[1.0, 2.0], [2.0, 2.0]], [1.5, 1.5], [7, 7], [1.0, 2.0, 2.0]]
    assert [x.dtype.name for x in found] == ["float32", "float64", "int32", "float32"]
    v = tf.get_variable("filled", [3], tf.float64, tf.constant_initializer([0.1, 0.2]))
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(v).tolist() == [0.1, 0.2, 0.2]
    with pytest.raises(ValueError, match=r"^Too many elements provided\. Takes at most 2, but got 3$"):
        tf.constant_initializer([1, 2, 3])([2])
    with pytest.raises(TypeError, match=r"^Expected Tensor's shape: \(3,\), but got \(2,\)\.$"):
        tf.constant_initializer([1, 2], verify_shape=True)([3])
    assert isinstance(tf.constant_initializer(1), tf.initializers.Initializer)
