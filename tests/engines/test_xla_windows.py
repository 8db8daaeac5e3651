"""Windows on XLA: what only large arrays reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.primitives.convolution.formulations import parts_of


@pytest.mark.parametrize("strides", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_volumes_worked_on_in_parts_give_what_numpy_gives(strides: int) -> None:
    random = np.random.default_rng(0)
    x = pb.constant(random.normal(size=(6, 14, 14, 14, 8)).astype(np.float32))
    f = pb.constant(random.normal(size=(3, 3, 3, 8, 4)).astype(np.float32))
    y = pb.nn.conv3d(x, f, strides, "SAME")
    fetches = [y, *pb.gradients(pb.reduce_sum(pb.square(y)), [x, f])]
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-4, atol=1e-5 * abs(numpy).max())


def test_resizing_far_takes_the_product_with_the_whole_matrix() -> None:
    x = pb.constant(np.random.default_rng(0).normal(size=(1, 40, 50, 2)))
    y = pb.image.resize(x, [3, 70], "lanczos5", antialias=True)
    fetches = [y, *pb.gradients(pb.reduce_sum(pb.square(y)), [x])]
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-9, atol=1e-12)


def test_windows_that_cover_an_axis_give_what_numpy_gives() -> None:
    random, fetches = np.random.default_rng(0), []
    for image, window, strides, padding in [
        ([2, 5, 4, 3], [2, 4, 3, 5], 1, "VALID"),
        ([2, 5, 4, 3], [5, 2, 3, 2], [2, 1], "VALID"),
        ([2, 5, 4, 3], [5, 4, 3, 2], 1, "VALID"),
        ([2, 4, 4, 2], [4, 4, 2, 3], 4, "SAME"),
        ([2, 4, 5, 2], [4, 2, 2, 3], 1, [[0, 0], [0, 0], [1, 0], [0, 0]]),
    ]:
        x, f = [pb.constant(random.normal(size=size)) for size in (image, window)]
        y = pb.nn.conv2d(x, f, strides, padding)
        fetches += [y, *pb.gradients(pb.reduce_sum(pb.square(y)), [x, f])]
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-12, atol=1e-12)


def test_windows_of_more_places_than_results_give_what_numpy_gives() -> None:
    random, fetches = np.random.default_rng(0), []
    for image, window, strides, dilations, padding in [
        ([2, 2, 2, 3], [3, 3, 3, 4], 1, 1, "SAME"),
        ([2, 9, 8, 2], [7, 6, 2, 3], 2, 1, "VALID"),
        ([1, 10, 6, 2], [3, 5, 2, 2], [3, 2], [2, 1], "VALID"),
        ([2, 2, 3, 2], [4, 4, 2, 3], 2, 1, "SAME"),
        ([2, 2, 5, 2], [2, 4, 2, 3], [3, 1], 1, "VALID"),
        ([2, 4, 4, 2], [5, 3, 2, 3], 3, 1, [[0, 0], [3, 1], [0, 2], [0, 0]]),
    ]:
        x, f = [pb.constant(random.normal(size=size)) for size in (image, window)]
        y = pb.nn.conv2d(x, f, strides, padding, dilations=dilations)
        fetches += [y, *pb.gradients(pb.reduce_sum(pb.square(y)), [x, f])]
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "count", "by"),
    [
        ([1, 32, 32, 8], 8, "patches"),
        ([4, 32, 32, 3], 16, "patches"),
        ([1, 32, 32, 8], 32, "convolution"),
        ([1, 14, 14, 128], 32, "patches"),
        ([8, 14, 14, 128], 32, "convolution"),
        ([15, 300, 300, 8], 8, "convolution"),
        ([32, 14, 14, 32], 64, "convolution"),
        ([64, 14, 14, 64], 64, "convolution"),
        ([64, 14, 14, 64], 16, "convolution"),
        ([32, 64, 64, 16], 16, "patches"),
    ],
)
def test_derivatives_by_filters_are_products_of_patches_where_they_are_faster(
    shape: list[int], count: int, by: str
) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, shape)
        f = pb.placeholder(pb.float32, [3, 3, shape[-1], count])
        dy = pb.placeholder(pb.float32, [*shape[:-1], count])
        df = pb.gradients(pb.nn.conv2d(x, f, 1, "SAME"), [f], grad_ys=[dy])[0]
        text = pb.xla.to_stablehlo(df, [x, dy], platform="cpu").mlir_module()
    assert ("stablehlo.convolution(" in text) == (by == "convolution")
    assert ("stablehlo.dot_general" in text) == (by == "patches")


@pytest.mark.parametrize(
    ("batch", "places", "count", "parts"),
    [
        (8, 10_000, 64, 1),
        (64, 46, 64, 1),
        (64, 196, 64, 4),
        (64, 3136, 64, 8),
        (37, 3136, 64, 1),
        (24, 1600, 32, 3),
        (64, 3136, 16, 2),
        (3, 196, 64, 1),
    ],
)
def test_batches_are_cut_into_equal_parts_that_stay_in_the_cache(
    batch: int, places: int, count: int, parts: int
) -> None:
    assert parts_of(batch, places, count) == parts


@pytest.mark.parametrize("rank", [1, 2])
def test_derivatives_by_filters_of_several_parts_give_what_numpy_gives(rank: int) -> None:
    random = np.random.default_rng(0)
    lengths, windows = ([400], [3]) if rank == 1 else ([33, 48], [2, 3])
    x = pb.constant(random.normal(size=(24, *lengths, 3)).astype(np.float32))
    f = pb.constant(random.normal(size=(*windows, 3, 40)).astype(np.float32))
    y = pb.nn.convolution(x, f, 1, "SAME")
    (df,) = pb.gradients(pb.reduce_sum(pb.square(y)), [f])
    fetches = [df, *pb.gradients(pb.reduce_sum(pb.square(df)), [x, f])]
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-3, atol=1e-5 * abs(numpy).max())


@pytest.mark.parametrize("batch", [1, 3, 20, 33])
@pytest.mark.parametrize("strides", [1, 2])
def test_derivatives_by_few_filters_are_those_of_numpy(batch: int, strides: int) -> None:
    random = np.random.default_rng(0)
    x = pb.constant(random.normal(size=(batch, 9, 7, 3)).astype(np.float32))
    f = pb.constant(random.normal(size=(3, 4, 3, 5)).astype(np.float32))
    fetches = pb.gradients(pb.reduce_sum(pb.square(pb.nn.conv2d(x, f, strides, "SAME"))), [x, f])
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-4, atol=1e-5 * abs(numpy).max())


def test_larger_filters_have_derivatives_of_no_more_operations() -> None:
    def operations(*window: int) -> int:
        x = pb.placeholder(pb.float32, [64, 16, 16, 8])
        f = pb.placeholder(pb.float32, [*window, 8, 4])
        y = pb.nn.conv2d(x, f, [2, 1], "SAME", dilations=[1, 1])
        return pb.xla.to_stablehlo(pb.gradients(y, f), [x, f]).mlir_module().count("stablehlo.")

    assert operations(3, 2) == operations(5, 4)


@pytest.mark.parametrize(("strides", "dilations"), [([2, 3], 1), (1, [3, 2])])
def test_derivatives_by_filters_of_large_batches_give_what_numpy_gives(strides: Any, dilations: Any) -> None:
    random = np.random.default_rng(0)
    x, f = pb.constant(random.normal(size=(34, 9, 8, 6))), pb.constant(random.normal(size=(3, 2, 6, 4)))
    y = pb.nn.conv2d(x, f, strides, "SAME", dilations=dilations)
    fetches = pb.gradients(pb.reduce_sum(pb.square(y)), [f])
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "filters", "pads", "strides"),
    [
        ((5, 20, 1, 128), (2, 2, 128, 5), [[2, 0], [1, 1]], 1),
        ((5, 20, 5, 8), (2, 2, 8, 4), [[2, 0], [0, 0]], 1),
        ((2, 8, 8, 3), (3, 3, 3, 3), [[1, 1], [3, 1]], 1),
        ((2, 8, 8, 12), (1, 1, 12, 16), [[5, 1], [0, 3]], 2),
        ((2, 1, 1, 12), (1, 1, 12, 16), [[2, 0], [0, 0]], 4),
        ((2, 8, 8, 6), (2, 2, 3, 8), [[3, 0], [1, 4]], 1),
        ((2, 8, 12), (2, 12, 16), [[4, 1]], 1),
        ((2, 4, 5, 6, 12), (2, 2, 2, 12, 64), [[4, 1], [0, 2], [3, 3]], 1),
    ],
)
def test_windows_may_see_padding_only(shape: Any, filters: Any, pads: Any, strides: int) -> None:
    """XLA's convolution reads other memory where less than nothing is put before what it convolves."""
    random = np.random.default_rng(0)
    x, f = pb.placeholder(pb.float32, shape), pb.placeholder(pb.float32, filters)
    y = pb.nn.convolution(x, f, strides, [[0, 0], *pads, [0, 0]])
    fed = {z: random.normal(size=z.shape.as_list()).astype(np.float32) for z in (x, f)}
    fetches = [y, *pb.gradients(pb.reduce_sum(y * y), [x, f])]
    found, wanted = (pb.Session(engine=engine).run(fetches, fed) for engine in ("xla", "numpy"))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4 * abs(other).max())
