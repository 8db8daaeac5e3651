"""Constant folding during ONNX export: nodes of small constants and lengths are computed by NumPy.

Lengths are elements of arrays of objects: `core/lengths.py` says what sums, products and quotients make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..core.lengths import Dimension, Length, greatest, least

LARGEST_FOLDED = 1024
"""Results of more elements are left to the runtime."""
Array = np.ndarray[Any, Any]
Attributes = Mapping[str, Any]


def fold(op_type: str, arrays: Sequence[Array | None], attributes: Attributes) -> Array | None:
    """The only output of a node for these inputs; None where that is left to the runtime."""
    rule = _RULES.get(op_type)
    if rule is None or any(x is not None and x.size > LARGEST_FOLDED for x in arrays):
        return None
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(rule(attributes, *arrays))
    except (ValueError, IndexError, TypeError, AttributeError, ZeroDivisionError):
        return None
    return None if result.size > LARGEST_FOLDED else result


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(attributes: Attributes, *xs: Array) -> Any:
        del attributes
        result = np.asarray(function(*xs))
        return result if result.dtype in (bool, object) else result.astype(xs[0].dtype, copy=False)

    return rule


def _whole_quotient(a: Dimension, b: Dimension) -> Dimension:
    """`a // b`, which is not rounded towards zero where a length may be negative."""
    if any(n < 0 for n in (a.terms.values() if isinstance(a, Length) else [a])):
        raise ValueError("left to the runtime")
    return a // b


def _of_lengths(function: Callable[[Dimension, Dimension], Dimension]) -> Callable[..., Any]:
    """`function`, of two arrays; a ValueError where an element is not known."""

    def of_known(a: Dimension | None, b: Dimension | None) -> Dimension:
        if a is None or b is None:
            raise ValueError("left to the runtime")
        return function(a, b)

    return np.frompyfunc(of_known, 2, 1)


_WHOLE_QUOTIENT, _LARGER, _SMALLER = [_of_lengths(f) for f in (_whole_quotient, greatest, least)]


def _truncated(a: Array, b: Array) -> Any:
    if object in (a.dtype, b.dtype):
        return _WHOLE_QUOTIENT(a, b)
    if a.dtype.kind not in "iu":
        return a / b
    if not b.all():
        raise ValueError("division by zero")
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient) if a.dtype.kind == "i" else quotient


def _mod(attributes: Attributes, a: Array, b: Array) -> Any:
    if a.dtype.kind in "iu" and not b.all():
        raise ValueError("division by zero")
    return (np.fmod if attributes.get("fmod") else np.mod)(a, b)


def _many(function: Callable[[Array, Array], Array], of_lengths: Callable[[Array, Array], Any]) -> Callable[..., Any]:
    def rule(attributes: Attributes, *xs: Array) -> Any:
        del attributes
        choose = of_lengths if object in [x.dtype for x in xs] else function
        return reduce(choose, xs)

    return rule


def _where(attributes: Attributes, condition: Array, a: Array, b: Array) -> Any:
    del attributes
    result = np.where(condition, a, b)
    return result if result.dtype == object else result.astype(a.dtype)


def _same(attributes: Attributes, x: Array) -> Any:
    del attributes
    return x


def _reshape(attributes: Attributes, x: Array, shape: Array) -> Any:
    zero = attributes.get("allowzero", 0)
    return x.reshape([x.shape[i] if n == 0 and not zero else int(n) for i, n in enumerate(shape)])


def _slice(attributes: Attributes, x: Array, starts: Array, ends: Array, *more: Array | None) -> Any:
    del attributes
    axes = more[0] if more and more[0] is not None else np.arange(len(starts))
    steps = more[1] if len(more) > 1 and more[1] is not None else np.ones(len(starts), np.int64)
    index = [slice(None)] * x.ndim
    for a, b, axis, step in zip(starts.tolist(), ends.tolist(), axes.tolist(), steps.tolist(), strict=True):
        n = x.shape[axis]
        first = a + n if a < 0 else a
        last = b + n if b < 0 else b
        if step > 0:
            index[axis] = slice(min(max(first, 0), n), min(max(last, 0), n), step)
        else:
            last = min(max(last, -1), n - 1)
            index[axis] = slice(min(max(first, 0), n - 1), None if last < 0 else last, step)
    return np.ascontiguousarray(x[tuple(index)])


def _expand(attributes: Attributes, x: Array, shape: Array) -> Any:
    del attributes
    wanted = np.broadcast_shapes(x.shape, tuple(shape.tolist()))
    if np.prod(wanted, dtype=np.int64) > LARGEST_FOLDED:
        raise ValueError("large")
    return np.array(np.broadcast_to(x, wanted))


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(attributes: Attributes, x: Array, axes: Array | None = None) -> Any:
        if axes is None and "axes" in attributes:
            axes = np.asarray(attributes["axes"])
        if (axes is None or axes.size == 0) and attributes.get("noop_with_empty_axes", 0):
            return x
        over = None if axes is None or axes.size == 0 else tuple(axes.tolist())
        return np.asarray(function(x, axis=over, keepdims=bool(attributes.get("keepdims", 1))), x.dtype)

    return rule


def _range(attributes: Attributes, start: Array, limit: Array, delta: Array) -> Any:
    del attributes
    if start.dtype.kind not in "iu" or not delta or abs((limit - start) / delta) > LARGEST_FOLDED:
        raise ValueError("left to the runtime")
    return np.arange(int(start), int(limit), int(delta)).astype(start.dtype)


def _constant_of_shape(attributes: Attributes, shape: Array) -> Any:
    value = np.asarray(attributes.get("value", np.zeros(1, np.float32)))
    if np.prod(shape, dtype=np.int64) > LARGEST_FOLDED:
        raise ValueError("large")
    return np.full(tuple(shape.tolist()), value.reshape(-1)[0], value.dtype)


def _cumsum(attributes: Attributes, x: Array, axis: Array) -> Any:
    if attributes.get("exclusive") or attributes.get("reverse"):
        raise ValueError("left to the runtime")
    return np.cumsum(x, int(axis), dtype=x.dtype)


_RULES: dict[str, Callable[..., Any]] = {
    "Abs": _plain(np.abs),
    "Add": _plain(np.add),
    "And": _plain(np.logical_and),
    "Cast": lambda attributes, x: x if x.dtype == object else x.astype(attributes["to"]),
    "Ceil": _plain(np.ceil),
    "Concat": lambda attributes, *xs: np.concatenate(xs, attributes["axis"]),
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _cumsum,
    "Div": _plain(_truncated),
    "Equal": _plain(np.equal),
    "Expand": _expand,
    "Floor": _plain(np.floor),
    "Gather": lambda attributes, x, indices: np.take(x, indices, attributes.get("axis", 0)),
    "Greater": _plain(np.greater),
    "GreaterOrEqual": _plain(np.greater_equal),
    "Identity": _same,
    "Less": _plain(np.less),
    "LessOrEqual": _plain(np.less_equal),
    "Max": _many(np.maximum, _LARGER),
    "Min": _many(np.minimum, _SMALLER),
    "Mod": _mod,
    "Mul": _plain(np.multiply),
    "Neg": _plain(np.negative),
    "NonZero": lambda _, x: np.asarray(np.nonzero(x), np.int64).reshape(x.ndim, -1),
    "Not": _plain(np.logical_not),
    "Or": _plain(np.logical_or),
    "Range": _range,
    "Reciprocal": _plain(lambda x: 1 / x),
    "ReduceMax": _reduced(np.max),
    "ReduceMin": _reduced(np.min),
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "Reshape": _reshape,
    "Sign": _plain(np.sign),
    "Size": lambda _, x: np.asarray(x.size, np.int64),
    "Slice": _slice,
    "Sqrt": _plain(np.sqrt),
    "Squeeze": lambda _, x, axes=None: np.squeeze(x, None if axes is None else tuple(axes.tolist())),
    "Sub": _plain(np.subtract),
    "Transpose": lambda attributes, x: np.ascontiguousarray(np.transpose(x, attributes.get("perm"))),
    "Unsqueeze": lambda _, x, axes: np.expand_dims(x, tuple(axes.tolist())),
    "Where": _where,
}
