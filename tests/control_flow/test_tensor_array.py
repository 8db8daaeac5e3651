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


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_array_of_constants_grows(engine: str) -> None:
    array = pb.TensorArray(pb.float32, size=2, dynamic_size=True).unstack([1.0, 2.0])
    y = array.write(3, 4.0).scatter([0, 5], [5.0, 6.0]).stack()
    assert y.shape == [6]
    assert pb.Session(engine=engine).run(y).tolist() == [5.0, 2.0, 0.0, 4.0, 0.0, 6.0]


def _doubled(x: Any, goes_on: Any, **options: Any) -> Any:
    """x, 2 x, 4 x and so on, in an array that grows."""
    array = pb.TensorArray(pb.float32, size=0, dynamic_size=True)
    return pb.while_loop(goes_on, lambda i, y, a: (i + 1, 2.0 * y, a.write(i, y)), (0, x, array), **options)[2]


def test_an_array_that_grows_in_a_loop_has_the_length_that_the_steps_say() -> None:
    array = _doubled(pb.placeholder(pb.float32, [2]), lambda i, y, a: i < 3)
    assert repr(array) == "TensorArray(float32[2], size=3)"
    assert array.stack().shape == [3, 2]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_array_that_grows_in_a_loop_of_bounded_steps_has_as_many_elements_as_were_written(engine: str) -> None:
    x = pb.placeholder(pb.float32, [])
    y = _doubled(x, lambda i, y, a: y < 10.0, maximum_iterations=8).stack()
    found = [y, y[-1], pb.reduce_sum(y), *pb.gradients(pb.reduce_sum(y * y), x)]
    session = pb.Session(engine=engine)
    for value, count in ((3.0, 2), (20.0, 0), (0.001, 8)):
        rows = value * 2.0 ** np.arange(count)
        values = session.run(found if count else [y, y, found[2], found[3]], {x: value})
        np.testing.assert_allclose(values[0], rows, rtol=1e-6)
        np.testing.assert_allclose(values[2:], [rows.sum(), 2.0 * (rows**2).sum() / value], rtol=1e-5)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("steps_are_known", [True, False])
@pytest.mark.parametrize("length", [2, None])
@pytest.mark.parametrize("size", [0, 2, 5, 7])
def test_an_array_of_some_size_and_unknown_elements_grows_in_a_loop(
    size: int, length: int | None, steps_are_known: bool, engine: str
) -> None:
    x, end = pb.placeholder(pb.float32, [length]), pb.placeholder(pb.int32, [])
    array = pb.TensorArray(pb.float32, size=size, dynamic_size=True)
    y = pb.while_loop(
        lambda i, a: i < (5 if steps_are_known else end),
        lambda i, a: (i + 1, a.write(i, pb.cast(i, pb.float32) * x)),
        (0, array),
        maximum_iterations=None if steps_are_known else 6,
    )[1].stack()
    rows, slope = pb.Session(engine=engine).run([y, *pb.gradients(y, x)], {x: [1.0, 3.0], end: 5})
    expected = np.outer([0, 1, 2, 3, 4] + [0] * max(size - 5, 0), [1.0, 3.0])
    np.testing.assert_array_equal(rows, expected)
    assert slope.tolist() == [10.0, 10.0]


def test_an_array_that_grows_without_a_bound_is_made_on_the_host() -> None:
    y = _doubled(pb.constant(1.0), lambda i, y, a: y < 10.0).stack()
    for engine in ("numpy", "xla"):
        assert pb.Session(engine=engine).run(y).tolist() == [1.0, 2.0, 4.0, 8.0]


def test_what_counts_the_elements_of_bounded_steps_counts_those_that_were_made() -> None:
    y = pb.reduce_mean(_doubled(pb.constant(1.0), lambda i, y, a: y < 4.0, maximum_iterations=8).stack())
    for engine in ("numpy", "xla"):
        assert pb.Session(engine=engine).run(y) == 1.5


def test_a_step_says_the_shape_of_the_elements() -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    array = pb.TensorArray(pb.float32, size=pb.placeholder(pb.int32, []))
    array = pb.while_loop(lambda i, a: i < a.size(), lambda i, a: (i + 1, a.write(i, x)), (0, array))[1]
    assert array.stack().shape.as_list() == [None, None, 2]
    assert array.element_shape.as_list() == [None, 2]


def test_an_array_of_known_elements_may_grow_in_a_loop() -> None:
    array = pb.TensorArray(pb.float32, size=1, dynamic_size=True, element_shape=[])
    end = pb.placeholder(pb.int32, [])
    array = pb.while_loop(lambda i, a: i < end, lambda i, a: (i + 1, a.write(i, 2.0)), (1, array))[1]
    assert pb.Session(engine="numpy").run(array.stack(), {end: 3}).tolist() == [0.0, 2.0, 2.0]


@pytest.mark.parametrize("index", [2, -1])
def test_reading_outside_raises(index: int) -> None:
    y = pb.TensorArray(pb.float32, size=2, element_shape=[]).read(index)
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=f"TensorArray: Tried to read from index {index} but array size is: 2"
    ):
        _run(y)


@pytest.mark.parametrize("index", [2, -1])
def test_writing_outside_raises(index: int) -> None:
    y = pb.TensorArray(pb.float32, size=2).write(index, 1.0).stack()
    with pytest.raises(
        pb.errors.InvalidArgumentError,
        match=f"TensorArray: Tried to write to index {index} but array is not resizeable and size is: 2",
    ):
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
        "all elements of an array have one shape, unless infer_shape=False and all positions are known"
    )


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


@pytest.mark.parametrize("read", ["stack", "concat", "read", "gather"])
def test_of_an_array_that_nothing_was_written_to_nothing_is_read(read: str) -> None:
    array = pb.TensorArray(pb.float32, size=3)
    arguments = {"read": [0], "gather": [[0]]}.get(read, [])
    with pytest.raises(ValueError, match=r"nothing was written to the array; give it element_shape="):
        getattr(array, read)(*arguments)
    assert pb.TensorArray(pb.float32, size=3, element_shape=[2]).stack().shape == [3, 2]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("index", [2, -1])
def test_a_place_that_is_known_to_be_outside_fails_in_the_run(index: int, engine: str) -> None:
    x, wanted = pb.placeholder(pb.float32, [2]), pb.placeholder(pb.bool, [])
    array, session = pb.TensorArray(pb.float32, size=2).unstack(x), pb.Session(engine=engine)
    for y in (array.write(index, 1.0).stack(), array.read(index)):
        with pytest.raises(pb.errors.InvalidArgumentError, match=f"index {index} but array .*size is: 2"):
            session.run(y, {x: [1.0, 2.0]})
    y = pb.cond(wanted, lambda: array.read(index), lambda: 3.0)
    assert session.run(y, {x: [1.0, 2.0], wanted: False}) == 3.0


def test_an_array_that_was_never_written_has_a_type_and_no_value() -> None:
    y = pb.TensorArray(pb.float32, size=0, element_shape=(5, None), dynamic_size=True).stack()
    assert y.shape.as_list() == [None, 5, None]
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"stack: nothing was written to the array of elements"):
        _run(y)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_array_takes_as_many_pieces_and_rows_as_it_has_room_for(engine: str) -> None:
    x = pb.constant([[1.0], [2.0], [3.0]])
    session, fits, grows = pb.Session(engine=engine), pb.TensorArray(pb.float32, 3), pb.TensorArray(pb.float32, 1, True)
    for array in (fits, grows, pb.TensorArray(pb.float32)):
        found = session.run([array.split(x, [1, 1, 1]).read(2), array.unstack(x).read(1)])
        assert [y.tolist() for y in found] == [[[3.0]], [2.0]]
    tight = pb.TensorArray(pb.float32, 2)
    for lengths in ([1, 1, 1], [3], [2, 1, 0]):
        pieces = tight.split(x, lengths)
        with pytest.raises(
            pb.errors.InvalidArgumentError, match=rf"size of lengths \(2 vs\. {len(lengths)}\), and the"
        ):
            session.run(pieces.read(0))
    rows = tight.unstack(x)
    with pytest.raises(pb.errors.InvalidArgumentError, match="Tried to write to index 2 but array is not resizeable"):
        session.run(rows.read(0))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_array_of_nothing_has_the_shape_that_others_made_of_it_have(engine: str) -> None:
    empty, some = pb.TensorArray(pb.float32, 0), pb.TensorArray(pb.float32, 2)
    empty.unstack(pb.zeros([0, 3, 5]))
    assert [x.shape for x in pb.Session(engine=engine).run([empty.stack(), empty.concat()])] == [(0, 3, 5), (0, 5)]
    some.write(0, [1.0, 2.0])
    blank = some.stack()
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"nothing was written to the array of elements \(2,\)"):
        pb.Session(engine=engine).run(blank)
    apart = pb.TensorArray(pb.float32, pb.placeholder(pb.int32, []), infer_shape=False)
    apart.write(0, [1.0, 2.0])
    with pytest.raises(
        pb.errors.InvalidArgumentError, match="nothing was written to the array; give it element_shape="
    ):
        apart.stack()


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_lengths_that_are_no_vector_are_seen_in_a_run(engine: str) -> None:
    lengths = pb.placeholder(pb.int64)
    piece = pb.TensorArray(pb.float32, 3).split([1.0, 2.0, 3.0], lengths).read(2)
    session = pb.Session(engine=engine)
    assert session.run(piece, {lengths: [1, 1, 1]}).tolist() == [3.0]
    with pytest.raises(pb.errors.InvalidArgumentError, match="Expected lengths to be a vector, received shape:"):
        session.run(piece, {lengths: 1})
