"""GraphDef import of special functions."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...core.primitive import primitive_class
from ...primitives.special.gamma import polygamma, zeta
from ..nodes import Node, reader


@reader("Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Igamma", "Igammac", "Betainc")
@reader("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence")
@reader("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e")
@reader("BesselJ0", "BesselJ1", "BesselY0", "BesselY1")
def same(node: Node, *xs: Tensor) -> Any:
    """The primitive that has TensorFlow's op type."""
    primitive: Any = primitive_class(node.op_type)
    return node.make(primitive(), *xs)


@reader("Polygamma")
def polygamma_(node: Node, a: Tensor, x: Tensor) -> Any:
    return polygamma(a, x, name=node.exactly)


@reader("Zeta")
def zeta_(node: Node, x: Tensor, q: Tensor) -> Any:
    return zeta(x, q, name=node.exactly)
