"""Materialisation: values that XLA on a processor makes arrays of, in place of computing them where they are read.

XLA works elementwise operations into what reads them, however late that is, and keeps what they read until then. What
is the result of a call that it must not inline it has as an array, and looks no further: a call of a function that
returns what it is given takes neither time nor memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata

from ...control_flow.call import RecomputedCall
from ...core.dtypes import INEXACT, bfloat16, float16
from ...core.operation import Operation
from ...core.traits import ELEMENTWISE, GIVEN, VIEWS, multiplies
from ...primitives.activations.softmax import Softmax, SoftmaxGrad
from ...primitives.elementwise.add_n import AddN
from ...primitives.linalg.einsum import Einsum
from ...primitives.linalg.formulations import by_first_axes, turns_first
from ...primitives.linalg.matmul import BatchMatMul, MatMul
from ..plan import Plan, Step
from .platform import on_processor
from .reading_late import read_late

_HALVES = (float16, bfloat16)
_SOON = 4
"""The steps after which something is not kept long."""


@jax.jit
def _given(x: Any, *others: Any) -> Any:
    return lax.optimization_barrier((x, *others))[0]  # type: ignore[no-untyped-call]  # Else jax leaves the call out.


def materialised(x: jax.Array, *others: Any) -> jax.Array:
    """`x`, which is an array once it and `others` are computed; of these one number is read."""
    firsts = [y if y.ndim == 0 else lax.slice(y, [0] * y.ndim, [1] * y.ndim) for y in others]
    return set_xla_metadata(_given(x, *firsts), inlineable="false")  # type: ignore[no-untyped-call, no-any-return]


class Kept:
    """The values of a plan that are kept while others are computed, and are arrays meanwhile.

    Halves XLA computes in float32, and would keep so, or in both: one is read first as it was computed, later as the
    array. Of bfloat16 that waits for what else is read then, or XLA would widen it for all readers at once.
    """

    def __init__(self, plan: Plan) -> None:
        self._halves = _kept_halves(plan)
        self._slots = self._halves | _read_again(plan) | _multiplied(plan) | _added_late(plan) | read_late(plan)
        self._times: dict[int, int] = {}
        """For the slots of results when they were made."""
        self._first: dict[int, jax.Array] = {}
        """What the first reader of halves is given."""

    def given(self, step: Step, arrays: list[Any]) -> list[Any]:
        """The inputs of a step: `arrays`, some of which wait for others."""
        if not on_processor():
            return arrays
        times = [self._times.get(n, -1) for n in step.inputs]
        arrays = _turned_late(step, arrays, times)
        if self._halves.isdisjoint(step.inputs):
            return arrays
        latest = max(range(len(arrays)), key=times.__getitem__)
        found = [self._first.get(n, x) for n, x in zip(step.inputs, arrays, strict=True)]
        for i, n in enumerate(step.inputs):
            waits = n in self._halves and n not in self._first and times[i] < times[latest]
            if waits and _is_array(arrays[i]) and arrays[i].dtype == bfloat16 and _is_array(arrays[latest]):
                found[i] = materialised(arrays[i], arrays[latest])
        for n in step.inputs:
            self._first.pop(n, None)
        return found

    def made(self, step: Step, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results of a step, those that are kept as arrays."""
        self._times.update(dict.fromkeys(step.outputs, len(self._times)))
        kept = self._slots.intersection(step.outputs)
        if not kept or not on_processor():
            return results
        halves = self._halves.intersection(step.outputs)
        pairs = list(zip(step.outputs, results, strict=True))
        self._first.update({n: y for n, y in pairs if n in halves and _is_array(y)})
        return tuple([materialised(y) if n in kept and _is_array(y) else y for n, y in pairs])


def _turned_late(step: Step, arrays: list[Any], times: Sequence[int]) -> list[Any]:
    """The inputs of a step that were made at `times`; a factor that it transposes waits for a later one.

    XLA would transpose it as soon as it is there.
    """
    p = step.op.primitive
    if not isinstance(p, MatMul | BatchMatMul | Einsum) or len(arrays) != 2:
        return arrays
    early = int(times[1] < times[0])
    if times[early] == times[1 - early] or not all(map(_is_array, arrays)):
        return arrays
    if early not in _turned(p, arrays):
        return arrays
    late = arrays[1 - early]
    if isinstance(p, Einsum):
        late = materialised(late)  # Else XLA computes it anew for the one number, in time for the next product.
    return [materialised(x, late) if i == early else late for i, x in enumerate(arrays)]


def _turned(p: MatMul | BatchMatMul | Einsum, arrays: Sequence[Any]) -> Sequence[int]:
    """The factors that a product by first axes may transpose; of a stack of one matrix XLA makes such a product."""
    a, b = [x.shape for x in arrays]
    if isinstance(p, Einsum):
        way = by_first_axes(p.equation, (len(a), len(b)))
        return () if way is None or way.is_direct(a, b) else (0, 1)
    if isinstance(p, BatchMatMul):
        return (0,) if p.adj_x and prod(a[:-2]) == 1 else ()
    (rows, m), n = a, b[1]
    return (0,) if p.transpose_a and not p.transpose_b and turns_first(rows, m, n) else ()


def _read_again(plan: Plan) -> frozenset[int]:
    """The slots of what is read, or fetched, after the next step of a plan that computes again."""
    found: set[int] = set()
    made: dict[int, int] = {}
    count = 0
    for step in plan.steps:
        count += isinstance(step.op.primitive, RecomputedCall)
        found.update(n for n in step.inputs if made.get(n, count) < count)
        made.update(dict.fromkeys(step.outputs, count))
    return frozenset(found.union(n for n in plan.fetch_slots if made.get(n, count) < count))


def _multiplied(plan: Plan) -> frozenset[int]:
    """The slots of softmaxes that products and derivatives read: for the latter XLA would keep what made them, too."""
    found = {n for step in plan.steps if isinstance(step.op.primitive, Softmax) for n in step.outputs}
    by_products = {n for step in plan.steps if multiplies(step.op.primitive.traits) for n in step.inputs}
    by_others = {n for step in plan.steps if isinstance(step.op.primitive, SoftmaxGrad) for n in step.inputs}
    return frozenset(found & by_products & by_others)


def _added_late(plan: Plan) -> frozenset[int]:
    """The slots of what is made of two arrays, and added up much later: XLA would keep both until then.

    One of them is an array in any case. Where all that leads to it is elementwise, it is computed in one loop with the
    sum instead: a bundle adjustment would take a fifth longer.
    """
    made = {n: t for t, step in enumerate(plan.steps) if _reads_an_array(step.op) for n in step.outputs}
    sums = [(t, step) for t, step in enumerate(plan.steps) if isinstance(step.op.primitive, AddN)]
    return frozenset(n for t, step in sums for n in step.inputs if t - made.get(n, t) > _SOON)


def _reads_an_array(op: Operation) -> bool:
    """Whether it is an elementwise operation of two arrays, one of which is the result of another kind."""
    sizes = {x.shape.num_elements() for x in (*op.inputs, *op.outputs)}
    if ELEMENTWISE not in op.primitive.traits or len({*op.inputs}) < 2 or len(sizes) > 1:
        return False
    return any({ELEMENTWISE, VIEWS, GIVEN}.isdisjoint(x.op.primitive.traits) for x in op.inputs)


def _kept_halves(plan: Plan) -> frozenset[int]:
    """The slots of halves that are read again much later, but for those that it takes no time to compute again."""
    readers: dict[int, list[int]] = {}
    for t, step in enumerate(plan.steps):
        for n in {*step.inputs}:
            readers.setdefault(n, []).append(t)
    found = set()
    for step in plan.steps:
        for n, y in zip(step.outputs, step.op.outputs, strict=True):
            times = readers.get(n, [0])
            is_late = y.dtype in _HALVES and times[-1] - times[0] > _SOON
            if is_late and _is_worth_it(step.op, [plan.steps[t].op for t in times]):
                found.add(n)
    return frozenset(found)


def _is_worth_it(op: Operation, readers: Sequence[Operation]) -> bool:
    """Whether what `op` makes is no product, which is an array anyway, and not computed anew where it is read."""
    if ELEMENTWISE not in op.primitive.traits:
        return False
    is_cheap = any(t.name in ("linear", "bilinear") for t in op.primitive.traits)
    return not is_cheap or any(multiplies(reader.primitive.traits) for reader in readers)


def _is_array(x: Any) -> bool:
    known = isinstance(x, jax.Array) and all(isinstance(n, int) for n in x.shape)
    return known and x.size > 0 and x.dtype in INEXACT
