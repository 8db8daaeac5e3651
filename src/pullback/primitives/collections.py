"""The collections of a graph: named lists, of variables first of all."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from ..core.graph import get_default_graph


class GraphKeys:
    """The names of the collections that the library uses.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0)
    >>> pb.get_collection(pb.GraphKeys.TRAINABLE_VARIABLES)
    [<Variable 'Variable:0' float32[]>]
    """

    GLOBAL_VARIABLES: ClassVar[str] = "variables"
    TRAINABLE_VARIABLES: ClassVar[str] = "trainable_variables"
    LOCAL_VARIABLES: ClassVar[str] = "local_variables"
    LOSSES: ClassVar[str] = "losses"
    REGULARIZATION_LOSSES: ClassVar[str] = "regularization_losses"
    UPDATE_OPS: ClassVar[str] = "update_ops"
    TRAIN_OP: ClassVar[str] = "train_op"
    GLOBAL_STEP: ClassVar[str] = "global_step"


def add_to_collection(name: str, value: Any) -> None:
    """Append `value` to the collection `name` of the default graph.

    >>> import pullback as pb
    >>> pb.add_to_collection("notes", "first")
    >>> pb.get_collection("notes")
    ['first']
    """
    get_default_graph().add_to_collection(name, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """The values of the collection `key` of the default graph; with `scope`, those whose names it matches at the start.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0, name="a/v")
    >>> pb.get_collection(pb.GraphKeys.GLOBAL_VARIABLES, "a/")
    [<Variable 'a/v:0' float32[]>]
    """
    values = get_default_graph().get_collection(key)
    if scope is None:
        return values
    pattern = re.compile(scope)
    return [value for value in values if pattern.match(getattr(value, "name", ""))]
