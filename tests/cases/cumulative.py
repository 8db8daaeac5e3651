"""Rows: cumulative sums, products and logarithms of sums."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, normal, positive
from .reduction import X


def _complex(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape, seed=1)


def _zeros_in(x: np.ndarray, *places: tuple[int, ...]) -> np.ndarray:
    x = x.copy()
    for place in places:
        x[place] = 0
    return x


def _cumulative() -> list[Case]:
    cases = []
    for exclusive in (False, True):
        for reverse in (False, True):
            suffix = ("_exclusive" if exclusive else "") + ("_reverse" if reverse else "")
            flags = {"exclusive": exclusive, "reverse": reverse}
            cases += [
                Case(f"cumsum{suffix}", lambda x, f=flags: pb.cumsum(x, 1, **f), [X]),
                Case(f"cumprod{suffix}", lambda x, f=flags: pb.math.cumprod(x, 1, **f), [positive(2, 4)]),
                Case(
                    f"cumprod_with_zeros{suffix}",
                    lambda x, f=flags: pb.math.cumprod(x, -1, **f),
                    [_zeros_in(positive(3, 5), (0, 2), (1, 0), (1, 3), (2, 4))],
                ),
            ]
    return cases


def _running_logsumexp() -> list[Case]:
    return [
        Case(
            f"running_logsumexp_{int(exclusive)}{int(reverse)}",
            lambda x, f=(exclusive, reverse): pb.math.cumulative_logsumexp(x, 1, *f)[:, 1:-1],
            [normal(2, 5)],
        )
        for exclusive in (False, True)
        for reverse in (False, True)
    ]


CASES: list[Case] = [
    *_cumulative(),
    Case("cumsum_int8", pb.cumsum, [np.array([100, 100], np.int8)], expected=np.array([100, -56], np.int8)),
    Case("cumsum_empty", pb.cumsum, [normal(0, 2)], expected=np.zeros((0, 2))),
    Case("cumprod_empty", pb.math.cumprod, [normal(0, 2)], expected=np.zeros((0, 2))),
    Case("cumprod_complex", lambda x: pb.math.cumprod(x, 0), [_complex(3, 2)], expected=lambda x: np.cumprod(x, 0)),
    *_running_logsumexp(),
    Case(
        "running_logsumexp_of_infinities",
        lambda x: [pb.math.cumulative_logsumexp(x), *pb.gradients(pb.math.cumulative_logsumexp(x), x)],
        [np.array([-np.inf, 0.0, -np.inf, 1000.0])],
        wrt=[],
        expected=[np.array([-np.inf, 0.0, 0.0, 1000.0]), np.array([0.0, 2.0, 0.0, 1.0])],
    ),
    Case("running_logsumexp_empty", pb.math.cumulative_logsumexp, [normal(0, 2)], expected=np.zeros((0, 2))),
    Case("cumprod_third_order", pb.math.cumprod, [_zeros_in(positive(4), (1,))], third_order=True),
]
