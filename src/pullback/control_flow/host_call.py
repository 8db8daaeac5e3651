"""Host calls: operations that Python carries out before a run begins, as an input pipeline hands out its batches.

A session knows them apart from all others: it computes what they read, calls them, and feeds the rest of the run with
what they give. An engine so sees fed arrays, of whatever shape; nothing blocks while it holds its variables.

In a branch the call stands before the branch, and is carried out where that will be taken. In a loop or a function, and
in a branch that depends on what is computed inside, it is a Python function that the run calls: a queue must then have
its elements before the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core.dtypes import string
from ..core.function import origin_of
from ..core.graph import Operation, Tensor, get_default_graph
from ..core.primitive import Primitive, no_gradient
from ..core.python_function import PythonFunction
from ..core.traits import CONSTANT
from ..core.types import TensorType
from ..primitives.logic.comparison import equal, greater_equal, less
from ..primitives.logic.logical import logical_and, logical_not, logical_or
from .py_function import PyFunc
from .running_sessions import in_run

Call = Callable[..., Sequence[Any]]


def host_call(call: Call, inputs: Sequence[Tensor], outputs: Sequence[TensorType], name: str) -> Operation:
    """The operation that gives what `call(session, *arrays)` returns: an array for each of `outputs`."""
    graph = get_default_graph()
    if graph.outer is None:
        return graph.add(HostCall(PythonFunction(call, name), tuple(outputs)), inputs, name)
    choices = [level.choice for level in graph.levels() if level.outer is not None]
    around = [origin_of(x) for x in (*inputs, *[choice[0] for choice in choices if choice is not None])]
    if None in choices or any(x.op.graph.outer is not None and not _is_constant(x) for x in around):
        return graph.add(PyFunc(PythonFunction(in_run(call, graph.outermost), name), tuple(outputs)), inputs, name)
    with graph.outermost.as_default() as root:
        taken = [_taken(origin_of(choice), number, count) for choice, number, count in filter(None, choices)]
        wanted = reduce(logical_and, taken)
        guarded = PythonFunction(_where_taken(call, outputs), name)
        outside = [x if x.op.graph is root else root.add(x.op.primitive).outputs[0] for x in around[: len(inputs)]]
        return root.add(HostCall(guarded, tuple(outputs)), [wanted, *outside], name)


def _is_constant(x: Tensor) -> bool:
    return CONSTANT in x.op.primitive.traits


def _taken(choice: Tensor, number: int, count: int) -> Tensor:
    """Whether of `count` branches that of `number` is run: the first of two where the choice is true."""
    if choice.dtype == bool:
        return choice if number == 0 else logical_not(choice)
    if number < count - 1:
        return equal(choice, number)
    return logical_or(less(choice, 0), greater_equal(choice, number))


def _where_taken(call: Call, outputs: Sequence[TensorType]) -> Call:
    """The call that is carried out where its first array is true; else it gives zeros, of the last shapes."""
    shapes: WeakKeyDictionary[Any, list[tuple[int, ...]]] = WeakKeyDictionary()

    def called(session: Any, taken: Any, *arrays: Any) -> Sequence[Any]:
        if taken:
            found = call(session, *arrays)
            shapes[session] = [np.shape(x) for x in found]
            return found
        known = shapes.get(session) or [tuple([n or 1 for n in of.shape.sizes or ()]) for of in outputs]
        return [_nothing(shape, of) for shape, of in zip(known, outputs, strict=True)]

    return called


def _nothing(shape: tuple[int, ...], of: TensorType) -> Any:
    return np.full(shape, b"", object) if of.dtype == string else np.zeros(shape, of.dtype)


class HostCall(Primitive):
    stateful = True
    acts = True

    func: PythonFunction
    outputs: tuple[TensorType, ...]

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        del xs
        return self.outputs

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        """Nothing, for it was called before the run; what has outputs is fed in place of being run."""
        del xp, arrays
        if self.outputs:
            raise NotImplementedError(f"{self.func} is called by Session.run, and by nothing else")
        return ()

    gradient = no_gradient
