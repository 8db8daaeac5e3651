"""Rematerialisation: a graph that computes some values again rather than keep them, so that a budget of bytes holds."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, SupportsIndex

from ..control_flow.loop import Loop
from ..core.errors import InvalidArgumentError, ResourceExhaustedError
from ..core.graph import Operation, Tensor, get_default_graph, site_of
from ..core.lengths import Dimension, Length, bind, named
from ..core.memory import Memory, as_bytes
from .bodies import scheduled
from .calls import has_few_calls, inlined
from .compiled_budget import Attempt, Compiler, allocated, loosest
from .costs import flops, scratch
from .fold import folded
from .known_lengths import with_shapes
from .merge import merged
from .pieces import peak_of
from .probing import ProbedError
from .recomputing import written
from .run_lengths import Lengths
from .same_values import note_same_values
from .schedule import NoScheduleError, Schedule
from .splitting import NotSplitError, Split, split
from .structure import Structure
from .view import View, view_of

Sizes = Mapping[Any, Any]
_MUCH = 0.5
"""The share of a graph's work from which on micro-batches take less time than computing so much again."""


class Rematerialized(NamedTuple):
    """What `rematerialize` returns."""

    fetches: Any
    """The structure that was given, of tensors that have the same values."""
    report: Report


@dataclass(frozen=True)
class Recomputed:
    """An operation that is run more than once."""

    operation: Operation
    times: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.operation.name}: {self.bytes:,} bytes, {self.times + 1} times ({site_of(self.operation)})"


@dataclass(frozen=True)
class Report:
    """What was decided: bytes that are alive at once, without what is fed, constants and variables; and operations."""

    budget: int
    plain_peak: int
    """The peak before, in bytes."""
    peak: int
    """The peak now, as predicted, in bytes."""
    compiled_peak: int
    """That of a compiled program, which has room for all that is fetched from the start; as predicted, or allocated."""
    at: Operation | None
    """The operation at which the memory is fullest; None where nothing is computed."""
    flops: int
    """The floating-point operations of the graph before, as estimated."""
    extra_flops: int
    """Those that come to it."""
    recomputed: tuple[Recomputed, ...]
    inside: tuple[Operation, ...]
    """Loops, calls and branches whose functions compute again."""
    microbatches: int = 1
    """Into how many parts the batch is divided, which are run one after the other."""
    is_allocated: bool = False
    """Whether `compiled_peak` is what the compiler of a session allocates, and the budget that of the program."""

    def __str__(self) -> str:
        share = self.extra_flops / self.flops if self.flops else 0.0
        fullest = f", fullest at {self.at.name}" if self.at else ""
        lines = [
            f"peak {self.plain_peak:,} -> {self.peak:,} bytes "
            f"(budget {self.budget:,}; compiled {self.compiled_peak:,}{', allocated' * self.is_allocated}){fullest}",
            f"{self.flops:,} + {self.extra_flops:,} floating-point operations ({share:+.1%})",
            f"{len(self.recomputed)} operations are computed again",
            *([f"in {self.microbatches} micro-batches"] if self.microbatches > 1 else []),
            *[f"  and some inside of {op.name} ({site_of(op)})" for op in self.inside[:5]],
        ]
        largest = sorted(self.recomputed, key=lambda r: -r.bytes * r.times)
        lines += [f"  {r}" for r in largest[:10]]
        return "\n".join([*lines, "  ..."] if len(largest) > 10 else lines)


def rematerialize(
    fetches: Any,
    budget: int | str,
    *,
    sizes: Sizes | None = None,
    session: Compiler | None = None,
    name: str = "rematerialized",
) -> Rematerialized:
    """The same values within `budget` bytes: new tensors for `fetches`, and a report of what is computed again.

    Works on any graph, and on one whose gradient exists already: what is chosen to be computed again is so late, just
    before it is read, and never what draws random numbers, has an effect, or waits for one. Loops, calls and branches
    count as one operation each; where one needs too much by itself, its functions are rewritten in the same way. What
    loops keep of their steps is said by `Memory`, and not counted here where only a run knows how many there are. Fetch
    the new tensors only: old ones keep what they need.

    Where that cannot be, or is half as much work again, the batch is divided: what is computed of fed values along
    their first axis runs on as few equal parts of it as it takes, 64 at most, one after the other, and sums and means
    over the batch are added up (gradient accumulation, `Report.microbatches`). Nothing is computed again then; sums
    round otherwise. What is asked for by rows is put together. Rows that are read together with what follows from all
    of them cannot be divided, as in batch normalisation with the statistics of the batch, nor a batch that goes through
    a loop, a branch or a call or is waited for, or whose length is not divisible. If its length is one of `sizes`, the
    divided graph refuses others.

    Two orders are found, and what there is room to keep is kept in each; the cheaper one is taken: the best checkpoints
    of a chain of stages, by dynamic programming (Beaumont et al. 2019), and what dynamic tensor rematerialization
    (Kirisame et al., ICLR 2021) does, ahead of the run.

    Args:
        fetches: a tensor, an operation, IndexedSlices, or a structure of them (None stays): all that a run will fetch.
        budget: bytes, or a string such as "200MB" or "1.5GiB", of values alive at once; what is fed, constants and
            variables come to it. What is fetched counts from when it is made; for a compiled program, which has room
            for it from the start, see `Report.compiled_peak`.
        sizes: lengths that only a run knows: numbers by name, or shapes by tensor: `{"batch": 32}`, `{x: [32, 10]}`.
            The graph stays right at others, unless the batch is divided; the budget holds at these.
        session: one that compiles (XLA). The budget is then that of its program, with all that is fetched, and not a
            prediction: up to eight plans are compiled, and the one of the least work of those that keep to it is taken.

    Raises:
        NotImplementedError: the session does not compile.
        ResourceExhaustedError: no order was found for the budget; says for which one was, what needs it, and what
            micro-batches need, or why there can be none.
        InvalidArgumentError: a length is not known and not given; a budget or sizes that are none.
        TypeError: what is no tensor.

    >>> import pullback as pb
    >>> x = pb.ones([1000])
    >>> y = x
    >>> for _ in range(16):
    ...     y = pb.tanh(y)
    >>> (dx,), report = pb.rematerialize(pb.gradients(y, x), budget="40kB")
    >>> report.plain_peak, report.peak, len(report.recomputed)
    (76000, 40000, 9)
    """
    return _allocated(fetches, as_bytes(budget), sizes, name, session)


def _allocated(
    fetches: Any, budget: int, sizes: Sizes | None, name: str, session: Compiler | None, *, beside: bool = False
) -> Rematerialized:
    """What is within the budget as predicted, or, where there is a session, as that allocates it."""
    if session is None:
        return _rematerialized(fetches, budget, sizes, name, beside=beside)

    known: dict[Any, int] = {}

    def attempt(limit: int) -> Attempt:
        with suppress(ProbedError), get_default_graph().acting.transaction():
            found, report = _rematerialized(fetches, limit, sizes, name, beside=beside)
            plan = (report.peak, report.extra_flops, report.microbatches, report.recomputed, report.inside)
            if plan not in known:
                elements = Structure(found, "rematerialize", operations=True).elements
                known[plan] = allocated(session, elements, Lengths(_given(sizes)))
            made = Attempt(min(limit, report.plain_peak), known[plan])
            raise ProbedError
        return made

    chosen = loosest(attempt, attempt(sys.maxsize), budget)
    made = _rematerialized(fetches, chosen.limit, sizes, name, beside=beside)
    report = replace(made.report, budget=budget, compiled_peak=chosen.taken, is_allocated=True)
    return Rematerialized(made.fetches, report)


def _rematerialized(
    fetches: Any, limit: int, sizes: Sizes | None, name: str, *, beside: bool = False
) -> Rematerialized:
    given = Structure(fetches, "rematerialize", operations=True)
    elements = given.elements
    if not elements:
        raise InvalidArgumentError("rematerialize: there is nothing to fetch")
    graph = elements[0].graph.acting
    outside = next((x for x in elements if x.graph is not graph), None)
    if outside is not None:
        raise InvalidArgumentError(f"rematerialize: {outside} is of another graph than {elements[0]}")
    tensors = [x for x in elements if isinstance(x, Tensor)]
    operations = [x for x in elements if isinstance(x, Operation)]
    view = merged(folded(view_of(tensors, operations, frozenset())))
    with graph.transaction(), graph.name_scope(name):
        lengths = with_shapes(Lengths(_given(sizes)), view)
        try:
            schedule = scheduled(view, lengths, limit)
            report = _report(schedule)
        except NoScheduleError as error:
            try:
                made = split(view, lengths, limit, beside=beside)
            except NotSplitError as refused:
                raise ResourceExhaustedError(f"{error.explained()} {refused}") from None
        else:
            try:
                if report.extra_flops <= _MUCH * report.flops:
                    raise NotSplitError
                made = split(view, lengths, limit, beside=beside, may_fix=False)
            except NotSplitError:
                return Rematerialized(given.of(written(schedule)), report)
        if beside:
            note_same_values(made.loop, made.found)
        return Rematerialized(given.of(made.found), _report_of_parts(view, made, limit))


def within_budget(tensors: Sequence[Tensor], memory: Memory) -> list[Tensor]:
    """`tensors` in a graph that keeps to the budget of `memory`.

    As they are where there are loops and lengths are not known, or, with a warning, where a loop needs more by itself:
    it keeps a few states whatever the budget.
    """
    limit, lengths = memory.bytes, Lengths(_given(memory.sizes))
    operations = view_of(tensors, [], frozenset()).operations
    loops = [op for op in operations if isinstance(op.primitive, Loop)]
    known = all(lengths.knows(y) for op in operations for y in op.outputs)
    if limit is None or (loops and not known):
        return list(tensors)
    try:
        made = _allocated(list(tensors), limit, memory.sizes, "rematerialized", memory.session, beside=True)
        return list(made.fetches)
    except ResourceExhaustedError:
        needed, number = max([(_needed(op, lengths), i) for i, op in enumerate(loops)], default=(0, 0))
        if needed <= limit:
            raise
        op = loops[number]
        warnings.warn(
            f"gradients: a budget of {limit:,} bytes cannot be met: '{op.name}' (made at {site_of(op)}) needs "
            f"{needed:,} by itself. Loops keep as few states as they can.",
            stacklevel=7,
        )
        return list(tensors)


def _needed(op: Operation, lengths: Lengths) -> int:
    """The bytes that are alive while an operation runs."""
    return sum([lengths.bytes(x) for x in {*op.inputs, *op.outputs}]) + scratch(op, lengths)


def _given(sizes: Sizes | None) -> dict[Length, Dimension]:
    values: dict[Length, Dimension] = {}
    for key, given in (sizes or {}).items():
        lengths = (named(key),) if isinstance(key, str) else Structure(key, "sizes").elements[0].shape.lengths or ()
        numbers = [given] if isinstance(key, str) or not isinstance(given, Iterable) else list(given)
        if len(numbers) != len(lengths) or not all(isinstance(m, SupportsIndex) and int(m) >= 0 for m in numbers):
            raise InvalidArgumentError(f"sizes: {key} cannot be {given}: give a number for each length, 0 or more")
        for n, m in zip(lengths, numbers, strict=True):
            other = n if isinstance(n, int) else values.get(n) if isinstance(n, Length) else None
            if other not in (None, int(m)):
                raise InvalidArgumentError(f"sizes: {key} cannot be {given}: a length of it is {other}, not {m}")
            bind(values, n, int(m))
    return values


def _report_of_parts(view: View, made: Split, budget: int) -> Report:
    schedule = made.schedule
    peak, at = peak_of(schedule.nodes, schedule.steps)
    lengths = schedule.lengths
    before = Schedule(view, lengths, sys.maxsize)
    counts = [sum([flops(op, lengths) for op in some.number]) for some in (before, schedule)]
    return Report(
        budget,
        before.plain_peak,
        peak,
        schedule.compiled_peak(),
        schedule.operations[at],
        counts[0],
        counts[1] - counts[0],
        (),
        (),
        made.parts,
    )


def _compiled_peak(schedule: Schedule) -> int:
    """The peak of a compiled program: what a call's derivative computes again is there of the call."""
    view, lengths = schedule.view, schedule.lengths
    if len(schedule.steps) > len(schedule.nodes) or schedule.lean or not has_few_calls(view):
        return schedule.compiled_peak()
    peak = 0
    with suppress(ProbedError), get_default_graph().acting.transaction():
        peak = Schedule(inlined(view), lengths, sys.maxsize).compiled_peak()
        raise ProbedError
    return peak


def _report(schedule: Schedule) -> Report:
    counts = dict.fromkeys(schedule.steps, -1)
    for i in schedule.steps:
        counts[i] += 1
    again = {i: n for i, n in counts.items() if n and schedule.nodes[i].view is None}
    peak, at = peak_of(schedule.nodes, schedule.steps)
    lengths, lean = schedule.lengths, schedule.lean
    each = [
        0 if schedule.is_fetched_part(i) else flops(op, lengths, lean.get(op))
        for i, op in enumerate(schedule.operations)
    ]
    before = sum([flops(op, lengths) for op in schedule.number])
    return Report(
        schedule.budget,
        schedule.plain_peak,
        peak,
        _compiled_peak(schedule),
        schedule.operations[at] if schedule.operations else None,
        before,
        sum(each) - before + sum([each[i] * n for i, n in again.items()]),
        tuple([Recomputed(schedule.operations[i], n, schedule.nodes[i].size) for i, n in again.items()]),
        tuple(lean),
    )
