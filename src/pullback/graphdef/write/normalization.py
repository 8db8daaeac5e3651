"""GraphDef export of normalization: standard scores."""

from __future__ import annotations

from typing import Any

from ...primitives.normalization.normalization import Standardize, StandardizeGrad, Unbiased
from ..body import Body, Ref
from ..exporting import writer
from .reduction import axes_of


@writer(Standardize)
def standardize(body: Body, p: Any, x: Ref) -> Any:
    axes = axes_of(body, p)
    mean = body.node("Mean", x, axes, keep_dims=True)
    variance = body.node("Mean", body.node("SquaredDifference", x, mean), axes, keep_dims=True)
    return body.node("Mul", body.node("Sub", x, mean), _scale(body, p, variance)), mean, variance


@writer(Unbiased)
def unbiased(body: Body, p: Any, variance: Ref, x: Ref) -> Any:
    rank = body.known_rank(1)
    axes = body.integers([axis % rank for axis in p.axis])
    lengths = body.node("GatherV2", body.shape_of(x), axes, body.integers(0))
    count = body.node("Prod", lengths, body.integers([0]))
    fewer = body.node("Maximum", body.node("Sub", count, body.integers(1)), body.integers(1))
    factor = body.node("RealDiv", body.cast(count, variance.dtype), body.cast(fewer, variance.dtype))
    return body.main("Mul", variance, factor)


@writer(StandardizeGrad)
def standardize_grad(body: Body, p: Any, dy: Ref, y: Ref, variance: Ref) -> Any:
    axes = axes_of(body, p)
    mean = body.node("Mean", dy, axes, keep_dims=True)
    projection = body.node("Mean", body.node("Mul", y, dy), axes, keep_dims=True)
    rest = body.node("Sub", body.node("Sub", dy, mean), body.node("Mul", y, projection))
    return body.main("Mul", rest, _scale(body, p, variance))


def _scale(body: Body, p: Any, variance: Ref) -> Ref:
    return body.node("Rsqrt", body.node("AddV2", variance, body.constant(p.epsilon, variance.dtype)))
