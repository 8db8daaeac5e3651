"""GraphDef export of elementwise operations that TensorFlow has in other words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, real_dtype
from ...primitives.casting.bitcast import Bitcast
from ...primitives.casting.cast import Cast
from ...primitives.complex.angle import Angle
from ...primitives.complex.complex import Complex, Imag, Real
from ...primitives.creation.constant import constant_value
from ...primitives.elementwise.add_n import AddN
from ...primitives.elementwise.masking import Mask, MaskedDiv, MaskedMul, MaskUnseen, QuotientGrad
from ...primitives.elementwise.powers import ReciprocalGrad, RsqrtGrad, SqrtGrad
from ...primitives.elementwise.sign import ComplexAbs
from ...primitives.logic.logical import LogicalXor
from ...primitives.special.gamma import Polygamma, PolygammaOf, Zeta
from ..body import Body, Ref
from ..exporting import with_dtype, writer

writer(Cast)(with_dtype("DstT"))
writer(Bitcast)(with_dtype("type"))
writer(Complex, Real, Imag, Angle, ComplexAbs)(with_dtype("Tout"))


@writer(SqrtGrad, RsqrtGrad, ReciprocalGrad)
def grad_by_conjugate(body: Body, p: Any, y: Ref, dy: Ref) -> Any:
    """TensorFlow's conjugate the first input themselves."""
    return body.main(p.type, body.node("Conj", y) if y.dtype in COMPLEX else y, dy)


@writer(AddN)
def add_n(body: Body, p: Any, *xs: Ref) -> Any:
    return body.main("AddN", list(xs))


@writer(LogicalXor)
def logical_xor(body: Body, p: Any, x: Ref, y: Ref) -> Any:
    return body.main("NotEqual", x, y)


@writer(Mask)
def mask(body: Body, p: Any, condition: Ref, x: Ref) -> Any:
    nothing = body.constant(0, x.dtype)
    return body.main("SelectV2", condition, *((x, nothing) if p.keep else (nothing, x)))


@writer(MaskUnseen)
def mask_unseen(body: Body, p: Any, x: Ref, b: Ref, seen_by: Ref) -> Any:
    """x where b is finite, or an element that it meets is not 0; else 0."""
    rank, theirs = body.op.inputs[0].shape.rank, body.op.inputs[2].shape.rank
    if rank is None or theirs is None:
        return body.refuse("the ranks of its inputs must be known")
    along = (None,) * rank if p.along is None else p.along
    kept = [a for a in along if a is not None]
    seen = body.node("NotEqual", seen_by, body.constant(0, seen_by.dtype))
    seen = body.node("Any", seen, body.integers([a for a in range(theirs) if a not in kept]), keep_dims=False)
    seen = body.node("Transpose", seen, body.integers([sorted(kept).index(a) for a in kept]))
    for axis in [i for i, a in enumerate(along) if a is None]:
        seen = body.node("ExpandDims", seen, body.integers(axis))
    size = body.node("ComplexAbs", b, Tout=real_dtype(b.dtype)) if b.dtype in COMPLEX else b
    shown = body.node("LogicalOr", body.node("IsFinite", size), seen)
    return body.main("SelectV2", shown, x, body.constant(0, x.dtype))


@writer(MaskedMul)
def masked_mul(body: Body, p: Any, x: Ref, y: Ref) -> Any:
    return _kept(body, [x], body.node("MulNoNan", x, y))


@writer(MaskedDiv)
def masked_div(body: Body, p: Any, x: Ref, y: Ref) -> Any:
    return body.main("Xdivy", x, y)


@writer(QuotientGrad)
def quotient_grad(body: Body, p: Any, dy: Ref, y: Ref, b: Ref) -> Any:
    return _kept(body, [dy, y], body.node("Neg", body.node("RealDiv", body.node("Mul", dy, y), b)))


def _kept(body: Body, factors: Sequence[Ref], x: Ref) -> Any:
    """`x`, and 0 where one of the factors is 0."""
    nothing = body.constant(0, x.dtype)
    for factor in factors[:-1]:
        x = body.node("SelectV2", body.node("Equal", factor, nothing), nothing, x)
    return body.main("SelectV2", body.node("Equal", factors[-1], nothing), nothing, x)


@writer(Polygamma, Zeta)
def of_order(body: Body, p: Any, a: Ref, x: Ref) -> Any:
    if p.times:
        return body.refuse("TensorFlow has no derivative of it by its first input")
    order = constant_value(body.op.inputs[0])
    if p.type == "Polygamma" and (order is None or (order != np.round(order)).any()):
        return body.refuse("TensorFlow has it of whole orders, which must be known")
    return body.main(p.type, a, x)


@writer(PolygammaOf)
def polygamma_of(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Polygamma", body.node("Mul", body.node("OnesLike", x), body.constant(p.order, x.dtype)), x)
