"""`TensorArray`: what it refuses, what it keeps, and what it does where TensorFlow does something else."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import pullback as pb


def _run(y: Any) -> Any:
    return pb.Session(engine="numpy").run(y)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_array_grows_at_places_that_are_known(engine: str) -> None:
    x = pb.placeholder(pb.float32, [2])
    array = pb.TensorArray(pb.float32, size=0, dynamic_size=True)
    for i in range(3):
        array = array.write(i, float(i) * x)
    y = array.write(4, x * x).stack()
    values = pb.Session(engine=engine).run([y, *pb.gradients(y, x)], {x: [1.0, 2.0]})
    np.testing.assert_allclose(values[0], [[0, 0], [1, 2], [2, 4], [0, 0], [1, 4]])
    np.testing.assert_allclose(values[1], [5.0, 7.0])


@pytest.mark.parametrize("index", [2, -1])
def test_reading_outside_raises(index: int) -> None:
    y = pb.TensorArray(pb.float32, size=2, element_shape=[]).read(index)
    with pytest.raises(pb.errors.InvalidArgumentError, match=rf"TensorArray.read: index {index} is not in \[0, 2\)"):
        _run(y)


@pytest.mark.parametrize("index", [2, -1])
def test_writing_outside_raises(index: int) -> None:
    y = pb.TensorArray(pb.float32, size=2).write(index, 1.0).stack()
    with pytest.raises(pb.errors.InvalidArgumentError, match=rf"TensorArray.write: index {index} is not in \[0, 2\)"):
        _run(y)


def test_the_last_of_two_writes_counts_and_alone_has_a_derivative() -> None:
    a, b = pb.constant(1.0), pb.constant(2.0)
    y = pb.TensorArray(pb.float32, size=2).write(0, a).write(0, b).stack()
    assert [np.asarray(v).tolist() for v in _run([y, *pb.gradients(y, [a, b])])] == [[2.0, 0.0], 0.0, 1.0]


def test_elements_of_two_shapes_are_refused() -> None:
    array = pb.TensorArray(pb.float32, size=2).write(0, [1.0, 2.0])
    with pytest.raises(ValueError, match="TensorArray") as raised:
        array.write(1, 1.0)
    assert str(raised.value) == (
        "TensorArray.write: the value float32[] has not the shape of the other elements, (2,); "
        "all elements of an array have one shape"
    )


def test_pieces_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="TensorArray") as raised:
        pb.TensorArray(pb.float32).split([1.0, 2.0, 3.0], [1, 2])
    assert str(raised.value) == ("TensorArray.split: the lengths [1, 2] differ; elements of an array have one shape")


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [
        (3.0, TypeError, "TensorArray: size must be a scalar integer, not float32[] 'Const:0'"),
        ([1, 2], ValueError, "TensorArray: size must be a scalar integer, not int32[2] 'Const:0'"),
        (-1, ValueError, "TensorArray: size must not be negative, not -1"),
    ],
)
def test_a_size_is_one_whole_number(size: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        pb.TensorArray(pb.float32, size=size)
    assert str(raised.value) == message


def test_an_index_is_a_whole_number() -> None:
    array, half = pb.TensorArray(pb.float32, size=2), pb.constant(0.5, name="half")
    calls = {"read": (half,), "write": (half, 1.0), "gather": ([half],), "scatter": ([half], [1.0])}
    for method, arguments in calls.items():
        with pytest.raises(
            TypeError, match=rf"^TensorArray.{method}: the ind(ex|ices) must be .*integers?, not float32"
        ):
            getattr(array, method)(*arguments)


def test_an_array_prints_what_is_known_of_it() -> None:
    assert repr(pb.TensorArray(pb.float32, size=3)) == "TensorArray(float32[...], size=3)"
    array = pb.TensorArray(pb.float64, size=pb.placeholder(pb.int32, []), element_shape=[2, None])
    assert repr(array) == "TensorArray(float64[2,?], size=?)"


def test_there_is_no_handle_and_no_gradient_array() -> None:
    array = pb.TensorArray(pb.float32, size=2)
    assert array.handle is None
    with pytest.raises(NotImplementedError) as raised:
        array.grad("gradients")
    assert str(raised.value) == "TensorArray.grad: there are no arrays of derivatives; use pb.gradients"


def _read(i: Any, a: Any) -> Any:
    return pb.sin(a.read(i))


def _read_in_a_branch(i: Any, a: Any) -> Any:
    return pb.cond(pb.equal(i % 3, 0), lambda: pb.sin(a.read(i)) * 0.5, lambda: pb.cos(a.read(i)))


def _read_in_a_branch_of_a_branch(i: Any, a: Any) -> Any:
    return pb.cond(i < 100, lambda: _read_in_a_branch(i, a), lambda: a.read(0) * a.read(i))


def _peak(steps: int, read: Any) -> int:
    """The most memory that a derivative takes at once, through a loop that reads what it wrote."""
    with pb.Graph().as_default():
        x = pb.placeholder_with_default(np.full(50, 0.5), [50])
        array = pb.TensorArray(x.dtype, size=steps, element_shape=[50])

        def step(i: Any, y: Any, a: Any) -> Any:
            a = a.write(i, y)
            return i + 1, read(i, a), a

        _, _, array = pb.while_loop(lambda i, y, a: i < steps, step, (0, x, array))
        (dx,) = pb.gradients(array.stack() ** 2, x)
        with pb.Session(engine="numpy") as session:
            session.run(dx)
            tracemalloc.start()
            session.run(dx)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    return peak


@pytest.mark.parametrize("read", [_read, _read_in_a_branch, _read_in_a_branch_of_a_branch])
def test_memory_of_a_derivative_is_linear_in_the_steps_where_a_loop_reads_its_array(read: Any) -> None:
    assert _peak(160, read) < 3 * _peak(80, read)
