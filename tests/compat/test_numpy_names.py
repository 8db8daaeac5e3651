"""Names that NumPy had in the time of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pullback.compat import numpy_names


@pytest.fixture
def old() -> Iterator[Any]:
    before = dict(vars(np))
    numpy_names.restore()
    yield np
    for name in set(vars(np)) - set(before):
        delattr(np, name)
    np.reshape = before["reshape"]


def test_numbers_and_types_have_their_names_again(old: Any) -> None:
    assert (old.NINF, old.PINF, old.Infinity, old.Inf, old.infty) == (-np.inf, np.inf, np.inf, np.inf, np.inf)
    assert np.isnan([old.NAN, old.NaN]).all()
    assert (old.PZERO, np.signbit(old.NZERO)) == (0.0, True)
    assert (old.float, old.int, old.unicode, old.bool8, old.float_) == (float, int, str, np.bool_, np.float64)


def test_functions_have_their_names_again(old: Any) -> None:
    assert old.in1d([[1, 2], [3, 4]], [2, 4]).tolist() == [False, True, False, True]
    assert old.in1d([1, 2], [2], invert=True).tolist() == [True, False]
    assert old.trapz([1.0, 2.0, 3.0]) == 4.0
    assert type(old.asscalar(np.array([3.0]))) is float
    assert [old.asfarray(x).dtype for x in ([1], np.float32([1]))] == [np.float64, np.float64]
    assert old.asfarray([1], np.float32).dtype == np.float32
    assert old.asfarray([1], np.int32).dtype == np.float64
    assert old.msort(np.array([[3, 1], [2, 4]])).tolist() == [[2, 1], [3, 4]]
    assert old.mat([[1, 2], [3, 4]]).shape == (2, 2)
    assert (old.product([2, 3]), old.cumproduct([2, 3]).tolist(), old.round_(2.6), old.rank([[1]])) == (6, [2, 6], 3, 2)


def test_what_numpy_has_stays(old: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old, "trapz", len)
    numpy_names.restore()
    assert old.trapz is len
