"""Disconnected gradients explained: the operations where every path from x to y ends, each with the user's line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..core.dtypes import TRAINABLE
from ..core.graph import Operation, Tensor, site_of
from ..core.needs import needed
from ..core.operation import index_of
from ..core.primitive import ZERO
from ..core.typing import TensorLike
from ..primitives.creation.fill import ones_like, zeros_like
from ..primitives.identity.identity import StopGradient
from .arguments import as_source, as_target, check_element, common_graph
from .paths import operations_between
from .rules import apply_rule

_MOST_SHOWN = 5


@dataclass(frozen=True)
class Explanation:
    """What `explain_gradient` found: whether there is a gradient, and what stands in its way, a sentence each."""

    connected: bool
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.reasons)


def explain_gradient(y: TensorLike, x: TensorLike) -> Explanation:
    """Why `gradients(y, x)` is None, or that it is not: prints as sentences that name operations and the user's lines.

    The graph is left as it was.

    Raises:
        ValueError: y and x belong to different graphs. LookupError: an operation between them has no gradient.

    >>> import pullback as pb
    >>> x = pb.constant(2.5, name="x")
    >>> y = pb.cast(pb.cast(x, pb.int32, name="whole"), pb.float32) * 3.0
    >>> print(pb.explain_gradient(y, x))
    The gradient of float32[] 'mul:0' by float32[] 'x:0' is None: every path between them is cut.
    - 'whole' (Cast, made at ...) turns float32[] 'x:0' into int32[] 'whole:0', and integers have no derivative.
    """
    for value, what in ((y, "y"), (x, "x")):
        check_element(value, what)
    graph = common_graph([y, x])
    found: list[Explanation] = []
    try:
        with graph.transaction():
            found.append(_explain(as_target(y, "y", graph), as_source(x, "x", graph)))
            raise _Undo
    except _Undo:
        return found[0]


class _Undo(Exception):
    """Raised to leave the graph as it was."""


def _explain(y: Any, x: Any) -> Explanation:
    if x is y:
        return Explanation(True, (f"The gradient of {y} by itself is its cotangent.",))
    after = _consumers(x, y)
    if x.op not in after:
        return Explanation(False, (_unrelated(y, x),))
    what = f"The gradient of {y} by {x} is"
    cuts = [_dtype_reason(op, source) for op, source in _dtype_cuts(x, after)]
    if operations_between([y], [x]) and not _is_cut(y, x):
        refused = _rule_cuts(y, x)
        if refused is None:
            return Explanation(True, (f"{what} not None: a path of differentiable operations joins them.",))
        cuts = [_rule_reason(op, source) for op, source in refused] + cuts
    shown = [f"- {cut}" for cut in cuts[:_MOST_SHOWN]]
    if len(cuts) > _MOST_SHOWN:
        shown.append(f"- and {len(cuts) - _MOST_SHOWN} more like these.")
    return Explanation(False, (f"{what} None: every path between them is cut.", *shown))


def _is_cut(y: Tensor, x: Tensor) -> bool:
    """Whether no path of trainable tensors joins them."""
    return y.op not in operations_between([y], [x])


def _unrelated(y: Tensor, x: Tensor) -> str:
    users = [op for op in x.op.graph.operations[x.op.index + 1 :] if x in op.inputs]
    if not users:
        used = "nothing reads it"
    else:
        names = ", ".join(f"'{op.name}'" for op in users[:_MOST_SHOWN])
        used = f"it is read by {names}, and {y} is computed from none of these"
    return (
        f"The gradient of {y} by {x} is None: {y.name} does not depend on {x.name}; {used}.\n"
        f"- {x.name} was made at {site_of(x)}\n- {y.name} was made at {site_of(y)}\n"
        "A tensor computed again, or converted again, is another tensor: pass the one that y was computed from."
    )


def _consumers(x: Tensor, y: Tensor) -> set[Operation]:
    """The operations that y depends on, along tensors of any dtype, and that depend on x; the one of x included."""
    reached: set[Operation] = set()
    for op in sorted(needed([y.op], lambda op: [source.op for source in op.inputs]), key=index_of):
        if op is x.op or any(source.op in reached for source in op.inputs):
            reached.add(op)
    return reached


def _dtype_cuts(x: Tensor, after: Iterable[Operation]) -> list[tuple[Operation, Tensor]]:
    """The operations that turn what can carry a derivative of x into what cannot, nearest to x first."""
    if x.dtype not in TRAINABLE:
        return [(x.op, x)]
    alive: set[Tensor] = {x}
    cuts = []
    for op in sorted(after, key=index_of):
        sources = [source for source in op.inputs if source in alive]
        if not sources or op is x.op:
            continue
        alive.update(out for out in op.outputs if out.dtype in TRAINABLE)
        if all(out.dtype not in TRAINABLE for out in op.outputs):
            cuts.append((op, sources[0]))
    return cuts


def _rule_cuts(y: Tensor, x: Tensor) -> list[tuple[Operation, Tensor]] | None:
    """The operations whose rules return None on every path from y to x; None where the gradient is there."""
    between = operations_between([y], [x])
    inside = set(between)
    terms: dict[Tensor, Any] = {y: ones_like(y)}
    cuts: list[tuple[Operation, Tensor]] = []
    for op in between:
        dys = [terms.get(out) for out in op.outputs]
        if op is x.op or all(dy is None for dy in dys):
            continue
        if not op.primitive.takes_none:
            outputs = zip(op.outputs, dys, strict=True)
            dys = [zeros_like(out) if dy is None and out.dtype in TRAINABLE else dy for out, dy in outputs]
        wanted = [source.op in inside and source.dtype in TRAINABLE for source in op.inputs]
        entries = apply_rule(op, dys, wanted, lambda op: op.name)
        for source, want, entry in zip(op.inputs, wanted, entries, strict=True):
            if entry is ZERO:
                terms.setdefault(source, zeros_like(source))
            elif entry is not None:
                terms[source] = entry
            elif want:
                cuts.append((op, source))
    return None if x in terms else cuts


def _dtype_reason(op: Operation, source: Tensor) -> str:
    kind = "integers" if op.outputs and op.outputs[0].dtype.kind in "iu" else "truth values"
    if source.op is op:
        return f"{source} (made at {site_of(op)}) is not of a float dtype, and {kind} have no derivative."
    into = ", ".join(str(out) for out in op.outputs) or "nothing"
    return f"'{op.name}' ({op.type}, made at {site_of(op)}) turns {source} into {into}, and {kind} have no derivative."


def _rule_reason(op: Operation, source: Tensor) -> str:
    if isinstance(op.primitive, StopGradient):
        return f"'{op.name}' (made at {site_of(op)}) is a stop_gradient."
    return f"'{op.name}' ({op.type}, made at {site_of(op)}) hands no derivative on to {source}: its rule says None."
