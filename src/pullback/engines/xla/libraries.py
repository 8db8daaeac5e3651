"""Matrix libraries of XLA on processors: whether YNNPACK or Eigen computes the products and convolutions of a program.

XLA 0.10 takes YNNPACK. That computes a convolution on one thread, and no two at the same time; Eigen shares it out
over all threads. A product of fewer than 2^23 multiplications YNNPACK computes on one thread too; Eigen shares out
those of enough rows, but a transposed second factor costs it up to two and a half times as much where there are few.
On one thread both take about the same time, and YNNPACK stays.

In jax 0.12 YNNPACK shares convolutions out as well as Eigen: there a program with convolutions keeps XLA's own choice.

Neither where YNNPACK would compute a product wrongly: see `broadcast_factors`.

XLA takes one choice a program. Of what is ready it runs little side by side, so products are taken to come one after
the other: that library computes them which is faster so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax

from ...control_flow.loop import Loop
from ...core.function import AbstractFunctional
from ...core.graph import Operation
from ...core.threads import threads
from ...core.traits import multiplies
from ...passes.run_lengths import Lengths
from ...primitives.linalg.matmul import MatMul
from ..plan import Plan

_OPTION = "xla_cpu_experimental_ynn_fusion_type"
_REDUCTIONS = "LIBRARY_FUSION_TYPE_REDUCE"
_PRODUCTS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"
WITHOUT_YNNPACK = {_OPTION: ""}
_MEASURED = (0, 10), (0, 12)
"""The versions of jax whose libraries are known to behave so."""
_SHARES_CONVOLUTIONS = jax.__version_info__ >= (0, 12)
"""Whether YNNPACK does."""
_SHARED_BY_YNNPACK = 1 << 23
_SHARED_BY_EIGEN = 3 << 19
"""The multiplications from which a product is shared out over threads."""
_ENOUGH_ROWS = 100
"""The rows of a product from which Eigen shares it out."""
_TRANSPOSING = 50
"""The rows at which a transposed second factor doubles Eigen's time."""
_SLOWEST = 2.5
"""How much longer it takes at most."""
_GAIN = 0.95
"""The part of YNNPACK's time that Eigen's must be for products to be handed to that."""


class Product(NamedTuple):
    """What an operation that multiplies takes."""

    multiplications: int
    """0 where a length is not known."""
    times: int
    """How often it is run."""
    rows: int | None
    """None for what Eigen computes in either case: convolutions, and products of a transposed first factor."""
    is_transposed: bool
    """Whether its second factor is."""
    is_convolution: bool


def library_options(plan: Plan, lengths: Lengths) -> dict[str, Any]:
    """The compiler options by which XLA chooses libraries for a plan; none where its own choice is to stay."""
    count = threads()
    if _OPTION in os.environ.get("XLA_FLAGS", ""):
        return {}
    if jax.__version_info__[:2] not in _MEASURED or count == 1:
        return {}
    products = [*_products(plan, lengths)]
    if not products:
        return {}
    ynnpack, eigen = (sum([time(product, count) for product in products]) for time in (_by_ynnpack, _by_eigen))
    gains = eigen < _GAIN * ynnpack
    if _SHARES_CONVOLUTIONS:
        return {_OPTION: _REDUCTIONS} if gains and not any(product.is_convolution for product in products) else {}
    return {_OPTION: _REDUCTIONS if gains else f"{_REDUCTIONS},{_PRODUCTS}"}


def _products(plan: Plan, lengths: Lengths, times: int = 1) -> Iterator[Product]:
    """The products of a plan that is run so many times, with those of functions."""
    for op, bodies in [(step.op, step.bodies) for step in plan.steps]:
        p = op.primitive
        if isinstance(p, AbstractFunctional):
            steps = lengths.steps(op, p) if isinstance(p, Loop) else 1
            for body, function, args in zip(bodies, p.functions, p.arguments(op.inputs), strict=True):
                yield from _products(body.plan, lengths.inside(function, args), steps * times)
        elif multiplies(p.traits):
            yield _product(op, lengths, times)


def _product(op: Operation, lengths: Lengths, times: int) -> Product:
    from ...passes.costs import flops
    from ...primitives.convolution.abstract import AnyConvolution

    p = op.primitive
    is_convolution = isinstance(p, AnyConvolution)
    if not all(map(lengths.knows, (*op.inputs, *op.outputs))):
        return Product(0, times, None, False, is_convolution)
    count = flops(op, lengths) // 2
    if isinstance(p, MatMul) and not p.transpose_a:
        return Product(count, times, lengths.number(op.outputs[0].shape.length(0)), p.transpose_b, False)
    return Product(count, times, None, False, is_convolution)


def _by_ynnpack(product: Product, count: int) -> float:
    is_shared = product.rows is None or product.multiplications >= _SHARED_BY_YNNPACK
    return product.times * product.multiplications / (count if is_shared else 1)


def _by_eigen(product: Product, count: int) -> float:
    rows = product.rows
    if rows is None:
        return _by_ynnpack(product, count)
    is_shared = rows >= _ENOUGH_ROWS and product.multiplications >= _SHARED_BY_EIGEN
    slower = min(1 + _TRANSPOSING / max(rows, 1), _SLOWEST) if product.is_transposed else 1.0
    return product.times * product.multiplications * slower / (count if is_shared else 1)
