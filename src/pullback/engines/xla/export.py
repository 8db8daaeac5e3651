"""Export to jax and StableHLO: graphs as functions of jax arrays, and as portable programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import export

from ...control_flow.py_function import AbstractPythonCall
from ...core.dtypes import resource
from ...core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from ...core.function import Function, inline, like_parameter, trace
from ...core.graph import Graph, Tensor, get_default_graph, site_of
from ...core.lengths import Length
from ...core.matmul_precision import HIGHEST
from ...core.slices import IndexedSlicesValue
from ...primitives.debugging.printing import PrintV1, PrintV2
from ...primitives.sparse.sparse_tensor import SparseTensorValue
from .. import messages
from ..concrete import concrete_values
from ..default_session import get_default_session
from ..engine import EngineOptions
from ..fetches import fed_tensor, flatten
from ..plan import Plan, function_plan, make_plan
from ..session import Session
from . import engine as xla
from .derivatives import Arrays, Differentiable
from .loops.padded import Padded, Turned, cut
from .platform import PROCESSOR, compiling_for
from .trace import Trace, dense

_ACCELERATORS = {"cuda": "gpu", "rocm": "gpu", "tpu": "tpu"}
"""What jax calls the platforms that it compiles for, by those that it lowers to."""


for _kind in (IndexedSlicesValue, SparseTensorValue):  # As results of programs that are saved.
    export.register_namedtuple_serialization(_kind, serialized_name=f"pullback.{_kind.__name__}")


def jax_function(
    outputs: Any, inputs: Sequence[Any], session: Session | None, platform: str | None = None
) -> Callable[..., Any]:
    """See `pb.xla.to_jax`; compiled for `platform`, as jax lowers to it."""
    graph = inputs[0].graph if inputs else get_default_graph()
    flat = flatten(outputs, graph)
    feeds = [fed_tensor(x, graph) for x in inputs]
    plan = make_plan(flat.tensors, flat.operations, feeds)
    _refuse_effects(plan)
    session = session or get_default_session()
    states = _values_of(plan, session)
    precision = HIGHEST if session is None else session.matmul_precision
    target = jax.default_backend() if platform is None else _ACCELERATORS.get(platform, platform)
    values = dict(zip(plan.states, states, strict=True))
    handles = _handles(graph, flat.tensors, feeds)

    def computing(plan: Plan) -> Arrays:
        def compute(*arrays: Any) -> list[Any]:
            with jax.enable_x64(True), compiling_for(target, is_ours=False):
                trace = Trace(plan, concrete_values(plan), set(), check=False, precision=precision)
                for slot, array in zip(plan.feed_slots, arrays, strict=True):
                    trace.slots[slot] = array
                trace.states = [jnp.asarray(values[key]) for key in plan.states]
                trace.run()
                return [_array(x, y) for x, y in zip(plan.fetches, trace.fetched(), strict=True)]

        return compute

    def computing_function(function: Function) -> Arrays:
        given = [x.op for x in function.parameters if x.dtype is resource]
        named = dict(zip(given, [x.op for x in handles], strict=True))
        return computing(function_plan(function, len(function.results), named))

    def source() -> Function:
        return _function(graph, flat.tensors, [*feeds, *handles])

    function = Differentiable(computing(plan), source, computing_function)

    def call(*arrays: Any) -> Any:
        if len(arrays) != len(feeds):
            raise TypeError(f"to_jax: the function takes {len(feeds)} arrays, not {len(arrays)}")
        with jax.enable_x64(True):
            return flat.values(function(*[_fed(x, array) for x, array in zip(feeds, arrays, strict=True)]))

    return call


def _array(x: Tensor, value: Any) -> Any:
    """The value of `x` as an array: of rows that a loop counts those that there are."""
    if not isinstance(value, Padded | Turned):
        return jnp.asarray(dense(value))
    if isinstance(value.count, jax.core.Tracer):
        raise messages.rows_unknown_to_jax(x, value.loop)
    return cut(value.whole(), value.axis, value.count)


def _handles(graph: Graph, ys: Sequence[Tensor], xs: Sequence[Tensor]) -> list[Tensor]:
    """The handles of variables that `ys` read."""
    needed = Function(graph, tuple(xs), tuple(ys), graph.name).pure_operations
    return [y for op in needed if not op.inputs for y in op.outputs if y.dtype is resource]


def _function(graph: Graph, ys: Sequence[Tensor], xs: Sequence[Tensor]) -> Function:
    """`ys` as a function of `xs`, in a graph of its own."""
    part = Function(graph, tuple(xs), tuple(ys), graph.name)
    with graph.as_default():
        types = [like_parameter(x) for x in xs]
        traced = trace(lambda *args: inline(part, args, effects=False), types, "to_jax", inherit=False)
    return traced.function


def stablehlo(
    outputs: Any, inputs: Sequence[Any], session: Session | None, platform: str | None = None
) -> export.Exported:
    """See `pb.xla.to_stablehlo`."""
    if platform not in (None, PROCESSOR, *_ACCELERATORS):
        known = ", ".join(map(repr, (PROCESSOR, *_ACCELERATORS)))
        raise InvalidArgumentError(f"to_stablehlo: platform must be one of {known}, not {platform!r}")
    call = jax_function(outputs, inputs, session, platform)
    unranked = [x for x in inputs if x.shape.rank is None]
    if unranked:
        raise InvalidArgumentError(f"to_stablehlo: the rank of {unranked[0]} must be known")
    graph = inputs[0].graph if inputs else get_default_graph()
    flat = flatten(outputs, graph)
    _refuse_python(make_plan(flat.tensors, flat.operations, [fed_tensor(x, graph) for x in inputs]))
    with jax.enable_x64(True):
        dimensions = _Dimensions()
        make: Any = jax.ShapeDtypeStruct
        types = [make(dimensions.of(x), x.dtype) for x in inputs]
        return export.export(jax.jit(call), platforms=None if platform is None else [platform])(*types)


class _Dimensions:
    """Symbolic dimensions of jax for lengths that only a call knows."""

    def __init__(self) -> None:
        self._scope = export.SymbolicScope()
        self._known: dict[Length, Any] = {}
        self._names = {"floordiv", "max", "min", "mod", "non_negative"}
        """Those that are taken: jax calls functions of dimensions so."""

    def of(self, x: Tensor) -> tuple[Any, ...]:
        """The shape of an input."""
        return tuple([self._dimension(n) if isinstance(n, Length) else n for n in x.shape.lengths or ()])

    def _dimension(self, n: Length) -> Any:
        for atom in [atom for monomial in n.terms for atom in monomial]:
            if atom not in self._known:
                self._known[atom] = self._symbol(atom.name)
        return n.substitute(self._known)

    def _symbol(self, name: str) -> Any:
        """A symbol of jax of that name, or one like it."""
        name = name if name.isidentifier() and name.isascii() else "length"
        while name in self._names:
            name += "_"
        self._names.add(name)
        (made,) = export.symbolic_shape(name, scope=self._scope)
        return made


def _fed(x: Tensor, array: Any) -> Any:
    value = jnp.asarray(array)
    lengths = [n if isinstance(n, int) else None for n in value.shape]
    if value.dtype != x.dtype or not x.shape.is_compatible_with(lengths):
        raise InvalidArgumentError(f"to_jax: {x} was given {value.dtype}{list(value.shape)}")
    return value


def _refuse_effects(plan: Plan) -> None:
    if plan.written:
        names = ", ".join(f"'{plan.states[i].name}'" for i in sorted(plan.written))
        raise InvalidArgumentError(f"to_jax: a function has no effects, but this assigns to {names}")


def _refuse_python(plan: Plan) -> None:
    for step in plan.steps:
        if isinstance(step.op.primitive, AbstractPythonCall | PrintV1 | PrintV2):
            raise UnimplementedError(
                f"to_stablehlo: operation '{step.op.name}' ({step.op.type}, made at {site_of(step.op)}) calls Python, "
                "which a program that is saved cannot; feed what it gives, or use to_jax"
            )
        for body in step.bodies:
            _refuse_python(body.plan)


def _values_of(plan: Plan, session: Session | None) -> list[Any]:
    """The values of the variables that are read; what an operation owns begins as it does in a new session."""
    own = xla.XlaEngine(EngineOptions())
    values = []
    for key in plan.states:
        own.initialise_own(key)
        if own.has_state(key):
            values.append(own.read_state(key))
        elif session is None:
            raise FailedPreconditionError(
                f"to_jax: the value of '{key.name}' is read; pass session=, or call it in a session's block"
            )
        else:
            values.append(session.read_variable(key))
    return values
