"""Derivatives of convolutions, pooling and resizing, each alone, beside jax's: by all inputs, for a given cotangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

Array = np.ndarray[Any, Any]


class Windows(NamedTuple):
    """What is differentiated, by both peers, for inputs of `shapes`."""

    title: str
    shapes: Sequence[Sequence[int]]
    pullback: Callable[..., Any]
    jax: Callable[..., Any]


def _data(shapes: Sequence[Sequence[int]]) -> list[Array]:
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def _with_pullback(arrays: list[Array], windows: Windows) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        xs = [pb.placeholder(pb.float32, array.shape) for array in arrays]
        y = windows.pullback(pb, *xs)
        dy = pb.placeholder(pb.float32, y.shape)
        dxs = pb.gradients(y, xs, grad_ys=dy)
        total = pb.add_n([pb.reduce_sum(pb.abs(dx)) for dx in dxs])
        step = pb.Session(engine="xla").make_callable(total, [*xs, dy])
    cotangent = _data([y.shape.known])[0]
    return lambda: step(*arrays, cotangent)


def _with_jax(arrays: list[Array], windows: Windows) -> Step:
    import jax
    import jax.numpy as jnp

    def total(dy: Any, *xs: Any) -> Any:
        _, pull = jax.vjp(partial(windows.jax, jax), *xs)
        return sum(jnp.abs(dx).sum() for dx in pull(dy))

    cotangent = _data([jax.eval_shape(partial(windows.jax, jax), *arrays).shape])[0]
    step = jax.jit(total)
    return lambda: step(cotangent, *arrays).block_until_ready()


def _jax_convolution(jax: Any, x: Any, f: Any, stride: int, groups: int = 1) -> Any:
    count = x.ndim - 2
    images, filters = f"N{'DHW'[-count:]}C", f"{'DHW'[-count:]}IO"
    return jax.lax.conv_general_dilated(
        x, f, (stride,) * count, "SAME", dimension_numbers=(images, filters, images), feature_group_count=groups
    )


def _jax_depthwise(jax: Any, x: Any, f: Any) -> Any:
    height, width, channels, multiplier = f.shape
    return _jax_convolution(jax, x, f.reshape(height, width, 1, channels * multiplier), 1, channels)


def _jax_pool(jax: Any, x: Any, size: int, stride: int, kind: str) -> Any:
    """In windows without padding, so that the mean is the sum divided by one number."""
    count = x.ndim - 2
    first, add = (-np.inf, jax.lax.max) if kind == "max" else (0.0, jax.lax.add)
    window, strides = (1, *[size] * count, 1), (1, *[stride] * count, 1)
    y = jax.lax.reduce_window(x, first, add, window, strides, "VALID")
    return y if kind == "max" else y / size**count


def _pools(kind: str) -> list[Windows]:
    def pool(pb: Any, x: Any, size: int, stride: int) -> Any:
        return pb.nn.pool(x, [size] * (x.shape.rank - 2), kind.upper(), stride, "VALID")

    shapes = [
        *[((16, 28, 28, 64), size, stride) for size, stride in [(2, 2), (3, 2), (3, 1)]],
        ((2, 16, 16, 16, 32), 2, 2),
        ((64, 54, 64), 54, 1),
        *[((4, 64, 64, 8), size, stride) for size, stride in [(32, 32), (16, 4)]],
    ]
    return [
        Windows(
            f"{kind}_{len(shape) - 2}d_{size}_by_{stride}",
            [shape],
            partial(pool, size=size, stride=stride),
            partial(_jax_pool, size=size, stride=stride, kind=kind),
        )
        for shape, size, stride in shapes
    ]


def _convolutions() -> list[Windows]:
    def convolve(pb: Any, x: Any, f: Any, stride: int) -> Any:
        return pb.nn.convolution(x, f, stride, "SAME")

    shapes = {
        "conv2d_3": ((16, 28, 28, 32), (3, 3, 32, 32), 1),
        "conv2d_3_by_2": ((16, 28, 28, 64), (3, 3, 64, 64), 2),
        "conv2d_5_of_3": ((16, 32, 32, 3), (5, 5, 3, 32), 1),
        "conv2d_1": ((16, 28, 28, 64), (1, 1, 64, 128), 1),
        "conv2d_9_of_8": ((16, 8, 8, 64), (9, 9, 64, 32), 1),
        "conv2d_3_of_2": ((32, 2, 2, 256), (3, 3, 256, 256), 1),
        "conv2d_3_to_3": ((8, 32, 32, 64), (3, 3, 64, 3), 1),
        "conv2d_5_of_3_by_2": ((8, 64, 64, 3), (5, 5, 3, 64), 2),
        "conv1d_5": ((16, 256, 32), (5, 32, 64), 1),
        "conv3d_3": ((2, 12, 12, 12, 16), (3, 3, 3, 16, 32), 1),
        "conv3d_3_by_2": ((2, 16, 16, 16, 8), (3, 3, 3, 8, 16), 2),
    }
    return [
        Windows(title, [x, f], partial(convolve, stride=stride), partial(_jax_convolution, stride=stride))
        for title, (x, f, stride) in shapes.items()
    ]


def _jax_patches(jax: Any, x: Any, size: int, stride: int) -> Any:
    layouts = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated_patches(x, (size, size), (stride, stride), "VALID", dimension_numbers=layouts)


def _patches(pb: Any, x: Any, size: int, stride: int) -> Any:
    """In jax's order: all places of a channel side by side."""
    y = pb.image.extract_patches(x, [1, size, size, 1], [1, stride, stride, 1], [1, 1, 1, 1], "VALID")
    apart = pb.reshape(y, [*y.shape[:3], size * size, x.shape[3]])
    return pb.reshape(pb.transpose(apart, [0, 1, 2, 4, 3]), y.shape)


def _resizes() -> list[Windows]:
    def resize(pb: Any, x: Any, size: int, method: str) -> Any:
        return pb.image.resize(x, [size, size], method)

    def in_jax(jax: Any, x: Any, size: int, method: str) -> Any:
        return jax.image.resize(x, (x.shape[0], size, size, x.shape[3]), method, antialias=False)

    return [
        Windows(
            f"resize_{method}_{size}",
            [(8, 56, 56, 16)],
            partial(resize, size=size, method=method),
            partial(in_jax, size=size, method=method),
        )
        for method, size in [("bilinear", 112), ("bilinear", 40), ("nearest", 112), ("lanczos3", 84)]
    ]


_ALL = [
    *_convolutions(),
    Windows(
        "depthwise_3",
        [(8, 28, 28, 64), (3, 3, 64, 1)],
        lambda pb, x, f: pb.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"),
        _jax_depthwise,
    ),
    *_pools("max"),
    *_pools("avg"),
    *[
        Windows(
            f"patches_{size}_by_{stride}",
            [(8, 64, 64, 3)],
            partial(_patches, size=size, stride=stride),
            partial(_jax_patches, size=size, stride=stride),
        )
        for size, stride in [(16, 16), (8, 4)]
    ],
    *_resizes(),
]


WORKLOADS = [
    Workload(
        name=f"windows-{windows.title}",
        title=f"derivative of {windows.title.replace('_', ' ')}, inputs {' and '.join(map(str, windows.shapes))}",
        data=partial(_data, windows.shapes),
        peers={"pullback": partial(_with_pullback, windows=windows), "jax": partial(_with_jax, windows=windows)},
    )
    for windows in _ALL
]
