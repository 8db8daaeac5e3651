"""The products of a program, and the time that YNNPACK and Eigen, as XLA calls them, take for each on one thread.

Measured in float32 with jax 0.10 (AVX2, 0.01 ns for a multiplication and an addition at best), for 1 to 8,192 rows of 4
to 1,024 columns and as many terms, alone and in stacks: note 35 has the table. Both are level for most; YNNPACK takes
longer for a number of terms that four does not divide, if columns are few, and for factors beyond its cache; Eigen for
a second factor that it has to turn, for few columns, and for stacks of small matrices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ...control_flow.loop import Loop
from ...core.dtypes import float32
from ...core.function import AbstractFunctional
from ...core.graph import Operation, Tensor
from ...core.traits import multiplies
from ...passes.run_lengths import Lengths
from ...primitives.linalg.einsum import Einsum
from ..plan import Plan


class Product(NamedTuple):
    """What an operation that multiplies computes: for each of a batch, rows by columns of sums of so many terms."""

    times: int
    """How often it is run."""
    batch: int
    rows: int
    columns: int
    terms: int
    """0 where a length is not known."""
    is_transposed: bool = False
    """Whether its second factor is."""
    is_neither: bool = False
    """Whether it is no matter of choice: convolutions, products of a transposed first factor, or of other dtypes."""
    is_convolution: bool = False

    @property
    def multiplications(self) -> int:
        """Those of one run."""
        return self.batch * self.rows * self.columns * self.terms


def products_of(plan: Plan, lengths: Lengths, times: int = 1, apart: int = 1) -> Iterator[Product]:
    """The products of a plan that is run so many times, with those of functions; `apart` runs are computed as one."""
    for op, bodies in [(step.op, step.bodies) for step in plan.steps]:
        p = op.primitive
        if isinstance(p, AbstractFunctional):
            steps = lengths.steps(op, p) if isinstance(p, Loop) else 1
            inner = (times, apart * steps) if isinstance(p, Loop) and p.has_steps_apart else (times * steps, apart)
            for body, function, args in zip(bodies, p.functions, p.arguments(op.inputs), strict=True):
                yield from products_of(body.plan, lengths.inside(function, args), *inner)
        elif multiplies(p.traits):
            yield _product(op, lengths, times, apart)


def _product(op: Operation, lengths: Lengths, times: int, apart: int) -> Product:
    from ...passes.costs import flops
    from ...primitives.convolution.abstract import AnyConvolution

    p, y = op.primitive, op.outputs[0]
    is_convolution = isinstance(p, AnyConvolution)
    if not all(map(lengths.knows, (*op.inputs, *op.outputs))):
        return Product(times, 0, 0, 0, 0, is_neither=True, is_convolution=is_convolution)
    count = flops(op, lengths) // 2
    neither = Product(times * apart, 1, 1, 1, count, is_neither=True, is_convolution=is_convolution)
    if is_convolution or len(op.inputs) != 2 or y.dtype != float32:
        return neither
    first, second = [_axes(op, i) for i in (0, 1)]
    last = [(x.shape.rank or 0) - 1 for x in op.inputs]
    is_turned = not isinstance(p, Einsum) and last[0] in first.values()
    batch, rows, columns = [
        math.prod([_length(y, axis, lengths) for axis in axes])
        for axes in (first.keys() & second.keys(), first.keys() - second.keys(), second.keys() - first.keys())
    ]
    if is_turned or batch * rows * apart <= 1 or not columns:
        return neither
    is_transposed = not isinstance(p, Einsum) and last[1] not in second.values()
    return Product(times, batch, rows * apart, columns, count // (batch * rows * columns), is_transposed)


def _axes(op: Operation, i: int) -> dict[int, int]:
    """The axes of the result that go along one of input `i`, by their numbers, and the number of that."""
    links = op.primitive.links(i, *[x.type for x in op.inputs]) or ()
    return {link.output: link.input for link in links if link.pairs is None}


def _length(y: Tensor, axis: int, lengths: Lengths) -> int:
    return lengths.number(y.shape.length(axis)) or 0


def time_of_ynnpack(product: Product) -> float:
    """The nanoseconds that a run takes."""
    _, batch, rows, columns, terms, *_ = product
    if product.is_neither:
        return product.multiplications * _AT_BEST
    of_matrix = rows * terms * columns * _AT_BEST
    if columns < 64:
        padded = _rounded(columns, 8 if columns <= 8 else 16 if columns <= 16 else 32)
        rest = 0.0 if terms % 4 == 0 or padded == 32 else 5.4 * max(padded // 16, 1)
        of_matrix = rows * (terms * padded * _AT_BEST + 1.5 + rest)
    elif min(terms, columns) >= 256:
        of_matrix *= 1.25 if batch * rows >= 1024 else 1.07
    return _CALL + batch * (of_matrix + (40.0 if batch > 1 else 0.0))


def time_of_eigen(product: Product) -> float:
    """The nanoseconds that a run takes."""
    _, batch, rows, columns, terms, *_ = product
    if product.is_neither:
        return product.multiplications * _AT_BEST
    padded = max(_rounded(columns, 16), 20) if columns < 64 else columns
    of_matrix = rows * (terms * padded * _AT_BEST * (1.07 if min(terms, columns) >= 256 else 1.12) + 0.4)
    if product.is_transposed:
        factor = terms * columns
        of_matrix += factor * (0.25 if factor < _IN_FIRST_CACHE else max(1.0, factor / _IN_CACHE))
    return _CALL + batch * (of_matrix + (400.0 if batch > 1 else 0.0))


_AT_BEST = 0.0088
"""The nanoseconds of a multiplication and an addition."""
_CALL = 2500.0
"""Those that a run takes at least."""
_IN_FIRST_CACHE, _IN_CACHE = 1 << 14, 1 << 18
"""The elements of a factor from which each costs more to turn."""


def _rounded(n: int, step: int) -> int:
    return -(-n // step) * step
