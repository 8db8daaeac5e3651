"""Eager execution of traced functions: run on arrays, without a call in any graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..control_flow.concrete_function import ConcreteFunction
from ..core.dtypes import resource
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..passes.view import inputs_of_run, view_of
from ..primitives.creation.constant import Const
from ..primitives.creation.placeholders import Placeholder
from ..primitives.variables.operations import VarHandleOp
from ..primitives.variables.variable import Variable
from .default_session import get_default_session
from .session import Session


class Eager:
    """The session that a graph keeps for functions that are called with arrays."""

    def __init__(self, graph: Graph) -> None:
        self.session = Session(graph=graph)
        self._graph = graph
        self._seen: list[Operation] = []
        """The operation up to which the graph has been looked through for variables, if it has been."""

    def initialise(self) -> None:
        """Give the variables that were made since the last time their initial values."""
        operations = self._graph.operations
        if not operations or self._seen == operations[-1:]:
            return
        new = operations
        if self._seen and self._seen[0] in operations[self._seen[0].index : self._seen[0].index + 1]:
            new = operations[self._seen[0].index + 1 :]
        self._seen = operations[-1:]
        handles = [op for op in new if isinstance(op.primitive, VarHandleOp) and not self.session.has_variable(op)]
        initializers = [op for op in map(_initializer, handles) if op is not None]
        if initializers:
            self.session.run(initializers)


def _initializer(handle: Operation) -> Operation | None:
    """The operation that gives a variable its initial value, if that needs nothing that is fed."""
    op = Variable.from_handle(handle).initializer
    needed = () if op is None else view_of((), [op], frozenset(), inputs_of_run).operations
    return None if any(isinstance(n.primitive, Placeholder) for n in needed) else op


def run_function(concrete: ConcreteFunction, arrays: Sequence[Any]) -> Any:
    """The results of `concrete` for `arrays`, as arrays in the structure that it returns.

    It runs in the default session, if that is of the graph that is being built, else in one that is kept for the graph.
    """
    session = _session_for(get_default_graph())
    captured = [x for x in concrete.captured_inputs if x.dtype != resource]
    given = [*arrays, *_values(session, captured)]
    return concrete.packed(session.run_function(concrete.traced, concrete.captured_inputs, given), arrays=True)


def _session_for(graph: Graph) -> Session:
    session = get_default_session()
    if session is not None and session.graph is graph:
        return session
    if graph.eager is None:
        graph.eager = Eager(graph)
    eager: Eager = graph.eager
    eager.initialise()
    return eager.session


def _values(session: Session, tensors: Sequence[Tensor]) -> list[Any]:
    """The values of captured tensors: those of constants, and what the session computes."""
    computed = [x for x in tensors if not isinstance(x.op.primitive, Const)]
    values = iter(session.run(computed) if computed else ())
    return [x.op.primitive.value if isinstance(x.op.primitive, Const) else next(values) for x in tensors]
