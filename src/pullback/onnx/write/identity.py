"""ONNX export of what hands its input on."""

from __future__ import annotations

from typing import Any

from ...core.function import Substitute
from ...primitives.identity.barrier import OptimizationBarrier
from ...primitives.identity.identity import (
    EnsureShape,
    EnsureShapeLike,
    Identity,
    IdentityN,
    NoOp,
    PreventGradient,
    StopGradient,
)
from ...primitives.identity.sharding import Sharding
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(Identity, Sharding, pairs=True)
def same(w: Writer, p: Any, x: Value) -> Value:
    del w
    return x


@writer(StopGradient, PreventGradient, pairs=True)
def not_differentiated(w: Writer, p: Any, x: Any) -> Any:
    """`x`; who reads the model differentiates no further than whom it was written by."""
    return w.handed_on(x) if isinstance(x, Value) else x


@writer(EnsureShapeLike, pairs=True)
def ensure_shape_like(w: Writer, p: Any, x: Value, like: Value) -> Value:
    """`x`: a model does not look."""
    del w, like
    return x


@writer(EnsureShape, pairs=True)
def ensure_shape(w: Writer, p: Any, x: Any) -> Any:
    """`x`; where its shape cannot be that, in a branch that is not taken then, something of that shape."""
    wanted = w.op.outputs[0].shape
    if not isinstance(x, Value) or x.type.shape.is_compatible_with(wanted):
        return x
    lengths = [-1 if n is None else n for n in wanted.as_list()]
    first = lengths.index(-1) if -1 in lengths else None
    return w.reshape(x, [1 if n == -1 and i != first else n for i, n in enumerate(lengths)])


@writer(Substitute, pairs=True)
def substitute(w: Writer, p: Any, computed: Value, known: Value) -> Value:
    del w, computed
    return known


@writer(IdentityN, OptimizationBarrier, pairs=True)
def all_of_them(w: Writer, p: Any, *xs: Value) -> tuple[Value, ...]:
    del w
    return xs


@writer(NoOp)
def nothing(w: Writer, p: Any) -> tuple[Value, ...]:
    del w
    return ()
