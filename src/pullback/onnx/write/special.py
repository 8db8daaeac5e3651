"""ONNX export of special functions: their formulas, traced with `special_functions` in the place of SciPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import int64
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
from .cumulative import rows_of_loop

_ROW = 256


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
def computed(w: Writer, p: Any, *inputs: Value) -> Any:
    try:
        return _computed(w, p, *inputs)
    except ValueError:
        if all(x.type.shape.is_fully_defined() for x in inputs):
            raise
        return _by_rows(w, p, inputs)


def _computed(w: Writer, p: Any, *inputs: Value) -> Any:
    xp = Namespace(w)
    return as_value(w, p.computed(xp, Functions(xp), [as_array(w, x) for x in inputs]), w.op.outputs[0].dtype)


def _by_rows(w: Writer, p: Any, inputs: Sequence[Value]) -> Value:
    """For formulas that ask for lengths: a loop goes over rows of one length, the last one filled up."""
    shape = w.shape(_together(w, inputs))
    size = w.node("ReduceProd", shape, keepdims=1, shape=[1])
    missing = w.node("Mod", w.node("Neg", size), w.vector([_ROW]))
    pads = w.concat([w.vector([0]), missing], 0)
    rows = []
    for x in inputs:
        flat = w.reshape(w.expand(x, shape), [-1])
        rows.append(w.reshape(w.node("Pad", flat, pads, w.scalar(1, x), shape=[None]), [-1, _ROW]))

    def step(inner: Writer, carried: Value, *row: Value) -> list[Value]:
        return [carried, _computed(inner, p, *row)]

    (made,) = rows_of_loop(w, rows, w.constant(0, int64), step, False)
    return w.reshape_to(w.slice(w.reshape(made, [-1]), w.vector([0]), size, [0]), shape)


def _together(w: Writer, inputs: Sequence[Value]) -> Value:
    """A value of the shape that all inputs have together."""
    like = inputs[0]
    for x in inputs[1:]:
        like = w.cast(w.node("Equal", like, x), x.type.dtype)
    return like


@writer(Erf)
def erf(w: Writer, p: Any, x: Value) -> Any:
    return in_float32(w, p, lambda w, p, x: w.node("Erf", x), x)
