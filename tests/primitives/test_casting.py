"""Conversions between dtypes: both engines agree to the bit, and slices stay slices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pullback as pb
from tests.cases.casting import HARD, INTEGERS, saturated


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_floats_become_the_nearest_integer_that_fits(dtype: str, engine: str) -> None:
    x = pb.placeholder(pb.float64, [None])
    value = pb.Session(engine=engine).run(pb.cast(x, dtype), {x: HARD})
    np.testing.assert_array_equal(value, saturated(dtype))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_bfloat16_becomes_the_nearest_integer_that_fits(dtype: str, engine: str) -> None:
    x = pb.placeholder(pb.bfloat16, [None])
    values = np.array([-np.inf, -300, -1.5, 0.5, 300, 3e38, np.nan]).astype(pb.bfloat16)
    limits = np.iinfo(dtype)
    expected = [limits.min, max(-300, limits.min), max(-1, limits.min), 0, min(300, limits.max), limits.max, 0]
    actual = pb.Session(engine=engine).run(pb.cast(x, dtype), {x: values})
    assert actual.tolist() == expected


def test_a_tensor_of_the_dtype_is_returned_as_it_is() -> None:
    x = pb.constant([1.0])
    assert pb.cast(x, pb.float32) is x


def test_slices_stay_slices() -> None:
    rows = pb.IndexedSlices(pb.constant([[1.5]]), pb.constant([2]), pb.constant([4, 1]))
    cast = pb.cast(rows, pb.float64)
    assert isinstance(cast, pb.IndexedSlices)
    assert cast.dtype == pb.float64
    assert cast.indices is rows.indices


def test_no_derivative_passes_through_integers() -> None:
    x = pb.constant([1.0])
    assert pb.gradients(pb.cast(pb.cast(x, pb.int32), pb.float32), x) == [None]


def test_an_unknown_dtype_is_named() -> None:
    with pytest.raises(TypeError, match=r"^'float31' is not a dtype of pullback; use one of bfloat16, bool, "):
        pb.cast([1.0], "float31")


def test_saturate_cast_takes_real_numbers_only() -> None:
    with pytest.raises(TypeError) as error:
        pb.saturate_cast(pb.constant(1j, name="z"), pb.int8)
    assert (
        str(error.value)
        == "saturate_cast: converts real numbers to real numbers, not complex128[] 'z:0' to int8; use pb.cast"
    )


def test_saturate_cast_has_the_derivative_of_a_clipping() -> None:
    x = pb.constant([-1e6, 1.5, 1e6])
    (dx,) = pb.gradients(pb.saturate_cast(x, pb.float16), x)
    assert pb.Session().run(dx).tolist() == [0.0, 1.0, 0.0]


SIZES = [pb.uint8, pb.int16, pb.float32, pb.int64, pb.complex128]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("large", SIZES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("small", SIZES, ids=lambda d: np.dtype(d).name)
def test_bits_of_one_number_are_several_smaller_ones_and_back(small: Any, large: Any, engine: str) -> None:
    ratio = np.dtype(large).itemsize // np.dtype(small).itemsize
    if ratio < 2:
        return
    session = pb.Session(engine=engine)
    for array in (np.array([[1, 2, 3], [100, 50, 9]], large), np.array(7, large), np.zeros((0, 2), large)):
        for shape in (array.shape, None):
            x = pb.placeholder(large, shape)
            parts = pb.bitcast(x, small)
            found, again = session.run([parts, pb.bitcast(parts, large)], {x: array})
            np.testing.assert_array_equal(found, array.reshape(*array.shape, 1).view(small))
            np.testing.assert_array_equal(again, array)
            assert parts.shape == (None if shape is None else [*shape, ratio])


def test_bits_of_too_few_numbers_are_refused() -> None:
    text = (
        r"^bitcast: the elements of uint8\[2,3\] have 1 bytes, those of float32 4: the last axis must have 4 elements$"
    )
    with pytest.raises(ValueError, match=text):
        pb.bitcast(pb.zeros([2, 3], pb.uint8), pb.float32)
    x = pb.placeholder(pb.uint8, [None])
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=r"failed on uint8\[3\]: bitcast: .*: the last axis must have 4 elements"
    ):
        pb.Session(engine="numpy").run(pb.bitcast(x, pb.float32), {x: [1, 2, 3]})


NARROW = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn"]


@pytest.mark.usefixtures("optimized_programs")
@pytest.mark.parametrize("source", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_floats_of_few_bits_are_rounded_as_ml_dtypes_does(engine: str, source: str) -> None:
    """Those around zero, whose sign some have no bits for, and those up to the largest."""
    for name in NARROW:
        dtype = np.dtype(getattr(ml_dtypes, name))
        of = ml_dtypes.finfo(dtype)
        least, most = float(of.smallest_subnormal), float(of.max)
        sizes = np.array([0, 1e-7, *(least * np.array([0.25, 0.49, 0.5, 0.51, 1, 1.5, 2.5])), 0.3, 1.1, most])
        values = np.concatenate([sizes, -sizes]).astype(pb.as_dtype(source))
        x = pb.placeholder(source, values.shape)
        y = pb.cast(x, dtype)
        found = pb.Session(engine=engine).run([y, pb.cast(y, pb.float32)], {x: values})
        wanted = values.astype(dtype)
        np.testing.assert_array_equal(found[0].view(np.uint8), wanted.view(np.uint8), err_msg=name)
        np.testing.assert_array_equal(found[1], wanted.astype(np.float32), err_msg=name)
