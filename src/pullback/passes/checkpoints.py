"""Optimal checkpointing of chains: which states to keep, and what of the tapes, by dynamic programming over stages.

For stages s to t, and so many bytes, either the states up to one in between are computed and only that one is kept, or
the first stage is computed with its tape, or a part of it; what is least for shorter chains is known then. That is the
best of the orders that go on with what they keep until it is read (Beaumont, Herrmann, Pallez, Shilova, "Optimal
Checkpointing for Heterogeneous Chains", 2019; for equal stages it is revolve, Griewank and Walther 2000). Sizes are
rounded to parts of `_UNITS`: for how many bytes an order holds is found by trying.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .eviction import Node
from .stages import NONE, Advance, Blocks, Stages

_UNITS = 192
_ROOM = 1.25
"""Orders are looked for in so many budgets: what is alive may be less than what is counted."""

Array = np.ndarray[Any, Any]


def checkpointed(nodes: Sequence[Node], budget: int) -> Iterator[list[int]]:
    """Orders in which to compute `nodes`, the cheapest first, which need less and less memory: about the budget."""
    found = Stages(nodes)
    if len(found.stages) < 3 or budget <= 0:
        return
    table = _Table(found, budget * _ROOM / _UNITS)
    cost, before = table.cost[0, len(found.stages) - 1], -1.0
    for units in reversed(range(_UNITS + 1)):
        if np.isfinite(cost[units]) and cost[units] != before:
            before = cost[units]
            yield _Writing(found, table).steps(units)


class _Split(NamedTuple):
    """Go on to the stage `to`, and keep the state before it."""

    to: int


class _Keep(NamedTuple):
    """Compute one stage with what is kept of its tape."""

    advance: Advance


class _Table:
    """The least work for the stages from one to another, and what to do first, by the memory in units."""

    def __init__(self, found: Stages, unit: float) -> None:
        self.found, self.unit = found, unit
        self.cost: dict[tuple[int, int], Array] = {}
        self.first: dict[tuple[int, int], tuple[list[_Split | _Keep], Array]] = {}
        count = len(found.stages)
        states = [NONE, *[stage.state for stage in found.stages]]
        self.more = [[found.size(after - before) for after in states[1:]] for before in states[:-1]]
        """`more[s][n]`: the bytes of the state after stage n that are not in the one before stage s."""
        for s in range(count):
            self.cost[s, s] = self._alone(s)
        for span in range(1, count):
            for s in range(count - span):
                self._fill(s, s + span)

    def units(self, size: int) -> int:
        return round(size / self.unit)

    def _from(self, size: int) -> Array:
        """0 where there are so many bytes, else infinite."""
        found = np.full(_UNITS + 1, np.inf)
        found[self.units(size) :] = 0
        return found

    def _less(self, cost: Array, size: int) -> Array:
        """`cost` where so many bytes are taken by something else."""
        n = min(self.units(size), _UNITS + 1)
        return np.concatenate([np.full(n, np.inf), cost[: _UNITS + 1 - n]])

    def _alone(self, s: int) -> Array:
        stage = self.found.stages[s]
        return self._from(max(stage.tape_peak + stage.before, stage.highest)) + stage.advances[0].rest

    def _fill(self, s: int, t: int) -> None:
        stages, more = self.found.stages, self.more[s]
        choices: list[_Split | _Keep] = []
        costs: list[Array] = []
        before, work, peak = stages[t].before, 0, 0
        for k in range(s + 1, t + 1):
            advance = stages[k - 1].advances[0]
            work += advance.work
            peak = max(peak, advance.peak + (more[k - 2] if k - 1 > s else 0))
            rest = self._less(self.cost[k, t], more[k - 1]) + self.cost[s, k - 1]
            choices.append(_Split(k))
            costs.append(rest + self._from(peak + before) + work)
        for advance in stages[s].advances[1:]:
            rest = self._less(self.cost[s + 1, t], advance.size + more[s]) + advance.work + advance.rest
            choices.append(_Keep(advance))
            costs.append(rest + self._from(max(advance.peak + before, stages[s].highest)))
        table = np.stack(costs)
        chosen = table.argmin(0)
        self.cost[s, t] = table[chosen, np.arange(_UNITS + 1)]
        self.first[s, t] = choices, chosen


class _Solve(NamedTuple):
    """The stages from one to another, backward parts too."""

    first: int
    last: int
    units: int


class _Go(NamedTuple):
    """Compute the end of a stage, and what is kept of its tape."""

    stage: int
    kept: Blocks


class _Hold(NamedTuple):
    """These stay from now on."""

    blocks: Blocks


class _Back(NamedTuple):
    """The backward part of a stage."""

    stage: int


class _Release(NamedTuple):
    """What was held last is not any more."""


_Action = _Solve | _Go | _Hold | _Back | _Release


class _Writing:
    """The order of a table's choice."""

    def __init__(self, found: Stages, table: _Table) -> None:
        self.found, self.table = found, table
        self.made: list[int] = []
        self.is_made = [False] * len(found.nodes)
        self.there: set[int] = set()
        self.held: list[Blocks] = []

    def steps(self, units: int) -> list[int]:
        """The numbers of the nodes in the order for so much memory."""
        todo: list[_Action] = [_Solve(0, len(self.found.stages) - 1, units)]
        while todo:
            match todo.pop():
                case _Solve(s, t, n):
                    todo += reversed(self._solved(s, t, n))
                case _Go(s, kept):
                    self._go(s, kept)
                case _Hold(blocks):
                    self.held.append(blocks)
                case _Back(s):
                    self._back(s)
                case _Release():
                    self.held.pop()
        return self.made

    def _solved(self, s: int, t: int, units: int) -> list[_Action]:
        if s == t:
            return [_Back(s)]
        stages, more = self.found.stages, self.table.more[s]
        choices, chosen = self.table.first[s, t]
        choice = choices[chosen[units]]
        if isinstance(choice, _Keep):
            kept = choice.advance
            rest = units - self.table.units(kept.size + more[s])
            inside: list[_Action] = [_Hold(stages[s].state), _Solve(s + 1, t, rest), _Release()]
            return [_Go(s, kept.kept), _Hold(kept.kept), *inside, _Back(s), _Release()]
        k = choice.to
        ahead: list[_Action] = [_Go(n, NONE) for n in range(s, k)]
        rest = units - self.table.units(more[k - 1])
        return [*ahead, _Hold(stages[k - 1].state), _Solve(k, t, rest), _Release(), _Solve(s, k - 1, units)]

    def _go(self, s: int, kept: Blocks) -> None:
        stage = self.found.stages[s]
        self._compute_new(stage.forward)
        wanted = stage.state | kept
        for i in self.found.members(wanted, stage.forward.stop):
            self._make(i)
        self._forget(wanted)

    def _back(self, s: int) -> None:
        stage = self.found.stages[s]
        self._compute_new(stage.forward)
        for i in stage.backward:
            self._make(i)
        self._forget(NONE)

    def _compute_new(self, forward: range) -> None:
        for i in forward:
            if not self.is_made[i]:
                self._make(i)

    def _make(self, target: int) -> None:
        todo = [target]
        while todo:
            i = todo[-1]
            missing = [j for j in self.found.nodes[i].operands if j not in self.there] if i not in self.there else []
            if missing:
                todo += missing[::-1]
                continue
            todo.pop()
            if i not in self.there:
                self.made.append(i)
                self.there.add(i)
                self.is_made[i] = True

    def _forget(self, but: Blocks) -> None:
        """Takes away what nothing holds."""
        found = self.found
        stays = but.union(*self.held, found.held)
        self.there = {i for i in self.there if i >= found.end or found.block[i] in stays}
