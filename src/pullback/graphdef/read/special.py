"""GraphDef import of special functions."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.special.gamma import polygamma, zeta
from ..nodes import Node, reader, same

reader("Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Igamma", "Igammac", "Betainc")(same)
reader("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence")(same)
reader("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e")(same)
reader("BesselJ0", "BesselJ1", "BesselY0", "BesselY1")(same)


@reader("Polygamma")
def polygamma_(node: Node, a: Tensor, x: Tensor) -> Any:
    return polygamma(a, x, name=node.exactly)


@reader("Zeta")
def zeta_(node: Node, x: Tensor, q: Tensor) -> Any:
    return zeta(x, q, name=node.exactly)
