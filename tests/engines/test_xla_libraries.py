"""Which library of XLA's computes products and convolutions: chosen by shapes, those of feeds where only they tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

import jax

from pullback.core.function import bound_lengths
from pullback.engines.plan import make_plan
from pullback.engines.xla.libraries import library_options, threads
from pullback.engines.xla.product_times import Product, time_of_eigen, time_of_ynnpack
from pullback.passes.run_lengths import Lengths

OPTION = "xla_cpu_experimental_ynn_fusion_type"
EIGEN = {OPTION: "LIBRARY_FUSION_TYPE_REDUCE"}
YNNPACK = {OPTION: "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
"""For products; convolutions are never left to that of jax 0.10."""

KEEPS_ITS_OWN = jax.__version_info__ >= (0, 12)
"""Whether XLA's own choice is YNNPACK for products, and stays for convolutions, which that shares out."""
if KEEPS_ITS_OWN:
    YNNPACK = {}

pytestmark = pytest.mark.skipif(
    jax.__version_info__[:2] not in ((0, 10), (0, 12)), reason="measured with jax 0.10 and 0.12"
)


def weights(shape: list[int]) -> pb.Tensor:
    """A constant of different numbers: products with equal ones are handed to neither library."""
    return pb.constant(np.linspace(0.5, 1.5, int(np.prod(shape)), dtype=np.float32).reshape(shape))


def chain(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    x = y = pb.placeholder(pb.float32, [rows, width])
    for _ in range(4):
        y = pb.matmul(y, weights([width, width]), transpose_b=transposed)
    return x, y


def looped(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    x = pb.placeholder(pb.float32, [rows, width])
    w = weights([width, width])
    (y,) = pb.while_loop(
        lambda y: pb.reduce_sum(y) < 1e6,
        lambda y: (pb.matmul(y, w, transpose_b=transposed),),
        [x],
        maximum_iterations=9,
    )
    return x, y


def convolved(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    del transposed
    x = pb.placeholder(pb.float32, [rows, 8, 8, width])
    return x, pb.nn.conv2d(x, weights([3, 3, width, width]), 1, "SAME")


def chain_and_convolved(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    x, y = chain(rows, width, transposed)
    images = pb.reshape(y, [-1, 1, 1, width])
    return x, pb.nn.conv2d(images, weights([1, 1, width, 2]), 1, "SAME")


def elementwise(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    del transposed
    x = pb.placeholder(pb.float32, [rows, width])
    return x, pb.sin(x)


def stacked(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    x = pb.placeholder(pb.float32, [rows, 500, width])
    return x, pb.einsum("bik,bjk->bij" if transposed else "bik,bkj->bij", x, x[:, :width])


CASES = [
    (chain, 1000, 64, False, EIGEN),
    (chain, 1000, 64, True, EIGEN),
    (chain, 1000, 20, False, YNNPACK),
    (chain, 1000, 256, False, YNNPACK),
    (chain, 32, 256, False, YNNPACK),
    (chain, 32, 512, True, YNNPACK),
    (looped, 1000, 64, False, EIGEN),
    (looped, 16, 64, False, YNNPACK),
    (convolved, 4, 32, False, YNNPACK),
    (chain_and_convolved, 1000, 64, False, YNNPACK if KEEPS_ITS_OWN else EIGEN),
    (stacked, 50, 10, False, EIGEN),
    (stacked, 50, 20, False, YNNPACK),
    (elementwise, 1000, 64, False, {}),
]
IDS = [f"{make.__name__}-{rows}-{width}-{transposed}" for make, rows, width, transposed, _ in CASES]


@pytest.mark.parametrize(("make", "rows", "width", "transposed", "expected"), CASES, ids=IDS)
@pytest.mark.parametrize("known", [True, False])
def test_products_go_where_they_are_shared_out(
    make: Callable[..., tuple[pb.Tensor, pb.Tensor]],
    rows: int,
    width: int,
    transposed: bool,
    expected: dict[str, str],
    known: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NPROC", "2")
    x, y = make(rows if known else None, width, transposed)
    given = pb.TensorShape([rows, *x.shape.as_list()[1:]])
    lengths = Lengths(bound_lengths([(x.shape, given)]))
    assert library_options(make_plan([y], [], [x]), lengths) == expected


@pytest.mark.parametrize("make", [chain, convolved])
def test_products_of_unknown_lengths_stay_and_convolutions_do_not(
    make: Callable[..., tuple[pb.Tensor, pb.Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPROC", "2")
    x, y = make(None, 64, False)
    assert library_options(make_plan([y], [], [x]), Lengths()) == YNNPACK


def mapped(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    x = pb.placeholder(pb.float32, [rows, 64, width])
    w = weights([width, width])
    return x, pb.vectorized_map(lambda row: pb.matmul(row, w, transpose_b=transposed), x)


def of_float64(rows: int | None, width: int, transposed: bool) -> tuple[pb.Tensor, pb.Tensor]:
    x = pb.placeholder(pb.float64, [rows, width])
    return x, pb.matmul(x, pb.cast(weights([width, width]), pb.float64), transpose_b=transposed)


ALONE = {
    OPTION: "LIBRARY_FUSION_TYPE_REDUCE,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION",
    "xla_cpu_multi_thread_eigen": True,
}
"""Eigen for products, on one thread, where YNNPACK's convolutions are as fast; small ones too, whatever flags say."""
ALONE_CASES = [
    (chain, 1000, 64, False, {}),
    (chain, 4000, 256, False, ALONE),
    (chain, 4000, 256, True, ALONE),
    (chain, 32, 256, False, {}),
    (chain, 32, 256, True, {}),
    (chain, 1000, 10, False, ALONE),
    (chain, 1000, 12, False, ALONE),
    (looped, 4000, 256, True, ALONE),
    (mapped, 100, 10, False, ALONE),
    (stacked, 20, 10, False, ALONE),
    (stacked, 20, 20, False, {}),
    (stacked, 500, 8, False, {}),
    (of_float64, 1000, 10, False, ALONE),
    (convolved, 4, 32, False, ALONE),
    (elementwise, 1000, 64, False, {}),
]


@pytest.mark.parametrize(("make", "rows", "width", "transposed", "expected"), ALONE_CASES)
@pytest.mark.parametrize("known", [True, False])
def test_on_one_thread_products_go_where_they_take_less(
    make: Callable[..., tuple[pb.Tensor, pb.Tensor]],
    rows: int,
    width: int,
    transposed: bool,
    expected: dict[str, str],
    known: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NPROC", "1")
    assert threads() == 1
    x, y = make(rows if known else None, width, transposed)
    lengths = Lengths(bound_lengths([(x.shape, pb.TensorShape([rows, *x.shape.as_list()[1:]]))]))
    assert library_options(make_plan([y], [], [x]), lengths) == expected


def test_on_one_thread_products_of_unknown_lengths_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPROC", "1")
    x, y = chain(None, 256, False)
    assert library_options(make_plan([y], [], [x]), Lengths()) == {}


def test_times_of_products_that_are_no_choice_are_equal() -> None:
    turned = Product(3, 1, 1, 1, 10**6, is_neither=True)
    assert time_of_eigen(turned) == time_of_ynnpack(turned) > 0


@pytest.mark.parametrize("given", ["", "all", "-1"])
def test_a_number_of_threads_that_is_none_is_that_of_the_process(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PJRT_NPROC", raising=False)
    monkeypatch.delenv("NPROC", raising=False)
    expected = threads()
    monkeypatch.setenv("NPROC", given)
    assert threads() == expected >= 1


def test_what_the_user_says_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPROC", "2")
    monkeypatch.setenv("XLA_FLAGS", f"--{OPTION}=")
    x, y = convolved(4, 32, False)
    assert library_options(make_plan([y], [], [x]), Lengths()) == {}


def test_xla_takes_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPROC", "2")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    chosen: list[dict[str, Any]] = []
    jit = jax.jit

    def noting(*args: Any, **kwargs: Any) -> Any:
        if "compiler_options" in kwargs:
            chosen.append(kwargs["compiler_options"])
        return jit(*args, **kwargs)

    monkeypatch.setattr(jax, "jit", noting)
    x, y = chain(None, 64, False)
    feeds = {x: np.ones((1000, 64))}
    found, expected = (pb.Session(engine=engine).run(y, feeds) for engine in ("xla", "numpy"))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert EIGEN.items() <= chosen[-1].items()
