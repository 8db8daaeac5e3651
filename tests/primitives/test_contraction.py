"""Tensor contraction: which factor of a product is the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.primitives.linalg.contraction import contract, matmul_kernel

LENGTHS = {"k": 2, "n": 3, "i": 4, "j": 5, "m": 6}


@pytest.mark.parametrize("equation", ["kij,nkj->nki", "nkj,kij->nki", "ij,jk->ki", "ij,njm->nim", "njm,ij->nim"])
def test_products_have_the_last_axis_of_the_result(equation: str) -> None:
    terms, labels = equation.split("->")
    first, second = terms.split(",")
    products: list[Any] = []

    def multiply(xp: Any, a: Any, b: Any) -> Any:
        products.append(matmul_kernel(xp, a, b))
        return products[-1]

    random = np.random.default_rng(0)
    a, b = (random.normal(size=[LENGTHS[c] for c in term]) for term in (first, second))
    found = contract(np, a, b, first, second, labels, multiply)
    np.testing.assert_allclose(found, np.einsum(equation, a, b), rtol=1e-13)
    assert [product.shape[-1] % found.shape[-1] for product in products] == [0]


def test_rows_of_a_convolution_of_one_pixel_are_whole() -> None:
    images, kernel = np.ones([8, 6, 7, 3]), np.ones([5, 3])
    found = contract(np, images, kernel, "bhwi", "oi", "bhwo")
    assert found.flags.c_contiguous
    assert found.shape == (8, 6, 7, 5)
