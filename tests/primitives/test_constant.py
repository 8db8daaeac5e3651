"""Constants: whose memory they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def shares(array: np.ndarray) -> bool:
    return np.shares_memory(pb.constant(array).op.get_attr("value"), array)


def test_an_array_that_can_be_written_to_is_copied() -> None:
    array = np.arange(3.0)
    view = array[1:]
    view.setflags(write=False)
    assert not shares(array)
    assert not shares(view)
    c = pb.constant(array)
    array[:] = 7.0
    np.testing.assert_array_equal(pb.Session(engine="numpy").run(c), [0.0, 1.0, 2.0])


def test_an_array_that_nobody_can_write_to_is_shared() -> None:
    array = np.arange(4.0)
    array.setflags(write=False)
    assert shares(array)
    assert shares(array[1:])
    assert np.shares_memory(pb.Variable(array).initial_value.op.get_attr("value"), array)


def test_what_is_fetched_of_a_shared_array_is_a_copy() -> None:
    array = np.arange(4.0)
    array.setflags(write=False)
    for engine in ("numpy", pb.Session().engine):
        fetched = pb.Session(engine=engine).run(pb.constant(array))
        fetched[:] = 7.0
    np.testing.assert_array_equal(array, np.arange(4.0))


@pytest.mark.parametrize(
    "use", [pb.constant, pb.reduce_sum, lambda x: pb.ones([2]) + x, lambda x: pb.add_n([pb.ones([]), x])]
)
def test_none_is_no_tensor(use: Callable[[Any], Any]) -> None:
    with pytest.raises(
        ValueError, match=r"^None is not a tensor \(gradients\(\) gives None for an x that no y depends on\)$"
    ):
        use(None)


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        ([1, 2], "float32", "float32"),
        ([[1.5], [2.5]], "float64", "float64"),
        ((1, 2.5), "complex64", "complex64"),
        (np.array([1.5]), "float32", "float32"),
        (np.int64(3), "float32", "float32"),
        (np.array([1]), "int32", "int32"),
        ([], "int64", "int64"),
        ([[]], "int32", "int32"),
        (3, "float16", "float16"),
        ([1.5], "int32", "float32"),
        (np.array([1.5]), "int32", "float64"),
        ([1j], "float32", "complex128"),
        ([300], "uint8", "int32"),
        (300, "uint8", "int32"),
        ([2**40], "int32", "int64"),
        ([True], "int32", "bool"),
        (["a"], "float32", "object"),
    ],
)
def test_a_dtype_that_is_hinted_at_is_taken_where_the_numbers_can_have_it(value: Any, hint: str, expected: str) -> None:
    tensor = pb.convert_to_tensor(value, dtype_hint=hint)
    assert tensor.dtype == expected
    assert pb.Session(engine="numpy").run(tensor).shape == np.shape(value)
