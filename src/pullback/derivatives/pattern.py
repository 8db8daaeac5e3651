"""Sparsity patterns of Jacobians: which elements of a tensor depend on which of another, found on the graph.

Patterns are carried from operation to operation, as sparse matrices of truth values with a row for each element, by
what operations declare (`core.traits`). One that moves elements is run on their numbers; one that adds up moved
elements is differentiated, and the derivative, which moves them back, is run on numbers; others say which axes go along
which. One that says nothing is taken to mix all elements: patterns may be too large, and are never too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..autodiff.cotangent import dense
from ..autodiff.paths import operations_between
from ..autodiff.registry import rule_of
from ..core.dtypes import COMPLEX, TRAINABLE, DType, TokenType, complex128, float64
from ..core.errors import InvalidArgumentError
from ..core.function import Function
from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import ZERO
from ..core.shape import TensorShape
from ..core.traits import (
    ADDS,
    CHOOSES,
    CONSTANT,
    ELEMENTWISE,
    GIVES_TO_CHOSEN,
    MARKS_CHOSEN,
    MOVES,
    SURROGATE,
    Links,
    broadcast_axes_of,
    is_linear,
    reading,
)
from ..core.types import TensorType
from ..core.typing import ShapeLike
from ..engines.session import Session
from ..primitives.creation.constant import constant_in
from ..primitives.creation.placeholders import placeholder
from .axis_patterns import along_axes
from .block_pattern import Matrix, Pattern, composed, identity, only_rows, rows_at, split, split_diagonal, union
from .counting import Trial, constant_of, has_zeros
from .function_patterns import Bodies, Choices, Patterns, bodies_of, choices_of, stacked
from .run_values import Undecided, Values


def jacobian_pattern(y: Tensor, x: Tensor, feed_dict: Any = None) -> Matrix:
    """Where the Jacobian of `y` by `x`, both as vectors, may differ from zero: [size of y, size of x].

    `feed_dict` is needed where shapes or positions depend on what is fed, a default session where they depend on
    variables.
    """
    return _pattern(y, x, Values.of_graph(y.graph, feed_dict, frozenset([x])))


def _pattern(y: Tensor, x: Tensor, values: Values, nested: bool = False) -> Matrix:
    ops = [op for op in reversed(operations_between([y], [x])) if x not in op.outputs]
    (found,) = _patterns_between({0: x}, [y], ops, values, nested)
    return found[0].whole if found else sp.csr_array((values.size(y), values.size(x)), dtype=bool)


def patterns_by_parameters(function: Function, values: Values) -> list[Patterns]:
    """For each result of `function` its patterns by the parameters."""
    parameters = {i: x for i, x in enumerate(function.parameters) if x.dtype in TRAINABLE}
    return _patterns_between(parameters, function.results, function.pure_operations, values)


def _patterns_between(
    xs: dict[int, Tensor], ys: Sequence[Tensor], ops: Sequence[Operation], values: Values, nested: bool = False
) -> list[Patterns]:
    """For each of `ys` its patterns by `xs`, through `ops`, whichever branches are taken."""
    totals: list[Patterns] = [{} for _ in ys]
    for choices in choices_of(ops, values):
        finder = _Finder(values, choices, nested)
        for x in xs.values():
            finder.begin_at(x)
        for op in ops:
            finder.look_at(op)
        for (i, x), (y, total) in product(xs.items(), zip(ys, totals, strict=True)):
            found = finder.by(x, y)
            if found is not None:
                total[i] = union(total[i], found) if i in total else found
    return totals


class _Finder:
    """The rules, on one graph or function."""

    def __init__(self, values: Values, choices: Choices, nested: bool) -> None:
        self._values = values
        self._branches = choices
        self._nested = nested
        """Whether this is about the rule of an operation without traits: it is not asked for that of another."""
        self._united: dict[tuple[Pattern, Pattern], Pattern] = {}
        self._found: dict[Tensor, dict[Tensor, Pattern]] = {}
        """Of each tensor the patterns by the source, and by the choices between."""
        self._choices: dict[Tensor, dict[Tensor, Pattern]] = {}
        """The patterns of the results of operations that choose."""
        self._bodies: dict[Operation, Bodies | None] = {}
        self._zeros: dict[Tensor, np.ndarray[Any, Any]] = {}
        self._counting: dict[tuple[Operation, int], Pattern | None] = {}

    def begin_at(self, x: Tensor) -> None:
        """Let `x` be what patterns are by."""
        self._found[x] = {x: identity(self._values.size(x))}

    def by(self, x: Tensor, y: Tensor) -> Pattern | None:
        """The pattern of `y` by `x`; None where it does not depend on it."""
        found = dict(self._found.get(y, {}))
        for chosen, behind in reversed(self._choices.items()):
            outer = found.pop(chosen, None)
            if outer is not None:
                found = self._all_of([found, {s: composed(outer, inner) for s, inner in behind.items()}])
        pattern = found.get(x)
        return pattern if pattern is None or not self._values.differing.shape(y) else self._repeated(pattern, y)

    def look_at(self, op: Operation) -> None:
        """Find the patterns of the outputs of `op` by all that those of its inputs are by."""
        sources = dict.fromkeys(s for x in op.inputs for s in self._found.get(x, ()))
        if any(self._values.differing.shape(x) for x in (*op.inputs, *op.outputs) if x.dtype in TRAINABLE):
            return self._mix(op, sources)
        for source in sources:
            inputs = {i: by[source] for i, x in enumerate(op.inputs) if source in (by := self._found.get(x, {}))}
            for y, pattern in zip(op.outputs, self._patterns_of(op, inputs), strict=True):
                if pattern is not None and y.type.dtype in TRAINABLE:
                    self._found.setdefault(y, {})[source] = pattern
        if not sources or rule_of(op) != op.primitive.gradient:
            return
        if CHOOSES in op.primitive.traits:
            y = op.outputs[0]
            self._choices[y], self._found[y] = self._found[y], {y: identity(self._values.size(y))}
        if GIVES_TO_CHOSEN in op.primitive.traits and op.inputs[1] in self._choices:
            self._give_to_chosen(op)
        if ELEMENTWISE in op.primitive.traits:
            self._leave_out_zeros(op)
            for i in reading(op.primitive.traits, len(op.inputs)).homogeneous:
                self._give_to_marked(op, op.inputs[i].op)

    def _mix(self, op: Operation, sources: Iterable[Tensor]) -> None:
        """Where lengths may differ from run to run, no element has a place: each depends on all; one row says it."""
        for source in sources:
            rows = [by[source].whole.sum(axis=0) for x in op.inputs if source in (by := self._found.get(x, {}))]
            row = Pattern(sp.csr_array(reduce(np.add, rows)[None, :] > 0))
            for y in op.outputs:
                if y.type.dtype in TRAINABLE:
                    self._found.setdefault(y, {})[source] = (
                        row if self._values.differing.shape(y) else self._repeated(row, y)
                    )

    def _repeated(self, row: Pattern, y: Tensor) -> Pattern:
        """`row` for each element of `y`."""
        return rows_at(row, np.zeros(self._values.size(y), np.int64))

    def _leave_out_zeros(self, op: Operation) -> None:
        """What is multiplied by zeros that were put in depends on nothing."""
        (out,), shape = op.outputs, self._values.shape(op.outputs[0])
        homogeneous = [op.inputs[i] for i in reading(op.primitive.traits, len(op.inputs)).homogeneous]
        known = [zeros for x in homogeneous if (zeros := self._zeros_of(x)) is not None]
        if known:
            zeros = reduce(np.logical_or, [np.broadcast_to(part, shape) for part in known])
            self._zeros[out] = zeros | self._zeros.get(out, np.zeros((), bool))
            self._found[out] = {s: only_rows(p, ~zeros.reshape(-1)) for s, p in self._found.get(out, {}).items()}

    def _zeros_of(self, x: Tensor) -> np.ndarray[Any, Any] | None:
        """Where `x` is zero in every run; None where nothing is known."""
        return constant_of(x) == 0 if has_zeros(x) else self._zeros.get(x)

    def _give_to_chosen(self, op: Operation) -> None:
        """What is given to the chosen elements depends on the choice only through these elements themselves."""
        x, y, dy = op.inputs
        given = self._found.get(dy, {}).get(y)
        if given is None or y.op.inputs[0] is not x:
            return
        own, others = split_diagonal(given)
        (there,), (rest,) = self._patterns_of(op, {2: own}), self._patterns_of(op, {2: others})
        assert there is not None
        assert rest is not None
        met = np.diff(there.whole.indptr) > 0
        direct = {source: only_rows(pattern, met) for source, pattern in self._found[x].items()}
        out = op.outputs[0]
        self._found[out] = self._all_of([{**self._found[out], y: rest}, direct])

    def _give_to_marked(self, op: Operation, mark: Operation) -> None:
        """The same where what is given is multiplied by marks of the chosen elements."""
        out = op.outputs[0]
        if MARKS_CHOSEN not in mark.primitive.traits or self._values.shape(out) != self._values.shape(mark.outputs[0]):
            return
        x, y = mark.inputs[0], mark.inputs[-1]
        given = self._found.get(out, {}).get(y)
        if given is None or y not in self._choices or y.op.inputs[0] is not x:
            return
        (choosable,) = self._patterns_of(y.op, {0: identity(self._values.size(x))})[:1]
        assert choosable is not None
        own, others = split(given, choosable)
        met = np.diff(own.whole.indptr) > 0
        direct = {source: only_rows(pattern, met) for source, pattern in self._found[x].items()}
        self._found[out] = self._all_of([{**self._found[out], y: others}, direct])

    def _all_of(self, parts: Sequence[dict[Tensor, Pattern]]) -> dict[Tensor, Pattern]:
        """For each source what is in any of `parts`."""
        sources = dict.fromkeys(s for part in parts for s in part)
        return {s: reduce(self._union, [part[s] for part in parts if s in part]) for s in sources}

    def _patterns_of(self, op: Operation, found: Patterns) -> Sequence[Pattern | None]:
        """The patterns of the outputs of `op`, from those of its inputs."""
        found = {i: pattern for i, pattern in found.items() if op.inputs[i].type.dtype in TRAINABLE}
        rule, primitive = rule_of(op), op.primitive
        if rule is None or not found:
            return [None] * len(op.outputs)
        if rule != primitive.gradient or SURROGATE in primitive.traits:
            return self._by_rule(op, rule, found)
        bodies = self._bodies_of(op)
        if bodies is not None:
            return bodies.through(found)
        settled = self._is_settled(op)
        if MOVES in primitive.traits and settled:
            return self._moved(op, found)
        links = {i: self._links(op, i) for i in found}
        if ADDS in primitive.traits or any(links.values()):
            found = self._differentiated(op, rule, found)
        if ADDS in primitive.traits and settled:
            return [self._added(op, found)]
        unlinked = {i: pattern for i, pattern in found.items() if links[i] is None}
        turned = self._by_own_rule(op, rule, unlinked) if unlinked else None
        if turned is None:
            return [self._along_axes(op, found, links, y) for y in op.outputs]
        linked = {i: pattern for i, pattern in found.items() if i not in unlinked}
        along = [self._along_axes(op, linked, links, y) for y in op.outputs]
        return [self._any_of(pair) for pair in zip(turned, along, strict=True)]

    def _is_settled(self, op: Operation) -> bool:
        """Whether the positions that `op` is given, or other such numbers, are the same in every run."""
        return not any(self._values.differing.value(x) for x in op.inputs if x.dtype not in TRAINABLE)

    def _bodies_of(self, op: Operation) -> Bodies | None:
        if op not in self._bodies:
            self._bodies[op] = bodies_of(op, self._values, patterns_by_parameters, self._branches)
        return self._bodies[op]

    def _links(self, op: Operation, i: int) -> Links | None:
        """The axes of the results that go along axes of input `i`; None where the primitive says nothing."""
        if ELEMENTWISE in op.primitive.traits:
            return broadcast_axes_of(self._values.shape(op.inputs[i]), len(self._values.shape(op.outputs[0])))
        types = [TensorType(x.dtype, TensorShape(self._values.shape(x))) for x in op.inputs]
        return op.primitive.links(i, *types)

    def _along_axes(self, op: Operation, found: Patterns, links: dict[int, Links | None], y: Tensor) -> Pattern | None:
        """What depends on the elements at the same places along axes that go along each other."""
        tried = {i: self._tried(op, i, links[i] or ()) for i in found}
        ways = {(id(p), links[i], self._values.shape(op.inputs[i])): p for i, p in found.items() if tried[i] is None}
        parts = [along_axes(p, along or (), shape, self._values.shape(y)) for (_, along, shape), p in ways.items()]
        return self._any_of([*parts, *[composed(part, found[i]) for i, part in tried.items() if part is not None]])

    def _tried(self, op: Operation, i: int, links: Links) -> Pattern | None:
        """Which elements of input `i`, in which `op` is linear, count for which of the result, where not all do."""
        if not is_linear(op.primitive.traits, i) or not self._is_settled(op):
            return None
        if (op, i) not in self._counting:
            trial = Trial(op, i, links, self._values)
            found = self._counting[op, i] = trial.pattern() if trial.tells else None
            if found is not None and i in reading(op.primitive.traits, len(op.inputs)).homogeneous:
                y = op.outputs[0]
                self._zeros[y] = (np.diff(found.whole.indptr) == 0).reshape(self._values.shape(y))
        return self._counting[op, i]

    def _any_of(self, patterns: Sequence[Pattern | None]) -> Pattern | None:
        there = [p for p in patterns if p is not None]
        return reduce(self._union, there) if there else None

    def _union(self, a: Pattern, b: Pattern) -> Pattern:
        """What holds both; derivatives ask for the same again and again."""
        if (a, b) not in self._united:
            self._united[a, b] = union(a, b)
        return self._united[a, b]

    def _moved(self, op: Operation, found: Patterns) -> list[Pattern | None]:
        """What comes out for the numbers 1, 2, ... of the elements of all inputs, less what comes out for zeros."""
        numbers: list[Any] = []
        moving: list[Pattern] = []
        count = 1
        for i, x in enumerate(op.inputs):
            if i in found:
                size = self._values.size(x)
                numbers.append(np.arange(count, count + size, dtype=np.float64).reshape(self._values.shape(x)))
                moving.append(found[i])
                count += size
            else:
                numbers.append(np.ones(self._values.shape(x)) if x.type.dtype in TRAINABLE else self._values.value(x))
        zeros = [np.zeros_like(x) if i in found else x for i, x in enumerate(numbers)]
        nothing = Pattern(sp.csr_array((1, moving[0].shape[1]), dtype=bool))
        outputs: list[Pattern | None] = []
        for y, moved, put_in in zip(op.outputs, _results(op, numbers), _results(op, zeros), strict=True):
            with np.errstate(invalid="ignore"):
                places = np.nan_to_num(moved - put_in) if moved.dtype == np.float64 else np.zeros(moved.shape)
            rows = places.reshape(-1).astype(np.int64) - 1
            nowhere = (places == 0) & (put_in == 0)
            if nowhere.any():
                self._zeros[y] = nowhere | self._zeros.get(y, np.zeros((), bool))
            sources = [*moving, nothing] if (rows < 0).any() else moving
            outputs.append(rows_at(stacked(sources), rows))
        return outputs

    def _added(self, op: Operation, found: Patterns) -> Pattern | None:
        """The derivative of `op` moves each output's number to the inputs that it is the sum of."""
        parts, shape = [], self._values.shape(op.outputs[0])
        count = int(np.prod(shape))
        with Graph().as_default() as graph:
            copy = self._copy(op, graph)
            (dy,) = dys = _cotangents(copy, [shape])
            moved = _entries(op.primitive.gradient, copy, dys)
            numbers = np.arange(1, count + 1).reshape(shape)
            session = Session(graph=graph, engine="numpy")
            feeds = {x: np.zeros(x.shape.known) for x in copy.inputs if x.dtype in TRAINABLE} | {dy: numbers}
            for i, pattern in found.items():
                rows = np.abs(session.run(_called(moved[i]), feeds)).reshape(-1)
                columns = np.flatnonzero(rows)
                targets = np.rint(rows[columns]).astype(np.int64) - 1
                ones = np.ones(len(columns), bool)
                parts.append(
                    Pattern(sp.csr_array((ones, (targets, columns)), shape=(count, len(rows))) @ pattern.whole)
                )
        return reduce(union, parts) if parts else None

    def _by_rule(self, op: Operation, rule: Callable[..., Any], found: Patterns) -> list[Pattern | None]:
        """What a chosen rule says, for a copy of `op` in the graph that is run, which stays as it was."""
        run = self._values.run
        with run.trying():
            copy = self._values.place(op.outputs[0]).op
            dys = _cotangents(op, [self._values.shape(y) for y in op.outputs], lambda dtype: dtype)
            entries = _entries(rule, copy, dys)
            patterns = self._turned_over(
                entries, dys, found, lambda: Values.of_graph(run.graph, run.feeds, run.free), self._nested
            )
        return patterns

    def _by_own_rule(self, op: Operation, rule: Callable[..., Any], found: Patterns) -> list[Pattern | None] | None:
        """What the primitive's own rule says, whatever the numbers are; None where they decide."""
        if self._nested or any(isinstance(x.dtype, TokenType) for x in (*op.inputs, *op.outputs)):
            return None
        try:
            with Graph().as_default() as graph:
                copy = self._copy(op, graph)
                dys = _cotangents(op, [self._values.shape(y) for y in op.outputs])
                given = [dy for dy in dys if dy is not None]
                free = frozenset(
                    [x for x in (*copy.inputs, *copy.outputs, *given) if CONSTANT not in x.op.primitive.traits]
                )
                entries = _entries(rule, copy, dys)
                return self._turned_over(entries, dys, found, lambda: Values.of_graph(graph, None, free), True)
        except (Undecided, InvalidArgumentError):  # The latter where a shape depends on numbers, which nobody feeds.
            return None

    def _turned_over(
        self,
        entries: Sequence[Any],
        dys: Sequence[Tensor | None],
        found: Patterns,
        values: Callable[[], Values],
        nested: bool,
    ) -> list[Pattern | None]:
        """The transposes of how the entries of a rule depend on its cotangents."""
        totals: list[Pattern | None] = [None] * len(dys)
        called = {i: _called(entries[i]) for i in found}
        for i, j in product(found, range(len(dys))):
            dx, dy = called[i], dys[j]
            if dx is not None and dy is not None:
                part = composed(Pattern(_pattern(dense(dx), dy, values(), nested).T.tocsr()), found[i])
                total = totals[j]
                totals[j] = part if total is None else union(total, part)
        return totals

    def _differentiated(self, op: Operation, rule: Callable[..., Any], found: Patterns) -> Patterns:
        """Those inputs that the derivative has an entry for."""
        with Graph().as_default() as graph:
            copy = self._copy(op, graph, needs_values=ELEMENTWISE not in op.primitive.traits)
            entries = _entries(rule, copy, _cotangents(copy, [y.shape for y in copy.outputs]))
        return {i: pattern for i, pattern in found.items() if entries[i] is not None}

    def _copy(self, op: Operation, graph: Graph, needs_values: bool = True) -> Operation:
        """`op` in a graph of its own, its trainable inputs placeholders of dtypes that numbers up to 2**53 fit.

        The others have their values where those are needed, and are the same in every run.
        """

        def copied(x: Tensor) -> Tensor:
            if x.dtype not in TRAINABLE and needs_values and not self._values.differing.value(x):
                return constant_in(graph, self._values.value(x))
            return placeholder(_widest(x.dtype) if x.dtype in TRAINABLE else x.dtype, self._values.shape(x))

        return graph.add(op.primitive, [copied(x) for x in op.inputs])


def _results(op: Operation, arrays: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    results = op.primitive.kernel(np, *arrays)
    return [np.asarray(y) for y in (results if isinstance(results, tuple) else (results,))]


def _widest(dtype: DType) -> DType:
    """The dtype of its kind that can hold the most numbers."""
    return complex128 if dtype in COMPLEX else float64


def _cotangents(
    op: Operation, shapes: Sequence[ShapeLike], dtype_of: Callable[[DType], DType] = _widest
) -> list[Tensor | None]:
    """A placeholder for each output that has a derivative."""
    pairs = zip(op.outputs, shapes, strict=True)
    return [placeholder(dtype_of(y.dtype), shape) if y.dtype in TRAINABLE else None for y, shape in pairs]


def _entries(rule: Callable[..., Any], op: Operation, dys: Sequence[Tensor | None]) -> Sequence[Any]:
    """What `rule` says of each input of `op`, None where that is a zero."""
    own = rule == op.primitive.gradient
    options = {"wanted": [True] * len(op.inputs)} if own and op.primitive.takes_wanted else {}
    entries = rule(op, *dys, **options)
    entries = entries if isinstance(entries, list | tuple) else (entries,)
    return [None if entry is ZERO else entry for entry in entries]


def _called(entry: Any) -> Any:
    return entry() if callable(entry) else entry
