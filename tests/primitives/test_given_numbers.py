"""Numbers as users have them: other byte orders, objects, extended precision, texts, arrays of other libraries."""

from __future__ import annotations

from array import array
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]


def placed(value: Any, dtype: Any, engine: str) -> Any:
    """What a placeholder of that dtype has for `value`."""
    with pb.Graph().as_default():
        x = pb.placeholder(dtype, None)
        return pb.Session(engine=engine).run(pb.identity(x), {x: value})


class TestByteOrder:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "c8", "c16"])
    def test_arrays_of_either_order_are_numbers(self, dtype: str, engine: str) -> None:
        numbers = np.arange(5).astype("=" + dtype)
        other = numbers.astype(numbers.dtype.newbyteorder())
        assert not other.dtype.isnative
        with pb.Graph().as_default():
            x = pb.placeholder(other.dtype, [None])
            variable = pb.Variable(other)
            fetches = [x, pb.constant(other), variable, variable.assign(other), pb.identity(other) + other[1:2]]
            session = pb.Session(engine=engine)
            session.run(variable.initializer)
            for found in session.run(fetches[:4], {x: other}):
                assert found.dtype == numbers.dtype
                np.testing.assert_array_equal(found, numbers)
            np.testing.assert_array_equal(session.run(fetches[4]), numbers + 1)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_functions_take_and_python_functions_return_them(self, engine: str) -> None:
        other = np.arange(3).astype(np.dtype("f4").newbyteorder())
        assert other.dtype.byteorder not in "=|"
        doubled = pb.function(lambda x: 2.0 * x)(other)
        np.testing.assert_array_equal(np.asarray(doubled), [0, 2, 4])
        np.testing.assert_array_equal(np.asarray(pb.grad(lambda x: pb.reduce_sum(x * x))(other)), [0, 2, 4])
        with pb.Graph().as_default():
            y = pb.py_function(lambda: other, [], pb.float32)
            np.testing.assert_array_equal(pb.Session(engine=engine).run(y), [0, 1, 2])

    def test_dtypes_of_either_order_are_one(self) -> None:
        assert pb.as_dtype(np.dtype(">i4")) == pb.as_dtype(np.dtype("<i4")) == pb.int32


class TestObjects:
    """Columns of tables that have texts elsewhere, as pandas gives them."""

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(
        ("numbers", "expected"),
        [
            ([1, 2.5, np.float32(3)], [1, 2.5, 3]),
            ([True, np.True_, 2], [1, 1, 2]),
            ([Fraction(1, 2), 1, 2.0], [0.5, 1, 2]),
            ([Decimal("0.25"), Decimal(1), Decimal(2)], [0.25, 1, 2]),
        ],
    )
    def test_numbers_are_fed(self, numbers: Any, expected: Any, engine: str) -> None:
        for dtype in (pb.float32, pb.float64, pb.complex64):
            np.testing.assert_array_equal(placed(np.array(numbers, object), dtype, engine), expected)
        np.testing.assert_array_equal(placed(np.array(numbers, object), pb.int32, engine), np.trunc(expected))
        np.testing.assert_array_equal(placed(np.array(numbers, object), pb.bool, engine), np.array(expected) != 0)

    def test_numbers_are_constants_of_a_dtype(self) -> None:
        value = np.array([1, 2.5], object)
        np.testing.assert_array_equal(pb.Session().run(pb.constant(value, pb.float64)), [1, 2.5])
        with pytest.raises(TypeError, match=r"is not an array of numbers \(NumPy makes it object\)"):
            pb.constant(value)

    @pytest.mark.parametrize("value", [[1.0, None], [1.0, object()], [1, 10**30], [[1], [2, 3]]])
    def test_other_objects_are_refused(self, value: Any) -> None:
        with pytest.raises(TypeError, match=r"^cannot feed int64\[\.\.\.\] 'Placeholder:0'"):
            placed(np.array(value, object), pb.int64, "numpy")


@pytest.mark.parametrize("engine", ENGINES)
def test_extended_precision_is_rounded_once(engine: str) -> None:
    just_above = np.longdouble(1) + np.longdouble(2) ** -24 + np.longdouble(2) ** -60
    assert placed(just_above, pb.float32, engine) == np.float32(1 + 2.0**-23)
    assert placed(np.array([just_above]), pb.float64, engine)[0] == 1 + 2.0**-24


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_of_numbers_are_fed_as_these(engine: str) -> None:
    rows = [["1", "2.5"], ["-3e2", "nan"]]
    np.testing.assert_array_equal(placed(rows, pb.float32, engine), [[1, 2.5], [-300, np.nan]])
    np.testing.assert_array_equal(placed(np.array(["7", "8"]), pb.int32, engine), [7, 8])
    with pytest.raises(TypeError, match=r"^cannot feed int32\[\.\.\.\] 'Placeholder:0'"):
        placed(["7.5"], pb.int32, engine)
    with pytest.raises(TypeError, match=r"^cannot feed float32\[\.\.\.\] 'Placeholder:0'"):
        placed(["seven"], pb.float32, engine)


def test_buffers_have_their_own_dtype() -> None:
    assert pb.constant(array("d", [1, 2])).dtype == pb.float64
    assert pb.constant(memoryview(np.arange(2))).dtype == pb.int64
    assert pb.constant([1.0, 2.0]).dtype == pb.float32


def test_floats_of_arrays_lose_their_fractions_as_constants_of_integers() -> None:
    found = pb.Session().run(pb.constant(np.array([1.5, -2.5, 3.0]), pb.int32))
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, [1, -2, 3])
    for value in ([1.5], np.array([np.nan]), np.array([3e9])):
        with pytest.raises(TypeError, match="was given where int32 is needed"):
            pb.constant(value, pb.int32)
