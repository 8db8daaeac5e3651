"""Wrapped functions of TensorFlow 1: one call, in which only those effects happen that a result waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from ...control_flow.concrete_function import ConcreteFunction
from ...core import nest
from ...core.function import Function, inline


class WrappedFunction(ConcreteFunction):
    """A function traced once; what `wrap_function` returns."""

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: object = None
    ) -> WrappedFunction:
        """The function from `feeds` to `fetches`: tensors of this one's graph, or their names, nested as you like.

        Raises:
            ValueError: `fetches` need an argument that is not among `feeds`.

        >>> import pullback.compat.v1 as tf
        >>> whole = tf.wrap_function(lambda x: tf.square(x + 1.0, name="y"), [tf.TensorSpec([], tf.float32)])
        >>> part = whole.prune("add:0", "y:0")
        >>> tf.Session().run(part(3.0))
        np.float32(9.0)
        """
        del input_signature
        given, wanted = ([self._tensor(x) for x in nest.flatten(xs)] for xs in (feeds, fetches))
        captures = self.graph.captures
        part = Function(self.graph, (*given, *captures.values()), tuple(wanted), self.name, on_demand=True)
        missing = [x.name for x in self.inputs if x in part.read and x not in part.parameters]
        if missing:
            raise ValueError(f"prune: {fetches!r} needs {', '.join(missing)}; pass it among the feeds")

        def run(*args: pb.Tensor) -> Any:
            return nest.pack_sequence_as(fetches, inline(part, [*args, *captures]))

        return wrap_function(run, [pb.TensorSpec(x.shape, x.dtype) for x in given], name or "pruned")

    def _tensor(self, x: Any) -> pb.Tensor:
        found: pb.Tensor = self.graph.as_graph_element(x, allow_operation=False)
        return found


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
    """`fn`, traced for a `TensorSpec` in each place of `signature`, a list of arguments.

    Calling it adds one operation, in which only that happens which the results wait for, as where `fn` is called in a
    graph. `prune` takes a part of it.

    >>> import pullback.compat.v1 as tf
    >>> double = tf.wrap_function(lambda x: x + x, [tf.TensorSpec([None], tf.float32)])
    >>> tf.Session().run(double(tf.constant([1.0, 2.0])))
    array([2., 4.], dtype=float32)
    """
    args = list(signature) if isinstance(signature, list | tuple) else [signature]
    names = [f"args_{i}" for i in range(len(nest.flatten(args)))]
    return WrappedFunction(fn, name or "wrapped_function", (args, {}), names, {}, on_demand=True)
