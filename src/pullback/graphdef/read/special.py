"""GraphDef import of special functions."""

from __future__ import annotations

from ...primitives.special.gamma import polygamma, zeta
from ..nodes import calling, reader, same

reader("Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "Igamma", "Igammac", "Betainc")(same)
reader("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence")(same)
reader("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e")(same)
reader("BesselJ0", "BesselJ1", "BesselY0", "BesselY1")(same)
reader("Polygamma")(calling(polygamma, 2))
reader("Zeta")(calling(zeta, 2))
