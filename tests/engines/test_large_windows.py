"""Pools and patches of large windows on XLA: NumPy's numbers, in programs whose length does not follow the window's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

POOLS: dict[str, tuple[list[int], dict[str, Any]]] = {
    "side by side": ([2, 24, 16, 3], {"window_shape": [12, 8], "strides": [12, 8], "padding": "VALID"}),
    "side by side, of twenty": ([2, 12, 15, 3], {"window_shape": [4, 5], "strides": [4, 5], "padding": "VALID"}),
    "whole images": ([2, 11, 9, 3], {"window_shape": [11, 9], "strides": 1, "padding": "VALID"}),
    "whole sentences": ([3, 60, 1, 4], {"window_shape": [60, 1], "strides": 1, "padding": "VALID"}),
    "overlapping": ([2, 20, 17, 3], {"window_shape": [9, 8], "strides": [2, 3], "padding": "VALID"}),
    "with a border": ([2, 12, 13, 2], {"window_shape": [8, 9], "strides": [3, 1], "padding": "SAME"}),
    "explicit border": (
        [1, 12, 13, 2],
        {"window_shape": [8, 9], "strides": 2, "padding": [[0, 0], [2, 1], [3, 3], [0, 0]]},
    ),
    "with holes": ([1, 25, 23, 2], {"window_shape": [8, 7], "strides": 1, "dilations": [2, 3], "padding": "VALID"}),
    "no image": ([0, 20, 30, 3], {"window_shape": [8, 9], "strides": 2, "padding": "VALID"}),
    "one long axis": ([2, 130, 3], {"window_shape": [64], "strides": [7], "padding": "SAME"}),
    "volumes": ([1, 6, 7, 8, 2], {"window_shape": [4, 4, 4], "strides": [2, 1, 3], "padding": "VALID"}),
    "gaps": ([1, 200, 3], {"window_shape": [60], "strides": [70], "padding": "VALID"}),
    "channels first": (
        [2, 3, 18, 17],
        {"window_shape": [8, 8], "strides": 2, "padding": "SAME", "data_format": "NCHW"},
    ),
    "channels first, side by side": (
        [2, 3, 16, 16],
        {"window_shape": [8, 8], "strides": 8, "padding": "VALID", "data_format": "NCHW"},
    ),
}

OFTEN = (
    "side by side",
    "side by side, of twenty",
    "whole images",
    "overlapping",
    "with a border",
    "with holes",
    "one long axis",
)
"""Those of the quick tests."""


def numbers(shape: list[int]) -> Any:
    """Few different numbers, so that largest ones are equal, with NaN and infinities among them."""
    found = np.random.default_rng(3).integers(-3, 4, shape).astype(np.float32)
    if found.size:
        found.flat[[5, -3]] = np.nan
        found.flat[[1, 8]] = np.inf
        found[0, 0] = -np.inf
    return found


def waves(shape: Sequence[int]) -> Any:
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


def both(fetches: Any, feeds: Any) -> list[Any]:
    return [pb.Session(engine=engine).run(fetches, feeds) for engine in ("numpy", "xla")]


@pytest.mark.parametrize(
    "name", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in POOLS]
)
@pytest.mark.parametrize("kind", ["MAX", "AVG"])
def test_large_windows_have_the_numbers_of_numpy(name: str, kind: str) -> None:
    shape, arguments = POOLS[name]
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, shape)
        y = pb.nn.pool(x, pooling_type=kind, **arguments)
        dy = pb.constant(waves(y.shape.known))
        (dx,) = pb.gradients(y, x, dy)
        (ddy,) = pb.gradients(pb.reduce_sum(dx * x), dy)
        value = numbers(shape) if kind == "MAX" else waves(shape)
        finite = np.where(np.isfinite(value), value, 9)
        for found, wanted in zip(*both([y, dx], {x: value}), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        for found, wanted in zip(*both([dx, ddy], {x: finite}), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [pb.int32, pb.float16, pb.bfloat16])
@pytest.mark.parametrize("name", ["side by side", "overlapping"])
def test_large_windows_of_small_dtypes(name: str, dtype: Any) -> None:
    shape, arguments = POOLS[name]
    with pb.Graph().as_default():
        x = pb.placeholder(dtype, shape)
        y = pb.nn.pool(x, pooling_type="MAX", **arguments)
        fetches = [y] if dtype == pb.int32 else [y, *pb.gradients(y, x)]
        value = np.random.default_rng(4).integers(-50, 50, shape).astype(dtype)
        for found, wanted in zip(*both(fetches, {x: value}), strict=True):
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize("name", ["side by side", "whole images", "overlapping", "with a border"])
def test_places_of_largest_elements(name: str) -> None:
    shape, arguments = POOLS[name]
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, shape)
        strides = arguments["strides"]
        y, places = pb.nn.max_pool_with_argmax(x, arguments["window_shape"], strides, arguments["padding"])
        value = np.random.default_rng(5).integers(0, 5, shape).astype(np.float32)
        for found, wanted in zip(*both([y, places], {x: value}), strict=True):
            assert np.array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize("stride", [1, 40])
def test_the_length_of_a_program_does_not_follow_the_windows(kind: str, stride: int) -> None:
    def lines(window: int) -> int:
        with pb.Graph().as_default():
            x = pb.placeholder(pb.float32, [1, 80, 80, 1])
            y = pb.nn.pool(x, [window, window], kind, min(stride, window), "VALID")
            return len(pb.xla.to_stablehlo(pb.gradients(y, x), [x], platform="cpu").mlir_module().splitlines())

    assert lines(40) < lines(20) + 400


PATCHES: dict[str, tuple[list[int], list[int], list[int], list[int], str]] = {
    "side by side": ([2, 16, 27, 3], [8, 9], [8, 9], [1, 1], "VALID"),
    "side by side, with a rest": ([2, 19, 28, 3], [8, 9], [8, 9], [1, 1], "VALID"),
    "side by side, with a border": ([2, 19, 28, 3], [8, 9], [8, 9], [1, 1], "SAME"),
    "overlapping": ([2, 17, 20, 3], [8, 9], [3, 2], [1, 1], "VALID"),
    "overlapping, with a border": ([2, 17, 20, 3], [8, 9], [3, 2], [1, 1], "SAME"),
    "with holes": ([1, 30, 31, 2], [8, 8], [8, 3], [2, 3], "VALID"),
    "volumes": ([1, 8, 9, 6, 2], [4, 4, 4], [4, 2, 1], [1, 1, 1], "SAME"),
}


@pytest.mark.parametrize("name", PATCHES)
def test_large_patches_have_the_numbers_of_numpy(name: str) -> None:
    shape, sizes, strides, rates, padding = PATCHES[name]
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, shape)
        if len(sizes) == 2:
            y = pb.image.extract_patches(x, [1, *sizes, 1], [1, *strides, 1], [1, *rates, 1], padding)
        else:
            y = pb.extract_volume_patches(x, [1, *sizes, 1], [1, *strides, 1], padding)
        (dx,) = pb.gradients(y, x, pb.constant(waves(y.shape.known)))
        (found, back), (wanted, wanted_back) = reversed(both([y, dx], {x: waves(shape)}))
        assert np.array_equal(found, wanted)
        np.testing.assert_allclose(back, wanted_back, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize(
    ("strides", "rates", "padding"), [(1, 1, "SAME"), (2, 1, "VALID"), (3, 2, "SAME"), (4, 1, "VALID")]
)
def test_large_structuring_functions_have_the_numbers_of_numpy(
    dtype: Any, strides: int, rates: int, padding: str
) -> None:
    random = np.random.default_rng(6)
    with pb.Graph().as_default():
        x, f = pb.placeholder(dtype, [2, 18, 17, 3]), pb.placeholder(dtype, [8, 7, 3])
        y = pb.nn.dilation2d(x, f, [1, strides, strides, 1], padding, "NHWC", [1, rates, rates, 1])
        fetches = [y]
        if dtype == np.float32:
            dy = pb.constant(waves(y.shape.known))
            first = pb.gradients(y, [x, f], dy)
            fetches += [*first, *pb.gradients(pb.reduce_sum(first[0] * x), dy)]
            fetches += pb.gradients(pb.reduce_sum(first[1] * f), dy)
        feeds = {z: random.integers(-4, 5, z.shape.known).astype(dtype) for z in (x, f)}
        for found, wanted in zip(*both(fetches, feeds), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_the_length_of_a_program_does_not_follow_the_patches() -> None:
    def lines(size: int) -> int:
        with pb.Graph().as_default():
            x = pb.placeholder(pb.float32, [1, 80, 80, 1])
            y = pb.image.extract_patches(x, [1, size, size, 1], [1, 5, 5, 1], [1, 1, 1, 1], "VALID")
            return len(pb.xla.to_stablehlo(pb.gradients(y * y, x), [x], platform="cpu").mlir_module().splitlines())

    assert lines(40) < lines(20) + 100
