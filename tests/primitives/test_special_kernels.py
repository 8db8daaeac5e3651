"""The error function and its kin, to the last bits, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as special

import pullback as pb

ENDS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e200, -1e200])


def relative_error(actual: np.ndarray, expected: np.ndarray) -> float:
    return float(np.max(np.abs(actual - expected) / np.abs(expected)))


def run(function, x: np.ndarray, engine: str = "numpy") -> np.ndarray:
    value: np.ndarray = pb.Session(engine=engine).run(function(pb.constant(x)))
    return value


def test_erf_is_right_to_the_last_bits() -> None:
    x = np.concatenate([np.linspace(-6.0, 6.0, 20002), np.geomspace(1e-300, 1.0, 1000)])
    assert relative_error(run(pb.math.erf, x), special.erf(x)) < 1e-15


def test_erfc_is_right_far_out() -> None:
    x = np.linspace(-6.0, 26.0, 20001)
    assert relative_error(run(pb.math.erfc, x), special.erfc(x)) < 1e-13


def test_ndtri_is_right_in_both_tails() -> None:
    p = np.concatenate(
        [np.geomspace(1e-300, 0.1, 5000), np.linspace(0.1, 0.49, 5000), 1 - np.geomspace(1e-12, 0.4, 500)]
    )
    assert relative_error(run(pb.math.ndtri, p), special.ndtri(p)) < 2e-15


def test_erfinv_is_right_near_zero_and_near_one() -> None:
    x = np.concatenate(
        [np.geomspace(1e-300, 0.1, 1000), np.linspace(-0.99, -0.1, 1000), 1 - np.geomspace(1e-12, 0.1, 500)]
    )
    assert relative_error(run(pb.math.erfinv, x), special.erfinv(x)) < 2e-15


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_ends(engine: str) -> None:
    np.testing.assert_array_equal(run(pb.math.erf, ENDS, engine), special.erf(ENDS))
    np.testing.assert_array_equal(run(pb.math.erfc, ENDS, engine), special.erfc(ENDS))
    p = np.array([0.0, 1.0, 0.5, -0.1, 1.1, np.nan])
    np.testing.assert_array_equal(run(pb.math.ndtri, p, engine), special.ndtri(p))
    x = np.array([-1.0, 1.0, 0.0, -1.1, 1.1, np.nan])
    np.testing.assert_array_equal(run(pb.math.erfinv, x, engine), special.erfinv(x))


def test_float32_is_computed_in_float32() -> None:
    x = np.linspace(-4.0, 4.0, 1000, dtype=np.float32)
    value = run(pb.math.erf, x)
    assert value.dtype == np.float32
    assert relative_error(value, special.erf(x.astype(np.float64))) < 1e-6
