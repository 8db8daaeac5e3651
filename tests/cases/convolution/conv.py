"""Rows: convolutions, dense, transposed, depthwise, separable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, normal


def correlate(
    x: np.ndarray[Any, Any], f: np.ndarray[Any, Any], strides: Sequence[int], pads: Any, dilations: Sequence[int]
) -> np.ndarray[Any, Any]:
    """The convolution by its definition, one result at a time; NHWC, groups by the filters' depth."""
    kh, kw, depth, count = f.shape
    groups = x.shape[-1] // depth
    x = np.pad(x, ((0, 0), *pads, (0, 0)))
    h = (x.shape[1] - (kh - 1) * dilations[0] - 1) // strides[0] + 1
    w = (x.shape[2] - (kw - 1) * dilations[1] - 1) // strides[1] + 1
    y = np.zeros((x.shape[0], h, w, count), x.dtype)
    for i, j, k, m in product(range(h), range(w), range(kh), range(kw)):
        pixel = x[:, i * strides[0] + k * dilations[0], j * strides[1] + m * dilations[1]]
        for g in range(groups):
            part = slice(g * count // groups, (g + 1) * count // groups)
            y[:, i, j, part] += pixel[:, g * depth : (g + 1) * depth] @ f[k, m, :, part]
    return y


def _same(n: int, k: int, s: int, d: int) -> tuple[int, int]:
    total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
    return total // 2, total - total // 2


def _conv2d(
    name: str,
    x: tuple[int, ...],
    f: tuple[int, ...],
    strides: tuple[int, int] = (1, 1),
    padding: Any = "SAME",
    dilations: tuple[int, int] = (1, 1),
    channels_first: bool = False,
) -> Case:
    pads = [(0, 0), (0, 0)]
    if padding == "SAME":
        pads = [_same(n, k, s, d) for n, k, s, d in zip(x[1:3], f[:2], strides, dilations, strict=True)]
    elif padding != "VALID":
        pads = padding[2:] if channels_first else padding[1:3]
    array = normal(*x)
    form = "NCHW" if channels_first else "NHWC"
    first = (lambda a: np.moveaxis(a, -1, 1)) if channels_first else (lambda a: a)
    last = (lambda a: np.moveaxis(a, 1, -1)) if channels_first else (lambda a: a)
    return Case(
        f"conv2d_{name}",
        lambda x, f: pb.nn.conv2d(x, f, strides, padding, data_format=form, dilations=dilations),
        [first(array), normal(*f, seed=1)],
        expected=lambda x, f: first(correlate(last(x), f, strides, pads, dilations)),
    )


def _grid() -> list[Case]:
    cases = []
    for stride, padding, size in product((1, 2, 3), ("SAME", "VALID"), (6, 7)):
        name = f"stride{stride}_{padding.lower()}_{size}"
        cases.append(_conv2d(name, (2, size, size + 1, 3), (3, 2, 3, 4), (stride, stride), padding))
    return cases


def _conv3d(x: np.ndarray[Any, Any], f: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """With strides 2, 1, 2 and SAME padding: the sum over depth of convolutions of planes."""
    x = np.pad(x, ((0, 0), (0, 1), (0, 0), (0, 0), (0, 0)))
    planes = []
    for i in (0, 2):
        pads = [_same(4, 3, 1, 1), _same(5, 3, 2, 1)]
        planes.append(sum(correlate(x[:, i + k], f[k], [1, 2], pads, [1, 1]) for k in range(2)))
    return np.stack(planes, 1)


def _depthwise(name: str, x: tuple[int, ...], f: tuple[int, ...], strides: Any, padding: Any, **options: Any) -> Case:
    return Case(
        f"depthwise_{name}",
        lambda x, f: pb.nn.depthwise_conv2d(x, f, strides, padding, **options),
        [normal(*x), normal(*f, seed=1)],
    )


CASES = [
    *_grid(),
    _conv2d("many_channels", (8, 4, 5, 20), (3, 2, 20, 4)),
    _conv2d("many_channels_stride2", (8, 5, 5, 20), (3, 3, 20, 4), (2, 2)),
    _conv2d("many_channels_dilated", (16, 5, 4, 17), (2, 2, 17, 3), (1, 1), "VALID", (2, 2)),
    _conv2d("one_by_one", (2, 4, 5, 3), (1, 1, 3, 4)),
    _conv2d("one_by_one_stride2", (2, 4, 5, 3), (1, 1, 3, 4), (2, 2)),
    _conv2d("stride_beyond_window", (2, 7, 7, 2), (2, 2, 2, 2), (3, 3)),
    _conv2d("dilated", (2, 7, 8, 2), (3, 2, 2, 3), dilations=(2, 3)),
    _conv2d("dilated_valid_stride2", (1, 9, 9, 2), (3, 2, 2, 3), (2, 2), "VALID", (2, 2)),
    _conv2d("explicit", (2, 5, 6, 2), (3, 3, 2, 3), (2, 1), [(0, 0), (2, 1), (0, 3), (0, 0)]),
    _conv2d("groups", (2, 5, 5, 4), (3, 3, 2, 6)),
    _conv2d("groups_stride2_valid", (2, 6, 5, 6), (2, 3, 2, 3), (2, 2), "VALID"),
    _conv2d("channels_first", (2, 5, 6, 3), (3, 3, 3, 4), channels_first=True),
    _conv2d("channels_first_groups", (2, 5, 6, 4), (3, 3, 2, 4), (2, 2), channels_first=True),
    _conv2d(
        "channels_first_explicit", (2, 5, 5, 2), (3, 3, 2, 2), (1, 1), [(0, 0), (0, 0), (1, 1), (2, 0)], (1, 1), True
    ),
    _conv2d("many_images", (34, 4, 3, 2), (3, 2, 2, 3), (2, 1)),
    _conv2d("one_channel", (2, 5, 6, 1), (3, 3, 1, 4), (2, 1)),
    _conv2d("one_channel_one_filter_dilated", (2, 7, 8, 1), (3, 2, 1, 1), (2, 2), "VALID", (2, 3)),
    _conv2d("one_channel_first", (2, 5, 6, 1), (2, 3, 1, 2), padding="VALID", channels_first=True),
    _conv2d("one_channel_no_filters", (2, 4, 4, 1), (3, 3, 1, 0)),
    _conv2d("one_channel_no_pixels", (2, 0, 4, 1), (3, 3, 1, 2)),
    _conv2d("no_images", (0, 4, 4, 2), (3, 3, 2, 3)),
    _conv2d("no_pixels", (2, 0, 4, 2), (3, 3, 2, 3)),
    _conv2d("no_filters", (2, 4, 4, 2), (3, 3, 2, 0)),
    _conv2d("no_filters_of_many_channels", (1, 4, 4, 20), (3, 3, 20, 0), (2, 2), "VALID"),
    _conv2d("window_of_the_image", (2, 3, 3, 2), (3, 3, 2, 3), padding="VALID"),
    Case(
        "conv2d_integers",
        lambda x, f: pb.nn.conv2d(x, f, 1, "VALID"),
        [np.arange(9, dtype=np.int32).reshape(1, 3, 3, 1), np.ones((2, 2, 1, 1), np.int32)],
        expected=np.array([8, 12, 20, 24]).reshape(1, 2, 2, 1),
    ),
    Case(
        "conv2d_bfloat16",
        lambda x, f: pb.nn.conv2d(pb.cast(x, pb.bfloat16), pb.cast(f, pb.bfloat16), 1, "VALID"),
        [np.ones((1, 20, 20, 1)), np.ones((18, 18, 1, 1))],
        not_differentiable="differences are lost in bfloat16",
    ),
    Case("conv2d_same_twice", lambda x: pb.nn.conv2d(x, x, 1, "SAME"), [normal(2, 2, 2, 2)], third_order=True),
    Case(
        "conv1d",
        lambda x, f: pb.nn.conv1d(x, f, 2, "SAME"),
        [normal(2, 7, 3), normal(3, 3, 4, seed=1)],
        third_order=True,
    ),
    Case(
        "conv1d_channels_first",
        lambda x, f: pb.nn.conv1d(x, f, 1, "VALID", data_format="NCW", dilations=2),
        [normal(2, 3, 7), normal(3, 3, 4, seed=1)],
    ),
    Case(
        "conv2d_transpose",
        lambda x, f: pb.nn.conv2d_transpose(x, f, [2, 7, 8, 2], 2),
        [normal(2, 4, 4, 3), normal(3, 3, 2, 3, seed=1)],
    ),
    Case(
        "conv2d_transpose_valid",
        lambda x, f: pb.nn.conv2d_transpose(x, f, [2, 8, 9, 2], 2, padding="VALID"),
        [normal(2, 3, 4, 3), normal(3, 3, 2, 3, seed=1)],
    ),
    Case(
        "conv2d_transpose_channels_first",
        lambda x, f: pb.nn.conv2d_transpose(x, f, [2, 2, 4, 4], 1, data_format="NCHW"),
        [normal(2, 3, 4, 4), normal(3, 3, 2, 3, seed=1)],
    ),
    _depthwise("same", (2, 5, 6, 3), (3, 3, 3, 1), [1, 1, 1, 1], "SAME"),
    _depthwise("multiplier", (2, 5, 6, 3), (3, 2, 3, 2), [1, 1, 1, 1], "VALID"),
    _depthwise("stride2", (2, 5, 6, 3), (3, 3, 3, 2), [1, 2, 2, 1], "SAME"),
    _depthwise("stride3_dilated", (1, 9, 8, 2), (3, 2, 2, 1), 3, "VALID", dilations=2),
    _depthwise("channels_first", (2, 3, 5, 6), (3, 3, 3, 2), [1, 1, 2, 2], "SAME", data_format="NCHW"),
    _depthwise("explicit", (2, 4, 4, 2), (3, 3, 2, 1), 1, [(0, 0), (1, 0), (2, 1), (0, 0)]),
    _depthwise("large", (2, 5, 8, 2), (10, 6, 2, 1), 1, "SAME"),
    _depthwise("large_strided", (1, 9, 8, 2), (7, 8, 2, 2), [1, 2, 2, 1], "SAME"),
    _depthwise("large_stride_and_border", (1, 7, 9, 2), (8, 7, 2, 2), [1, 3, 3, 1], [(0, 0), (2, 4), (1, 7), (0, 0)]),
    _depthwise("large_dilated", (1, 17, 9, 1), (8, 7, 1, 2), 1, "VALID", dilations=(2, 1)),
    _depthwise("large_explicit", (1, 5, 6, 2), (8, 7, 2, 1), 1, [(0, 0), (9, 3), (2, 8), (0, 0)]),
    _depthwise("large_row", (1, 2, 60, 1), (1, 53, 1, 1), [1, 1, 1, 1], "VALID"),
    _depthwise("large_channels_first", (2, 2, 5, 6), (7, 9, 2, 1), 1, "SAME", data_format="NCHW"),
    _depthwise("no_images", (0, 4, 4, 2), (3, 3, 2, 1), 1, "SAME"),
    _depthwise("no_filters", (2, 4, 4, 2), (3, 3, 2, 0), 1, "SAME"),
    _depthwise("no_channels", (2, 4, 4, 0), (3, 3, 0, 2), 2, "SAME"),
    Case(
        "separable",
        lambda x, d, p: pb.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "SAME"),
        [normal(2, 4, 4, 2), normal(3, 3, 2, 2, seed=1), normal(1, 1, 4, 3, seed=2)],
        third_order=True,
    ),
    Case(
        "separable_channels_first",
        lambda x, d, p: pb.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "SAME", "NCHW"),
        [normal(2, 2, 4, 5), normal(3, 3, 2, 2, seed=1), normal(1, 1, 4, 3, seed=2)],
    ),
    Case(
        "conv1d_transpose",
        lambda x, f: pb.nn.conv1d_transpose(x, f, [2, 7, 2], 2),
        [normal(2, 4, 3), normal(3, 2, 3, seed=1)],
    ),
    Case(
        "conv3d_same",
        lambda x, f: pb.nn.conv3d(x, f, [1, 2, 1, 2, 1], "SAME"),
        [normal(1, 3, 4, 5, 2), normal(2, 3, 3, 2, 3, seed=1)],
        expected=_conv3d,
        third_order=True,
    ),
    Case(
        "conv3d_one_channel",
        lambda x, f: pb.nn.conv3d(x, f, [1, 1, 2, 1, 1], "SAME"),
        [normal(1, 3, 4, 3, 1), normal(2, 3, 2, 1, 2, seed=1)],
    ),
    Case(
        "conv3d_channels_first_dilated",
        lambda x, f: pb.nn.conv3d(x, f, 1, "VALID", "NCDHW", dilations=[1, 1, 1, 2, 2]),
        [normal(1, 2, 3, 5, 5), normal(2, 3, 3, 2, 2, seed=1)],
    ),
    Case(
        "conv3d_groups",
        lambda x, f: pb.nn.conv3d(x, f, 1, "VALID"),
        [normal(1, 3, 3, 4, 4), normal(2, 2, 2, 2, 4, seed=1)],
    ),
    Case(
        "conv3d_transpose",
        lambda x, f: pb.nn.conv3d_transpose(x, f, [1, 4, 3, 4, 2], 2),
        [normal(1, 2, 2, 2, 3), normal(3, 3, 2, 2, 3, seed=1)],
    ),
    Case(
        "convolution_1d",
        lambda x, f: pb.nn.convolution(x, f),
        [normal(2, 7, 3), normal(3, 3, 4, seed=1)],
        not_erased_rank="the rank says which convolution it is",
    ),
    Case(
        "convolution_2d_dilated",
        lambda x, f: pb.nn.convolution(x, f, padding="SAME", dilations=[1, 2]),
        [normal(1, 5, 6, 2), normal(3, 3, 2, 2, seed=1)],
        not_erased_rank="the rank says which convolution it is",
    ),
    Case(
        "convolution_3d_channels_first",
        lambda x, f: pb.nn.convolution(x, f, 2, "SAME", "NCDHW"),
        [normal(1, 2, 3, 4, 3), normal(2, 2, 2, 2, 2, seed=1)],
    ),
    Case(
        "conv_transpose",
        lambda x, f: pb.nn.conv_transpose(x, f, [1, 5, 6, 2], 2, "SAME", "NHWC"),
        [normal(1, 3, 3, 2), normal(3, 3, 2, 2, seed=1)],
    ),
    Case(
        "atrous",
        lambda x, f: pb.nn.atrous_conv2d(x, f, 2, "SAME"),
        [normal(1, 5, 6, 2), normal(3, 3, 2, 2, seed=1)],
    ),
    Case(
        "atrous_transpose",
        lambda x, f: pb.nn.atrous_conv2d_transpose(x, f, [1, 7, 8, 2], 2, "VALID"),
        [normal(1, 3, 4, 3), normal(3, 3, 2, 3, seed=1)],
    ),
    Case(
        "depthwise_by_input",
        lambda f, dy: pb.nn.depthwise_conv2d_backprop_input([1, 5, 4, 2], f, dy, [1, 2, 2, 1], "SAME"),
        [normal(3, 3, 2, 2), normal(1, 3, 2, 4, seed=1)],
    ),
    Case(
        "depthwise_by_filter",
        lambda x, dy: pb.nn.depthwise_conv2d_backprop_filter(x, [3, 3, 2, 2], dy, [1, 2, 2, 1], "SAME"),
        [normal(1, 5, 4, 2), normal(1, 3, 2, 4, seed=1)],
    ),
]
