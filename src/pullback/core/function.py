"""Functions: closed pieces of graph, from parameters to results; how one is traced, and copied into another graph.

What a body reads from the graphs around it is captured: it becomes a trailing parameter, and the tensor that it stands
for an input of the operation that holds the function. So a function never refers to another graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from .dtypes import TRAINABLE, resource
from .errors import InaccessibleTensorError
from .graph import Graph, Operation, Tensor, get_default_graph, open_bodies, site_of
from .lengths import Dimension, Length, bind
from .needs import needed
from .nesting import explained_depth
from .operation import index_of
from .primitive import Primitive, no_gradient
from .scopes import Scope
from .shape import TensorShape
from .traits import CONSTANT, GIVEN
from .types import TensorType

_LARGEST_COPIED = 64
"""Constants of integers or truth values of up to so many elements are copied into a body, where they fold."""


class Parameter(Primitive):
    """What a function is given. `handle` says of which variable a resource is the handle."""

    traits = (GIVEN,)

    of: TensorType
    handle: Primitive | None = None

    def infer(self) -> tuple[TensorType, ...]:
        return (self.of,)

    gradient = no_gradient


@dataclass(frozen=True, eq=False)
class Function:
    """Results computed from parameters, in a graph of their own that reads nothing else. Compared by identity.

    >>> import pullback as pb
    >>> from pullback.core.function import trace
    >>> twice = trace(lambda x: [x + x], [pb.constant(1.0).type], name="twice").function
    >>> print(twice)
    twice(args_0: float32[]) -> (add)
      add: float32[] = AddV2(args_0, args_0)
    """

    graph: Graph
    parameters: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    name: str
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What has been worked out about the function: derivatives, plans."""
    on_demand: bool = False
    """Whether effects happen only where a result that is read waits for them, as in graphs of TensorFlow 1."""

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that the results and the effects need, parameters left out, in the order of making."""
        return tuple(self.needed_for([*[y.op for y in self.results], *self.effects]))

    @cached_property
    def effects(self) -> tuple[Operation, ...]:
        """The operations that are run for what they do, whether a result needs them or not: assignments, prints."""
        return () if self.on_demand else tuple([op for op in self.graph.operations if _acts(op)])

    @cached_property
    def outer_controls(self) -> tuple[Operation, ...]:
        """The operations of graphs around that must run before one of the operations does, or that a result is."""
        made = set(self.operations) if self.graph.outer_controls else ()
        waiting = [op for op, block in self.graph.outer_controls if not block.inside.isdisjoint(made)]
        returned = [op for op, block in self.graph.outer_controls if not block.inside]
        return tuple(dict.fromkeys([*waiting, *returned]))

    @cached_property
    def read(self) -> frozenset[Tensor]:
        """The tensors that the operations read, and the results."""
        return frozenset([*[x for op in self.operations for x in op.inputs], *self.results])

    @cached_property
    def stateful(self) -> bool:
        """Whether one of the operations is."""
        return any(op.primitive.stateful for op in self.operations)

    @cached_property
    def acts(self) -> bool:
        """Whether one of the operations does something beside giving its outputs, whoever waits for it."""
        return any(_acts(op) or any(f.acts for f in op.primitive.functions) for op in self.operations)

    @cached_property
    def pure_operations(self) -> tuple[Operation, ...]:
        """The operations that the results need, without effects that nothing waits for."""
        return tuple(self.needed_for([y.op for y in self.results]))

    @cached_property
    def shape_parameters(self) -> frozenset[int]:
        """The numbers of the parameters whose values decide shapes: XLA needs them when it compiles."""
        decisive = [op.inputs[i] for op in self.operations for i in op.primitive.shape_inputs if i < len(op.inputs)]
        found = needed(decisive, lambda x: x.op.inputs if x.op.primitive.reads_values else ())
        return frozenset([i for i, x in enumerate(self.parameters) if x in found])

    def needed_for(self, targets: Sequence[Operation]) -> list[Operation]:
        """The operations that `targets` need, themselves included, parameters left out, in the order of making."""
        given = {x.op for x in self.parameters}
        found = needed(targets, lambda op: () if op in given else [*[x.op for x in op.inputs], *op.controls])
        return sorted([op for op in found if op not in given and not isinstance(op.primitive, Parameter)], key=index_of)

    def with_results(self, results: Sequence[Tensor], parameters: Sequence[Tensor] | None = None) -> Function:
        """The function of the same graph with other results, and other parameters where they are given."""
        chosen = self.parameters if parameters is None else tuple(parameters)
        return Function(self.graph, chosen, tuple(results), self.name, on_demand=self.on_demand)

    def __str__(self) -> str:
        from .printing import function_text

        return function_text(self)


def _acts(op: Operation) -> bool:
    """Whether an operation is run even where nobody reads its outputs."""
    primitive = op.primitive
    if isinstance(primitive, AbstractFunctional):
        return any(f.effects for f in primitive.functions)
    return primitive.acts or (primitive.stateful and not op.outputs)


class AbstractFunctional(Primitive):
    """A primitive that holds functions: a call, a branch, a loop. Engines run the functions, each in its own way."""

    repeats: ClassVar[bool] = False
    """Whether what a function gives may come back to it as an argument."""
    lead: ClassVar[int] = 0
    """How many inputs stand before those of the functions: a choice, a number of steps."""

    @property
    def functions(self) -> tuple[Function, ...]:  # type: ignore[override]
        """The functions that it holds."""
        values = [v for value in self.attributes.values() for v in (value if isinstance(value, tuple) else (value,))]
        return tuple([v for v in values if isinstance(v, Function)])

    def arguments(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        """For each function, what stands behind its parameters among the operation's `inputs`."""
        raise NotImplementedError(f"{type(self).__name__} defines no arguments()")

    def fetched(self, read: Sequence[bool]) -> list[list[int]]:
        """For each function, the numbers of its results that a run needs; `read` says which outputs are used."""
        numbers = [i for i, used in enumerate(read) if used]
        return [numbers for _ in self.functions]

    @property
    def called(self) -> str:
        """The name of the function that it calls, for rules registered under that name; empty for others."""
        return ""

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        """Whether an operation of a function is."""
        return any(f.stateful for f in self.functions)

    @property
    def shape_inputs(self) -> tuple[int, ...]:  # type: ignore[override]
        """The inputs that stand behind parameters whose values decide shapes."""
        inputs = range(self.lead + len(self.functions[0].parameters))
        needed: set[int] = set()
        for f, numbers in zip(self.functions, self.arguments(inputs), strict=True):
            needed.update(numbers[i] for i in f.shape_parameters)
        return tuple(sorted(needed))


class Traced(NamedTuple):
    """A function, and the tensors around it that stand behind its last parameters."""

    function: Function
    captured: tuple[Tensor, ...]


@contextmanager
def body(name: str, *, inherit: bool = True, finalize: bool = True) -> Iterator[Graph]:
    """A new body inside the default graph; it acts for the graphs around it inside the block.

    Devices, colocation, attributes and gradient overrides in force around it hold in it too, unless `inherit` is False.
    It is finalized at the end, unless `finalize` is False.
    """
    outer = get_default_graph()
    graph = Graph(outer, name)
    if inherit:
        around = outer.scope
        graph.scope = Scope("", around.devices, around.colocation, (), around.attrs, around.gradient_types)
    open_bodies.add(graph)
    try:
        with graph.as_default():
            yield graph
    except RecursionError as error:
        raise explained_depth(error, f"in the body '{name}'") from error.__cause__
    finally:
        open_bodies.discard(graph)
        if finalize:
            graph.finalize()


def trace(
    build: Callable[..., Sequence[Tensor]],
    types: Sequence[TensorType | Parameter],
    name: str,
    names: Sequence[str] = (),
    captures: Sequence[Tensor] = (),
    *,
    inherit: bool = True,
) -> Traced:
    """The function that `build` describes: it is called once, with a tensor for each of `types`.

    `captures` are captured first, in this order, whether they are read or not. `inherit` is that of `body`.

    Raises:
        ValueError: a result belongs to a graph that is not around the body.
    """
    with body(name, inherit=inherit) as graph:
        given = [add_parameter(graph, t, names[i] if i < len(names) else f"args_{i}") for i, t in enumerate(types)]
        for x in captures:
            capture_as_parameter(graph, x)
        results = tuple([graph.capture(y) for y in build(*given)])
    return close(graph, given, results)


def close(graph: Graph, given: Sequence[Tensor], results: Sequence[Tensor]) -> Traced:
    """The function of a finished body, whose parameters are `given` and those that stand for what it captured."""
    function = Function(graph, (*given, *graph.captures.values()), tuple(results), graph.name)
    return Traced(function, tuple(graph.captures))


def add_parameter(graph: Graph, of: TensorType | Parameter, name: str) -> Tensor:
    """A new parameter of a body."""
    primitive = of if isinstance(of, Parameter) else Parameter(of)
    with _plain(graph):
        return graph.add(primitive, (), name).outputs[0]


def like_parameter(x: Tensor) -> Parameter:
    """The parameter that can stand for `x`: of its type, and, for a variable's handle, of its variable."""
    primitive = x.op.primitive
    if isinstance(primitive, Parameter):
        return primitive if primitive.of is x.type else Parameter(x.type, primitive.handle)
    return Parameter(x.type, primitive if x.dtype == resource else None)


def carried_parameter(x: Tensor, of: TensorType | None = None) -> Parameter:
    """The parameter that can stand for what starts as `x` and may have other lengths in each step, of type `of`.

    Each length that a run decides is told apart from all others.
    """
    like = like_parameter(x)
    return Parameter((like.of if of is None else of).static, like.handle)


def types_at_call(function: Function, args: Sequence[TensorType]) -> list[TensorType]:
    """The types of the results of `function` for arguments of the types `args`, in the lengths of these.

    A length that does not follow from those of the arguments is None.
    """
    if all(y.shape.is_fully_defined() for y in function.results):
        return [y.type for y in function.results]
    values = bound_lengths([(x.shape, given.shape) for x, given in zip(function.parameters, args, strict=True)])
    return [type_in(values, y.type) for y in function.results]


def bound_lengths(pairs: Sequence[tuple[TensorShape, TensorShape]]) -> dict[Length, Dimension]:
    """What the lengths of the first shapes are in those of the second; nothing for one that stands for several."""
    values: dict[Length, Dimension] = {}
    several: set[Length] = set()
    for shape, given in pairs:
        several |= bind_shape(values, shape, given)
    return {n: value for n, value in values.items() if n not in several}


def bind_shape(values: dict[Length, Dimension], shape: TensorShape, given: TensorShape) -> set[Length]:
    """Note in `values` which lengths of `given` those of `shape` are; returns those that had another value before."""
    if shape.lengths is None or given.lengths is None:
        return set()
    pairs = zip(shape.lengths, given.lengths, strict=False)
    return {m for m, n in pairs if bind(values, m, n) is not None}  # type: ignore[misc]


def type_in(values: Mapping[Length, Dimension], of: TensorType) -> TensorType:
    """`of` with `values` for its symbols, and None for a length of which a symbol has none."""
    lengths = of.shape.lengths
    if lengths is None or of.shape.is_fully_defined():
        return of
    found = [n.substitute(values) if isinstance(n, Length) else n for n in lengths]
    return TensorType(of.dtype, TensorShape(found))


def capture(graph: Graph, x: Tensor) -> Tensor:
    """What stands in the body `graph` for `x`, a tensor of a graph around it: a parameter, or a copied constant."""
    outer = graph.outer
    if outer is None or not graph.lies_in(x.op.graph):
        raise _inaccessible(graph, x)
    x = x.op.graph.refined.get(x, x)
    nearer = x if x.op.graph is outer else capture(outer, x)
    known = graph.captures.get(nearer)
    if known is not None:
        return known
    if (
        CONSTANT in nearer.op.primitive.traits
        and x.dtype not in TRAINABLE
        and (x.shape.num_elements() or 0) <= _LARGEST_COPIED
    ):
        with _plain(graph):
            return graph.add(nearer.op.primitive, (), short_name(x)).outputs[0]
    return capture_as_parameter(graph, nearer)


def capture_as_parameter(graph: Graph, x: Tensor) -> Tensor:
    """The parameter of the body `graph` that stands for `x`, a tensor of the graph just around it."""
    known = graph.captures.get(x)
    if known is None:
        with _plain(graph):
            known = graph.captures[x] = graph.add(like_parameter(x), (), short_name(x)).outputs[0]
    return known


@contextmanager
def _plain(graph: Graph) -> Iterator[None]:
    """A block in which `graph` itself takes operations, without any scopes."""
    with graph.as_default(), graph.entered(Scope(site=graph.scope.site)):
        yield


def origin_of(x: Tensor) -> Tensor:
    """The tensor that bodies captured, where `x` is a parameter that stands for it."""
    graph = x.op.graph
    while graph.outer is not None:
        around = next((outer for outer, inner in reversed(graph.captures.items()) if inner is x), None)
        if around is None:
            return x
        x, graph = around, around.op.graph
    return x


def short_name(x: Tensor) -> str:
    """The last part of the name of `x`, as one that can stand outside of all scopes: `0` for `scope/_0`."""
    return x.op.name.rpartition("/")[2].lstrip("_\\->") or x.op.type


def _inaccessible(graph: Graph, x: Tensor) -> InaccessibleTensorError:
    if x.op.graph.outer is None:
        return InaccessibleTensorError(
            f"{x} (made at {site_of(x)}) must be from the same graph as the body '{graph.name}', or from one around it."
        )
    return InaccessibleTensorError(
        f"Tensor {x.name} in {_spoken(x.op.graph)} is accessed from {_spoken(graph)}. {x} (made at {site_of(x)}) is "
        f"inside the body '{x.op.graph.name}' and cannot be used in '{graph.name}'; return it from its body instead."
    )


def _spoken(graph: Graph) -> str:
    """The name of a body; of branches of many, which are numbered, as one says it."""
    return re.sub(r"^branch_(\d+)$", r"branch \1", graph.name)


def lifted(x: Tensor, graph: Graph) -> Tensor:
    """`x`, a tensor of a body, computed again in `graph`, which is around it.

    Raises:
        InaccessibleTensorError: it depends on a parameter of the body.
    """
    inside = x.op.graph
    if inside is graph:
        return x
    function = Function(inside, tuple(inside.captures.values()), (x,), inside.name)
    read = {y for op in function.pure_operations for y in op.inputs} | {x}
    given = next((y for y in read if isinstance(y.op.primitive, Parameter) and y not in function.parameters), None)
    if given is not None:
        raise InaccessibleTensorError(
            f"{x} (made at {site_of(x)}) depends on '{given.name}', a parameter of '{inside.name}'."
        )
    args = [lifted(y, graph) if inner in read else y for y, inner in inside.captures.items()]
    with graph.as_default():
        return inline(function, args, effects=False)[0]


class Substitute(Primitive):
    """The second input, which has the value of the first; what depends on it depends on the first."""

    def infer(self, computed: TensorType, known: TensorType) -> tuple[TensorType, ...]:
        del known
        return (computed,)

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        del op
        return dy, None


def inline(
    function: Function,
    args: Sequence[Tensor],
    *,
    effects: bool = True,
    known: Mapping[Tensor, Tensor] = {},
    substitutes: dict[Tensor, Tensor] | None = None,
) -> list[Tensor]:
    """The results of `function` for `args`, as copies of its operations in the graph that acts.

    Without `effects`, operations that are run only for what they do are left out, and nothing waits for them. What
    reads a tensor among `known` reads its value there instead, but is differentiated through the tensor; `substituted`
    finishes that, from the `substitutes` that are noted.
    """
    values: dict[Tensor, Tensor] = dict(zip(function.parameters, args, strict=True))
    copies: dict[Operation, Operation] = {}
    for op in function.operations if effects else function.pure_operations:
        if not (effects or op.outputs):
            continue
        copies[op] = copy_operation(op, values, copies)
        for y in op.outputs:
            if y in known and substitutes is not None:
                computed = values[y]
                values[y] = Substitute()(computed, known[y])
                substitutes[values[y]] = substitutes[computed] = known[y]
    return [values[y] for y in function.results]


def copy_operation(op: Operation, values: dict[Tensor, Tensor], copies: Mapping[Operation, Operation]) -> Operation:
    """A copy of `op` in the graph that acts, on `values` for its inputs; adds its outputs to `values`."""
    graph = get_default_graph().acting
    outer = graph.scope
    attrs = {**outer.attrs, **{name: value for name, value in op.attrs.items() if name != "_class"}}
    first = [copies[c] for c in op.controls if c in copies]
    with graph.entered(outer._replace(site=op.site or outer.site, attrs=attrs)), graph.control_dependencies(first):
        copy = graph.add(op.primitive, [values[x] for x in op.inputs], op.name)
    values.update(zip(op.outputs, copy.outputs, strict=True))
    if op.graph.refined and op.inputs and op.graph.refined.get(op.inputs[0]) is op.outputs[0]:
        graph.refined[copy.inputs[0]] = copy.outputs[0]
    return copy


def substituted(function: Function, substitutes: Mapping[Tensor, Tensor]) -> Function:
    """`function`, in which what reads one of `substitutes` reads the value that stands for it."""
    if not substitutes:
        return function
    with body(function.name, inherit=False) as graph:
        values = {x: add_parameter(graph, like_parameter(x), x.op.name) for x in function.parameters}
        copies: dict[Operation, Operation] = {}
        for op in function.operations:
            if isinstance(op.primitive, Substitute):
                values[op.outputs[0]] = values[substitutes[op.outputs[0]]]
                continue
            if not op.outputs or not all(y in substitutes for y in op.outputs):
                copies[op] = copy_operation(op, values, copies)
            values.update([(y, values[substitutes[y]]) for y in op.outputs if y in substitutes])
    parameters, results = [values[x] for x in function.parameters], [values[y] for y in function.results]
    return replace(close(graph, parameters, results).function, on_demand=function.on_demand)
