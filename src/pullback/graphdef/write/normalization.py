"""GraphDef export of normalization: standard scores."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.normalization.normalization import Standardize, StandardizeGrad, Unbiased
from ..body import Body, Ref
from ..exporting import writer
from .reduction import axes_of


@writer(Standardize)
def standardize(body: Body, op: Operation, x: Ref) -> Any:
    axes = axes_of(body, op)
    mean = body.node("Mean", x, axes, keep_dims=True)
    variance = body.node("Mean", body.node("SquaredDifference", x, mean), axes, keep_dims=True)
    return body.node("Mul", body.node("Sub", x, mean), _scale(body, op, variance)), mean, variance


@writer(Unbiased)
def unbiased(body: Body, op: Operation, variance: Ref, x: Ref) -> Any:
    primitive: Any = op.primitive
    rank = op.inputs[1].shape.rank
    if rank is None:
        return body.refuse("the rank of its input must be known")
    axes = body.integers([axis % rank for axis in primitive.axis])
    lengths = body.node("GatherV2", body.shape_of(x), axes, body.integers(0))
    count = body.node("Prod", lengths, body.integers([0]))
    fewer = body.node("Maximum", body.node("Sub", count, body.integers(1)), body.integers(1))
    factor = body.node("RealDiv", body.cast(count, variance.dtype), body.cast(fewer, variance.dtype))
    return body.main("Mul", variance, factor)


@writer(StandardizeGrad)
def standardize_grad(body: Body, op: Operation, dy: Ref, y: Ref, variance: Ref) -> Any:
    axes = axes_of(body, op)
    mean = body.node("Mean", dy, axes, keep_dims=True)
    projection = body.node("Mean", body.node("Mul", y, dy), axes, keep_dims=True)
    rest = body.node("Sub", body.node("Sub", dy, mean), body.node("Mul", y, projection))
    return body.main("Mul", rest, _scale(body, op, variance))


def _scale(body: Body, op: Operation, variance: Ref) -> Ref:
    primitive: Any = op.primitive
    ref: Ref = body.node("Rsqrt", body.node("AddV2", variance, body.constant(primitive.epsilon, variance.dtype)))
    return ref
