"""Convolutions and pooling: messages, static types, ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

nn = pb.nn


def message_of(error: type[Exception], build: Callable[[], Any]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value).split("\n")[0]


def images(*shape: int | None, dtype: Any = pb.float32) -> pb.Tensor:
    return pb.placeholder(dtype, shape)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 2, 8), 1, "SAME"),
            "conv2d: 3 channels are no multiple of the 2 that the filters float32[3,3,2,8] take",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 6), images(3, 3, 2, 8), 1, "SAME"),
            "conv2d: the 8 filters of float32[3,3,2,8] do not divide into 3 groups",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(5, 5, 3, 8), 1, "VALID"),
            "conv2d: a window of [5, 5] does not fit into float32[1,4,4,3]",
        ),
        (
            lambda: nn.conv2d(images(4, 4, 3), images(3, 3, 3, 8), 1, "SAME"),
            "conv2d: the input must have 4 axes, NHWC, not float32[4,4,3]",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3), 1, "SAME"),
            "conv2d: the filters must have 4 axes, not float32[3,3,3]",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3, 8), 1, "FULL"),
            "conv2d: padding must be SAME, VALID or a list of pairs, not 'FULL'",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3, 8), [2, 1, 1, 1], "SAME"),
            "conv2d: strides must be 1 along batch and channels, not [2, 1, 1, 1]",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3, 8), 0, "SAME"),
            "conv2d: strides must be positive, not 0",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3, 8), 1, "SAME", data_format="HWCN"),
            "conv2d: data_format must be NHWC or NCHW, not 'HWCN'",
        ),
        (
            lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3, 8), 1, [[1, 1], [0, 0], [0, 0], [0, 0]]),
            "conv2d: batch and channels cannot be padded: [[1, 1], [0, 0], [0, 0], [0, 0]]",
        ),
        (
            lambda: nn.conv2d_transpose(images(1, 4, 4, 3), images(3, 3, 2, 3), [1, 9, 8, 2], 2),
            "conv2d_transpose: images float32[1,9,8,2] would give float32[1,5,4,3], not float32[1,4,4,3]",
        ),
        (
            lambda: nn.depthwise_conv2d_backprop_filter(
                images(1, 4, 4, 3), [3, 3, 3, 2], images(1, 4, 4, 5), [1, 1, 1, 1], "SAME"
            ),
            "depthwise_conv2d_backprop_filter: filters float32[3,3,3,2] on images float32[1,4,4,3] would give"
            " float32[1,4,4,6], not float32[1,4,4,5]",
        ),
        (
            lambda: nn.depthwise_conv2d(images(1, 4, 4, 3), images(3, 3, 2, 1), 1, "SAME"),
            "depthwise_conv2d: the filters float32[3,3,2,1] are for 2 channels, not for 3",
        ),
        (
            lambda: nn.separable_conv2d(images(1, 4, 4, 3), images(3, 3, 3, 1), images(2, 1, 3, 1), 1, "SAME"),
            "separable_conv2d: pointwise_filter must be [1,1,c,count], not float32[2,1,3,1]",
        ),
        (
            lambda: nn.max_pool2d(images(1, 4, 4, 3), 2, 2, [[0, 0], [2, 0], [0, 0], [0, 0]]),
            "max_pool2d: a padding of [[0, 0], [2, 0], [0, 0], [0, 0]] is not smaller than the window [2, 2]",
        ),
        (
            lambda: nn.avg_pool2d(images(1, 4, 4, 3), 2, 2, [[0, 0], [1, 0], [0, 0], [0, 0]]),
            "avg_pool2d: padding must be SAME or VALID, not [[0, 0], [1, 0], [0, 0], [0, 0]]",
        ),
        *[
            (build, f"{what}: a window of [0, 3] has no elements; its lengths must be 1 or more")
            for what, build in (
                ("conv2d", lambda: nn.conv2d(images(1, 4, 4, 2), images(0, 3, 2, 2), 1, "SAME")),
                ("depthwise_conv2d", lambda: nn.depthwise_conv2d(images(1, 4, 4, 2), images(0, 3, 2, 2), 1, "SAME")),
                ("dilation2d", lambda: nn.dilation2d(images(1, 4, 4, 2), images(0, 3, 2), 1, "SAME")),
            )
        ],
    ],
)
def test_messages(build: Callable[[], Any], expected: str) -> None:
    assert message_of(ValueError, build) == expected


def test_dtypes_must_be_one() -> None:
    text = message_of(TypeError, lambda: nn.conv2d(images(1, 4, 4, 3), images(3, 3, 3, 8, dtype=pb.float64), 1, "SAME"))
    expected = "input and filters must be real numbers of one dtype, not float32[1,4,4,3] and float64[3,3,3,8]"
    assert text == f"conv2d: {expected}"


def test_strides_can_be_given_in_three_ways() -> None:
    x, f = images(1, 9, 9, 3), images(3, 3, 3, 8)
    shapes = {tuple(nn.conv2d(x, f, strides, "SAME").shape) for strides in (2, [2], [2, 2], [1, 2, 2, 1])}
    assert shapes == {(1, 5, 5, 8)}


def test_unknown_lengths_stay_unknown() -> None:
    y = nn.conv2d(images(None, None, 9, 3), images(3, 3, 3, 8), 2, "VALID")
    assert y.shape == [None, None, 4, 8]
    assert nn.max_pool2d(pb.placeholder(pb.float32), 2, 2, "SAME").shape == [None, None, None, None]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("k", "s"), [(2, 2), (2, 1)])
def test_max_pool_gradient_goes_to_the_first_of_equal_elements(engine: str, k: int, s: int) -> None:
    x = pb.constant(np.ones((1, 2, 2, 1), np.float32))
    (dx,) = pb.gradients(nn.max_pool2d(x, k, s, "VALID"), x)
    np.testing.assert_array_equal(pb.Session(engine=engine).run(dx)[0, :, :, 0], [[1, 0], [0, 0]])


@pytest.mark.parametrize(("k", "s", "n", "window", "count"), [(2, 2, 8, 3, 2), (2, 2, 28, 5, 4), (3, 2, 28, 5, 4)])
def test_largest_elements_are_found_where_xla_computes_them_again(
    k: int, s: int, n: int, window: int, count: int
) -> None:
    """A convolution of one channel is a sum that XLA works into what reads it, and rounds each time as it comes."""
    random = np.random.default_rng(0)
    x, f = images(1, n, n, 1), images(window, window, 1, count)
    y = nn.conv2d(x, f, 1, "SAME")
    largest = nn.max_pool2d(y, k, s, "SAME")
    dilated = nn.dilation2d(y, pb.zeros([k, k, count]), [1, s, s, 1], "SAME", "NHWC", [1, 1, 1, 1])
    slopes = [pb.gradients(pb.reduce_sum(z * z), f)[0] for z in (largest, dilated)]
    (dx,) = pb.gradients(largest, y)
    (picked,) = pb.gradients(pb.gradients(largest * largest, y)[0], f)
    feeds = {p: random.normal(size=p.shape.as_list()).astype(np.float32) for p in (x, f)}
    expected, found = (pb.Session(engine=engine).run([slopes, picked, dx], feeds) for engine in ("numpy", "xla"))
    for a, b in zip(pb.nest.flatten(expected), pb.nest.flatten(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.abs(a).max())


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("k", "s"), [(2, 2), (2, 1), (3, 2)])
def test_max_pool_gradient_goes_to_the_first_nan_of_a_window_that_has_one(engine: str, k: int, s: int) -> None:
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    image[0, 1, 1:3] = np.nan
    x = pb.constant(image)
    y = nn.max_pool2d(x, k, s, "VALID")
    dy = pb.placeholder(pb.float32, y.shape)
    (dx,) = pb.gradients(y, x, dy)
    (picked,) = pb.gradients(dx, dy, x)
    weights = 1 + np.arange(np.prod(y.shape.as_list()), dtype=np.float32).reshape(y.shape.as_list())
    pooled, slopes, elements = pb.Session(engine=engine).run([y, dx, picked], {dy: weights})
    np.testing.assert_array_equal(elements, pooled)
    assert slopes.sum() == weights.sum()
    assert slopes[np.isnan(image)].sum() == weights[np.isnan(pooled)].sum()


def test_average_counts_only_elements_inside() -> None:
    y = nn.avg_pool2d(np.ones((1, 3, 3, 1), np.float32), 2, 2, "SAME")
    np.testing.assert_array_equal(pb.Session().run(y), np.ones((1, 2, 2, 1)))


def test_an_output_shape_may_be_computed_in_the_run() -> None:
    x, f = images(None, 4, 4, 3), images(3, 3, 2, 3)
    shape = pb.stack([pb.shape(x)[0], 8, 8, 2])
    y = nn.conv2d_transpose(x, f, shape, 2)
    feeds = {x: np.ones((2, 4, 4, 3), np.float32), f: np.ones((3, 3, 2, 3), np.float32)}
    for engine in ("numpy", "xla"):
        assert pb.Session(engine=engine).run(y, feeds).shape == (2, 8, 8, 2)


@pytest.mark.parametrize("channels", [2, 20])
@pytest.mark.parametrize("convolve", [nn.conv2d, nn.depthwise_conv2d])
def test_large_batches_give_what_their_images_give(convolve: Callable[..., pb.Tensor], channels: int) -> None:
    random = np.random.default_rng(0)
    batch = random.normal(size=(7, 96, 64, channels))
    filters = random.normal(size=(3, 3, channels, 2))
    with pb.Graph().as_default():
        x, f = images(None, 96, 64, channels, dtype=pb.float64), pb.constant(filters)
        y = convolve(x, f, [1, 2, 2, 1], "SAME")
        dx, df = pb.gradients(pb.reduce_sum(pb.sin(y)), [x, f])
        run = pb.Session(engine="numpy").make_callable([y, dx, df], [x])
    each = [run(batch[i : i + 1]) for i in range(len(batch))]
    ys, dxs, dfs = [list(values) for values in zip(*each, strict=True)]
    for whole, parts in zip(run(batch), [np.concatenate(ys), np.concatenate(dxs), sum(dfs)], strict=True):
        np.testing.assert_allclose(whole, parts, rtol=1e-10, atol=1e-10)
