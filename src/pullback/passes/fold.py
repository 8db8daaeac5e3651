"""Constant folding: operations whose inputs are known are computed once, when the pass is made.

Only what is small is folded, and what is the same in every run: nothing that has an effect, draws random numbers, is
put on a device of its own or waits for something. What fails, or is not finite, is left to the run, which says where.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ..core.dtypes import INEXACT, TokenType
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation, Tensor
from ..primitives.creation.constant import Const
from ..primitives.debugging.guards import AbstractGuard
from .rebuilding import rebuilt
from .view import Array, View

LARGEST = 256
"""The most elements of a value that is folded."""
_LARGEST_READ = 4096
"""The most elements of a value that is read for that."""


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
    """The view with the values of what depends on constants only, without what was needed for these alone."""
    known = dict(view.known)
    view = replace(view, known=known)
    constants = len(known)
    for op in view.operations:
        inputs = view.inputs(op)
        if (inputs and inputs[0] not in known) or isinstance(op.primitive, Const):
            continue
        values = _computed(op, [known[x] for x in inputs]) if _may_fold(op, inputs, view) else None
        if values is not None:
            known.update(zip(op.outputs, values, strict=True))
    return view.pruned() if len(known) > constants else view


def _may_fold(op: Operation, inputs: Sequence[Tensor], view: View) -> bool:
    """Whether every run would compute the same, and nothing else would be lost."""
    p, known = op.primitive, view.known
    if p.stateful or p.acts or p.recomputes or isinstance(p, AbstractFunctional | AbstractGuard):
        return False
    if op.device or op.control_inputs or not all(_is_small(y) and y not in view.given for y in op.outputs):
        return False
    return all(x in known and known[x].size <= _LARGEST_READ for x in inputs)


def _is_small(y: Tensor) -> bool:
    size = y.shape.num_elements()
    return size is not None and size <= LARGEST and not isinstance(y.dtype, TokenType)


def _computed(op: Operation, arrays: Sequence[Array]) -> list[Array] | None:
    """The outputs of `op`; None where that is left to the run."""
    try:
        with np.errstate(all="ignore"):
            result = op.primitive.kernel(np, *[a if a.ndim else a[()] for a in arrays])
    except Exception:  # A kernel that fails does so again in a run, with a message that says where.
        return None
    values = [np.array(value) for value in (result if isinstance(result, tuple) else (result,))]
    for value, y in zip(values, op.outputs, strict=True):
        fits = value.dtype == y.dtype and y.shape.is_compatible_with(value.shape) and value.size <= LARGEST
        if not fits or (y.dtype in INEXACT and not np.isfinite(value).all()):
            return None
        value.setflags(write=False)
    return values
