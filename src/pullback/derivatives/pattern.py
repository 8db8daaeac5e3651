"""Sparsity patterns of Jacobians: which elements of a tensor depend on which of another, found on the graph.

Patterns are carried from operation to operation, as sparse matrices of truth values with a row for each element, by
what operations declare (`core.traits`). One that moves elements is run on their numbers; one that adds up moved
elements is differentiated, and the derivative, which moves them back, is run on numbers; others say which axes go along
which. One that says nothing is taken to mix all elements: patterns may be too large, and are never too small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..autodiff.paths import operations_between
from ..autodiff.registry import rule_of
from ..core.dtypes import COMPLEX, TRAINABLE, DType, complex128, float64, resource
from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import ZERO
from ..core.shape import TensorShape
from ..core.traits import ADDS, CHOOSES, ELEMENTWISE, GIVES_TO_CHOSEN, MOVES, SURROGATE, Links, broadcast_axes_of
from ..core.types import TensorType
from ..engines.session import Session, get_default_session
from ..primitives.creation.constant import constant_in
from ..primitives.creation.placeholders import placeholder
from ..primitives.variables.operations import read_variable, variable_type
from .axis_patterns import along_axes
from .block_pattern import Matrix, Pattern, composed, identity, only_rows, rows_at, split_diagonal, union
from .products import dense

Patterns = dict[int, Pattern]
"""Patterns by the numbers of inputs."""


def jacobian_pattern(y: Tensor, x: Tensor, feed_dict: Any = None) -> Matrix:
    """Where the Jacobian of `y` by `x`, both as vectors, may differ from zero: [size of y, size of x].

    `feed_dict` is needed where shapes or positions depend on what is fed, a default session where they depend on
    variables.
    """
    finder = _Finder(y.graph, feed_dict)
    finder.begin_at(x)
    for op in reversed(operations_between([y], [x])):
        if x not in op.outputs:
            finder.look_at(op)
    found = finder.by(x, y)
    return sp.csr_array((finder.size(y), finder.size(x)), dtype=bool) if found is None else found.whole


class _Finder:
    """The rules, on one graph."""

    def __init__(self, graph: Graph, feed_dict: Any) -> None:
        default = get_default_session()
        self._session = default if default and default.graph is graph else Session(graph=graph, engine="numpy")
        self._feeds = feed_dict
        self._known: dict[Tensor, np.ndarray[Any, Any]] = {}
        self._united: dict[tuple[Pattern, Pattern], Pattern] = {}
        self._found: dict[Tensor, dict[Tensor, Pattern]] = {}
        """Of each tensor the patterns by the source, and by the choices between."""
        self._choices: dict[Tensor, dict[Tensor, Pattern]] = {}
        """The patterns of the results of operations that choose."""

    def value(self, x: Tensor) -> np.ndarray[Any, Any]:
        """The value of `x`, computed."""
        if x not in self._known:
            self._known[x] = np.asarray(self._session.run(x, self._feeds))
        return self._known[x]

    def shape(self, x: Tensor) -> tuple[int, ...]:
        """The shape of `x`, or of the variable that it is the handle of, computed where it is not known."""
        if x.dtype == resource:
            of = variable_type(x).shape
            return of.known if of.is_fully_defined() else self.value(read_variable(x)).shape
        return x.shape.known if x.shape.is_fully_defined() else self.value(x).shape

    def size(self, x: Tensor) -> int:
        """The number of elements of `x`."""
        return int(np.prod(self.shape(x)))

    def begin_at(self, x: Tensor) -> None:
        """Let `x` be what patterns are by."""
        self._found[x] = {x: identity(self.size(x))}

    def by(self, x: Tensor, y: Tensor) -> Pattern | None:
        """The pattern of `y` by `x`; None where it does not depend on it."""
        found = dict(self._found.get(y, {}))
        for chosen, behind in reversed(self._choices.items()):
            outer = found.pop(chosen, None)
            if outer is not None:
                found = self._all_of([found, {s: composed(outer, inner) for s, inner in behind.items()}])
        return found.get(x)

    def look_at(self, op: Operation) -> None:
        """Find the patterns of the outputs of `op` by all that those of its inputs are by."""
        sources = dict.fromkeys(s for x in op.inputs for s in self._found.get(x, ()))
        for source in sources:
            inputs = {i: by[source] for i, x in enumerate(op.inputs) if source in (by := self._found.get(x, {}))}
            for y, pattern in zip(op.outputs, self._patterns_of(op, inputs), strict=True):
                if pattern is not None and y.type.dtype in TRAINABLE:
                    self._found.setdefault(y, {})[source] = pattern
        if not sources or rule_of(op) != op.primitive.gradient:
            return
        if CHOOSES in op.primitive.traits:
            y = op.outputs[0]
            self._choices[y], self._found[y] = self._found[y], {y: identity(self.size(y))}
        if GIVES_TO_CHOSEN in op.primitive.traits and op.inputs[1] in self._choices:
            self._give_to_chosen(op)

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
        if MOVES in primitive.traits:
            return self._moved(op, found)
        links = {i: self._links(op, i) for i in found}
        if ADDS in primitive.traits or any(links.values()):
            found = self._differentiated(op, rule, found)
        if ADDS in primitive.traits:
            return [self._added(op, found)]
        return [self._along_axes(op, found, links, y) for y in op.outputs]

    def _links(self, op: Operation, i: int) -> Links:
        """The axes of the results that go along axes of input `i`; none where the primitive says nothing."""
        if ELEMENTWISE in op.primitive.traits:
            return broadcast_axes_of(self.shape(op.inputs[i]), len(self.shape(op.outputs[0])))
        types = [TensorType(x.dtype, TensorShape(self.shape(x))) for x in op.inputs]
        return op.primitive.links(i, *types) or ()

    def _along_axes(self, op: Operation, found: Patterns, links: dict[int, Links], y: Tensor) -> Pattern | None:
        """What depends on the elements at the same places along axes that go along each other."""
        ways = {(id(p), links[i], self.shape(op.inputs[i])): p for i, p in found.items()}
        parts = [along_axes(p, along, shape, self.shape(y)) for (_, along, shape), p in ways.items()]
        return reduce(self._union, parts) if parts else None

    def _union(self, a: Pattern, b: Pattern) -> Pattern:
        """What holds both; derivatives ask for the same again and again."""
        if (a, b) not in self._united:
            self._united[a, b] = union(a, b)
        return self._united[a, b]

    def _moved(self, op: Operation, found: Patterns) -> list[Pattern | None]:
        """What comes out for the numbers 1, 2, ... of the elements of all inputs, less what comes out for zeros."""
        numbers: list[Any] = []
        stacked: list[Pattern] = []
        count = 1
        for i, x in enumerate(op.inputs):
            if i in found:
                size = self.size(x)
                numbers.append(np.arange(count, count + size, dtype=np.float64).reshape(self.shape(x)))
                stacked.append(found[i])
                count += size
            else:
                numbers.append(np.zeros(self.shape(x)) if x.type.dtype in TRAINABLE else self.value(x))
        zeros = [np.zeros_like(x) if i in found else x for i, x in enumerate(numbers)]
        nothing = Pattern(sp.csr_array((1, stacked[0].shape[1]), dtype=bool))
        outputs: list[Pattern | None] = []
        for moved, put_in in zip(_results(op, numbers), _results(op, zeros), strict=True):
            with np.errstate(invalid="ignore"):
                places = np.nan_to_num(moved - put_in) if moved.dtype == np.float64 else np.zeros(moved.shape)
            rows = places.reshape(-1).astype(np.int64) - 1
            sources = [*stacked, nothing] if (rows < 0).any() else stacked
            outputs.append(rows_at(_stacked(sources), rows))
        return outputs

    def _added(self, op: Operation, found: Patterns) -> Pattern | None:
        """The derivative of `op` moves each output's number to the inputs that it is the sum of."""
        parts, shape = [], self.shape(op.outputs[0])
        count = int(np.prod(shape))
        with Graph().as_default() as graph:
            copy = self._copy(op, graph)
            (dy,) = dys = _cotangents(copy)
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
        """What a chosen rule says: the transpose of how its entries depend on cotangents; the graph stays as it was."""
        totals: list[Pattern | None] = [None] * len(op.outputs)
        try:
            with op.graph.transaction():
                dys = [placeholder(y.dtype, self.shape(y)) if y.dtype in TRAINABLE else None for y in op.outputs]
                entries = [_called(entry) for entry in _entries(rule, op, dys)]
                for i, j in product(found, range(len(dys))):
                    dx, dy = entries[i], dys[j]
                    if dx is not None and dy is not None:
                        part = Pattern(jacobian_pattern(dense(dx), dy, self._feeds).T.tocsr() @ found[i].whole)
                        total = totals[j]
                        totals[j] = part if total is None else union(total, part)
                raise _Undo
        except _Undo:
            return totals

    def _differentiated(self, op: Operation, rule: Callable[..., Any], found: Patterns) -> Patterns:
        """Those inputs that the derivative has an entry for."""
        with Graph().as_default() as graph:
            copy = self._copy(op, graph, needs_values=ELEMENTWISE not in op.primitive.traits)
            entries = _entries(rule, copy, _cotangents(copy))
        return {i: pattern for i, pattern in found.items() if entries[i] is not None}

    def _copy(self, op: Operation, graph: Graph, needs_values: bool = True) -> Operation:
        """`op` in a graph of its own, its trainable inputs placeholders of 64 bits, which numbers up to 2**53 fit.

        The others have their values where those are needed.
        """

        def copied(x: Tensor) -> Tensor:
            if x.dtype not in TRAINABLE and needs_values:
                return constant_in(graph, self.value(x))
            return placeholder(_wide(x) if x.dtype in TRAINABLE else x.dtype, self.shape(x))

        return graph.add(op.primitive, [copied(x) for x in op.inputs])


class _Undo(Exception):
    """Raised to leave the graph as it was."""


def _stacked(patterns: Sequence[Pattern]) -> Pattern:
    """The rows of all of `patterns`, one after the other."""
    return patterns[0] if len(patterns) == 1 else Pattern(sp.vstack([p.whole for p in patterns], format="csr"))


def _results(op: Operation, arrays: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    results = op.primitive.kernel(np, *arrays)
    return [np.asarray(y) for y in (results if isinstance(results, tuple) else (results,))]


def _wide(x: Tensor) -> DType:
    """The dtype in which numbers of elements stand for those of `x`."""
    return complex128 if x.dtype in COMPLEX else float64


def _cotangents(op: Operation) -> list[Tensor | None]:
    """A placeholder for each output that has a derivative."""
    return [placeholder(_wide(y), y.shape) if y.dtype in TRAINABLE else None for y in op.outputs]


def _entries(rule: Callable[..., Any], op: Operation, dys: Sequence[Tensor | None]) -> Sequence[Any]:
    """What `rule` says of each input of `op`, None where that is a zero."""
    own = rule == op.primitive.gradient
    options = {"wanted": [True] * len(op.inputs)} if own and op.primitive.takes_wanted else {}
    entries = rule(op, *dys, **options)
    entries = entries if isinstance(entries, list | tuple) else (entries,)
    return [None if entry is ZERO else entry for entry in entries]


def _called(entry: Any) -> Any:
    return entry() if callable(entry) else entry
