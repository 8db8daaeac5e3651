"""GraphDef import of conversion between dtypes."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.casting.bitcast import Bitcast
from ...primitives.casting.cast import Cast
from ..nodes import Node, reader


@reader("Cast")
def cast(node: Node, x: Tensor) -> Any:
    return node.make(Cast(node.attribute("DstT")), x)


@reader("Bitcast")
def bitcast(node: Node, x: Tensor) -> Any:
    return node.make(Bitcast(node.attribute("type")), x)
