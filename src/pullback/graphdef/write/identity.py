"""GraphDef export of what hands its input on: identity, groups."""

from __future__ import annotations

from typing import Any

from ...control_flow.custom_gradient import CustomGradient
from ...core.graph import Operation
from ...primitives.identity.barrier import OptimizationBarrier
from ...primitives.identity.identity import EnsureShape, EnsureShapeLike, IdentityN, NoOp, PreventGradient
from ...primitives.identity.sharding import Sharding
from ..body import Body, Ref
from ..exporting import writer


@writer(NoOp)
def no_op(body: Body, op: Operation) -> Any:
    body.main("NoOp")
    return ()


@writer(Sharding)
def sharding(body: Body, op: Operation, x: Ref) -> Any:
    """As it is: where it lies is for the engine."""
    return body.main("Identity", x)


@writer(CustomGradient)
def custom_gradient(body: Body, op: Operation, *xs: Ref) -> Any:
    """The results; their derivative is in the gradients that were made of them, and is not written apart."""
    primitive: Any = op.primitive
    if primitive.results == 1:
        return body.main("Identity", xs[0])
    return body.main("IdentityN", list(xs[: primitive.results]))


@writer(IdentityN, OptimizationBarrier)
def identity_n(body: Body, op: Operation, *xs: Ref) -> Any:
    return body.main("IdentityN", list(xs))


@writer(EnsureShape)
def ensure_shape(body: Body, op: Operation, x: Ref) -> Any:
    assert isinstance(op.primitive, EnsureShape)
    return body.main("EnsureShape", x, shape=op.primitive.shape)


@writer(EnsureShapeLike)
def ensure_shape_like(body: Body, op: Operation, x: Ref, like: Ref) -> Any:
    return body.main("Reshape", x, body.shape_of(like))


@writer(PreventGradient)
def prevent_gradient(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("PreventGradient", x, message=primitive.message)
