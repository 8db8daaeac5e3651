"""Max pools behind rectifiers on XLA: the mask of the rectifier's derivative is laid on the pool's cotangent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.engines.plan import make_plan
from pullback.engines.xla.pooling.rectified import RectifiedPools

RANDOM = np.random.default_rng(0)
WINDOWS = {
    "tiles": (2, 2, "VALID"),
    "overlapping": (3, 2, "SAME"),
    "every place": (2, 1, "SAME"),
    "gaps": (1, 2, "VALID"),
    "large": (7, 7, "SAME"),
}


def loss(y: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(pb.sin(y * 1.3) * y)


def is_masked_early(fetches: list[Any], x: pb.Tensor) -> bool:
    return bool(RectifiedPools(make_plan(fetches, [], [x]))._slots)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", ["random", "ties", "infinite", "below zero"])
def test_derivatives_are_those_of_numpy(window: str, kind: str) -> None:
    value = RANDOM.standard_normal((2, 8, 9, 3))
    if kind == "ties":
        value = np.round(value)
    elif kind == "infinite":
        value[:, ::3, ::2] = np.nan
        value[:, 1::3, ::4] = np.inf
    elif kind == "below zero":
        value = -np.abs(value)
    x = pb.placeholder(pb.float64, value.shape)
    size, stride, padding = WINDOWS[window]
    (dx,) = pb.gradients(loss(pb.nn.max_pool2d(pb.nn.relu(x), size, stride, padding)), x)
    (ddx,) = pb.gradients(pb.reduce_sum(dx * dx), x)
    assert is_masked_early([dx], x)
    found, expected = (pb.Session(engine=engine).run([dx, ddx], {x: value}) for engine in ("xla", "numpy"))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_only_what_nothing_else_reads_is_masked_early() -> None:
    x = pb.placeholder(pb.float32, [1, 4, 4, 1])
    h = pb.nn.relu(x)
    y = pb.nn.max_pool2d(h, 2, 2, "VALID")
    dx, dh = pb.gradients(loss(y), [x, h])
    assert is_masked_early([dx], x)
    assert not is_masked_early([dx, dh], x)
    (twice,) = pb.gradients(loss(y) + loss(h), x)
    assert not is_masked_early([twice], x)
    (mean,) = pb.gradients(loss(pb.nn.avg_pool2d(h, 2, 2, "VALID")), x)
    assert not is_masked_early([mean], x)
    value = np.linspace(-1.0, 1.0, 16, dtype=np.float32).reshape(x.shape.known)
    results = [pb.Session(engine=engine).run([dx, dh, twice, mean], {x: value}) for engine in ("xla", "numpy")]
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
