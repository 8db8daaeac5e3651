"""GraphDef import of debugging: assertions, checks, printing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.debugging.assertions import assert_
from ...primitives.debugging.guards import check_numerics
from ...primitives.debugging.printing import print_v1
from ..nodes import Node, calling, reader
from .operands import tensor_of

reader("CheckNumerics", "CheckNumericsV2")(calling(check_numerics, 1, message=""))


@reader("Assert", anything=True)
def assertion(node: Node, condition: Any, *data: Any) -> None:
    said = [_said(x) for x in data]
    assert_(tensor_of(node, condition), said, node.attribute("summarize", 3), name=node.exactly)


@reader("Print", anything=True)
def print_(node: Node, x: Any, *data: Any) -> Any:
    said = [_said(value) for value in data]
    first, summarize = node.attribute("first_n", -1), node.attribute("summarize", 3)
    return print_v1(tensor_of(node, x), said, node.text("message"), first, summarize, name=node.exactly)


def _said(x: Any) -> Any:
    """A part of a message: strings as they read."""
    return b" ".join(x.ravel().tolist()).decode(errors="replace") if isinstance(x, np.ndarray) else x
