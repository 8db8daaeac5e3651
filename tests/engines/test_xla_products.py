"""Products of matrices on XLA: which factor is transposed where both are summed over their first axis."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pullback as pb


def text_of(rows: int, m: int, n: int) -> str:
    """The program of a derivative by weights [m, n]."""
    with pb.Graph().as_default():
        a, b = [pb.placeholder(pb.float32, [rows, k]) for k in (m, n)]
        text: str = pb.xla.to_stablehlo(pb.matmul(a, b, transpose_a=True), [a, b], platform="cpu").mlir_module()
    return text


@pytest.mark.parametrize(
    ("rows", "m", "n", "made"),
    [
        (32, 64, 6, "6x64"),
        (1000, 64, 1, "1x64"),
        (4000, 784, 64, "64x784"),
        (1000, 6, 64, "6x64"),
        (1000, 64, 64, "64x64"),
        (4, 64, 6, "64x6"),
        (32, 784, 100, "784x100"),
        (4000, 784, 100, "100x784"),
    ],
)
def test_the_factor_of_few_columns_is_the_first_of_the_product(rows: int, m: int, n: int, made: str) -> None:
    assert re.findall(r"stablehlo\.dot_general.*-> (tensor<\S+>)", text_of(rows, m, n)) == [f"tensor<{made}xf32>"]


@pytest.mark.parametrize(("rows", "m", "n"), [(32, 64, 6), (1000, 40, 30), (1000, 6, 64), (3, 5, 0), (0, 5, 2)])
def test_products_over_rows_are_those_of_numpy(rows: int, m: int, n: int) -> None:
    random = np.random.default_rng(0)
    a, b = [random.normal(size=(rows, k)).astype(np.float32) for k in (m, n)]
    with pb.Graph().as_default():
        x, y = pb.placeholder(pb.float32, [None, m]), pb.placeholder(pb.float32, [None, n])
        z = pb.matmul(x, y, transpose_a=True)
        found = pb.Session(engine="xla").run([z, *pb.gradients(pb.reduce_sum(z * z), [x, y])], {x: a, y: b})
    wanted = a.T @ b
    for one, other in zip(found, [wanted, 2 * b @ wanted.T, 2 * a @ wanted], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * abs(other).max(initial=0.0))


@pytest.mark.parametrize(
    ("rows", "m", "n", "made"), [(1000, 40, 40, 1), (900, 40, 40, 0), (4000, 40, 40, 0), (1000, 70, 70, 0)]
)
def test_the_transpose_of_a_small_first_factor_is_made(rows: int, m: int, n: int, made: int) -> None:
    assert text_of(rows, m, n).count("= stablehlo.optimization_barrier") == made
