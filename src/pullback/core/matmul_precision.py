"""Matmul precision: how exactly products of float32 matrices and convolutions are computed on accelerators.

Accelerators multiply faster than they can in float32: TensorFloat-32 keeps 10 bits of each factor, bfloat16 keeps 7.
The precision is an attribute of operations, from a scope as devices are; derivatives inherit it. Where an operation has
none, the session's counts.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .graph import Graph, get_default_graph
from .operation import Operation
from .scopes import Scope

PRECISIONS = ("highest", "high", "default")
HIGHEST = "highest"
_ATTRIBUTE = "_matmul_precision"


def matmul_precision(precision: str | None) -> AbstractContextManager[None]:
    """A block whose matrix products and convolutions are computed with a precision of their own; None is the session's.

    Their derivatives are computed likewise, of all orders. "highest" is float32; "high" is three products of bfloat16
    on TPUs, TensorFloat-32 on GPUs; "default" is what the device multiplies fastest: one product of bfloat16,
    TensorFloat-32. It counts on accelerators, for factors of float32 or complex64: a processor computes in full. What
    inverts, decomposes or solves is computed in full everywhere, and so are the products in its derivatives.

    Raises:
        ValueError: another precision.

    >>> import pullback as pb
    >>> x = pb.ones([2, 2])
    >>> with pb.matmul_precision("default"):
    ...     y = x @ x
    >>> pb.gradients(y, x)[0].op.inputs[0].op.get_attr("_matmul_precision")
    'default'
    """
    if precision is not None:
        check_precision("matmul_precision", precision)
    return get_default_graph().attr_scope({_ATTRIBUTE: precision})


def in_full(graph: Graph) -> AbstractContextManager[None]:
    """A block of `graph` whose products are computed in the full precision of their dtype, whatever is asked around."""
    return graph.attr_scope({_ATTRIBUTE: HIGHEST})


def check_precision(what: str, precision: Any) -> None:
    """ValueError unless there is such a precision."""
    if precision not in PRECISIONS:
        known = ", ".join(f"'{name}'" for name in PRECISIONS)
        raise ValueError(f"{what}: the precision of products is one of {known}, not {precision!r}")


def precision_of(op: Operation) -> str | None:
    """The precision that an operation asks for, or None."""
    found: str | None = op.attrs.get(_ATTRIBUTE)
    return found


def precise_scope(scope: Scope, op: Operation) -> Scope:
    """`scope` with the precision of `op`, for its derivative."""
    precision = precision_of(op)
    return scope if precision is None else scope._replace(attrs={**scope.attrs, _ATTRIBUTE: precision})
