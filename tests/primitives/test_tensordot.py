"""`tensordot` of tensors whose ranks only a run knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

A, B = (np.random.default_rng(0).normal(size=(3, 4, 5)) for _ in range(2))


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        (A, A.T, 1),
        (A, B, 0),
        (A, B, 3),
        (A, B, [[-1], [-1]]),
        (A, B, [[0], [0]]),
        (A, B, [[-2, -1], [-2, -1]]),
        (A, np.moveaxis(B, 0, 2), [[0], [-1]]),
        (A[0, 0], B, [[0], [-1]]),
    ],
)
@pytest.mark.parametrize("known", [(False, False), (True, False), (False, True)])
def test_the_product_and_its_gradients_are_those_of_known_ranks(a: Any, b: Any, axes: Any, known: Any) -> None:
    shapes = [v.shape if k else None for v, k in zip((a, b), known, strict=True)]
    found = with_gradients(a, b, axes, shapes)
    np.testing.assert_allclose(found[0], np.tensordot(a, b, axes))
    for one, other in zip(found, with_gradients(a, b, axes, [a.shape, b.shape]), strict=True):
        np.testing.assert_allclose(one, other)


def test_axes_in_between_need_known_ranks() -> None:
    x = pb.placeholder(pb.float64, None)
    with pytest.raises(ValueError, match=r"^tensordot: the ranks of both must be known: .*; use pb.ensure_shape$"):
        pb.tensordot(x, B, [[1], [1]])


def with_gradients(a: Any, b: Any, axes: Any, shapes: Any) -> Any:
    x, y = (pb.placeholder(pb.float64, shape) for shape in shapes)
    z = pb.tensordot(x, y, axes)
    return pb.Session(engine="numpy").run([z, *pb.gradients(pb.reduce_sum(z * z), [x, y])], {x: a, y: b})
