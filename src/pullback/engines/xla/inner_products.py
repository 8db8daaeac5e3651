"""Inner products: the sum over all products of the elements of two small arrays is one product of vectors.

XLA multiplies first, and adds up in a second loop or in YNNPACK, which takes 12 to 27 us for 4096 numbers between other
operations, and a product of vectors two. The steps of conjugate gradients wait for such numbers. Where they are those
of several arrays, as of all weights of a net, the sum of them is one product of the arrays joined: a trust region's
step, with thirty such sums of six, takes 0.965 of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...primitives.elementwise.add_n import AddN
from ...primitives.elementwise.arithmetic import Add, Mul
from ...primitives.elementwise.powers import Square
from ...primitives.reduction.sum import Sum
from ..plan import Plan, Step
from .platform import on_processor

_FEW, _MANY = 32, 1 << 14
"""The elements above which XLA does not add up in one loop with what reads the sum, and up to which it is worth it."""
_SEVERAL = 3
"""The inner products from which on joining the arrays costs less than a loop for each."""

Pairs = tuple[tuple[Any, Any], ...]


class InnerProducts:
    """The factors of small products, and of sums of those, while a plan is traced."""

    def __init__(self, plan: Plan) -> None:
        self._parts = _parts(plan)
        self._factors: dict[int, tuple[Any, Any, Any]] = {}
        """For a slot the product, and its factors."""
        self._sums: dict[int, tuple[Any, Pairs]] = {}
        """For a slot the sum of inner products, and the factors of each."""

    def note(self, step: Step, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        """Keep the factors of what a step has multiplied."""
        primitive = step.op.primitive
        if isinstance(primitive, Mul | Square):
            x, y = arrays[0], arrays[-1]
            if _is_small(x) and _is_small(y) and x.shape == y.shape:
                self._factors[step.outputs[0]] = results[0], x, y
        elif isinstance(primitive, Sum | AddN | Add):
            pairs = self._pairs(step, arrays)
            if 0 < _elements(pairs) <= _MANY:
                self._sums[step.outputs[0]] = results[0], pairs
        for n in step.frees:
            self._factors.pop(n, None)
            self._sums.pop(n, None)

    def result(self, step: Step, arrays: Sequence[Any]) -> Any:
        """The sum of all elements of a small product, or of several such sums; None for all else."""
        primitive = step.op.primitive
        if not isinstance(primitive, Sum | AddN | Add) or not on_processor():
            return None
        if isinstance(primitive, AddN | Add) and step.outputs[0] in self._parts:
            return None
        pairs = self._pairs(step, arrays)
        if not _FEW < _elements(pairs) <= _MANY or 1 < len(pairs) < _SEVERAL:
            return None
        x, y = [jnp.concatenate([*map(jnp.ravel, factors)]) for factors in zip(*pairs, strict=True)]
        total = lax.dot_general(x, y, (((0,), (0,)), ((), ())))
        keeps = isinstance(primitive, Sum) and primitive.keepdims
        return total.reshape((1,) * arrays[0].ndim if keeps else ())

    def _pairs(self, step: Step, arrays: Sequence[Any]) -> Pairs:
        """The factors of the inner products that a step adds up; none where it does something else."""
        p = step.op.primitive
        if isinstance(p, Sum):
            product, *factors = self._factors.get(step.inputs[0], (None,))
            return ((factors[0], factors[1]),) if product is arrays[0] and _is_over_all(p, factors[0].ndim) else ()
        terms = [self._sums.get(n, (None, ())) for n in step.inputs]
        known = all(total is x and x.ndim == 0 for (total, _), x in zip(terms, arrays, strict=True))
        return tuple([pair for _, pairs in terms for pair in pairs]) if known else ()


def _parts(plan: Plan) -> frozenset[int]:
    """The slots of sums of inner products that only another such sum reads, which is one product of all factors."""
    readers = Counter([*plan.fetch_slots, *[n for step in plan.steps for n in step.inputs]])
    products, sums, parts = set[int](), set[int](), set[int]()
    for step in plan.steps:
        primitive = step.op.primitive
        if isinstance(primitive, Mul | Square):
            products.update(step.outputs)
        elif isinstance(primitive, Sum) and step.inputs[0] in products:
            sums.update(step.outputs)
        elif isinstance(primitive, AddN | Add) and sums.issuperset(step.inputs):
            parts.update([n for n in step.inputs if readers[n] == 1])
            sums.update(step.outputs)
    return frozenset(parts)


def _elements(pairs: Pairs) -> int:
    return sum(x.size for x, _ in pairs)


def _is_small(x: Any) -> bool:
    known = isinstance(x, jax.Array | np.ndarray) and all(isinstance(n, int) for n in x.shape)
    return bool(known and x.dtype == np.float32 and 0 < prod(x.shape) <= _MANY)


def _is_over_all(p: Sum, rank: int) -> bool:
    return p.axis is None or len({a % rank for a in p.axis}) == rank
