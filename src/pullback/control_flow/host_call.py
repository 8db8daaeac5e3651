"""Host calls: operations that Python carries out before a run begins, as an input pipeline hands out its batches.

A session knows them apart from all others: it computes what they read, calls them, and feeds the rest of the run with
what they give. An engine so sees fed arrays, of whatever shape; nothing blocks while it holds its variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Operation, Tensor, get_default_graph
from ..core.primitive import Primitive, no_gradient
from ..core.python_function import PythonFunction
from ..core.types import TensorType


def host_call(call: Any, inputs: Sequence[Tensor], outputs: Sequence[TensorType], name: str) -> Operation:
    """The operation that gives what `call(session, *arrays)` returns: an array for each of `outputs`.

    Raises:
        NotImplementedError: in the body of a branch, a loop or a function.
    """
    graph = get_default_graph()
    if graph.outer is not None:
        raise NotImplementedError(
            f"{name}: what Python does before a run cannot depend on the run, and the body '{graph.name}' does; call "
            "it outside, and use its tensors inside"
        )
    return graph.add(HostCall(PythonFunction(call, name), tuple(outputs)), inputs, name)


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
