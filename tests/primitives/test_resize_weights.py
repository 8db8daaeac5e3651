"""Interpolation weights in phases: slices with few steps that hold all numbers of the matrix, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.primitives.image.resize_weights import Method, Phases, bands, phases_of, weights

METHODS = [
    Method("bilinear"),
    Method("bilinear", half_pixel_centers=True),
    Method("bilinear", align_corners=True),
    Method("bicubic", half_pixel_centers=True),
    Method("area"),
    Method("nearest", half_pixel_centers=True),
    Method("lanczos3", antialias=True),
]
LENGTHS = [
    (64, 128),
    (128, 64),
    (64, 96),
    (96, 64),
    (70, 160),
    (64, 65),
    (100, 100),
    (33, 65),
    (256, 64),
    (64, 512),
    (256, 128),
    (1, 40),
]


def matrix_of(phases: Phases, columns: int) -> Any:
    """The matrix that is in phases; nothing but zeros may stand in its border."""
    count = len(phases.numbers)
    wide = np.zeros((count * len(phases.numbers[0]), columns + sum(phases.border)))
    for k, (start, numbers) in enumerate(zip(phases.starts, phases.numbers, strict=True)):
        for i, row in enumerate(numbers):
            begin = start + i * phases.step
            wide[k + i * count, begin : begin + len(row)] = row
    inside = slice(phases.border[0], phases.border[0] + columns)
    assert np.abs(wide).sum() == np.abs(wide[:, inside]).sum()
    return wide[:, inside]


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_phases_are_the_matrix(method: Method, transposed: bool) -> None:
    found = 0
    for n, m in LENGTHS:
        phases = phases_of(method, n, m, transposed)
        matrix = weights(method, n, m).T if transposed else weights(method, n, m)
        if phases is not None:
            found += 1
            np.testing.assert_array_equal(matrix_of(phases, matrix.shape[1]), matrix)
    assert found >= 2


def test_lengths_that_share_no_factor_have_no_phases() -> None:
    assert bands(Method("bilinear"), 64, 127, False) is not None
    assert phases_of(Method("bilinear"), 64, 127, False) is None


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "area", "lanczos3"])
@pytest.mark.parametrize("size", [(128, 96), (32, 48), (80, 33)])
def test_engines_agree_on_images_that_are_resized_and_their_derivatives(method: str, size: tuple[int, int]) -> None:
    pytest.importorskip("jax")
    x = pb.placeholder(pb.float32, [2, 64, 64, 3])
    y = pb.image.resize(x, size, method)
    dx = pb.gradients(pb.square(y), x)[0]
    ddx = pb.gradients(pb.reduce_sum(pb.square(dx)), x)[0]
    at = np.random.default_rng(0).normal(size=[2, 64, 64, 3]).astype(np.float32)
    results = [pb.Session(engine=engine).run([y, dx, ddx], {x: at}) for engine in ("xla", "numpy")]
    for found, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
