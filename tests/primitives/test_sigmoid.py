"""The sigmoid near 0 and 1, where the logarithm of what it lacks of 1 sees its last place."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import pullback as pb

ENGINES = [
    "numpy",
    pytest.param("xla", marks=pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [pb.float32, pb.float64])
def test_it_is_right_to_the_last_place_near_one(engine: str, dtype: np.dtype[np.floating]) -> None:
    x = np.linspace(8.0, 17.0, 200).astype(dtype)
    y = pb.Session(engine=engine).run(pb.sigmoid(x))
    exact = 1 - 1 / (1 + np.exp(x.astype(np.longdouble)))
    assert np.abs((y - exact) / np.spacing(y)).max() < 0.51


def test_it_underflows_and_saturates_without_a_warning() -> None:
    x = np.array([-np.inf, -200.0, -90.0, 0.0, 200.0, np.inf, np.nan], np.float32)
    with np.errstate(over="raise", invalid="raise"):
        y = pb.Session(engine="numpy").run(pb.sigmoid(x))
    np.testing.assert_allclose(y, [0.0, 0.0, 8.19401e-40, 0.5, 1.0, 1.0, np.nan], rtol=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_logarithms_of_what_it_lacks_of_one_are_those_of_its_exact_value(engine: str) -> None:
    """As the losses of DRAW and other autoencoders have it: log(1 - sigmoid(x) + 1e-8)."""
    x = np.linspace(-20.0, 15.9, 400).astype(np.float32)
    found = pb.Session(engine=engine).run(pb.reduce_sum(pb.log(1.0 - pb.sigmoid(x) + 1e-8)))
    rest = (1.0 - (1.0 / (1.0 + np.exp(-x.astype(float)))).astype(np.float32)).astype(np.float32)
    np.testing.assert_allclose(found, np.log(rest + np.float32(1e-8)).sum(dtype=float), rtol=1e-6)
