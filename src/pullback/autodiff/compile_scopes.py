"""Compile scopes (`jit_scope`): marks of operations that form one compiled cluster, copied to their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.graph import Operation, get_default_graph
from ..core.scopes import Scope

_COUNTER = "_xla_scopes"


@contextmanager
def jit_scope(
    compile_ops: bool | Callable[[Operation], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """A block whose operations are marked with `_XlaCompile` and the name of one scope, `_XlaScope`.

    The derivatives of marked operations are marked too: with the scope of the forward operation, or, with
    `separate_compiled_gradients`, with a scope of their own for each call of `gradients`. Blocks inside a block share
    its scope. The marks are for reading: engines compile whatever they can anyway.

    Args:
        compile_ops: the mark, or a function of the operation that says whether it is marked.
        separate_compiled_gradients: whether derivatives get a scope of their own.

    >>> import pullback as pb
    >>> with pb.xla.experimental.jit_scope():
    ...     y = pb.tanh(1.0)
    >>> y.op.get_attr("_XlaCompile"), y.op.get_attr("_XlaScope")
    (True, b'jit_scope_0')
    """
    graph = get_default_graph()
    attrs: dict[str, Any] = {
        "_XlaCompile": compile_ops,
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
    }
    if "_XlaScope" not in graph.scope.attrs:
        outermost = graph.outermost
        number = len(outermost.get_collection(_COUNTER))
        outermost.add_to_collection(_COUNTER, number)
        attrs["_XlaScope"] = f"jit_scope_{number}".encode()
    with graph.attr_scope(attrs):
        yield


def compiled_scope(scope: Scope, op: Operation, around: str) -> Scope:
    """`scope` with the marks for the derivative of `op`, in a call of `gradients` whose name scope is `around`."""
    attrs = op.attrs
    if not attrs.get("_XlaCompile") or not {"_XlaScope", "_XlaSeparateCompiledGradients"} <= attrs.keys():
        return scope
    name = attrs["_XlaScope"]
    if attrs["_XlaSeparateCompiledGradients"]:
        name = name + b"_grad_" + around.rstrip("/").replace("/", "_").encode()
    return scope._replace(attrs={**scope.attrs, "_XlaCompile": True, "_XlaScope": name})
