"""TensorArrays in programs of TensorFlow 1: each element is written once, and gone when it was read."""

from collections.abc import Iterator
from typing import Any

import pytest

import pullback as pb
import pullback.compat.v1 as tf


@pytest.fixture(autouse=True)
def version_1() -> Iterator[None]:
    tf.disable_v2_behavior()
    with pb.Graph().as_default():
        yield
    pb.enable_v2_tensorshape()
    pb.enable_resource_variables()


@pytest.fixture(params=["numpy", "xla"])
def session(request: pytest.FixtureRequest) -> tf.Session:
    return tf.Session(engine=request.param)


def written(**options: Any) -> Any:
    return tf.TensorArray(tf.float32, 3, **options).write(2, 3.0)


WRITTEN = "Could not write to TensorArray index 2 because it has already been written to"


def test_an_element_is_not_written_twice(session: tf.Session) -> None:
    again = [
        written().write(2, 4.0),
        written(infer_shape=False).write(2, 4.0),
        written().write(0, 1.0).scatter([1, 2], [5.0, 6.0]),
        written().unstack([1.0, 2.0, 3.0]),
        written(dynamic_size=True).write(2, 4.0).write(7, 1.0),
    ]
    for array in again:
        with pytest.raises(tf.errors.InvalidArgumentError, match=WRITTEN):
            session.run(array.stack())
    assert session.run(written().write(1, 4.0).write(0, 2.0).stack()).tolist() == [2.0, 4.0, 3.0]


def test_two_arrays_made_of_one_are_written_each(session: tf.Session) -> None:
    array = tf.TensorArray(tf.float32, 1)
    assert session.run([array.write(0, x).stack() for x in (1.0, 2.0)]) == [[1.0], [2.0]]


def test_an_element_is_not_read_after_it_was_read(session: tf.Session) -> None:
    array = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    first = array.read(0)
    with tf.control_dependencies([first + 1.0]):
        second, other = array.read(0), array.read(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice because it was cleared"):
        session.run(second)
    assert session.run([first, other]) == [1.0, 2.0]


def test_elements_that_stay_are_read_again(session: tf.Session) -> None:
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack([1.0, 2.0])
    with tf.control_dependencies([array.read(0)]):
        assert session.run(array.read(0)) == 1.0


def test_nothing_can_be_stacked_where_nobody_says_of_which_shape(session: tf.Session) -> None:
    for array in (tf.TensorArray(tf.float32, 0, infer_shape=False), tf.TensorArray(tf.float32, 0)):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="has size zero, but element shape <unknown> is not fully defined"
        ):
            session.run(array.stack())


def test_elsewhere_an_element_is_written_and_read_again_and_again(session: tf.Session) -> None:
    pb.enable_v2_tensorshape()
    array = written().write(2, 4.0)
    with tf.control_dependencies([array.read(2)]):
        assert session.run(array.read(2)) == 4.0
