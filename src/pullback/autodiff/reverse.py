"""Reverse-mode differentiation (`gradients`): a backward walk that appends operations. Knows no primitive by name.

Reverse accumulation (Linnainmaa 1970; Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 3) over the
operations between xs and ys, first come, first served, once the last use of one was done (Kahn 1962).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ..core.dtypes import COMPLEX, TRAINABLE, TokenType
from ..core.function import AbstractFunctional
from ..core.garbage import without_collection
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.matmul_precision import precise_scope
from ..core.memory import Memory
from ..core.primitive import ZERO
from ..core.scopes import Scope
from ..core.seen import seen
from ..core.shape import same_shape
from ..core.sites import user_site
from ..core.slices import IndexedSlices
from ..core.typing import TensorLike
from ..primitives.creation.fill import ones_like, zeros_like
from ..primitives.identity.identity import EnsureShapeLike, identity
from ..primitives.shape.reshape import reshape
from ..primitives.shape.size import shape
from ..primitives.shape.squeeze import expand_dims
from ..primitives.variables.variable import variable_zeros
from . import arguments
from .arguments import UnconnectedGradients, as_list
from .choices import Aggregation, Rule, choosing, surrounded
from .compile_scopes import compiled_scope
from .cotangent import AggregationMethod, Term, aggregate, flatten_slices
from .gating import gate
from .masked_zeros import guard_for
from .optimizing import lean_targets, lean_terms, terms_within
from .paths import crossings, operations_between, path_between, row_crossings, uses_between
from .registry import as_rules
from .rules import apply_rule

_LONGEST_ROUTE = 8
_NOTHING = nullcontext()


@dataclass(frozen=True)
class _Options:
    colocate: bool = False
    gate: bool = False
    method: int = AggregationMethod.DEFAULT


_PLAIN = _Options()


def gradients(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | Sequence[TensorLike | None] | None = None,
    name: str | None = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | Aggregation | None = None,
    stop_gradients: TensorLike | None = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    *,
    rules: Mapping[Any, Rule | None] | None = None,
    memory: Memory | None = None,
    optimize: Any = None,
) -> list[Any]:
    """The derivatives of the sum of `ys` by each of `xs`, as new operations of their graph: a list, one for each x.

    Entry i is the sum over all ys of `grad_y * dy/dx_i`: a tensor of x's shape and dtype, IndexedSlices where only
    some rows of x were read, or None where no y depends on x.

    Args:
        ys: a tensor or a list of them; variables are read.
        xs: a tensor, a variable, or a list; anything of the graph: placeholders, constants, intermediate results.
        grad_ys: one cotangent for each y (None: ones), of y's dtype, in its shape or repeated to have it, as a
            scalar is; numbers adopt y's dtype.
        name: the name scope of what is added.
        colocate_gradients_with_ops: put each gradient operation where its forward operation is.
        gate_gradients: let nobody use a gradient of an operation before all of them are there.
        aggregation_method: a member of `AggregationMethod`, or a function of the terms that are to be added (tensors or
            IndexedSlices, two or more) and the operation whose output they belong to. What it returns stands for their
            sum: each clipped, added in a wider dtype, a median. It holds inside functions, branches and loops as well.
        stop_gradients: tensors that are held constant.
        unconnected_gradients: "none" or "zero", a member of `UnconnectedGradients`.
        rules: for names or types of operations (or a class of `Primitive`) the rules to use in place of their own,
            `rule(op, *dys)`; None stops. They hold inside functions, branches and loops as well; a name counts first,
            then the name of the function that is called, then the type.
        memory: what to keep of the steps of loops, and with a budget of anything, a `Memory`.
        optimize: "exact", "safe" or "fast", or `pb.Rules`: ys are optimised before they are differentiated, as
            `pb.optimize` does, and the derivatives afterwards. The ys of the graph stay what they were; to run both,
            optimise ys first with `pb.optimize`, or use `Session(optimize=...)`.

    Complex y need `grad_ys`; the cotangent of a complex x is the conjugate of the holomorphic derivative.

    Raises:
        LookupError: an operation between an x and a y has no gradient.
        TypeError, ValueError: an argument cannot be used; the graph is left as it was.
        RuntimeError: the graph is finalized.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0])
    >>> dx, = pb.gradients(pb.reduce_sum(x * x), x)
    >>> pb.Session().run(dx)
    array([2., 4.], dtype=float32)
    """
    mode = arguments.as_mode(unconnected_gradients)
    aggregation = aggregation_method if callable(aggregation_method) else None
    options = _Options(bool(colocate_gradients_with_ops), bool(gate_gradients), arguments.as_method(aggregation_method))
    targets, sources = as_list(ys, "ys"), as_list(xs, "xs")
    stops = as_list(() if stop_gradients is None else stop_gradients, "stop_gradients")
    for values, what in ((targets, "ys"), (sources, "xs"), (stops, "stop_gradients")):
        for i, value in enumerate(values):
            arguments.check_element(value, f"{what}[{i}]")
    seeds = [None] * len(targets) if grad_ys is None else as_list(grad_ys, "grad_ys")
    if len(seeds) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(seeds)} grad_ys for {len(targets)} ys")
    graph = arguments.common_graph([*targets, *sources, *seeds, *stops]).acting
    if graph.finalized:
        raise RuntimeError("Graph is finalized and cannot be modified.")
    policy = None if memory is None else replace(memory, session=None)
    chosen = choosing(as_rules(rules, graph), policy, aggregation)
    with graph.transaction(), without_collection(), chosen:
        return _gradients(graph, targets, sources, stops, seeds, name, options, mode, optimize, memory)


def _gradients(
    graph: Graph,
    ys: Sequence[Any],
    xs: Sequence[Any],
    stops: Sequence[Any],
    seeds: Sequence[Any],
    name: str | None,
    options: _Options,
    mode: UnconnectedGradients,
    optimize: Any,
    memory: Memory | None,
) -> list[Any]:
    outer = graph.scope
    with graph.entered(outer._replace(site=outer.site or user_site())):
        with graph.within("gradients" if name is None else (name or outer.prefix)):
            graph.unique_name("uid")
            targets = [arguments.as_target(y, f"y_{i}", graph) for i, y in enumerate(ys)]
            sources = [arguments.as_source(x, f"x_{i}", graph) for i, x in enumerate(xs)]
            wanted = [_component(x) for x in sources]
            held = [_component(arguments.as_source(t, "stop", graph)) for t in stops]
            kept = frozenset([*wanted, *held])
            if optimize is not None:
                targets = lean_targets(targets, optimize, kept)
            terms: dict[Tensor, list[Term]] = {}
            for i, (y, seed) in enumerate(zip(map(_component, targets), seeds, strict=True)):
                terms.setdefault(y, []).append(_seed(y, seed, i, graph, options))
            ys = list(terms)
            sums = _cross_bodies(graph, terms, wanted, {x.op for x in held}, options)
            if optimize is not None:
                sums = dict(zip(sums, lean_terms(list(sums.values()), ys, optimize, kept), strict=True))
            if memory is not None and memory.budget is not None and graph.outer is None:
                sums = dict(zip(sums, terms_within(list(sums.values()), ys, memory), strict=True))
        if mode is UnconnectedGradients.ZERO:
            for x in wanted:
                if sums[x] is None:
                    sums[x] = _zeros(x)
    return [_pack(source, sums[x]) for source, x in zip(sources, wanted, strict=True)]


def pull(ys: Sequence[Tensor], dys: Sequence[Term], xs: Sequence[Tensor]) -> list[Term | None]:
    """The cotangents of `xs` for the cotangents `dys` of `ys`, all in one body; None where no y depends on an x."""
    terms: dict[Tensor, list[Term]] = {}
    for y, dy in zip(ys, dys, strict=True):
        terms.setdefault(y, []).append(dy)
    graph = get_default_graph().acting
    sums = _Reverse(graph, list(terms), xs, set(), _PLAIN).run(terms)
    return [flatten_slices(dx) if isinstance(dx, IndexedSlices) else dx for dx in (sums[x] for x in xs)]


def _cross_bodies(
    graph: Graph,
    terms: dict[Tensor, list[Term]],
    xs: Sequence[Tensor],
    stops: set[Operation],
    options: _Options,
) -> dict[Tensor, Term | None]:
    """The sums of the cotangents of `xs`: first those in the body `graph`, then those in the graphs around it.

    A parameter that stands for a tensor around the body, or for a row of one, hands on what it receives to that tensor,
    unless it is an x.
    """
    sums: dict[Tensor, Term | None] = dict.fromkeys(xs)
    for level in graph.levels():
        here = [x for x in xs if x.op.graph is level]
        crossing, of_rows = crossings(level, xs), row_crossings(level, xs)
        ys = [y for y in terms if y.op.graph is level]
        found = _with_known_zeros(graph, ys, [*here, *crossing, *of_rows], stops, options, terms)
        for x in here:
            sums[x] = found[x]
        for inner, outer in crossing.items():
            term = found[inner]
            if term is not None:
                terms.setdefault(outer, []).append(term)
        for inner, (outer, number) in of_rows.items():
            term = found[inner]
            if term is not None and inner.op not in stops:
                row = flatten_slices(term) if isinstance(term, IndexedSlices) else term
                slices = IndexedSlices(expand_dims(row, 0), reshape(number, [1]), shape(outer), outer.shape)
                terms.setdefault(outer, []).append(slices)
    return sums


def _with_known_zeros(
    graph: Graph,
    ys: Sequence[Tensor],
    xs: Sequence[Tensor],
    stops: set[Operation],
    options: _Options,
    terms: dict[Tensor, list[Term]],
) -> dict[Tensor, Term | None]:
    """The sums of the cotangents of `xs`; zeros go on from where entries are `ZERO` to those that have none."""
    walk = _Reverse(graph, ys, xs, stops, options)
    found = walk.run(terms)
    while walk.known_zeros and (missing := [x for x, dx in found.items() if dx is None]):
        between = set(operations_between(walk.known_zeros, missing))
        flat = [x for x in dict.fromkeys(walk.known_zeros) if x.op in between]
        walk = _Reverse(graph, flat, missing, stops, options)
        found.update(walk.run({x: [zeros_like(x)] for x in flat}))
    return found


class _Reverse:
    """One backward walk, which adds its operations to `graph`."""

    def __init__(
        self, graph: Graph, ys: Sequence[Tensor], xs: Sequence[Tensor], stops: set[Operation], options: _Options
    ) -> None:
        self._graph = graph
        self._outer = graph.scope
        self._guard = guard_for(graph)
        self._scope = self._outer._replace(guard=self._guard)
        self._ys = ys
        self._xs = set(xs)
        self._pending = uses_between(ys, xs)
        """For each operation between the xs and the ys: how many of its uses there are still to be done."""
        self._stops = stops
        self._options = options
        self.known_zeros: list[Tensor] = []
        """What received a cotangent that is known to be zero, as often as it did."""

    def run(self, terms: dict[Tensor, list[Term]]) -> dict[Tensor, Term | None]:
        """The sum of the cotangents of each x, or None, from the seeds `terms`."""
        try:
            return self._walk(terms)
        finally:
            self._graph.scope = self._outer

    def _walk(self, terms: dict[Tensor, list[Term]]) -> dict[Tensor, Term | None]:
        sums: dict[Tensor, Term | None] = dict.fromkeys(self._xs)
        xs, stops, pending = self._xs, self._stops, self._pending
        ready = [op for op in dict.fromkeys([y.op for y in self._ys]) if pending.get(op) == 0]
        for op in ready:
            dys: list[Term | None] = []
            connected = False
            result = op.result
            for y in (result,) if type(result) is Tensor else op.outputs:
                received = terms.pop(y, None)
                if received is None:
                    dys.append(None)
                    continue
                dy = received[0] if len(received) == 1 else self._sum(received, op)
                if y in xs:
                    sums[y] = dy
                dys.append(dy)
                connected = True
            if connected and op not in stops:
                self._pull(op, dys, terms)
            for x in op.inputs:
                left = pending.get(x.op)
                if left == 1:
                    ready.append(x.op)
                elif left:
                    pending[x.op] = left - 1
        return sums

    def _sum(self, received: list[Term], op: Operation) -> Term:
        self._graph.scope = self._scope_around(op)
        return aggregate(received, op, self._options.method)

    def _pull(self, op: Operation, dys: list[Term | None], terms: dict[Tensor, list[Term]]) -> None:
        """Send the cotangents of the outputs of `op` through its rule to its inputs."""
        pending, graph = self._pending, self._graph
        wanted = [x.op in pending and x.type.dtype in TRAINABLE for x in op.inputs]
        if True not in wanted:
            return
        scope = self._scope_around(op) if self._options.colocate else self._scope
        if None in dys and not op.primitive.takes_none:
            graph.scope = scope
            dys = [
                _zeros(y) if dy is None and y.dtype in TRAINABLE else dy for y, dy in zip(op.outputs, dys, strict=True)
            ]
        graph.scope = scope.within(graph.names.claim(f"{scope.prefix}{op.name}_grad") + "/", op)
        if op.attrs:
            graph.scope = compiled_scope(precise_scope(graph.scope, op), op, scope.prefix)
        with self._surrounding(op, dys):
            entries = apply_rule(op, dys, wanted, self._route)
        if self._options.gate:
            entries = gate(entries)
        for x, dx in zip(op.inputs, entries, strict=True):
            if dx is None:
                continue
            if dx is ZERO:
                self.known_zeros.append(x)
                continue
            known = terms.get(x)
            if known is None:
                terms[x] = [dx]
            else:
                known.append(dx)

    def _surrounding(self, op: Operation, dys: list[Term | None]) -> AbstractContextManager[None]:
        if self._guard is None or not isinstance(op.primitive, AbstractFunctional):
            return _NOTHING
        return surrounded(self._guard.around(op, dys))

    def _route(self, op: Operation) -> str:
        """The names of the operations from an x through `op` to a y, for a message."""
        forward = next((path for y in self._ys if (path := path_between(y.op, op))), [op])
        backward = next((path for x in self._xs if len(path := path_between(op, x.op)) > 1), [op])
        names = [step.name for step in (*backward, *forward[1:])]
        if len(names) > _LONGEST_ROUTE:
            names = [*names[: _LONGEST_ROUTE // 2], "...", *names[-_LONGEST_ROUTE // 2 :]]
        return " -> ".join(names)

    def _scope_around(self, op: Operation) -> Scope:
        if not self._options.colocate:
            return self._scope
        return self._scope._replace(colocation=(*self._scope.colocation, op))


def _component(value: Tensor | IndexedSlices) -> Tensor:
    """The tensor that carries the derivative: of slices, the values."""
    while isinstance(value, IndexedSlices):
        value = value.values
    return value


def _pack(source: Tensor | IndexedSlices, dx: Term | None) -> Any:
    """The result in the form of the x: for slices, slices."""
    if dx is None or isinstance(source, Tensor):
        return flatten_slices(dx) if isinstance(dx, IndexedSlices) else dx
    return IndexedSlices(dx, source.indices, source.dense_shape, source.static_shape)


def _seed(y: Tensor, seed: Any, i: int, graph: Graph, options: _Options) -> Term:
    outer = graph.scope
    colocation = (*outer.colocation, y.op) if options.colocate else outer.colocation
    with graph.entered(outer._replace(colocation=colocation)):
        if seed is None:
            return _default_seed(y, i)
        cotangent = arguments.as_seed(seed, y, i, graph)
        if isinstance(cotangent, Tensor):
            return _of_same_shape(cotangent, y, f"grad_ys_{i}")
        return _named_slices(flatten_slices(cotangent), f"grad_ys_{i}")


def _of_same_shape(seed: Tensor, y: Tensor, name: str) -> Tensor:
    """`seed`, in an operation that looks in a run whether it has the shape of `y`, unless that is known."""
    if isinstance(y.dtype, TokenType) or same_shape(seed.shape, y.shape):
        return identity(seed, name=name)
    return EnsureShapeLike()(seed, y, name=name)


def _default_seed(y: Tensor, i: int) -> Tensor:
    if y.dtype in COMPLEX:
        kind = f"{seen.package}.{y.dtype.name}"
        raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {kind}); y is {y}")
    if isinstance(y.dtype, TokenType):
        raise TypeError(f"Tensor {y} must be numeric to obtain a default gradient; pass grad_ys[{i}]")
    return ones_like(y, name=f"grad_ys_{i}")


def _named_slices(seed: IndexedSlices, name: str) -> IndexedSlices:
    shape = None if seed.shape_tensor is None else identity(seed.shape_tensor, name=name + "_shape")
    values, indices = identity(seed.values, name=name + "_values"), identity(seed.indices, name=name + "_indices")
    return IndexedSlices(values, indices, shape, seed.static_shape)


def _zeros(x: Tensor) -> Tensor | None:
    if isinstance(x.dtype, TokenType):
        return variable_zeros(x)
    return zeros_like(x, name="zeros_like")
