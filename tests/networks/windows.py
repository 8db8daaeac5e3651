"""Drawing of layers of windows: convolutions, pools, dilations, of one to three axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .network import Layer

if TYPE_CHECKING:
    from .drawing import Drawing

CHANNELS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24, 31, 32, 33, 36, 64, 128, 130)


def _padding(d: Drawing, rank: int, first: bool) -> Any:
    found = d.weighted({"SAME": 45, "VALID": 40, "EXPLICIT": 15})
    if found != "EXPLICIT":
        return found
    pairs = [[d.random.randint(0, 2), d.random.randint(0, 2)] for _ in range(rank)]
    return [[0, 0], [0, 0], *pairs] if first else [[0, 0], *pairs, [0, 0]]


def _sizes(d: Drawing, lengths: Sequence[int]) -> list[int]:
    """Of one length, or of different ones; the whole axis, or more."""
    if d.chance(0.6):
        k = d.one_of((1, 2, 3, 3, 3, 4, 5, 7))
        return [k] * len(lengths)
    return [d.one_of((1, 2, 3, 4, 5, n, n + 1)) for n in lengths]


def _geometry(d: Drawing, x: int, first: bool) -> tuple[list[int], dict[str, Any]]:
    known = d.known(x)
    lengths = known[2:] if first else known[1:-1]
    rank, windows = len(lengths), _sizes(d, lengths)
    if prod(windows) > 600:
        windows = [min(k, 3) for k in windows]
    how: dict[str, Any] = {"padding": _padding(d, rank, first)}
    if d.chance(0.35):
        how["strides"] = [d.one_of((1, 2, 3)) for _ in lengths] if d.chance(0.3) else [2] * rank
    elif d.chance(0.2):
        how["dilations"] = [d.one_of((1, 2, 3)) for _ in lengths]
    if first:
        how["data_format"] = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]
    return windows, how


def convolved(d: Drawing, x: int, shape: tuple[int, ...]) -> Layer | None:
    first = d.chance(0.12)
    channels = shape[1] if first else shape[-1]
    windows, how = _geometry(d, x, first)
    groups, count = 1, d.one_of(CHANNELS)
    if d.chance(0.12):
        groups = d.one_of([n for n in range(1, channels + 1) if channels % n == 0])
        count = groups * d.one_of((1, 1, 2, 3))
    if prod(windows) * channels * count * prod(d.known(x)) // channels > 1 << 28:
        return None
    inputs = [x, d.weights((*windows, channels // groups, count))]
    if d.chance(0.5):
        inputs.append(d.source((count,)))
    return Layer("convolved", tuple(inputs), {**how, "kind": d.kind()})


def back(d: Drawing, x: int, shape: tuple[int, ...]) -> Layer | None:
    windows = [d.one_of((1, 2, 3, 4, 5)) for _ in shape[1:-1]]
    f = d.source((*windows, d.one_of(CHANNELS[:14]), shape[-1]), (shape[-1] * prod(windows)) ** -0.5)
    how = {"stride": d.one_of((1, 2, 2, 3)), "padding": d.one_of(["SAME", "VALID"])}
    return Layer("convolved_back", (x, f), how)


def depthwise(d: Drawing, x: int, shape: tuple[int, ...]) -> Layer | None:
    windows, how = _geometry(d, x, False)
    strides = how.pop("strides", [1, 1])
    if len(set(strides)) > 1:
        return None
    f = d.source((*windows, shape[-1], d.one_of((1, 1, 2, 3, 8, 9))), prod(windows) ** -0.5)
    return Layer("depthwise", (x, f), {**how, "strides": [1, *strides, 1], "kind": d.kind()})


def pooled(d: Drawing, x: int, shape: tuple[int, ...]) -> Layer | None:
    windows, how = _geometry(d, x, d.chance(0.1))
    if d.chance(0.5) and "dilations" not in how:
        how["strides"] = windows
    return Layer("pooled", (x,), {**how, "window_shape": windows, "pooling_type": d.one_of(["MAX", "AVG"])})


def dilated(d: Drawing, x: int, shape: tuple[int, ...]) -> Layer | None:
    f = d.source((*[d.one_of((1, 2, 3, 3, 8)) for _ in range(2)], shape[-1]), 0.3)
    return Layer("dilated", (x, f), {"strides": d.one_of((1, 2)), "padding": d.one_of(["SAME", "VALID"])})


def image(d: Drawing, x: int, shape: tuple[int, ...]) -> Layer | None:
    if shape[3] > 256:
        return None
    return Layer("image", (x,), {"kind": d.one_of(["lrn", "depth", "space", "larger", "nearest"])})
