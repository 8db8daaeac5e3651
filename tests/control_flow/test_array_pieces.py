"""TensorArrays of elements of different shapes: `infer_shape=False`, at positions that the graph knows, and `split`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


def run(fetches: Any, engine: str, feeds: Any = None) -> Any:
    return pb.Session(engine=engine).run(fetches, feeds)


@ENGINES
def test_elements_of_different_shapes_have_derivatives_of_all_orders(engine: str) -> None:
    a, b = pb.constant([[2.0, 3.0]]), pb.constant(5.0)
    array = pb.TensorArray(pb.float32, size=2, infer_shape=False).write(0, a).write(1, b)
    y = pb.reduce_sum(array.read(0) ** 3) * array.read(1) ** 2 + array.read(1)
    first = pb.gradients(y, [a, b])
    second = pb.gradients(first[1], [a, b])
    value, (da, db), (dab, dbb) = run([y, first, second], engine)
    np.testing.assert_allclose(value, 35.0 * 25.0 + 5.0)
    np.testing.assert_allclose(da, [[3.0 * 4.0 * 25.0, 3.0 * 9.0 * 25.0]])
    np.testing.assert_allclose(db, 35.0 * 10.0 + 1.0)
    np.testing.assert_allclose(dab, [[12.0 * 10.0, 27.0 * 10.0]])
    np.testing.assert_allclose(dbb, 70.0)


@ENGINES
def test_elements_of_different_lengths_are_joined(engine: str) -> None:
    a, b = pb.constant([1.0]), pb.constant([2.0, 3.0])
    y = (
        pb.TensorArray(pb.float32, size=3, infer_shape=False)
        .write(2, b)
        .write(0, a)
        .write(1, np.zeros(0, "f"))
        .concat()
    )
    da, db = pb.gradients(y, [a, b], grad_ys=[[10.0, 20.0, 30.0]])
    joined, by_a, by_b = run([y, da, db], engine)
    np.testing.assert_array_equal(joined, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(by_a, [10.0])
    np.testing.assert_array_equal(by_b, [20.0, 30.0])


@ENGINES
def test_unequal_pieces_of_a_split_are_its_elements(engine: str) -> None:
    x = pb.constant([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]])
    array = pb.TensorArray(pb.float32, size=3, infer_shape=False).split(x, [2, 0, 1])
    again, third = array.concat(), array.read(2)
    (dx,) = pb.gradients([again, third], x, grad_ys=[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[10.0, 20.0]]])
    joined, empty, by_x = run([again, array.read(1), dx], engine)
    np.testing.assert_array_equal(joined, [[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]])
    assert empty.shape == (0, 2)
    np.testing.assert_array_equal(by_x, [[1.0, 2.0], [3.0, 4.0], [15.0, 26.0]])


@ENGINES
def test_such_an_array_grows_at_known_positions(engine: str) -> None:
    array = pb.TensorArray(pb.float32, size=0, dynamic_size=True, infer_shape=False).write(1, [1.0, 2.0]).write(0, 3.0)
    assert repr(array) == "TensorArray(float32[...], size=2)"
    value = run([array.size(), array.read(0), array.read(1)], engine)
    assert (value[0], value[1], value[2].tolist()) == (2, 3.0, [1.0, 2.0])


def test_what_was_not_written_is_zeros_of_the_element_shape() -> None:
    array = pb.TensorArray(pb.float32, size=2, infer_shape=False, element_shape=[1, 2]).write(1, [[4.0, 5.0]])
    joined, stacked, read = run([array.concat(), array.stack(), array.read(0)], "numpy")
    np.testing.assert_array_equal(joined, [[0.0, 0.0], [4.0, 5.0]])
    np.testing.assert_array_equal(stacked, [[[0.0, 0.0]], [[4.0, 5.0]]])
    np.testing.assert_array_equal(read, [[0.0, 0.0]])


@ENGINES
def test_elements_of_one_shape_go_through_loops_and_branches(engine: str) -> None:
    x, more = pb.constant(2.0), pb.placeholder(pb.bool, [])
    array = pb.TensorArray(pb.float32, size=4, infer_shape=False).write(0, x)
    _, array = pb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, a.read(i - 1) * x)), (1, array))
    array = pb.cond(more, lambda: array.write(3, x), lambda: array)
    y = array.stack()
    (dx,) = pb.gradients(y, x)
    assert run(dx, engine, {more: True}) == 1.0 + 4.0 + 12.0 + 1.0
    assert run(dx, engine, {more: False}) == 1.0 + 4.0 + 12.0


def test_a_body_reads_elements_of_different_shapes_from_around_it() -> None:
    x = pb.constant([1.0, 2.0])
    array = pb.TensorArray(pb.float32, size=2, infer_shape=False).write(0, x).write(1, 3.0)
    _, y = pb.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * array.read(1) + array.read(0)), (0, x))
    value, (dx,) = run([y, pb.gradients(y, x)], "numpy")
    np.testing.assert_array_equal(value, [13.0, 26.0])
    np.testing.assert_array_equal(dx, [13.0, 13.0])


def test_the_same_array_with_something_run_before() -> None:
    v = pb.Variable(0.0)
    array = pb.TensorArray(pb.float32, size=2, infer_shape=False).write(0, [1.0]).write(1, 2.0)
    with pb.control_dependencies([v.assign_add(1.0)]):
        array = array.identity()
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(array.read(1)) == 2.0
        assert session.run(v) == 1.0


def test_a_position_that_only_a_run_knows_needs_elements_of_one_shape() -> None:
    i = pb.placeholder(pb.int32, [])
    array = pb.TensorArray(pb.float32, size=2, infer_shape=False).write(0, [1.0])
    assert run(array.write(1, [2.0]).read(i), "numpy", {i: 1}) == [2.0]
    with pytest.raises(ValueError, match="TensorArray") as raised:
        array.write(1, 2.0).read(i)
    assert str(raised.value) == (
        "TensorArray.write: the value float32[] has not the shape of the other elements, (1,); "
        "all elements of an array have one shape, unless infer_shape=False and all positions are known"
    )


def array_of_3() -> pb.TensorArray:
    return pb.TensorArray(pb.float32, size=3)


def ragged() -> pb.TensorArray:
    a, b = pb.constant([1.0], name="a"), pb.constant([[2.0]], name="b")
    return pb.TensorArray(pb.float32, size=2, infer_shape=False).write(0, a).write(1, b)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ragged().stack(),
            "TensorArray.stack: Incompatible ranks of shapes, float32[1] 'a:0' (0) and float32[1,1] 'b:0' (1); "
            "use concat, or read them one by one",
        ),
        (
            lambda: ragged().concat(),
            "TensorArray.concat: Incompatible ranks of shapes, float32[1] 'a:0' (0) and float32[1,1] 'b:0' (1); "
            "all but the first length must be the same",
        ),
        (
            lambda: ragged().write(1, pb.constant(2.0, name="c")).concat(),
            "TensorArray.concat: Concat saw a scalar shape at index 1 but requires at least vectors: "
            "float32[] 'c:0'; use stack",
        ),
        (
            lambda: array_of_3().split(pb.constant([1.0, 2.0, 3.0], name="x"), [1]),
            "TensorArray.split: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 1 and "
            "value's shape is: [3], of float32[3] 'x:0'",
        ),
        (
            lambda: array_of_3().split([1.0, 2.0, 3.0], pb.constant(3, name="n")),
            "TensorArray.split: Expected lengths to be a vector, received int32[] 'n:0'",
        ),
        (
            lambda: array_of_3().split(pb.constant(1.0, name="x"), [1]),
            "TensorArray.split: Expected value to be at least a vector, but received shape: [], of float32[] 'x:0'",
        ),
        (
            lambda: array_of_3().stack(),
            "TensorArray.stack: Tried to stack elements of an empty list with non-fully-defined element_shape: "
            "nothing was written to the array; give it element_shape=",
        ),
    ],
)
def test_what_cannot_be_is_said(make: Any, message: str) -> None:
    with pb.Graph().as_default(), pytest.raises(pb.errors.InvalidArgumentError, match="TensorArray") as raised:
        make()
    assert str(raised.value).splitlines()[0] == message


def test_an_element_that_does_not_fit_the_element_shape_is_refused() -> None:
    array = pb.TensorArray(pb.float32, size=2, infer_shape=False, element_shape=[None, 2]).write(0, [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"^TensorArray\.write: the value .* has not the element shape \(None, 2\)"):
        array.write(1, [[1.0]])


def test_closing_is_an_operation_that_does_nothing() -> None:
    array = ragged()
    array.mark_used()
    close = array.close()
    assert (close.type, run(close, "numpy")) == ("NoOp", None)
