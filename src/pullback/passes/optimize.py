"""Graph optimisation (`optimize`): the same values by fewer and more accurate operations, before differentiating."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from ..autodiff.choices import chosen_rules
from ..core.function import AbstractFunctional
from ..core.graph import Operation, Tensor
from ..core.printing import functions_in
from ..primitives.variables.operations import ReadVariableOp
from .appending import appended
from .optimizing import Optimizing
from .report import Report
from .reroll import rolled
from .ruleset import FAST, Rules, as_rules
from .simplify import Rewrite
from .structure import Structure
from .view import view_of

_LONG_RUN = 1000
"""The operations of a run of pieces, or of all batches, from which on these compile sooner and run no slower."""


class Optimized(NamedTuple):
    """What `optimize` gives."""

    fetches: Any
    """What computes the values, in the structure of what was given."""
    report: Report
    """What was rewritten, and what that saves."""


def optimize(fetches: Any, rules: Rules | str = "safe", *, keep: Any = (), name: str = "optimized") -> Optimized:
    """Tensors of the values of `fetches`, by fewer and more accurate operations, and a report of what was rewritten.

    Equal operations become one, what is known is computed once, and rules rewrite the rest: identities, movements that
    undo each other, what overflows or cancels where its value does not; in functions, branches and loops as well. What
    is new is added to the graph, below the name scope `name`; what was there stays as it was, and is used where it can.

    Each of `fetches` is computed for itself, and read by those that read it: `gradients` of one by another is what it
    was. `keep` are other tensors of which that is to hold: what is fed, differentiated by or held constant. They are
    the same tensors afterwards. Variables, placeholders, random numbers, checks and effects stay.

    Args:
        fetches: a tensor, or nested lists, tuples and dictionaries of them; IndexedSlices too.
        rules: "exact", "safe" or "fast", or `pb.Rules` with rules of your own.
        keep: tensors, nested likewise.
        name: the name scope of what is added.

    Raises:
        ValueError: another level. InaccessibleTensorError: tensors of different graphs. TypeError: what is no tensor.
        RuntimeError: the graph is finalized.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [3], name="x")
    >>> y, report = pb.optimize(pb.log(1.0 + pb.exp(x)) * 1.0)
    >>> y.op.type
    'Softplus'
    >>> print(str(report).partition(";")[0], report.counts)
    1 operation, was 4 {'softplus by hand': 1, 'times one': 1}
    """
    given, kept = Structure(fetches, "optimize"), Structure(keep, "optimize")
    results = given.elements
    found, report = optimized(results, as_rules(rules), frozenset(kept.elements), frozenset(results), name)
    return Optimized(given.of(dict(zip(results, found, strict=True))), report)


def optimized(
    results: Sequence[Tensor], rules: Rules, keep: Set[Tensor], apart: Set[Tensor], name: str
) -> tuple[list[Tensor], Report]:
    """`results` computed by operations that `rules` leave, added to their graph, and a report.

    `keep` are the same tensors afterwards; those of `apart` are computed for themselves.
    """
    if not results:
        return [], Report.of([], [], [])
    graph = results[0].graph
    for x in results:
        graph.as_graph_element(x)
    plain = view_of(results, [], frozenset())
    given = {y for op in plain.operations if _stays(op, keep) for y in op.outputs}
    before = view_of(results, [], frozenset(given), apart=apart)
    wanted, repeats = list(results), list[Rewrite]()
    if rules.level == FAST:
        read = {x for op in plain.operations for x in op.inputs}
        reads = {y for op in plain.operations if isinstance(op.primitive, ReadVariableOp) for y in op.outputs}
        wanted, repeats = _rolled(results, (given - reads) | keep | (apart & read), name)
    same = dict(zip(results, wanted, strict=True))
    apart = frozenset([same.get(x, x) for x in apart])
    view = view_of(wanted, [], frozenset(given), apart=apart) if repeats else before
    optimizing = Optimizing(rules)
    lean = optimizing.view(view)
    report = Report.of(before.operations, lean.operations, [*repeats, *optimizing.rewrites])
    return (appended(lean, graph, name) if optimizing.rewrites else wanted), report


def _rolled(results: Sequence[Tensor], keep: Set[Tensor], name: str) -> tuple[list[Tensor], list[Rewrite]]:
    """`results` with long runs of equal pieces as loops, and alike ones as batches; nothing before `keep` changes."""
    found, report = rolled(results, keep, name, _LONG_RUN)
    return found, [Rewrite("pieces that repeat", repeat.operations, ()) for repeat in report.repeats]


def optimized_for_gradients(
    tensors: Sequence[Tensor], rules: Rules | str, keep: Set[Tensor], apart: Set[Tensor]
) -> list[Tensor]:
    """`tensors` optimised, those of each graph for itself; what bodies around read is none of theirs."""
    made: dict[Tensor, Tensor] = {}
    for graph in dict.fromkeys([x.graph for x in tensors]):
        own = [x for x in dict.fromkeys(tensors) if x.graph is graph]
        found = optimized(own, as_rules(rules), keep, apart, "optimized")[0] if not graph.finalized else own
        made.update(zip(own, found, strict=True))
    return [made[x] for x in tensors]


def _stays(op: Operation, keep: Set[Tensor]) -> bool:
    """Whether an operation is to be the same afterwards: it is kept, has state, acts, or has a rule by its name."""
    p, chosen = op.primitive, chosen_rules()
    if p.stateful or p.acts or op.name in chosen or any(y in keep for y in op.outputs):
        return True
    if not isinstance(p, AbstractFunctional):
        return False
    inside = functions_in([op])
    graphs = {f.graph for f in inside}
    named = chosen and any(x.name in chosen for f in inside for x in f.operations)
    return bool(named) or any(x.graph in graphs for x in keep)
