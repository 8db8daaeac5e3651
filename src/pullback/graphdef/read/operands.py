"""Operands that readers of nodes share: axes that must be known, paddings of windows."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import resource
from ...core.operation import Tensor
from ..nodes import Node
from ..translation import Reference, as_value


def padding_of(node: Node) -> Any:
    """The padding of a node over windows: SAME, VALID, or a pair for each axis."""
    padding = node.text("padding")
    if padding != "EXPLICIT":
        return padding
    flat = node.attribute("explicit_paddings", ())
    return [list(flat[i : i + 2]) for i in range(0, len(flat), 2)]


def tensor_of(node: Node, x: Any) -> Tensor:
    """An input of a node, which must be a tensor."""
    value = as_value(x)
    if not isinstance(value, Tensor):
        node.reject("an input is no tensor of numbers")
    return value


def handle_of(node: Node, x: Any) -> Tensor:
    """The handle of a variable, for it or for a reference to it."""
    handle = x.handle if isinstance(x, Reference) else x
    if not isinstance(handle, Tensor) or handle.dtype != resource:
        node.reject("an input is no variable that can be changed")
    return handle


def text_of(node: Node, x: Tensor, what: str) -> str:
    """One text that must be known while the graph is read."""
    known = node.static(x)
    if known is None or known.size != 1:
        node.refuse(f"{what} must be one known text; here it is computed by '{x.op.name}'")
    found: bytes = known.ravel()[0]
    return found.decode(errors="replace")
