"""Conversions that programs register, specs of composite tensors, older assignments, priorities, error codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf


class Wrapped:
    def __init__(self, number: float) -> None:
        self.number = number


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pullback.primitives.creation.constant._conversions", [])
    tf.register_tensor_conversion_function(
        Wrapped, lambda value, dtype, name, as_ref: tf.constant(value.number, dtype, name=name)
    )


def value(x: Any) -> Any:
    return pb.Session(engine="numpy").run(x)


def test_registered_objects_are_taken_where_tensors_are(registered: None) -> None:
    x = tf.constant(2.0)
    assert value([x * Wrapped(3.0), tf.stack([x, Wrapped(5.0)])[1]]) == [6.0, 5.0]


def test_the_conversion_of_lowest_priority_number_is_asked_first(registered: None) -> None:
    tf.register_tensor_conversion_function(Wrapped, lambda *_: NotImplemented, priority=1)
    tf.register_tensor_conversion_function(Wrapped, lambda v, dtype, *_: tf.constant(-v.number, dtype), priority=10)
    assert value(tf.convert_to_tensor(Wrapped(1.0))) == -1.0


def test_a_spec_is_the_invariant_of_what_it_describes() -> None:
    sparse = tf.SparseTensor([[0, 0]], [1.0], [1, 2])
    spec = tf.type_spec_from_value(sparse)
    assert spec == tf.SparseTensorSpec([1, 2], tf.float32) != tf.SparseTensorSpec([1, 3])
    _, found = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)),
        [0, sparse],
        shape_invariants=[tf.TensorShape([]), spec],
    )
    assert value(found).values.tolist() == [8.0]
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert tf.IndexedSlicesSpec([None]).is_compatible_with(tf.type_spec_from_value(slices))
    assert not spec.is_compatible_with(tf.constant([[1.0, 2.0]]))
    with pytest.raises(TypeError, match=r"^type_spec_from_value: 3 is no tensor$"):
        tf.type_spec_from_value(3)


def test_rows_of_each_of_a_batch_are_replaced() -> None:
    v = tf.Variable(np.zeros((2, 3, 2)))
    changed = tf.batch_scatter_update(v, [[0, 2], [1, 1]], np.arange(1.0, 9.0).reshape(2, 2, 2))
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    expected = [[[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [7.0, 8.0], [0.0, 0.0]]]
    assert session.run(changed).tolist() == expected


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_counting_ends_at_the_limit(engine: str) -> None:
    counter = tf.Variable(0)
    step = tf.count_up_to(counter, 2)
    session = pb.Session(engine=engine)
    session.run(counter.initializer)
    assert [session.run(step) for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match=r"^count_up_to: 'Variable' has reached the limit 2"):
        session.run(step)
    assert session.run(counter) == 2


def test_the_most_urgent_element_comes_first() -> None:
    queue = tf.PriorityQueue(10, [tf.float32], [[]])
    put, taken = queue.enqueue_many([[5, 1, 3], [0.5, 0.1, 0.3]]), queue.dequeue_many(3)
    session = pb.Session(engine="numpy")
    session.run(put)
    assert [x.tolist() for x in session.run(taken)] == [[1, 3, 5], pytest.approx([0.1, 0.3, 0.5])]


def test_errors_have_codes_and_the_text_that_a_program_gives_them() -> None:
    error = tf.errors.OutOfRangeError(None, None, "no more")
    assert (str(error), error.message) == ("no more", "no more")
    assert tf.errors.error_code_from_exception_type(type(error)) == tf.errors.OUT_OF_RANGE == 11
    assert tf.errors.error_code_from_exception_type(ValueError) == tf.errors.UNKNOWN


def test_values_that_are_no_list_are_refused() -> None:
    for wrong in (tf.constant([1]), "text", np.zeros(2), 3):
        with pytest.raises(TypeError, match=r"is no list of values$"):
            tf.assert_proper_iterable(wrong)
    with pytest.raises(ValueError, match="has not the dtype"):
        tf.convert_to_tensor_or_indexed_slices(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), tf.float64)
    assert value(tf.parallel_stack([1, 2])).tolist() == [1, 2]
