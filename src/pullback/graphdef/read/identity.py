"""GraphDef import of what hands its input on: identity, stops of derivatives, groups."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import resource
from ...core.operation import Tensor
from ...primitives.identity.identity import (
    EnsureShape,
    Identity,
    IdentityN,
    PreventGradient,
    StopGradient,
    no_op,
)
from ..nodes import REQUIRED, Node, making, reader
from ..translation import Reference

reader("StopGradient")(making(StopGradient))
reader("EnsureShape")(making(EnsureShape, shape=REQUIRED))
reader("PreventGradient")(making(PreventGradient, message=""))


@reader("Identity", "RefIdentity", "Snapshot", "DeepCopy", "DebugIdentityV2", "DebugGradientIdentity", anything=True)
@reader("XlaSharding", "DisableCopyOnRead", anything=True)
def identity(node: Node, x: Any) -> Any:
    if isinstance(x, Reference):
        return x if node.op_type == "RefIdentity" else x.read(node.exactly)
    return node.make(Identity(), x) if isinstance(x, Tensor) and x.dtype != resource else x


@reader("IdentityN", anything=True)
def identity_n(node: Node, *xs: Any) -> Any:
    plain = all(isinstance(x, Tensor) and x.dtype != resource for x in xs)
    return node.make(IdentityN(), *xs) if plain else tuple(xs)


@reader("NoOp", "ControlTrigger")
def nothing(node: Node) -> None:
    no_op(name=node.exactly)
