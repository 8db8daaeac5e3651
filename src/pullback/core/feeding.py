"""Feeds and fetches of a graph: which tensors a run may be given values for, and what it may return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dtypes import TokenType
from .operation import Operation, Tensor

if TYPE_CHECKING:
    from .graph import Graph


def is_feedable(graph: Graph, tensor: Tensor | Operation) -> bool:
    """Whether a run may be given a value for it: every tensor with an array that is not marked, no operation."""
    return _has_array(tensor) and tensor not in graph.never_fed


def is_fetchable(graph: Graph, tensor_or_op: Tensor | Operation) -> bool:
    """Whether a run may return it: every tensor with an array, every operation, unless the operation is marked."""
    op = tensor_or_op if isinstance(tensor_or_op, Operation) else tensor_or_op.op
    return (op is tensor_or_op or _has_array(tensor_or_op)) and op not in graph.never_fetched


def prevent_feeding(graph: Graph, tensor: Tensor) -> None:
    """Let no run be given a value for `tensor`."""
    graph.never_fed.add(tensor)


def prevent_fetching(graph: Graph, op: Operation) -> None:
    """Let no run return `op` or one of its outputs.

    >>> import pullback as pb
    >>> x = pb.constant(1.0)
    >>> x.graph.prevent_fetching(x.op)
    >>> x.graph.is_fetchable(x), x.graph.is_feedable(x), pb.Session().run(x + 1.0)
    (False, True, np.float32(2.0))
    """
    graph.never_fetched.add(op)


def _has_array(element: Tensor | Operation) -> bool:
    return isinstance(element, Tensor) and not isinstance(element.dtype, TokenType)
