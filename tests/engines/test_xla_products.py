"""Products of matrices on XLA: which factor is transposed where both are summed over their first axis."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

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
        (4000, 784, 100, "784x100"),
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
    ("rows", "m", "n", "made"),
    [
        (1000, 40, 40, 1),
        (900, 40, 40, 0),
        (4000, 40, 40, 0),
        (1000, 70, 70, 0),
        (1000, 20, 40, 0),
        (1000, 256, 256, 1),
        (900, 256, 256, 0),
        (1000, 2, 40_000, 0),
    ],
)
def test_the_transpose_of_a_small_or_a_large_first_factor_is_made(rows: int, m: int, n: int, made: int) -> None:
    assert text_of(rows, m, n).count("= stablehlo.optimization_barrier") == made


@pytest.mark.parametrize(
    ("equation", "shape", "waiting"), [("bti,ij->btj", [48, 48], 2), ("kij,nkj->nki", [48, 40, 48], 0)]
)
def test_factors_of_einsum_wait_but_those_of_stacks(equation: str, shape: list[int], waiting: int) -> None:
    """Stacks are transposed in the forward part already."""
    with pb.Graph().as_default():
        a, b = pb.placeholder(pb.float32, [40, 48, 48]), pb.placeholder(pb.float32, shape)
        (db,) = pb.gradients(pb.exp(pb.einsum(equation, pb.exp(a), b)), b)
        text = pb.xla.to_stablehlo(db, [a, b], platform="cpu").mlir_module()
    assert text.count("inlineable") == waiting


def test_the_factor_that_more_products_read_is_transposed() -> None:
    with pb.Graph().as_default():
        a, *bs = [pb.placeholder(pb.float32, [1000, 40]) for _ in range(4)]
        firsts = [pb.matmul(a, b, transpose_a=True) for b in bs]
        seconds = [pb.matmul(b, a, transpose_a=True) for b in bs]
        exported = [pb.xla.to_stablehlo(ys, [a, *bs], platform="cpu").mlir_module() for ys in (firsts, seconds)]
        fed = dict(zip([a, *bs], np.random.default_rng(0).normal(size=(4, 1000, 40)).astype(np.float32), strict=True))
        found = pb.Session(engine="xla").run([firsts, seconds], fed)
    for text in exported:
        assert set(re.findall(r"stablehlo\.transpose (%\w+),.*tensor<1000x40xf32>", text)) == {"%arg0"}
    for i, b in enumerate(bs):
        np.testing.assert_allclose(found[0][i], fed[a].T @ fed[b], rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(found[1][i], fed[b].T @ fed[a], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("shape", "count"), [([8, 4, 5], 0), ([2, 4, 8, 8], 0), ([7, 4, 5], 1), ([8, 4, 9], 1)])
def test_stacks_of_small_matrices_are_multiplied_term_by_term(shape: list[int], count: int) -> None:
    a, b = np.random.default_rng(0).normal(size=(2, *shape)).astype(np.float32)
    with pb.Graph().as_default():
        x, y = [pb.placeholder(pb.float32, shape) for _ in range(2)]
        z = pb.matmul(x, y, transpose_b=True)
        text = pb.xla.to_stablehlo(z, [x, y], platform="cpu").mlir_module()
        found = pb.Session(engine="xla").run(z, {x: a, y: b})
    assert text.count("stablehlo.dot_general") == count
    np.testing.assert_allclose(found, a @ b.swapaxes(-1, -2), rtol=1e-5, atol=1e-5)


INNER = {
    "product": (lambda x, y: pb.reduce_sum(x * y), 1),
    "square": (lambda x, y: pb.reduce_sum(pb.square(x)), 1),
    "axes by name, kept": (lambda x, y: pb.reduce_sum(x * y, [-1, 0], keepdims=True), 1),
    "product that others read": (lambda x, y: pb.reduce_sum(x * y) * (x * y), 1),
    "one axis": (lambda x, y: pb.reduce_sum(x * y, 0), 0),
    "broadcast": (lambda x, y: pb.reduce_sum(x * y[0]), 0),
    "sum of sums": (lambda x, y: pb.reduce_sum(x * y + x), 0),
    "few": (lambda x, y: pb.reduce_sum(x[:1, :5] * y[:1, :5]), 0),
    "many": (lambda x, y: pb.reduce_sum(pb.tile(x, [9, 9]) * pb.tile(y, [9, 9])), 0),
    "double": (lambda x, y: pb.reduce_sum(pb.cast(x, pb.float64) * pb.cast(y, pb.float64)), 0),
    "known": (lambda x, y: pb.reduce_sum(x * np.ones([17, 40], np.float32)), 1),
}


@pytest.mark.parametrize("name", INNER)
def test_sums_of_small_products_are_products_of_vectors(name: str) -> None:
    make, count = INNER[name]
    random = np.random.default_rng(0)
    fed = [random.normal(size=(17, 40)).astype(np.float32) for _ in range(2)]
    with pb.Graph().as_default():
        x, y = [pb.placeholder(pb.float32, [17, 40]) for _ in range(2)]
        z = make(x, y)
        text = pb.xla.to_stablehlo(z, [x, y], platform="cpu").mlir_module()
        fetches = [z, *pb.gradients(z, [x, y], unconnected_gradients="zero")]
        found, wanted = [
            pb.Session(engine=e).run(fetches, dict(zip([x, y], fed, strict=True))) for e in ("xla", "numpy")
        ]
    assert text.count("stablehlo.dot_general") == count
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


SEVERAL = {
    "AddN": (lambda sums: pb.add_n(sums), 2),
    "additions": (lambda sums: sums[0] + sums[1] + sums[2] + sums[3], 2),
    "one that others read": (lambda sums: pb.add_n(sums) * sums[0], 2),
    "two": (lambda sums: sums[0] + sums[1], 0),
    "a sum and another number": (lambda sums: pb.add_n([*sums, sums[0] * 2.0]), 0),
    "a sum twice": (lambda sums: pb.add_n([*sums, sums[0]]), 2),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_sums_of_inner_products_are_one_product_of_the_arrays_joined(name: str) -> None:
    make, joined = SEVERAL[name]
    random = np.random.default_rng(0)
    shapes = [(17, 40), (3,), (), (5, 1, 6)]
    with pb.Graph().as_default():
        xs, ys = [[pb.placeholder(pb.float32, shape) for shape in shapes] for _ in range(2)]
        z = make([pb.reduce_sum(x * y) for x, y in zip(xs, ys, strict=True)])
        text = pb.xla.to_stablehlo(z, [*xs, *ys], platform="cpu").mlir_module()
        fetches = [z, *pb.gradients(z, [*xs, *ys], unconnected_gradients="zero")]
        fed = {x: random.normal(size=x.shape.as_list()).astype(np.float32) for x in [*xs, *ys]}
        found, wanted = [pb.Session(engine=e).run(fetches, fed) for e in ("xla", "numpy")]
    assert text.count("stablehlo.concatenate") == joined
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


def test_arrays_of_many_inner_products_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax.numpy as jnp

    joined, ravel = list[int](), jnp.ravel

    def counted(x: Any) -> Any:
        joined.append(1)
        return ravel(x)

    monkeypatch.setattr(jnp, "ravel", counted)
    with pb.Graph().as_default():
        xs = [pb.placeholder(pb.float32, [9]) for _ in range(60)]
        first, *others = [pb.reduce_sum(x * x) for x in xs]
        total = sum(others, first)
        found = pb.Session(engine="xla").run(total, {x: np.full(9, 2.0, np.float32) for x in xs})
    assert found == 60 * 9 * 4
    assert len(joined) <= 2 * 60 + 2 * 60


@pytest.mark.parametrize("add", [lambda y: y + y, lambda y: pb.add_n([y, y, y])], ids=["+", "AddN"])
def test_an_inner_product_is_doubled_as_often_as_one_likes(add: Callable[[pb.Tensor], pb.Tensor]) -> None:
    """The pairs of factors of 2^60 sums have no place anywhere."""
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [40])
        y = pb.reduce_sum(x * x)
        for _ in range(60):
            y = add(y)
        found, wanted = [pb.Session(engine=e).run(y, {x: np.ones(40, np.float32)}) for e in ("xla", "numpy")]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
