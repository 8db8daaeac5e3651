"""Jacobians, Hessians and jets of complex numbers, of several dtypes, and beside integers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

Z = np.array([1.0 + 2.0j, 0.5j, 2.0, 1.0 - 1.0j])
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "holomorphic": lambda z: 1j * z * z,
    "conjugate": lambda z: 2j * pb.conj(z),
    "real": lambda z: pb.real(z * pb.conj(z) * (1.0 + 2.0j)),
    "of neighbours": lambda z: z[1:] * pb.conj(z[:-1]),
    "tall": lambda z: pb.concat([1j * z * z, pb.conj(z), z], 0),
}


def rows(y: pb.Tensor, x: pb.Tensor) -> np.ndarray[Any, Any]:
    """The gradients of each element of y."""
    dxs = [pb.gradients(y[i], x, grad_ys=pb.ones([], y.dtype))[0] for i in range(y.shape.size(0) or 0)]
    return np.stack(pb.Session(engine="numpy").run([pb.convert_to_tensor(dx) for dx in dxs]))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_jacobians_of_complex_numbers_have_the_rows_of_gradients(function: Callable[[Any], Any]) -> None:
    z = pb.constant(Z)
    y = function(z)
    found = [pb.jacobian(y, z, mode=mode) for mode in ("reverse", "coloured", "auto")]
    for jacobian in pb.Session(engine="numpy").run(found):
        np.testing.assert_allclose(jacobian, rows(y, z), atol=1e-12)
    np.testing.assert_allclose(pb.sparse_jacobian(y, z).eval().toarray(), rows(y, z), atol=1e-12)


def test_a_complex_tensor_between_real_ones_is_no_link_of_a_chain() -> None:
    x = pb.constant(np.linspace(0.1, 1.0, 20)[None])
    turned = pb.exp(1j * pb.cast(pb.matmul(x, np.ones((20, 1))), pb.complex128))
    y = pb.real(pb.matmul(turned * (2.0 + 1.0j), np.linspace(1.0, 2.0, 20)[None] + 1j))
    found, expected = pb.Session(engine="numpy").run([pb.jacobian(y, x, mode=m) for m in ("chained", "reverse")])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("mode", ["forward", "chained"])
def test_columns_of_complex_numbers_are_refused(mode: str) -> None:
    z = pb.placeholder(pb.complex128, [2], name="z")
    message = (
        "jacobian: float64[2] 'y:0' by complex128[2] 'z:0' is complex, and rows are conjugates there, which columns "
        'and products of them are not; use mode="reverse" or "auto"'
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        pb.jacobian(pb.real(z, name="y"), z, mode=mode)


@pytest.mark.parametrize("factor", [lambda a, b: a * b, lambda a, b: a * pb.conj(b)], ids=["product", "conjugate"])
def test_sparse_hessians_by_complex_numbers_are_those_of_rows(factor: Callable[..., Any]) -> None:
    z = pb.constant(Z)
    y = pb.reduce_sum(pb.real(factor(z[1:], z[:-1]) * (1.0 + 2.0j)))
    dense = pb.Session(engine="numpy").run(pb.hessians(y, z)[0])
    np.testing.assert_allclose(pb.sparse_hessian(y, z).eval().toarray(), dense, atol=1e-12)


@pytest.mark.parametrize("mode", ["reverse", "forward", "coloured", "chained", "auto"])
@pytest.mark.parametrize("repeats", [1, 3], ids=["wide", "tall"])
def test_a_jacobian_has_the_dtype_of_x(mode: str, repeats: int) -> None:
    x = pb.constant([1.0, 2.0, 3.0], pb.float32)
    y = pb.concat([pb.cast(x[1:] * x[:-1], pb.float64)] * repeats, 0)
    assert pb.jacobian(y, x, mode=mode).dtype == pb.float32
    assert pb.sparse_jacobian(y, x).values.dtype == pb.float32


def test_integers_beside_floats_have_no_jet() -> None:
    x = pb.constant(np.random.default_rng(0).normal(size=(3, 3)))

    def step(state: Any, row: Any) -> Any:
        places, factors = state
        return [places, factors * row[0] + pb.cast(places, pb.float64)]

    factors, permutation = pb.linalg.lu(x)
    ys = pb.scan(step, [x], [permutation, factors])
    found = [pb.jet(ys[1], x, 2)[-1], pb.jvp(pb.jvp(ys[1], x, [pb.ones_like(x)]), x, [pb.ones_like(x)])[0]]
    a, b = pb.Session(engine="numpy").run(found)
    np.testing.assert_allclose(a, b, rtol=1e-9)
