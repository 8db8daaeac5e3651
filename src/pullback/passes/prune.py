"""Dead code elimination: the operations that no result and no effect needs are left out."""

from __future__ import annotations

from collections.abc import Collection

from ..core.function import Function
from ..core.graph import Tensor
from .rebuilding import rebuilt
from .view import View


def prune(function: Function, keep: Collection[Tensor] = ()) -> Function:
    """`function` without what its results, its effects and the tensors `keep` do not need; parameters all stay.

    >>> import pullback as pb
    >>> from pullback.core.function import trace
    >>> def build(x):
    ...     pb.tanh(x)
    ...     return [x + x]
    >>> twice = trace(build, [pb.constant(1.0).type], name="twice").function
    >>> [op.type for op in prune(twice).graph.operations]
    ['Parameter', 'AddV2']
    """
    return rebuilt(function, View.pruned, keep)
