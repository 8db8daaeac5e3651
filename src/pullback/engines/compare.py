"""Differential testing of engines: one computation on several, and which operation makes them differ first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtypes import TokenType
from ..core.function import AbstractFunctional, Parameter
from ..core.operation import AbstractTensorLike, Operation, Tensor, site_of
from ..core.slices import IndexedSlices
from ..passes.view import inputs_of_run, view_of
from ..primitives.base.state import AbstractStateful
from ..primitives.variables.operations import VarHandleOp
from .fetches import feed_pairs, flatten
from .session import Session


@dataclass(frozen=True)
class Difference:
    """How far two engines are apart for one tensor."""

    tensor: Tensor
    engines: tuple[str, str]
    absolute: float
    """The largest difference of two elements; infinite where only one is NaN, or the shapes differ."""
    relative: float
    """That, over the largest element."""

    def __str__(self) -> str:
        a, b = self.engines
        return f"{self.tensor}: {a} and {b} differ by {self.absolute:.3g} ({self.relative:.3g} of the largest element)"


@dataclass(frozen=True)
class Comparison:
    """What `compare_engines` found: for each fetch the differences, and where they begin."""

    engines: tuple[str, ...]
    differences: tuple[Difference, ...]
    """For each fetched tensor, each variable that was changed, and each engine beside the first, those beyond the
    tolerance."""
    first: Difference | None
    """The first operation, in the order of making, whose outputs differ; None where all agree."""

    @property
    def agree(self) -> bool:
        """Whether no fetch differs by more than the tolerance."""
        return not self.differences

    def __str__(self) -> str:
        if self.agree:
            return f"{', '.join(self.engines)} agree"
        lines = [str(d) for d in self.differences]
        if self.first is not None:
            lines.append(f"the first operation that differs: {self.first}")
            lines.append(f"  made at {site_of(self.first.tensor)}")
        return "\n".join(lines)


def compare_engines(
    fetches: Any,
    feed_dict: Mapping[Any, Any] | None = None,
    engines: Sequence[str] = ("numpy", "xla", "onnxruntime"),
    *,
    tolerance: float = 1e-4,
    session: Session | None = None,
) -> Comparison:
    """Where the values of `fetches` differ from engine to engine, compared with the first engine.

    Each engine runs in a session of its own, whose variables have their values in `session`. What variables have become
    is compared as well. Where something differs and no variable is changed, all tensors that it is computed from are
    compared too, to find the first operation that does. "numpy" and "xla" draw the same random numbers from a seed;
    onnxruntime draws others.

    Args:
        fetches, feed_dict: as for `Session.run`.
        engines: names of engines.
        tolerance: how far elements may differ, over the largest element.
        session: where the variables have their values.

    Raises:
        ValueError: an unknown engine, or fewer than two. What `Session.run` raises.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [3])
    >>> print(pb.compare_engines(pb.tanh(x) * x, {x: [0.5, -1.0, 2.0]}, ("numpy", "xla")))
    numpy, xla agree
    """
    if len(engines) < 2:
        raise ValueError(f"compare_engines: give at least two engines, not {list(engines)}")
    graph = _graph_of(fetches, session)
    flat = flatten(fetches, graph)
    feeds = feed_pairs(feed_dict or {}, graph)
    ops = view_of(flat.tensors, flat.operations, {x for x, _ in feeds}, inputs_of_run).operations
    handles = [op for op in ops if isinstance(op.primitive, VarHandleOp)]
    sessions = [_session(name, graph, handles, session) for name in engines]
    found = _compared(sessions, flat.tensors, feeds, tolerance, flat.operations)
    found += _compared_variables(sessions, handles, tolerance)
    first = _first(sessions, ops, feeds, tolerance) if found and not any(map(_changes, ops)) else None
    for each in sessions:
        each.close()
    return Comparison(tuple(engines), tuple(found), first)


def _graph_of(fetches: Any, session: Session | None) -> Any:
    if session is not None:
        return session.graph
    pending = [fetches]
    while pending:
        x = pending.pop()
        if isinstance(x, dict):
            pending.extend(x.values())
        elif isinstance(x, list | tuple):
            pending.extend(x)
        elif isinstance(x, Tensor | Operation | IndexedSlices):
            return x.graph
        elif isinstance(x, AbstractTensorLike):
            return x.graph_element().graph
    raise ValueError("compare_engines: there is nothing to fetch")


def _session(engine: str, graph: Any, handles: Sequence[Operation], source: Session | None) -> Session:
    """A session of its own, with the values that the variables have in `source`."""
    made = Session(graph=graph, engine=engine)
    for handle in handles:
        if source is not None and source.has_variable(handle):
            made.write_variable(handle, source.read_variable(handle))
    return made


def _compared(
    sessions: Sequence[Session],
    tensors: Sequence[Tensor],
    feeds: Sequence[tuple[Tensor, Any]],
    tolerance: float,
    operations: Sequence[Operation] = (),
) -> list[Difference]:
    """The differences beyond the tolerance, tensor by tensor; the operations are run with them."""
    values = [each.run([list(tensors), list(operations)], dict(feeds))[0] for each in sessions]
    return [d for i, x in enumerate(tensors) for d in _differences(x, sessions, [own[i] for own in values], tolerance)]


def _compared_variables(
    sessions: Sequence[Session], handles: Sequence[Operation], tolerance: float
) -> list[Difference]:
    """The differences beyond the tolerance of what the variables are now."""
    found = []
    for handle in handles:
        if all(each.has_variable(handle) for each in sessions):
            values = [each.read_variable(handle) for each in sessions]
            found += _differences(handle.outputs[0], sessions, values, tolerance)
    return found


def _changes(op: Operation) -> bool:
    """Whether an operation, or one in a function that it holds, changes a variable or another state."""
    p = op.primitive
    if isinstance(p, AbstractFunctional):
        return any(_changes(inner) for f in p.functions for inner in f.operations)
    return isinstance(p, AbstractStateful) and p.writes_state


def _differences(x: Tensor, sessions: Sequence[Session], values: Sequence[Any], tolerance: float) -> list[Difference]:
    """How far the values of `x` are from the first one, where that is beyond the tolerance."""
    found = []
    for each, own in zip(sessions[1:], values[1:], strict=True):
        absolute, scale = _distance(np.asarray(values[0]), np.asarray(own))
        relative = absolute / scale if absolute else 0.0
        if not relative <= tolerance:
            found.append(Difference(x, (sessions[0].engine, each.engine), absolute, relative))
    return found


def _distance(a: Any, b: Any) -> tuple[float, float]:
    """The largest difference of two elements, and the largest element."""
    if a.shape != b.shape:
        return np.inf, 1.0
    if not a.size:
        return 0.0, 1.0
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    finite = np.isfinite(x)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(all="ignore"):
        apart = np.where(same, 0.0, np.abs(x - y))
    apart = np.where(np.isnan(apart), np.inf, apart)
    scale = float(np.abs(x[finite]).max()) if finite.any() else 1.0
    return float(apart.max()), scale or 1.0


def _first(
    sessions: Sequence[Session], ops: Sequence[Operation], feeds: Sequence[tuple[Tensor, Any]], tolerance: float
) -> Difference | None:
    fed = {x for x, _ in feeds}
    tensors = [
        y
        for op in ops
        if not isinstance(op.primitive, Parameter)
        for y in op.outputs
        if y not in fed and not isinstance(y.dtype, TokenType)
    ]
    return next(iter(_compared(sessions, tensors, feeds, tolerance)), None)
