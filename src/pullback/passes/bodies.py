"""Rematerialisation inside functions: bodies of loops, branches and calls that need more than there is room for."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.function import AbstractFunctional, Function, inline, like_parameter, trace
from ..core.graph import Graph, Operation, Tensor
from .costs import peak_inside, scratch
from .fold import folded
from .merge import merged
from .rebuilding import copied, with_functions
from .recomputing import written
from .run_lengths import Lengths
from .schedule import NoScheduleError, Schedule
from .view import View, view_of

_SHARES = (1.0, 0.75, 0.5, 0.375, 0.25)
"""Parts of the room beside its inputs and outputs that an operation may take: other values are there too."""


def scheduled(view: View, lengths: Lengths, budget: int) -> Schedule:
    """The schedule of a view for so many bytes, in which bodies may compute again as well.

    Raises:
        NoScheduleError: there is none.
    """
    refused: NoScheduleError | None = None
    tried: dict[Operation, AbstractFunctional] | None = None
    for share in _SHARES:
        lean = _lean(view, lengths, budget, share)
        if lean == tried:
            continue
        tried = lean
        try:
            return Schedule(view, lengths, budget, lean)
        except NoScheduleError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def _lean(view: View, lengths: Lengths, budget: int, share: float) -> dict[Operation, AbstractFunctional]:
    """What holds functions that take more than this share of the room, with those that take less."""
    found = {}
    for op in view.operations:
        p = op.primitive
        if not isinstance(p, AbstractFunctional) or any(f.acts for f in p.functions):
            continue
        made = sum([lengths.bytes(y) for y in op.outputs])
        room = budget - made - sum([lengths.bytes(x) for x in {*op.inputs}])
        if room <= 0 or scratch(op, lengths) <= share * room:
            continue
        pairs = zip(p.functions, p.arguments(op.inputs), strict=True)
        inner = {f: lengths.inside(f, args) for f, args in pairs}
        lean = _with_room(p, inner, round(share * room) + made)
        if lean is not p:
            found[op] = lean
    return found


def _with_room(p: AbstractFunctional, inner: Mapping[Function, Lengths], room: int) -> AbstractFunctional:
    def change(function: Function) -> Function:
        if peak_inside(function, inner[function]) <= room:
            return function
        try:
            return _rematerialized(function, inner[function], room)
        except NoScheduleError:
            return function

    return with_functions(p, change)


def _rematerialized(function: Function, lengths: Lengths, room: int) -> Function:
    """`function` so that what is alive in it takes so many bytes."""

    def build(*xs: Tensor) -> list[Tensor]:
        results = inline(function, xs)
        view = merged(folded(view_of(results, [], frozenset(xs))))
        found = written(scheduled(view, lengths, room))
        return [found[y] for y in results]

    parameters = [like_parameter(x) for x in function.parameters]
    names = [x.op.name for x in function.parameters]
    with (function.graph.outer or Graph()).as_default():
        made = trace(build, parameters, function.name, names, inherit=False).function
    return copied(view_of(made.results, [], frozenset(made.parameters)), made)
