"""Rows: the largest and the mean of windows."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.pooling.max_pool import MaxPool
from pullback.primitives.pooling.places import MaxPoolPlaces

from .case import DRAWN_THERE, Case, distinct, normal

KINDS = {"max": (pb.nn.max_pool2d, np.max, distinct), "avg": (pb.nn.avg_pool2d, np.mean, normal)}


def _windows(x: np.ndarray[Any, Any], reduce: Any, k: int, s: int, padding: str) -> np.ndarray[Any, Any]:
    """Pooling by its definition, one result at a time; NHWC."""
    starts = []
    for n in x.shape[1:3]:
        if padding == "SAME":
            count = -(-n // s)
            before = max((count - 1) * s + k - n, 0) // 2
        else:
            count, before = (n - k) // s + 1, 0
        starts.append([i * s - before for i in range(count)])
    y = np.zeros((x.shape[0], len(starts[0]), len(starts[1]), x.shape[3]))
    for (i, a), (j, b) in product(enumerate(starts[0]), enumerate(starts[1])):
        y[:, i, j] = reduce(x[:, max(a, 0) : a + k, max(b, 0) : b + k], axis=(1, 2))
    return y


def _grid() -> list[Case]:
    cases = []
    for kind, (k, s), padding, size in product(
        KINDS, [(2, 2), (3, 2), (3, 1), (2, 3), (3, 3)], ["SAME", "VALID"], [6, 7]
    ):
        pool, reduce, numbers = KINDS[kind]
        cases.append(
            Case(
                f"{kind}_pool_{k}_by_{s}_{padding.lower()}_{size}",
                lambda x, pool=pool, k=k, s=s, padding=padding: pool(x, k, s, padding),
                [numbers(2, size, 6, 2)],
                expected=lambda x, reduce=reduce, k=k, s=s, padding=padding: _windows(x, reduce, k, s, padding),
            )
        )
    return cases


def _argmax_of_tiles(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    n, h, w, c = x.shape
    numbers = np.arange(h * w * c).reshape(h, w, c)
    result = np.zeros((n, h // 2, w // 2, c), np.int64)
    for b, i, j, k in product(*map(range, result.shape)):
        tile = x[b, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, k]
        result[b, i, j, k] = numbers[2 * i : 2 * i + 2, 2 * j : 2 * j + 2, k].reshape(-1)[tile.argmax()]
    return result


def _fractional(kind: str, numbers: Any, **how: bool) -> Case:
    """The same windows in each run: each draw of a session is another, and a check runs the graph many times."""
    pool = {"max": pb.nn.fractional_max_pool, "avg": pb.nn.fractional_avg_pool}[kind]
    words = "_".join(how) or "random"
    return Case(f"fractional_{kind}_pool_{words}", lambda x: pool(x, 1.5, seed=3, **how), [numbers(1, 7, 5, 2)])


def _places(window: tuple[Any, ...], column_major: bool) -> Any:
    return lambda x: MaxPoolPlaces(*window, column_major)(x, MaxPool(*window)(x))


CASES = [
    *_grid(),
    Case("max_pool_channels_first", lambda x: pb.nn.max_pool2d(x, 2, 2, "VALID", "NCHW"), [distinct(2, 3, 4, 6)]),
    Case("max_pool_channels_first_same", lambda x: pb.nn.max_pool2d(x, 3, 2, "SAME", "NCHW"), [distinct(2, 3, 4, 5)]),
    Case(
        "max_pool_explicit",
        lambda x: pb.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 0], [2, 1], [0, 0]]),
        [distinct(1, 5, 5, 2)],
    ),
    Case(
        "max_pool_squared",
        lambda x: pb.square(pb.nn.max_pool2d(x, 2, 2, "SAME")),
        [distinct(1, 4, 3, 2)],
        third_order=True,
    ),
    Case(
        "max_pool_squared_overlap",
        lambda x: pb.square(pb.nn.max_pool2d(x, 3, 1, "SAME")),
        [distinct(1, 4, 3, 2)],
        third_order=True,
    ),
    Case("max_pool1d", lambda x: pb.nn.max_pool1d(x, 2, 2, "VALID"), [distinct(2, 6, 3)]),
    Case("max_pool1d_overlap", lambda x: pb.nn.max_pool1d(x, 3, 1, "SAME", "NCW"), [distinct(2, 3, 6)]),
    Case("max_pool3d", lambda x: pb.nn.max_pool3d(x, 2, 2, "VALID"), [distinct(1, 2, 4, 2, 2)]),
    Case("max_pool3d_overlap", lambda x: pb.nn.max_pool3d(x, 2, 1, "SAME", "NCDHW"), [distinct(1, 2, 2, 3, 2)]),
    Case("max_pool_all_axes", lambda x: pb.nn.max_pool(x, [1, 2, 3, 1], [1, 2, 3, 1], "VALID"), [distinct(1, 4, 6, 2)]),
    Case("max_pool_no_images", lambda x: pb.nn.max_pool2d(x, 2, 2, "SAME"), [normal(0, 4, 4, 2)]),
    Case("max_pool_no_rows", lambda x: pb.nn.max_pool2d(x, 3, 2, "SAME"), [normal(1, 0, 4, 2)]),
    Case("avg_pool_no_rows", lambda x: pb.nn.avg_pool2d(x, 3, 2, "SAME"), [normal(1, 0, 4, 2)]),
    Case("max_pool_no_images_overlap", lambda x: pb.nn.max_pool2d(x, 3, 2, "SAME"), [normal(0, 4, 4, 2)]),
    Case(
        "max_pool_integers",
        lambda x: pb.nn.max_pool2d(x, 2, 1, "SAME"),
        [np.arange(-4, 5, dtype=np.int32).reshape(1, 3, 3, 1)],
        expected=np.array([0, 1, 1, 3, 4, 4, 3, 4, 4]).reshape(1, 3, 3, 1),
    ),
    Case(
        "max_pool_float16",
        lambda x: pb.nn.max_pool2d(pb.cast(x, pb.float16), 3, 2, "SAME"),
        [distinct(1, 4, 4, 2)],
        not_differentiable="differences are lost in float16",
    ),
    Case("avg_pool_channels_first", lambda x: pb.nn.avg_pool2d(x, 2, 2, "VALID", "NCHW"), [normal(2, 3, 4, 6)]),
    Case("avg_pool_channels_first_same", lambda x: pb.nn.avg_pool2d(x, 3, 2, "SAME", "NCHW"), [normal(2, 3, 4, 5)]),
    Case("avg_pool1d", lambda x: pb.nn.avg_pool1d(x, 3, 2, "SAME"), [normal(2, 6, 3)]),
    Case("avg_pool3d", lambda x: pb.nn.avg_pool3d(x, 2, 2, "SAME"), [normal(1, 3, 4, 2, 2)]),
    Case("avg_pool_no_images", lambda x: pb.nn.avg_pool(x, [2, 2], [2, 2], "SAME", "NHWC"), [normal(0, 4, 4, 2)]),
    Case(
        "avg_pool_bfloat16",
        lambda x: pb.nn.avg_pool2d(pb.cast(x, pb.bfloat16), 16, 16, "VALID"),
        [np.ones((1, 16, 32, 1))],
        not_differentiable="differences are lost in bfloat16",
    ),
    Case(
        "max_pool_with_argmax",
        lambda x: pb.nn.max_pool_with_argmax(x, 3, 2, "SAME", include_batch_in_index=True),
        [distinct(2, 4, 5, 2)],
    ),
    Case(
        "max_pool_with_argmax_in_image",
        lambda x: pb.nn.max_pool_with_argmax(x, 2, 2, "VALID", output_dtype=pb.int32)[1],
        [distinct(2, 4, 6, 2)],
        expected=lambda x: _argmax_of_tiles(x),
    ),
    Case("pool_max_dilated", lambda x: pb.nn.pool(x, [2, 2], "MAX", dilations=2), [distinct(1, 5, 5, 2)]),
    Case(
        "pool_avg_dilated",
        lambda x: pb.nn.pool(x, [3, 2], "AVG", padding="SAME", dilations=[2, 1]),
        [normal(1, 5, 4, 2)],
    ),
    Case("pool_max_1d", lambda x: pb.nn.pool(x, [2], "MAX", [2], "SAME", "NCW", [2]), [distinct(2, 2, 5)]),
    _fractional("max", distinct),
    _fractional("max", distinct, pseudo_random=True, overlapping=True),
    _fractional("avg", normal, overlapping=True),
    _fractional("avg", normal, pseudo_random=True),
    Case(
        "fractional_max_pool_whole",
        lambda x: pb.nn.fractional_max_pool(x, [1.0, 2.0, 3.0, 1.0])[0],
        [distinct(2, 4, 6, 2)],
        expected=lambda x: x.reshape(2, 2, 2, 2, 3, 2).max((2, 4)),
    ),
    Case(
        "fractional_avg_pool_whole",
        lambda x: pb.nn.fractional_avg_pool(x, 2.0)[0],
        [normal(2, 4, 6, 2)],
        expected=lambda x: x.reshape(2, 2, 2, 3, 2, 2).mean((2, 4)),
    ),
    Case(
        "fractional_max_pool_squared",
        lambda x: pb.square(pb.nn.fractional_max_pool(x, 1.5, seed=3)[0]),
        [distinct(1, 5, 5, 2)],
        third_order=True,
    ),
    Case(
        "max_pool_places",
        _places(((2, 2), (2, 2), "VALID", "NCHW", ()), False),
        [distinct(1, 2, 2, 4)],
        not_differentiable="the result is a number of places",
    ),
    Case(
        "max_pool_places_by_column",
        _places(((3, 2), (1, 2), ((1, 1), (0, 1)), "NCHW", (1, 2)), True),
        [distinct(2, 1, 4, 5)],
        not_differentiable="the result is a number of places",
    ),
    Case(
        "max_pool_places_of_channels_last",
        _places(((2,), (1,), "SAME", "NWC", ()), False),
        [distinct(2, 3, 2)],
        not_differentiable="the result is a number of places",
    ),
]

_NAMES_DRAWN = {
    "fractional_avg_pool_overlapping",
    "fractional_avg_pool_pseudo_random",
    "fractional_max_pool_pseudo_random_overlapping",
    "fractional_max_pool_random",
    "fractional_max_pool_squared",
}
CASES = [replace(case, not_onnx=DRAWN_THERE) if case.name in _NAMES_DRAWN else case for case in CASES]
