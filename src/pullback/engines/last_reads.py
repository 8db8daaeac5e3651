"""Last reads: fetches of reference variables, which give the values that these have at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Graph, Operation
from ..primitives.variables.references import first_reads
from .engine import Run
from .plan import Plan, handle_of


def with_last_reads(session: Any, run: Run, plan: Plan) -> Run:
    """A run whose results are the values of variables at its end, where it assigns to what it fetches."""
    last = _read_last(plan, session.graph)
    if not last:
        return run

    def read(feeds: Sequence[Any]) -> list[Any]:
        arrays = list(run(feeds))
        for number, handle in last.items():
            arrays[number] = session.read_variable(handle)[()]
        return arrays

    return read


def _read_last(plan: Plan, graph: Graph) -> dict[int, Operation]:
    """By the numbers of what is fetched, the reference variables that are and that the run assigns to."""
    reads = set(first_reads(graph)).intersection(plan.fetches)
    written = {plan.states[i] for i in plan.written}
    handles = {i: handle_of(x.op.inputs[0]) for i, x in enumerate(plan.fetches) if x in reads}
    return {i: handle for i, handle in handles.items() if handle in written}
