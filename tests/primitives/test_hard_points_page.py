"""The page of hard points: what it says that we return is what both engines return."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytestmark = pytest.mark.usefixtures("optimized_programs")
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "hard-points.md"
ROW = -1
"""In place of an order: the first row of the second derivative."""


def _of_spectrum(x: Any) -> Any:
    values, vectors = pb.linalg.eigh(x)
    return pb.reduce_sum(pb.matmul(vectors * pb.square(values), vectors, transpose_b=True))


def _masked_product(x: Any) -> Any:
    return pb.where(x < 100, pb.math.multiply_no_nan(x, pb.exp(x)), 0.0)


ENTRIES: dict[str, tuple[Callable[[Any], Any], np.ndarray, int]] = {
    "where(x > 0, sqrt(x), 0) at 0 and -1": (lambda x: pb.where(x > 0, pb.sqrt(x), 0.0), np.array([0.0, -1.0]), 1),
    "where(x > 0, sqrt(x), 0) at 0 and -1, second derivative": (
        lambda x: pb.where(x > 0, pb.sqrt(x), 0.0),
        np.array([0.0, -1.0]),
        2,
    ),
    "where(x < 100, exp(x), 0) at 1000": (lambda x: pb.where(x < 100, pb.exp(x), 0.0), np.array([1000.0]), 1),
    "where(x > 0, log(x), 0) at 0": (lambda x: pb.where(x > 0, pb.math.log(x), 0.0), np.array([0.0]), 1),
    "where(x != 0, sin(x) / x, 1) at 0": (
        lambda x: pb.where(pb.not_equal(x, 0.0), pb.sin(x) / x, 1.0),
        np.array([0.0]),
        1,
    ),
    "where(x < 1, acos(x), 0) at 1": (lambda x: pb.where(x < 1, pb.acos(x), 0.0), np.array([1.0]), 1),
    "where(x > 0, lgamma(x), 0) at 0": (lambda x: pb.where(x > 0, pb.math.lgamma(x), 0.0), np.array([0.0]), 1),
    "where(x < 100, x * exp(x), 0) at 1000": (lambda x: pb.where(x < 100, x * pb.exp(x), 0.0), np.array([1000.0]), 1),
    "where(x > 0, x * log(x), 0) at 0": (lambda x: pb.where(x > 0, x * pb.math.log(x), 0.0), np.array([0.0]), 1),
    "where(x < 100, multiply_no_nan(x, exp(x)), 0) at 1000": (_masked_product, np.array([1000.0]), 1),
    "where(x < 100, multiply_no_nan(x, exp(x)), 0) at 1000, second derivative": (
        _masked_product,
        np.array([1000.0]),
        2,
    ),
    "sqrt(x) at 0": (lambda x: pb.sqrt(x), np.array([0.0]), 1),
    "prod of [2, 0, 4]": (lambda x: pb.reduce_prod(x), np.array([2.0, 0.0, 4.0]), 1),
    "prod of [0, 0, 4]: first row of the second derivative": (
        lambda x: pb.reduce_prod(x),
        np.array([0.0, 0.0, 4.0]),
        ROW,
    ),
    "sum of cumprod of [2, 0, 4]": (lambda x: pb.reduce_sum(pb.math.cumprod(x)), np.array([2.0, 0.0, 4.0]), 1),
    "segment_prod of [2, 0, 4]: first row of the second derivative": (
        lambda x: pb.math.unsorted_segment_prod(x, [0, 0, 0], 1)[0],
        np.array([2.0, 0.0, 4.0]),
        ROW,
    ),
    "norm of [0, 0]": (lambda x: pb.norm(x), np.array([0.0, 0.0]), 1),
    "3-norm of [0, 0]": (lambda x: pb.norm(x, 3), np.array([0.0, 0.0]), 1),
    "Frobenius norm of [[0, 0], [0, 0]]": (lambda x: pb.norm(x), np.zeros((2, 2)), 1),
    "standard deviation of [2, 2, 2]": (lambda x: pb.math.reduce_std(x), np.array([2.0, 2.0, 2.0]), 1),
    "det of [[1, 2], [2, 4]]": (lambda x: pb.linalg.det(x), np.array([[1.0, 2.0], [2.0, 4.0]]), 1),
    "det of [[0, 0], [0, 0]]: first row of the second derivative": (lambda x: pb.linalg.det(x), np.zeros((2, 2)), ROW),
    "det(diag(x)) at [0, 0, 0], third derivative": (lambda x: pb.linalg.det(pb.linalg.diag(x)), np.zeros(3), 3),
    "sum of the pseudo-inverse of [[1, 2], [2, 4]]": (
        lambda x: pb.reduce_sum(pb.linalg.pinv(x)),
        np.array([[1.0, 2.0], [2.0, 4.0]]),
        1,
    ),
    "sum of squares of the eigenvalues of the unit matrix": (
        lambda x: pb.reduce_sum(pb.square(pb.linalg.eigh(x)[0])),
        np.array([[1.0, 0.0], [0.0, 1.0]]),
        1,
    ),
    "sum of `V diag(w^2) V^T` for its eigenvectors `V`": (_of_spectrum, np.array([[1.0, 0.0], [0.0, 1.0]]), 1),
    "sum of the fourth powers of the eigenvectors of the unit matrix": (
        lambda x: pb.reduce_sum(pb.linalg.eigh(x)[1] ** 4.0),
        np.eye(2),
        1,
    ),
    "sum of the singular values of the unit matrix: first row of the second derivative": (
        lambda x: pb.reduce_sum(pb.linalg.svd(x, compute_uv=False)),
        np.eye(2),
        ROW,
    ),
    "x ** 0 at 0": (lambda x: x**0.0, np.array([0.0]), 1),
    "pow(x, y) by x at x = y = 0": (lambda x: pb.pow(x, 0.0 * pb.stop_gradient(x)), np.array([0.0]), 1),
    "pow(0, y) by y at 2 and 0": (lambda x: pb.pow(0.0, x), np.array([2.0, 0.0]), 1),
    "xlogy(x, 0) at 0": (lambda x: pb.math.xlogy(x, 0.0), np.array([0.0]), 1),
    "atan2(x, 0) at 0": (lambda x: pb.atan2(x, 0.0), np.array([0.0]), 1),
    "abs(x) at 0": (lambda x: pb.abs(x), np.array([0.0]), 1),
    "abs(z) at 0, complex": (lambda x: pb.abs(x), np.array([0j]), 1),
    "real part of sign(z) at 0, complex": (lambda x: pb.math.real(pb.sign(x)), np.array([0j]), 1),
    "angle(z) at 0, complex": (lambda x: pb.math.angle(x), np.array([0j]), 1),
    "relu(x) at 0": (lambda x: pb.nn.relu(x), np.array([0.0]), 1),
    "maximum(x, 0) at 0": (lambda x: pb.maximum(x, 0.0), np.array([0.0]), 1),
    "clip(x, -1, 1) at -1 and 1": (lambda x: pb.clip_by_value(x, -1.0, 1.0), np.array([-1.0, 1.0]), 1),
    "max of [1, 3, 3]": (lambda x: pb.reduce_max(x), np.array([1.0, 3.0, 3.0]), 1),
    "min of [1, 1, 2]": (lambda x: pb.reduce_min(x), np.array([1.0, 1.0, 2.0]), 1),
    "the largest of [1, 3, 3] by top_k": (lambda x: pb.math.top_k(x, 1)[0], np.array([1.0, 3.0, 3.0]), 1),
    "the last of [3, 1, 3] sorted": (lambda x: pb.sort(x)[2], np.array([3.0, 1.0, 3.0]), 1),
    "logsumexp of [-inf, -inf]": (lambda x: pb.reduce_logsumexp(x), np.array([-np.inf, -np.inf]), 1),
    "logsumexp of [inf, 0]": (lambda x: pb.reduce_logsumexp(x), np.array([np.inf, 0.0]), 1),
    "sum of cumulative_logsumexp of [-inf, 0, 1]": (
        lambda x: pb.reduce_sum(pb.math.cumulative_logsumexp(x)[1:]),
        np.array([-np.inf, 0.0, 1.0]),
        1,
    ),
    "igamma(a, 1) by a at 2": (lambda x: pb.math.igamma(x, 1.0), np.array([2.0]), 1),
    "igamma(a, 1) by a at 2, second derivative": (lambda x: pb.math.igamma(x, 1.0), np.array([2.0]), 2),
    "betainc(a, 1, 0.5) by a at 2": (lambda x: pb.math.betainc(x, 1.0, 0.5), np.array([2.0]), 1),
    "zeta(x, 1) by x at 2": (lambda x: pb.math.zeta(x, 1.0), np.array([2.0]), 1),
    "polygamma(n, 1) by n at 1": (lambda x: pb.math.polygamma(x, 1.0), np.array([1.0]), 1),
    "bessel_j1(x), third derivative at 0": (lambda x: pb.math.special.bessel_j1(x), np.array([0.0]), 3),
    "spence(x), second derivative at 1": (lambda x: pb.math.special.spence(x), np.array([1.0]), 2),
    "sum of an empty vector, its derivative": (lambda x: pb.reduce_sum(x), np.zeros(0), 1),
    "prod of an empty vector, its derivative": (lambda x: pb.reduce_prod(x), np.zeros(0), 1),
    "max of an empty vector, its value": (lambda x: pb.reduce_max(x), np.zeros(0), 0),
    "sum of 3000 ones in float16, its value": (lambda x: pb.reduce_sum(x), np.ones(3000, np.float16), 0),
    "last of cumsum of 3000 ones in float16, its value": (lambda x: pb.cumsum(x)[-1], np.ones(3000, np.float16), 0),
    "scalar product of 3000 ones in float16 with themselves, its value": (
        lambda x: pb.tensordot(x, x, 1),
        np.ones(3000, np.float16),
        0,
    ),
    "mean of 3000 times 60 in float16, its value": (lambda x: pb.reduce_mean(x), np.full(3000, 60, np.float16), 0),
    "sum of 1000 ones in bfloat16, its value": (
        lambda x: pb.reduce_sum(pb.cast(x, pb.bfloat16)),
        np.ones(1000, np.float32),
        0,
    ),
}


def stated() -> dict[str, str]:
    """The column of ours, by the first one."""
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return {row[0][2:]: row[1].strip("`") for row in rows[1:]}


def found(build: Callable[[Any], Any], x: np.ndarray, order: int, engine: str) -> np.ndarray:
    """The value, its derivative of some order, or a row of the second."""
    with pb.Graph().as_default() as graph:
        point = pb.placeholder(x.dtype, x.shape)
        y = build(point)
        for _ in range(order if order >= 0 else 1):
            (y,) = pb.gradients(y, point)
        if order == ROW:
            (y,) = pb.gradients(y[0], point)
        value = np.asarray(pb.Session(graph=graph, engine=engine).run(y, {point: x}))
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", ENTRIES)
def test_the_page_says_what_we_return(name: str, engine: str) -> None:
    text = stated()[name].replace("nan", "np.nan").replace("inf", "np.inf")
    value = found(*ENTRIES[name], engine)
    np.testing.assert_allclose(value, np.array(eval(text)).reshape(value.shape), atol=2e-6)


def test_every_row_of_the_page_is_tested() -> None:
    assert list(stated()) == list(ENTRIES)
