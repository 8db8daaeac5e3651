"""Functions of elements: what a program gives `map` or `filter`, traced once and run by NumPy for each element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, ref

import pullback as pb

from ....core.function import origin_of, trace
from .structure import Array, leaves
from .windows import as_arguments

Values = Mapping[pb.Tensor, Array]


@dataclass
class Pass:
    """What the passes of one iterator share: the session, the values of tensors, and what datasets remember.

    An iterator has a place for each session while there is one, so a place does not keep the session.
    """

    session: ref[pb.Session]
    values: Values
    memory: dict[int, Any] = field(default_factory=dict)

    def within(self, values: Values, memory: dict[int, Any] | None = None) -> Pass:
        """A pass over a dataset inside, which knows `values` too, and remembers things of its own."""
        return Pass(self.session, {**self.values, **values}, {} if memory is None else memory)


class ElementFunction:
    """A function of the leaves of elements of the types `spec`; `structure` is what it returned, with tensors.

    `inputs` are the tensors around it that it reads, whose values a call needs. Variables have the values that the
    session has when it is called, and keep there what it assigns.
    """

    def __init__(self, what: str, function: Callable[..., Any], spec: Any, tensors_of: Callable[[Any], Any]) -> None:
        returned: list[Any] = []

        from .dataset import Dataset

        def build(*given: pb.Tensor) -> Sequence[pb.Tensor]:
            element = as_arguments(spec, given, Dataset)
            arguments = element if type(element) is tuple else (element,)
            returned.append(tensors_of(function(*arguments)))
            return [leaf for leaf in leaves(returned[0]) if isinstance(leaf, pb.Tensor)]

        traced = trace(build, [pb.TensorType(*kind) for kind in leaves(spec)], what)
        self.structure = returned[0]
        self.inputs = [x for x in traced.captured if x.dtype != pb.resource]
        self._captured = [origin_of(x) if x.dtype == pb.resource else x for x in traced.captured]
        self._handles = [x.op for x in self._captured if x.dtype == pb.resource]
        self._function = traced.function
        self._session = self._new_session()
        self._sessions: WeakKeyDictionary[pb.Session, pb.Session] = WeakKeyDictionary()

    def __call__(self, element: Sequence[Array], p: Pass) -> list[Array]:
        """The leaves that it returns for those of an element."""
        given = [*element, *[p.values[x] for x in self.inputs]]
        if not self._handles:
            return self._session.run_function(self._function, self._captured, given)
        around = p.session()
        assert around is not None, "a dataset is read in the run of a session"
        if around not in self._sessions:
            self._sessions[around] = self._new_session()
        session = self._sessions[around]
        for handle in self._handles:
            if around.has_variable(handle):
                session.write_variable(handle, around.read_variable(handle))
        found = session.run_function(self._function, self._captured, given)
        if self._function.effects:
            for handle in self._handles:
                around.write_variable(handle, session.read_variable(handle))
        return found

    def _new_session(self) -> pb.Session:
        return pb.Session(graph=self._function.graph, engine="numpy")
