"""Constant folding: operations whose inputs are known are computed once, when the pass is made.

Only what is small is folded, and what is the same in every run: nothing that has an effect, draws random numbers, is
put on a device of its own or waits for something. What fails, or is not finite, is left to the run, which says where.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..core.dtypes import INEXACT, INTEGER
from ..core.dtypes import bool as bool_
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation, Tensor
from ..core.traits import PLACES
from ..core.values import Const, evaluated, inputs_to_evaluate
from ..primitives.debugging.guards import AbstractGuard
from .rebuilding import rebuilt
from .view import Array, View

LARGEST = 256
"""The most elements of a value that is folded, or read for that."""
_TOLD = frozenset([*INTEGER, bool_])


def fold(function: Function, keep: Collection[Tensor] = ()) -> Function:
    """`function` with constants for what it computes from constants only.

    >>> import pullback as pb
    >>> from pullback.core.function import trace
    >>> f = trace(lambda x: [x * (pb.constant(2.0) + 3.0)], [pb.constant(1.0).type], "f", ["x"]).function
    >>> print(fold(f))
    f(x: float32[]) -> (mul)
      add: float32[] = Const[value=5.0]()
      mul: float32[] = Mul(x, add)
    """
    return rebuilt(function, folded, keep)


def folded(view: View) -> View:
    """The view with the values of what depends on constants and static shapes only.

    What was needed for these values alone is left out. Lengths that a run decides are computed with on the way.
    """
    known = dict(view.known)
    told: dict[Tensor, Array | None] = dict(known)
    for op in view.operations:
        outputs, inputs = op.outputs, view.inputs(op)
        is_told = bool(outputs) and outputs[0].type.dtype in _TOLD
        if not (is_told or (inputs and inputs[0] in known)) or not _may_fold(op, view):
            continue
        values = _told(op, view, told) if is_told else _computed(op, [known.get(x) for x in inputs])
        told.update(zip(outputs, values, strict=False))
        if values and all(a is not None and a.dtype != object for a in values):
            known.update(zip(outputs, values, strict=True))  # type: ignore[arg-type]
    return replace(view, known=known).pruned() if len(known) > len(view.known) else view


def _may_fold(op: Operation, view: View) -> bool:
    """Whether every run would compute the same, and nothing else would be lost."""
    p = op.primitive
    if p.stateful or p.acts or p.recomputes or isinstance(p, AbstractFunctional | AbstractGuard | Const):
        return False
    if op.device or op.controls or PLACES in p.traits:
        return False
    return view.given.isdisjoint(op.outputs) and view.apart.isdisjoint(op.outputs)


def _told(op: Operation, view: View, told: Mapping[Tensor, Array | None]) -> Sequence[Array | None]:
    """What is known of the integers or truth values that `op` computes."""
    try:
        with np.errstate(all="ignore"):
            values = evaluated(op, [told.get(view.stand_in(x)) for x in inputs_to_evaluate(op)])
    except Exception:  # A kernel that fails does so again in a run, with a message that says where.
        return []
    return values if all(a is None or a.size <= LARGEST for a in values) else []


def _computed(op: Operation, found: Sequence[Array | None]) -> list[Array]:
    """The outputs of `op`; none where they are left to the run, or not all inputs are known."""
    arrays = [a for a in found if a is not None]
    sizes = [*[a.size for a in arrays], *[y.shape.num_elements() for y in op.outputs]]
    if len(arrays) < len(found):
        return []
    if any(n is None or n > LARGEST for n in sizes):
        return []
    try:
        with np.errstate(all="ignore"):
            result = op.primitive.kernel(np, *[a if a.ndim else a[()] for a in arrays])
    except Exception:  # A kernel that fails does so again in a run, with a message that says where.
        return []
    values = [np.array(value) for value in (result if isinstance(result, tuple) else (result,))]
    for value, y in zip(values, op.outputs, strict=True):
        fits = value.dtype == y.dtype and y.shape.is_compatible_with(value.shape)
        if not fits or (y.dtype in INEXACT and not np.isfinite(value).all()):
            return []
        value.setflags(write=False)
    return values
