"""ONNX export of special functions: their formulas, traced with `special_functions` in the place of SciPy's."""

from __future__ import annotations

from typing import Any

from ...core.operation import Operation
from ...primitives.special import bessel, gamma, incomplete, integrals, slopes
from ...primitives.special.error_function import Erf
from ...primitives.special.igamma_ratio import IgammaRatio
from ..namespace import Namespace
from ..pairs import as_array, as_value
from ..records import Value
from ..registry import writer
from ..special_functions import Functions
from ..writing import Writer
from .activations.activations import in_float32


@writer(
    *(gamma.Lgamma, gamma.Digamma, gamma.Polygamma, gamma.PolygammaOf, gamma.Zeta),
    *(incomplete.Igamma, incomplete.Igammac, incomplete.IgammaByA, incomplete.GammaDensity),
    IgammaRatio,
    *(incomplete.Betainc, incomplete.BetaincByParameters, incomplete.BetaDensity),
    *(integrals.Dawsn, integrals.Expint, integrals.ExpintSlope, integrals.FresnelCos, integrals.FresnelSin),
    *(integrals.Spence, integrals.SpenceSlope, integrals.Erfcx),
    *(bessel.BesselI0, bessel.BesselI0e, bessel.BesselI1, bessel.BesselI1e, bessel.BesselI1Slope, bessel.BesselIn),
    *(bessel.BesselK0, bessel.BesselK0e, bessel.BesselK1, bessel.BesselK1e),
    *(bessel.BesselJ0, bessel.BesselJ1, bessel.BesselJ1Slope, bessel.BesselJn, bessel.BesselY0, bessel.BesselY1),
    *(slopes.GaussSlope, slopes.ScaledBesselSlope),
)
def computed(w: Writer, op: Operation, *inputs: Value) -> Any:
    p: Any = op.primitive
    xp = Namespace(w)
    return as_value(w, p.computed(xp, Functions(xp), [as_array(w, x) for x in inputs]), op.outputs[0].dtype)


@writer(Erf)
def erf(w: Writer, op: Operation, x: Value) -> Any:
    return in_float32(w, op, lambda w, op, x: w.node("Erf", x), x)
