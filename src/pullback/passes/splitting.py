"""Choice of the number of micro-batches: the fewest with which a budget of bytes holds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..core.graph import Operation, Tensor, get_default_graph
from ..primitives.variables.operations import ResourceGather
from .accumulating import accumulated
from .fold import folded
from .known_lengths import specialized
from .merge import merged
from .microbatches import Division, RefusedError, divided, seeds_of
from .probing import ProbedError
from .run_lengths import Lengths
from .schedule import Schedule
from .view import View, view_of

_UNBOUNDED = 1 << 62
_MOST = 64
"""The most micro-batches: what one of few rows saves in memory costs much time."""


@dataclass(frozen=True)
class Split:
    """A graph that runs in micro-batches."""

    found: dict[Tensor | Operation, Any]
    """What stands for the results and targets."""
    loop: Operation
    """What runs the parts."""
    schedule: Schedule
    parts: int
    """The number of micro-batches."""


class NotSplitError(Exception):
    """A graph cannot be run in micro-batches within a budget; says why, as a sentence."""


def split(view: View, lengths: Lengths, budget: int, *, beside: bool = False, may_fix: bool = True) -> Split:
    """Adds what runs in the fewest micro-batches whose peak is within `budget` to the graph that acts.

    What was there may be run `beside` it: then nothing is copied that has an effect or draws random numbers. `may_fix`:
    whether it may be for fed values of these lengths only.

    Raises:
        NotSplitError: the graph cannot be run so, or not within the budget.
    """
    with suppress(ProbedError), get_default_graph().acting.transaction():
        fixed = specialized(view, lengths) if may_fix else None
        if fixed is None or (beside and any(_acts(op) for op in fixed.operations)):
            raise ProbedError
        made = _split(fixed.view, fixed.fed, lengths, budget, beside=beside)
        found: dict[Tensor | Operation, Any] = {y: made.found[fixed.values.get(y, y)] for y in view.results}
        found.update((op, made.found[fixed.operations.get(op, op)]) for op in view.targets)
        return replace(made, found=found)
    return _split(view, [], lengths, budget, beside=beside)


def _split(view: View, fed: Sequence[Tensor], lengths: Lengths, budget: int, *, beside: bool) -> Split:
    refused, tightest = "", (_UNBOUNDED, 0)
    for seeds in seeds_of(view, fed):
        n = seeds[0].shape.known[0]
        counts = [k for k in range(2, min(n, _MOST) + 1) if n % k == 0]
        try:
            least = _fewest(view, seeds, lengths, budget, counts, beside)
        except RefusedError as error:
            refused = refused or str(error)
            continue
        if least[0] <= budget:
            return _written(view, seeds, least[1], lengths)
        tightest = min(tightest, least)
    if tightest[1]:
        raise NotSplitError(f"In micro-batches the least is {tightest[0]:,} bytes, with {tightest[1]} of them.")
    raise NotSplitError(f"It cannot be run in micro-batches: {refused or 'no value of known length is fed'}.")


def _fewest(
    view: View, seeds: Sequence[Tensor], lengths: Lengths, budget: int, counts: Sequence[int], beside: bool
) -> tuple[int, int]:
    """The peak and number of the fewest micro-batches within a budget; of those of the least peak where none is.

    By bisection: more of them take less, down to where some axis is no longer divisible.
    """
    refused: RefusedError | None = None
    fitting: tuple[int, int] | None = None
    least = (_UNBOUNDED, 0)
    low, high = 0, len(counts) - 1
    while low <= high:
        middle = (low + high) // 2
        try:
            if beside:
                _refuse_copies_of_effects(divided(view, seeds, counts[middle]))
            peak = _peak(view, seeds, counts[middle], lengths)
        except RefusedError as error:
            refused, high = error, middle - 1
            continue
        least = min(least, (peak, counts[middle]))
        if peak <= budget:
            fitting, high = (peak, counts[middle]), middle - 1
        else:
            low = middle + 1
    if not least[1]:
        raise refused or RefusedError("the batch has no divisor")
    return fitting or least


def _refuse_copies_of_effects(division: Division) -> None:
    for op in division.late:
        if _acts(op):
            raise RefusedError(f"'{op.name}' follows from all rows of the batch, and would be run twice")


def _acts(op: Operation) -> bool:
    p = op.primitive
    return p.acts or (p.stateful and not isinstance(p, ResourceGather))


def _peak(view: View, seeds: Sequence[Tensor], parts: int, lengths: Lengths) -> int:
    """The peak with so many micro-batches."""
    peak = 0
    try:
        with get_default_graph().acting.transaction():
            peak = _written(view, seeds, parts, lengths).schedule.plain_peak
            raise ProbedError
    except ProbedError:
        return peak


def _written(view: View, seeds: Sequence[Tensor], parts: int, lengths: Lengths) -> Split:
    found, loop = accumulated(divided(view, seeds, parts))
    results, targets = [found[y] for y in view.results], [found[op] for op in view.targets]
    after = merged(folded(view_of(results, targets, frozenset())))
    return Split(found, loop, Schedule(after, lengths, _UNBOUNDED), parts)
