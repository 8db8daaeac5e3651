"""Random networks: XLA computes what NumPy computes, on either side of where it chooses another lowering.

The quick tests draw the same few networks each time, the slow ones more, on several numbers of threads.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

pytest.importorskip("jax")

from pullback.engines.xla.inner_products import InnerProducts

from .agreement import check, fails, values
from .drawing import drawn
from .network import Layer, Network, Source
from .overflow import sound_results

SUM = Network(
    nodes=(
        Source((-1, 16)),
        Layer("activation", (0,), {"kind": "tanh"}),
        Layer("with_other", (1, 1), {"how": "times"}),
        Layer("reduced", (2,), {"kind": "sum", "axis": None}),
    ),
    results=(3,),
    orders=0,
    batches=(8,),
)

ROWS = Network(
    nodes=(
        Source((-1, 6)),
        Source((6, 4), "variable"),
        Layer("dense", (0, 1), {"transposed": False, "kind": "identity"}),
        Source((4, 4)),
        Layer("collected", (2, 3), {"count": 8, "how": "largest"}),
    ),
    results=(4,),
    orders=2,
    cotangents="ones",
    fetched=("values",),
    batches=(5,),
)
"""The second derivative reads rows of a loop on the host, of several lengths, beside what is on the device."""

HALVES = Network(
    nodes=(
        Source((-1, 65)),
        Source((65, 65)),
        Layer("collected", (0, 1), {"count": 5, "how": "squares"}),
        Source((-1, 65)),
        Source((65, 65)),
        Source((65,)),
        Layer("dense", (3, 4, 5), {"transposed": False, "kind": "identity"}),
    ),
    results=(2, 6),
    dtype="bfloat16",
    orders=1,
    cotangents="ones",
    fetched=("values",),
    batches=(8,),
)
"""Halves that are read late are rows of a loop whose number only the run knows."""

OVERFLOWING = replace(
    SUM,
    nodes=(
        *SUM.nodes,
        Source((-1,), most=9),
        Layer("segments", (0, 4), {"kind": "max", "count": 64}),
        Source((16, 4)),
        Layer("dense", (5, 6)),
        Layer("activation", (7,), {"kind": "relu"}),
    ),
    results=(3, 5, 8),
)
"""Segments without rows have the lowest number; sums with it are finite or not by their order."""


def test_rows_of_several_lengths_stay_on_the_host() -> None:
    check(ROWS)


def test_rows_of_halves_are_read_late() -> None:
    check(HALVES)


@pytest.mark.usefixtures("optimized_programs")
@pytest.mark.parametrize("number", range(6))
def test_networks(number: int) -> None:
    network = drawn(f"0 {number}")
    assert network is not None
    check(network)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_many_networks(threads: int) -> None:
    """In processes of their own: XLA counts its threads once."""
    command = [sys.executable, "-m", "tests.networks", "200", "--seed", str(threads)]
    environment = {**os.environ, "NPROC": str(threads), "JAX_DISABLE_MOST_OPTIMIZATIONS": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_network_is_the_code_that_makes_it() -> None:
    for number in range(20):
        network = drawn(number)
        assert network is not None
        assert eval(repr(network)) == network == drawn(number)


@pytest.fixture
def wrong_inner_products(monkeypatch: pytest.MonkeyPatch) -> None:
    right = InnerProducts.result

    def wrong(self: InnerProducts, step: Any, arrays: Any) -> Any:
        y = right(self, step, arrays)
        return None if y is None else y * 1.001

    monkeypatch.setattr(InnerProducts, "result", wrong)


def test_results_of_numbers_that_overflow_are_told_from_the_others() -> None:
    assert sound_results(OVERFLOWING, *map(partial(values, OVERFLOWING), ["float32", "float64"])) == (3, 5)


@pytest.mark.usefixtures("wrong_inner_products")
def test_what_is_wrong_beside_numbers_that_overflow_is_found() -> None:
    assert fails(OVERFLOWING)
    assert not fails(replace(OVERFLOWING, results=(8,)))


def test_what_is_right_does_not_fail() -> None:
    assert not fails(SUM)


@pytest.mark.usefixtures("wrong_inner_products")
def test_what_is_wrong_is_found_in_a_small_network() -> None:
    with pytest.raises(AssertionError) as caught:
        check(SUM)
    small = Network(
        nodes=(
            Source((-1, 16)),
            Layer("with_other", (0, 0), {"how": "times"}),
            Layer("reduced", (1,), {"kind": "sum", "axis": None}),
        ),
        results=(2,),
        orders=0,
        cotangents="ones",
        fetched=("values",),
        batches=(8,),
    )
    assert f"\n\n{small}\n\n" in str(caught.value)
