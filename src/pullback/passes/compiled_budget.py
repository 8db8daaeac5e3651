"""Budgets of compiled programs: a plan is made tighter until what the compiler allocates for it is within the budget.

What a compiler fuses, keeps twice or places badly in its heap, it says itself once a program is compiled, and nobody
before: a prediction is where the search begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.errors import ResourceExhaustedError
from ..core.graph import Operation, Tensor
from ..primitives.creation.placeholders import Placeholder
from .run_lengths import Lengths

_TRIED = 8
"""The most plans that are made."""
_ENOUGH = 0.85
"""The share of a budget from which on a plan that is within it is not made looser."""
_CLOSE = 1.05
"""The ratio between a limit that is refused or over and one that is not, at which the search ends."""
_NEARER = 0.97
_LOOSER = 1.3


class Compiler(Protocol):
    """What says how many bytes a compiled run takes: a session."""

    def compiled_memory(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> dict[str, int]:
        """The bytes by kind."""
        ...


class Attempt(NamedTuple):
    """A plan for a number of bytes, as predicted."""

    limit: int
    taken: int
    """The bytes that are allocated for it."""


def allocated(compiler: Compiler, fetches: Sequence[Tensor | Operation], lengths: Lengths) -> int:
    """The bytes of a compiled program for `fetches`, beside its arguments and what is changed in place."""
    taken = compiler.compiled_memory(list(fetches), _zeros(fetches, lengths))
    return taken["temporary"] + taken["outputs"] - taken["aliased"]


def _zeros(fetches: Sequence[Tensor | Operation], lengths: Lengths) -> dict[Tensor, Any]:
    """Arrays for the placeholders of those lengths that only a run knows."""
    graph = fetches[0].graph
    found = {}
    for op in graph.operations:
        if isinstance(op.primitive, Placeholder):
            (x,) = op.outputs
            shape = [lengths.number(n) for n in x.shape.lengths or ()]
            if not x.shape.is_fully_defined() and x.shape.rank is not None and None not in shape:
                found[x] = np.broadcast_to(np.zeros((), x.dtype), [n or 0 for n in shape])  # type: ignore[arg-type]
    return found


def loosest(attempt: Callable[[int], Attempt], plain: Attempt, budget: int) -> Attempt:
    """The plan of the least work that is found, of those for which no more than `budget` bytes are allocated.

    Raises:
        ResourceExhaustedError: none is found.
    """
    if plain.taken <= budget:
        return plain
    fitting: Attempt | None = None
    over, below, refused = plain, 0, ""
    nearer = plain.limit * budget / plain.taken
    for _ in range(_TRIED):
        limit = round(nearer) if below < nearer < over.limit else (below + over.limit) // 2
        try:
            made = attempt(limit)
        except ResourceExhaustedError as error:
            refused, below, nearer = refused or str(error), limit, limit * _LOOSER
        else:
            nearer = limit * budget / max(made.taken, 1) * _NEARER
            if made.taken > budget:
                over = made
            else:
                fitting, below = made, limit
                if made.taken >= _ENOUGH * budget:
                    break
        if fitting and over.limit < _CLOSE * below:
            break
    if fitting:
        return fitting
    raise ResourceExhaustedError(
        f"rematerialize: the budget is {budget:,} bytes of a compiled program, and the least that was allocated for a "
        f"plan is {over.taken:,}. Beyond that: {refused}"
    )
