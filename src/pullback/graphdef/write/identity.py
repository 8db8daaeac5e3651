"""GraphDef export of what hands its input on: identity, groups."""

from __future__ import annotations

from typing import Any

from ...control_flow.custom_gradient import CustomGradient
from ...primitives.identity.barrier import OptimizationBarrier
from ...primitives.identity.identity import EnsureShape, EnsureShapeLike, IdentityN, NoOp, PreventGradient
from ...primitives.identity.sharding import Sharding
from ..body import Body, Ref
from ..exporting import with_attributes, writer

writer(EnsureShape, PreventGradient)(with_attributes)


@writer(NoOp)
def no_op(body: Body, p: Any) -> Any:
    body.main("NoOp")
    return ()


@writer(Sharding)
def sharding(body: Body, p: Any, x: Ref) -> Any:
    """As it is: where it lies is for the engine."""
    return body.main("Identity", x)


@writer(CustomGradient)
def custom_gradient(body: Body, p: Any, *xs: Ref) -> Any:
    """The results; their derivative is in the gradients that were made of them, and is not written apart."""
    if p.results == 1:
        return body.main("Identity", xs[0])
    return body.main("IdentityN", list(xs[: p.results]))


@writer(IdentityN, OptimizationBarrier)
def identity_n(body: Body, p: Any, *xs: Ref) -> Any:
    return body.main("IdentityN", list(xs))


@writer(EnsureShapeLike)
def ensure_shape_like(body: Body, p: Any, x: Ref, like: Ref) -> Any:
    return body.main("Reshape", x, body.shape_of(like))
