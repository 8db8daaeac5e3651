"""GraphDef export of normalization: standard scores."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.normalization.normalization import Standardize, StandardizeGrad
from ..body import Body, Ref
from ..exporting import writer
from .reduction import axes_of


@writer(Standardize)
def standardize(body: Body, op: Operation, x: Ref) -> Any:
    axes = axes_of(body, op)
    mean = body.node("Mean", x, axes, keep_dims=True)
    variance = body.node("Mean", body.node("SquaredDifference", x, mean), axes, keep_dims=True)
    return body.node("Mul", body.node("Sub", x, mean), _scale(body, op, variance)), mean, variance


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
