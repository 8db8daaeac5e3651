"""Gradient rules called and checked: how many entries they return, of what kind, dtype and shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtypes import TRAINABLE, TokenType, resource
from ..core.graph import Operation, Tensor, site_of
from ..core.primitive import ZERO
from ..core.slices import IndexedSlices
from ..primitives.base.densify import densify
from ..primitives.creation.fill import zeros_like
from ..primitives.identity.identity import ensure_shape
from .cotangent import Term
from .registry import rule_of


def apply_rule(
    op: Operation, dys: Sequence[Term | None], wanted: Sequence[bool], route: Callable[[Operation], str]
) -> list[Term | None]:
    """The cotangents of the wanted inputs of `op`, or `ZERO`; None for the others.

    `route` says how an x and a y are joined by it.

    Raises:
        LookupError: no rule, or one that refuses.
        ValueError: another number of entries than inputs, or a shape that is not the input's.
        TypeError: an entry is not a tensor or slices, or its dtype is not the input's.
    """
    try:
        rule = rule_of(op)
    except LookupError:
        raise LookupError(_no_rule(op, route(op))) from None
    if rule is None:
        return [None] * len(op.inputs)
    if IndexedSlices in map(type, dys) and not op.primitive.takes_slices:
        dys = [densify(dy) if isinstance(dy, IndexedSlices) else dy for dy in dys]
    primitive = op.primitive
    if primitive.takes_wanted and rule == primitive.gradient:
        entries = rule(op, *dys, wanted=wanted)
    elif primitive.takes_none and None in dys and rule != primitive.gradient:
        entries = rule(op, *[_zeros(y) if dy is None else dy for y, dy in zip(op.outputs, dys, strict=True)])
    else:
        entries = rule(op, *dys)
    if not isinstance(entries, (tuple, list)):
        entries = (entries,)
    if len(entries) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(entries)} generated for op {_text(op)} do not match num inputs {len(op.inputs)}"
        )
    dxs: list[Term | None] = []
    for x, want, entry in zip(op.inputs, wanted, entries, strict=True):
        dx = None
        if want:
            dx = entry() if callable(entry) else entry
            if dx is not None and dx is not ZERO and (type(dx) is not Tensor or dx.type is not x.type):
                dx = _checked(dx, x, len(dxs), op)
        dxs.append(dx)
    return dxs


def _zeros(y: Tensor) -> Tensor | None:
    """The cotangent of an output that has none, as a rule of a user expects it."""
    return zeros_like(y) if y.dtype in TRAINABLE and not isinstance(y.dtype, TokenType) else None


def _checked(dx: Any, x: Tensor, i: int, op: Operation) -> Term:
    if isinstance(dx, Tensor):
        return _with_type_of(x, dx, i, op)
    if isinstance(dx, IndexedSlices):
        return dx
    raise TypeError(
        f"the gradient of {_text(op)} returned {dx!r} for input {i}; return a Tensor, IndexedSlices, or None"
    )


def _with_type_of(x: Tensor, dx: Tensor, i: int, op: Operation) -> Tensor:
    """`dx`, known to have what is known of the shape of `x`; raises where it cannot."""
    if x.dtype == resource:
        return dx
    if dx.dtype != x.dtype:
        raise TypeError(
            f"the gradient of {_text(op)} returned {dx} for input {i}, which is {x}; convert it with pb.cast"
        )
    a, b = x.shape, dx.shape
    if a == b:
        return dx
    if not a.is_compatible_with(b):
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient. "
            f"Forward operation: {op.name}. Input index: {i}. Original input shape: {a}. "
            f"Calculated input gradient shape: {b}"
        )
    merged = b.merge_with(a)
    return dx if merged == b else ensure_shape(dx, merged)


def _no_rule(op: Operation, route: str) -> str:
    override = op.attrs.get("_gradient_op_type")
    missing = "" if override is None else f" Its override '{override.decode()}' is not registered."
    return (
        f"No gradient defined for operation'{op.name}' (op type: {op.type}), made at {site_of(op)}.{missing} "
        f"It lies on the path {route}. "
        f'Define one with @pb.RegisterGradient("{op.type}"), or put pb.stop_gradient() on its inputs.'
    )


def _text(op: Operation) -> str:
    return f"'{op.name}' (op type: {op.type}, made at {site_of(op)})"
