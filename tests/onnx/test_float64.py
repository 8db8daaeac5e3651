"""Float64 in exported models: what onnxruntime would round to float32, and functions far out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("onnxruntime")


def run(f: Callable[[pb.Tensor], pb.Tensor], x: np.ndarray) -> list[np.ndarray]:
    """`f` and its derivative on onnxruntime, and on NumPy."""
    with pb.Graph().as_default():
        fed = pb.placeholder(x.dtype, x.shape)
        y = f(fed * 2.0) / 2.0
        fetches = [y, *pb.gradients(y, fed)]
        found = []
        for engine in ("onnxruntime", "numpy"):
            with pb.Session(engine=engine) as session:
                found.append(np.concatenate(session.run(fetches, {fed: x})))
    return found


@pytest.mark.parametrize("number", [1 + 1e-10, 1 - 3e-8])
@pytest.mark.parametrize("f", [lambda x, c: x * c, lambda x, c: c * x, lambda x, c: x / c, lambda x, c: c / x])
def test_a_factor_near_one_counts(f: Callable[[pb.Tensor, float], pb.Tensor], number: float) -> None:
    found, expected = run(lambda x: f(x, number), np.array([1.0, -3.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("f", [lambda x: x + 1e-60, lambda x: 1e-60 + x, lambda x: x - 1e-60, lambda x: 1e-60 - x])
def test_a_term_too_small_for_float32_counts(f: Callable[[pb.Tensor], pb.Tensor]) -> None:
    found, expected = run(f, np.array([3e-60, -1e-60, 1.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-15)


FAR = np.concatenate([np.linspace(0.1, 40.0, 30), [100.3, 1000.7]])


@pytest.mark.parametrize(
    "f",
    [
        *(pb.math.special.fresnel_cos, pb.math.special.fresnel_sin, pb.math.special.dawsn, pb.math.special.expint),
        *(pb.math.bessel_i0e, pb.math.bessel_i1e, pb.math.special.bessel_k0e, pb.math.special.bessel_j1),
    ],
    ids=lambda f: f.__name__,
)
def test_functions_and_derivatives_are_right_far_out(f: Callable[[pb.Tensor], pb.Tensor]) -> None:
    found, expected = run(f, FAR[FAR < 700] / 2)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
