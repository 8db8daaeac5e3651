"""`where`: messages, and the form with one argument."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pullback as pb


def test_a_condition_that_is_not_bool_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        pb.where([1, 0], 1.0, 2.0)
    assert str(error.value) == "where: the condition must be bool, not int32[2]"


def test_one_choice_alone_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("where: give both x and y, or neither")):
        pb.where([True], 1.0)


def test_choices_of_two_dtypes_are_refused() -> None:
    with pytest.raises(TypeError) as error:
        pb.where([True], pb.constant([1.0]), pb.constant([2]))
    assert str(error.value) == "where: dtypes differ: float32[1] and int32[1]; convert one with pb.cast"


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(
        ValueError, match=re.escape("where: shapes do not broadcast together: bool[2] and float32[3] and float32[]")
    ):
        pb.where([True, False], [1.0, 2.0, 3.0], 0.0)


def test_large_arrays_are_selected_to_the_bit() -> None:
    """NumPy selects many elements by their bits; infinities, NaN and minus zero survive."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 5000)).astype(np.float32)
    x[:3], y[:3] = [np.inf, np.nan, -0.0], [-0.0, np.inf, np.nan]
    condition = random.random(5000) < 0.5
    value = pb.Session(engine="numpy").run(pb.where(condition, x, y))
    assert value.tobytes() == np.where(condition, x, y).tobytes()


def test_large_arrays_broadcast() -> None:
    condition = np.arange(5000).reshape(50, 100) % 3 == 0
    for dtype in (np.int8, np.float64, np.complex128, np.bool_):
        x, y = np.ones((50, 1), dtype), np.zeros(100, dtype)
        value = pb.Session(engine="numpy").run(pb.where(condition, x, y))
        np.testing.assert_array_equal(value, condition)
        assert value.dtype == dtype
