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
        (A, B, [[1], [1]]),
        (A, B, [[0, -1], [0, 2]]),
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


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("axes", [[[1], [1]], [[0, 2], [0, 2]], [[-1, 0], [-1, 0]], [[2, 1], [2, 1]]])
def test_axes_that_a_run_computes(axes: Any, engine: str) -> None:
    for shape in (A.shape, None):
        x, given = pb.placeholder(pb.float64, shape), pb.placeholder(pb.int32, [2, None])
        z = pb.tensordot(x, B, given)
        found = pb.Session(engine=engine).run(z, {x: A, given: axes})
        np.testing.assert_allclose(found, np.tensordot(A, B, axes), rtol=1e-12)


def test_axes_that_there_are_not_are_refused() -> None:
    unknown, known = pb.placeholder(pb.float64, None), pb.placeholder(pb.float64, [None, None, None])
    text = r"^tensordot: an axis of float64\[\.\.\.\] 'Placeholder:0' stands twice in axes=\[\[2, 2\], \[0, 0\]\]$"
    with pytest.raises(ValueError, match=text):
        pb.tensordot(unknown, B, [[2, 2], [0, 0]])
    with pytest.raises(ValueError, match=r"^tensordot: an axis of .* stands twice in axes=\[\[2, -1\], \[0, 1\]\]$"):
        pb.tensordot(pb.constant(A), B, [[2, -1], [0, 1]])
    with pytest.raises(ValueError, match=r"^tensordot: axes=\[\[3\], \[0\]\] has an axis that .* has not$"):
        pb.tensordot(known, unknown, [[3], [0]])
    with pytest.raises(ValueError, match=r"^tensordot: axes that a run computes must be two vectors, not int32\[\] "):
        pb.tensordot(unknown, B, pb.placeholder(pb.int32, []))
    with pytest.raises(pb.errors.InvalidArgumentError, match="indices\\[0\\] = 3 is not in"):
        pb.Session(engine="numpy").run(pb.tensordot(unknown, B, [[3], [0]]), {unknown: A})


def with_gradients(a: Any, b: Any, axes: Any, shapes: Any) -> Any:
    x, y = (pb.placeholder(pb.float64, shape) for shape in shapes)
    z = pb.tensordot(x, y, axes)
    return pb.Session(engine="numpy").run([z, *pb.gradients(pb.reduce_sum(z * z), [x, y])], {x: a, y: b})
