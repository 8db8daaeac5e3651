"""Matrix libraries of XLA on processors: whether YNNPACK or Eigen computes the products and convolutions of a program.

XLA 0.10 takes YNNPACK. That computes a convolution on one thread, and no two at the same time; Eigen shares it out
over all threads. A product of fewer than 2^23 multiplications YNNPACK computes on one thread too; Eigen shares out
those of enough rows, but a transposed second factor costs it as long as it takes to turn it. On one thread it depends
on the shapes which is faster: `product_times` says what each takes. Where both take as long on one thread, Eigen
computes the products: YNNPACK takes up to a millisecond more for each in the first step. Where Eigen may take no other
thread, as `XLA_FLAGS` can say, XLA does not hand it small products, but compiles a loop for each, in 60 ms.

In jax 0.12 YNNPACK shares convolutions out as well as Eigen: there a program with convolutions keeps XLA's own choice.

Neither where YNNPACK would compute a product wrongly: see `broadcast_factors`.

XLA takes one choice a program. Of what is ready it runs little side by side, so products are taken to come one after
the other: that library computes them which is faster so.
"""

from __future__ import annotations

import os
from typing import Any

import jax

from ...core.threads import threads
from ...passes.run_lengths import Lengths
from ..plan import Plan
from .product_times import Product, products_of, time_of_eigen, time_of_ynnpack

_OPTION = "xla_cpu_experimental_ynn_fusion_type"
_REDUCTIONS = "LIBRARY_FUSION_TYPE_REDUCE"
_PRODUCTS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"
_CONVOLUTIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
WITHOUT_YNNPACK = {_OPTION: ""}
_EIGEN_ALONE = {_OPTION: f"{_REDUCTIONS},{_CONVOLUTIONS}", "xla_cpu_multi_thread_eigen": True}
"""On one thread, where Eigen finds no others, whatever it may take."""
_MEASURED = (0, 10), (0, 12)
"""The versions of jax whose libraries are known to behave so."""
_SHARES_CONVOLUTIONS = jax.__version_info__ >= (0, 12)
"""Whether YNNPACK does."""
_SHARED_BY_YNNPACK = 1 << 23
_SHARED_BY_EIGEN = 3 << 19
"""The multiplications from which a product is shared out over threads."""
_ENOUGH_ROWS = 100
"""The rows of a product from which Eigen shares it out."""
_GAIN = 0.95
"""The part of YNNPACK's time that Eigen's must be for products to be handed to that; on one thread as much will do."""


def library_options(plan: Plan, lengths: Lengths) -> dict[str, Any]:
    """The compiler options by which XLA chooses libraries for a plan; none where its own choice is to stay."""
    count = threads()
    if _OPTION in os.environ.get("XLA_FLAGS", "") or jax.__version_info__[:2] not in _MEASURED:
        return {}
    products = [*products_of(plan, lengths)]
    if not products:
        return {}
    ynnpack, eigen = (sum([time(product, count) for product in products]) for time in (_by_ynnpack, _by_eigen))
    if count == 1:
        return _EIGEN_ALONE if 0 < eigen <= ynnpack else {}
    gains = eigen < _GAIN * ynnpack
    if _SHARES_CONVOLUTIONS:
        return {_OPTION: _REDUCTIONS} if gains and not any(product.is_convolution for product in products) else {}
    return {_OPTION: _REDUCTIONS if gains else f"{_REDUCTIONS},{_PRODUCTS}"}


def _by_ynnpack(product: Product, count: int) -> float:
    is_shared = product.is_neither or product.multiplications >= _SHARED_BY_YNNPACK
    return product.times * time_of_ynnpack(product) / (count if is_shared else 1)


def _by_eigen(product: Product, count: int) -> float:
    if product.is_neither:
        return _by_ynnpack(product, count)
    is_shared = product.rows >= _ENOUGH_ROWS and product.multiplications >= _SHARED_BY_EIGEN
    return product.times * time_of_eigen(product) / (count if is_shared else 1)
