"""Conversions that programs register, specs of composite tensors, older assignments, priorities, error codes."""

from __future__ import annotations

import contextlib
import threading
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
    with pytest.raises(tf.errors.OutOfRangeError, match=r"^count_up_to: 'Variable': Reached limit of 2"):
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


# Lists that hold tensors


@pytest.mark.parametrize(
    ("given", "dtype", "expected"),
    [
        (lambda i: [i, 4], tf.int64, [3, 4]),
        (lambda i: [[i], [i]], tf.int64, [[3], [3]]),
        (lambda i: [i, 0.5], tf.float32, [3.0, 0.5]),
        (lambda i: (tf.cast(i, tf.bfloat16), i), tf.float64, [3.0, 3.0]),
        (lambda i: [tf.Variable(3).initial_value, True], tf.complex64, [3.0, 1.0]),
    ],
)
def test_tensors_in_a_list_become_the_dtype_that_is_asked_for(given: Any, dtype: Any, expected: Any) -> None:
    made = tf.convert_to_tensor(given(tf.constant(3)), dtype)
    assert made.dtype == dtype
    assert value(made).tolist() == expected


def test_a_list_of_tensors_becomes_what_it_meets() -> None:
    i = tf.constant(3)
    assert value(tf.concat([tf.constant([1], tf.int64), [i]], 0)).tolist() == [1, 3]
    assert value(tf.constant([0.5]) * [i]).tolist() == [1.5]
    (dx,) = tf.gradients(tf.constant([2.0], tf.float64) * [x := tf.constant(1.5)], x)
    assert (dx.dtype, value(dx)) == (tf.float32, 2.0)


@pytest.mark.parametrize("tensor", [0.5, 1j])
def test_a_list_of_tensors_loses_nothing(tensor: Any) -> None:
    with pytest.raises(TypeError, match=r"multiply: dtypes differ: int32\[1\] and .*\[1\]; convert one with pb.cast"):
        tf.constant([1]) * [tf.constant(tensor)]


def test_a_list_of_tensors_of_two_dtypes_is_refused() -> None:
    with pytest.raises(TypeError, match=r"was given where int32 is needed; convert it with pb.cast"):
        tf.convert_to_tensor([tf.constant(1), tf.constant(2.0)])


# Ragged tensors where dense ones are meant


def test_functions_of_tensors_take_ragged_ones() -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    both = tf.concat([x, [[4]]], axis=0)
    assert value(both).to_list() == [[1, 2], [3], [4]]
    assert value(tf.stack([x, x])).to_list() == [[[1, 2], [3]]] * 2
    assert value(tf.gather(x, [1, 0])).to_list() == [[3], [1, 2]]
    assert value(tf.boolean_mask(x, tf.ragged.constant([[True, False], [True]]))).to_list() == [[1], [3]]
    assert value(tf.reduce_sum(both, axis=1)).tolist() == [3, 3, 4]
    assert value(tf.reduce_max(both, reduction_indices=1, keep_dims=True)).tolist() == [[2], [3], [4]]
    assert tf.concat([[1], [2]], 0).shape == tf.reduce_sum([[1, 2], [3, 4]], 0).shape == [2]


# What stays of sparse and ragged tensors in loops


def grown(x: Any, step: Any, invariant: Any) -> Any:
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, step(x)), [0, x], [tf.TensorShape([]), invariant])[1]


def test_a_loop_adds_rows_to_a_ragged_tensor_where_that_was_said() -> None:
    x = tf.ragged.constant([[1, 2], [3]])

    def twice(x: Any, axis: int) -> Any:
        return tf.concat([x, x], axis)

    for invariant in (tf.TensorShape([None, None]), tf.RaggedTensorSpec([None, None], tf.int32)):
        assert value(grown(x, lambda x: twice(x, 0), invariant)).to_list() == [[1, 2], [3]] * 4
    assert value(grown(x, lambda x: twice(x, 1), tf.TensorShape([2, None]))).to_list() == [[1, 2] * 4, [3] * 4]
    with pytest.raises(
        ValueError, match=r"enters the loop with shape \(3,\), but has shape \(5,\) after one iteration"
    ):
        tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, twice(x, 0)), [0, x])


@pytest.mark.parametrize("invariant", [tf.TensorShape([None]), tf.TensorShape(None), tf.SparseTensorSpec(None)])
def test_a_loop_changes_the_rank_of_a_sparse_tensor_where_that_was_said(invariant: Any) -> None:
    def deeper(x: Any) -> Any:
        return tf.SparseTensor(
            tf.concat([x.indices, [[1], [1]]], axis=1), x.values * 2.0, tf.concat([x.dense_shape, [3]], axis=0)
        )

    x = tf.SparseTensor([[0], [2]], [1.0, 2.0], [4])
    found = value(grown(x, deeper, invariant))
    assert found.indices.tolist() == [[0, 1, 1], [2, 1, 1]]
    assert found.dense_shape.tolist() == [4, 3, 3]
    with pytest.raises(ValueError, match=r"the shape invariant \(2,\) is not compatible with SparseTensor"):
        grown(x, deeper, tf.TensorShape([2]))


def test_what_enters_a_loop_is_of_the_spec_that_is_given_for_it() -> None:
    sparse = tf.SparseTensor([[0]], [1.0], [4])
    for x in (tf.constant([1.0]), tf.ragged.constant([[1.0]])):
        with pytest.raises(TypeError, match=r"^while_loop: the invariant SparseTensorSpec\(TensorShape\(\[None\]\)"):
            grown(x, lambda x: x, tf.SparseTensorSpec([None]))
    with pytest.raises(TypeError, match=r"^while_loop: the invariant RaggedTensorSpec"):
        grown(sparse, lambda x: x, tf.RaggedTensorSpec([None, None]))
    with pytest.raises(ValueError, match=r"the invariant of SparseTensor.* must be TensorShape\(\[rank\]\)"):
        grown(sparse, lambda x: x, tf.TensorShape([None, None]))


# Counters and assignments


def test_variables_count_and_are_read_again() -> None:
    v = tf.get_variable("v", initializer=0)
    step, again = v.count_up_to(1), v.assign_add(4).read_value()
    (slope,) = tf.gradients((u := tf.Variable(2.0))._ref() * 3.0, u)
    with pb.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert (session.run(step), session.run(v)) == (0, 1)
        with pytest.raises(tf.errors.OutOfRangeError, match=r"^count_up_to: 'v': Reached limit of 1"):
            session.run(step)
        assert (session.run(again), session.run(slope)) == (5, 3.0)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_threads_that_count_together_find_each_number_once(engine: str) -> None:
    v = tf.Variable(tf.constant(0, tf.int64))
    step, more = v.count_up_to(200), tf.random_normal([8])
    found: list[int] = []
    with tf.Session(engine=engine) as session:
        session.run(v.initializer)

        def count() -> None:
            with contextlib.suppress(tf.errors.OutOfRangeError):
                while True:
                    found.append(int(session.run([step, more])[0]))

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(v) == 200
    assert sorted(found) == list(range(200))


def test_only_what_a_variable_gives_can_be_read_again() -> None:
    with pytest.raises(AttributeError, match=r"^float32\[\] 'x:0' has no read_value: it is not what a variable, or"):
        tf.constant(1.0, name="x").read_value()


def test_the_last_value_of_a_constant_fills_its_shape_which_may_not_be_too_small() -> None:
    texts = tf.Session(engine="numpy").run(tf.constant(["a", "b"], tf.string, [3]))
    assert texts.tolist() == [b"a", b"b", b"b"]
    with pytest.raises(ValueError, match=r"^Too many elements provided. Takes at most 2, but got 3$"):
        tf.constant([1, 2, 3], shape=[2])
    empty = tf.Session(engine="numpy").run([tf.constant(0, shape=[0]), tf.constant([1.0, 2.0], shape=[2, 0])])
    assert [(x.shape, x.dtype.name) for x in empty] == [((0,), "int32"), ((2, 0), "float32")]
    with pytest.raises(TypeError, match=r"^Expected Tensor's shape: \(2, 2\), but got \(3,\)\.$"):
        tf.constant([1, 2, 3], shape=[2, 2], verify_shape=True)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda x: tf.concat([x, x], 0), ValueError, "Can't concatenate scalars (use tf.stack instead)"),
        (
            lambda x: tf.gradients(tf.complex(x, x), x),
            TypeError,
            "Gradients of complex tensors must set grad_ys (y.dtype = tf.complex64)",
        ),
        (
            lambda x: tf.while_loop(lambda y: y < 3.0, lambda y: tf.cast(y, tf.float16), [x]),
            TypeError,
            "Loop var x:0 enters the loop with type <dtype: 'float32'> but has type <dtype: 'float16'> after 1",
        ),
        (
            lambda x: tf.cond(x > 0.0, lambda: {"a": x}, lambda: {"b": x}),
            TypeError,
            "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure",
        ),
        (
            lambda x: tf.cond(x > 0.0, lambda: {"a": x}, lambda: {"b": x}),
            ValueError,
            "The two structures don't have the same nested structure",
        ),
        (lambda x: tf.gather([x], 0, axis=1), ValueError, "Shape must be at least rank 2 but is rank 1"),
        (
            lambda x: tf.TensorArray(tf.float32, 0).stack(),
            tf.errors.InvalidArgumentError,
            "Tried to stack elements of an empty list with non-fully-defined element_shape",
        ),
    ],
    ids=["concat", "gradients", "while_loop", "cond", "names of cond", "gather", "TensorArray"],
)
def test_messages_have_the_words_that_programs_look_for(make: Any, error: type[Exception], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error) as found:
        make(tf.placeholder(tf.float32, [], name="x"))
    assert message in str(found.value)


def test_a_run_says_which_axes_there_are() -> None:
    x = tf.placeholder(tf.float32)
    y = tf.gather(x, 0, axis=-2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected axis in the range \[-1, 1\), but got -2"):
        tf.Session().run(y, {x: [1.0]})
