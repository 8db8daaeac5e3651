"""Rematerialisation that XLA does by itself: elementwise results that it computes again where they are read late.

On a processor it works a cheap elementwise operation into whatever reads it, however late that is. That costs nothing
where the operands are kept as long anyway, or one is kept in place of the result, and arrays where several are kept.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from ...core.dtypes import DType
from ...core.graph import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import ELEMENTWISE
from ..plan import Plan

_ARITHMETIC = frozenset({"abs", "add", "max", "min", "mul", "neg", "sign", "square", "sub"})
_CHOICES = frozenset({"and", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "select_n"})
_CHEAP = _ARITHMETIC | _CHOICES | {"broadcast_in_dim", "convert_element_type", "copy", "reshape"}
"""The operations that XLA computes again rather than that it keeps what they give."""
_SOON, _SOON_IF_SMALL = 8, 16
"""The steps up to which something is not kept long; what makes small arrays had better be done in one loop."""
_SMALL = 1 << 14
_LITTLE = 4


def read_late(plan: Plan) -> frozenset[int]:
    """The slots of cheap elementwise results that are read late, and made of several arrays that are not there then.

    These are results of another kind: where all is elementwise it is computed in one loop. What is spread out of little
    is computed where it is read, and what is small itself does not matter.
    """
    count = len(plan.steps)
    last = {n: t for t, step in enumerate(plan.steps) for n in step.inputs} | dict.fromkeys(plan.fetch_slots, count)
    until = dict.fromkeys([*plan.feed_slots, *[n for n, _ in plan.constants]], count)
    """Up to which step a value is there, or what it can be computed of."""
    largest = max([_size(y) for step in plan.steps for y in step.op.outputs], default=0)
    found: set[int] = set()
    for t, step in enumerate(plan.steps):
        op, sizes = step.op, [_size(x) for x in step.op.inputs]
        if ELEMENTWISE not in op.primitive.traits:
            is_spread = bool(op.outputs) and _LITTLE * max(sizes, default=0) < _size(op.outputs[0])
            until.update((n, count if is_spread else last.get(n, t)) for n in step.outputs)
            continue
        n, size = step.outputs[0], _size(op.outputs[0])
        read, soon = last.get(n, t), _SOON_IF_SMALL if size <= _SMALL else _SOON
        whole = [until[m] for m, s in zip(step.inputs, sizes, strict=True) if m in until and s == size]
        there = min(whole, default=count)
        gone = {m for m, k in zip(step.inputs, sizes, strict=True) if k == size and until.get(m, count) + soon < read}
        if len(gone) > 1 and read - t > soon and _LITTLE * size > largest and _is_cheap(op):
            found.add(n)
            there = read
        until[n] = there
    return frozenset(found)


def _is_cheap(op: Operation) -> bool:
    """Whether XLA takes an elementwise operation to be as cheap as reading a number."""
    return _takes_cheap_steps(op.primitive, tuple([x.dtype for x in op.inputs]))


@lru_cache(maxsize=4096)
def _takes_cheap_steps(primitive: Primitive, dtypes: tuple[DType, ...]) -> bool:
    numbers = [jax.ShapeDtypeStruct((), dtype) for dtype in dtypes]  # type: ignore[no-untyped-call]
    with suppress(Exception):
        return _are_cheap(jax.make_jaxpr(partial(primitive.kernel, jnp))(*numbers).jaxpr)
    return False


def _are_cheap(program: Any) -> bool:
    for equation in program.eqns:
        inner = [x.jaxpr for x in equation.params.values() if isinstance(x, ClosedJaxpr)]
        if not all(map(_are_cheap, inner)) if inner else equation.primitive.name not in _CHEAP:
            return False
    return True


def _size(x: Tensor) -> int:
    return x.shape.num_elements() or 0
