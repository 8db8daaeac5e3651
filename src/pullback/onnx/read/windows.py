"""Convolution and pooling windows during ONNX import: ONNX's paddings as ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.base.windows import Padding, Pads
from ...primitives.creation.constant import constant
from ...primitives.elementwise.maximum import maximum
from ...primitives.identity.identity import ensure_shape
from ...primitives.shape.pad import pad
from ...primitives.shape.stacking import stack
from ..reading import Node
from .lengths import length, rank_of

_PLACINGS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
FORMATS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


class Windows(NamedTuple):
    """The windows over an input whose spatial axes may have been padded."""

    x: Tensor
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: Padding
    form: str
    counts: tuple[Any, ...] | None = None
    """How many of the first windows of each axis count, where not all do."""


def windows_of(node: Node, x: Tensor, kernel: Sequence[int], value: float = 0) -> Windows:
    """The windows that the node's attributes describe; `value` is what a padding holds that is put on in a run."""
    if x.shape.rank is None:
        x = ensure_shape(x, [None] * (len(kernel) + 2))
    count = rank_of(node, x) - 2
    if count not in FORMATS:
        node.refuse(f"windows over {count} spatial axes; one to three can be had")
    strides = numbers(node, "strides", count, 1, least=1)
    dilations = numbers(node, "dilations", count, 1, least=1)
    kernel, form = tuple(int(k) for k in kernel), FORMATS[count]
    kind = placing(node)
    if kind == "SAME_UPPER":
        return Windows(x, kernel, strides, dilations, "SAME", form)
    if kind == "SAME_LOWER":
        x, pads = _same_lower(x, kernel, strides, dilations, value)
        return Windows(x, kernel, strides, dilations, pads, form)
    pads = pairs(node, count) if kind == "NOTSET" else ((0, 0),) * count
    if kind == "VALID" or not node.attribute("ceil_mode", 0):
        return Windows(x, kernel, strides, dilations, pads, form)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    longer = [_rounded_up(x, i, spans[i], strides[i], pads[i]) for i in range(count)]
    counts = tuple(most for _, most in longer)
    partial = any(most is not None for most in counts)
    return Windows(x, kernel, strides, dilations, tuple(p for p, _ in longer), form, counts if partial else None)


def placing(node: Node) -> str:
    """How the node places its padding."""
    kind = str(node.attribute("auto_pad", "NOTSET"))
    if kind not in _PLACINGS:
        node.reject(f"its attribute 'auto_pad' must be one of {', '.join(_PLACINGS)}, not {kind!r}")
    return kind


def numbers(node: Node, name: str, count: int, default: int, least: int | None = None) -> tuple[int, ...]:
    """An attribute that has one number for each spatial axis."""
    found = tuple(int(n) for n in node.attribute(name, None) or [default] * count)
    if len(found) != count or (least is not None and min(found) < least):
        of_at_least = "" if least is None else f" of at least {least}"
        node.reject(f"its attribute '{name}' must be {count} numbers{of_at_least}, not {list(found)}")
    return found


def pairs(node: Node, count: int) -> Pads:
    """The attribute `pads`, which has all beginnings before all ends."""
    pads = numbers(node, "pads", 2 * count, 0)
    return tuple(zip(pads[:count], pads[count:], strict=True))


def _rounded_up(x: Tensor, axis: int, span: int, stride: int, pads: tuple[int, int]) -> tuple[tuple[int, int], Any]:
    """Pads that make room for a last window that is not full; and how many windows count where that are fewer.

    A window that would begin in the padding at the end does not count.
    """
    before, after = pads
    n = length(x, axis + 2)
    if isinstance(n, int):
        m = -(-(n + before + after - span) // stride) + 1
        m = min(m, -(-(n + before) // stride))
        return (before, max((m - 1) * stride + span - n - before, 0)), None
    longer = (before, after + stride - 1)
    return longer, None if stride + after <= span else (n + before + stride - 1) // stride


def _same_lower(
    x: Tensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], value: float
) -> tuple[Tensor, Pads]:
    """Pads of which the odd element comes first: as numbers, or put on in a run where lengths are not known."""
    totals = _same_totals(x, kernel, strides, dilations)
    pads = [(total - total // 2, total // 2) for total in totals]
    if all(isinstance(total, int) for total in totals):
        return x, tuple(pads)
    return _put_on(x, pads, value), ((0, 0),) * len(pads)


def with_zeros(windows: Windows) -> Windows:
    """The same windows over an input on which the pads are put as zeros."""
    pads: Any = windows.padding
    if pads == "SAME":
        totals = _same_totals(windows.x, windows.kernel, windows.strides, windows.dilations)
        pads = [(total // 2, total - total // 2) for total in totals]
    elif pads == "VALID" or not any(map(any, pads)):
        return windows
    return windows._replace(x=_put_on(windows.x, pads, 0), padding="VALID")


def _put_on(x: Tensor, pads: Sequence[tuple[Any, Any]], value: float) -> Tensor:
    amounts: Any = [(0, 0), (0, 0), *pads]
    if any(isinstance(n, Tensor) for pair in pads for n in pair):
        amounts = stack([stack([constant(n, int64) if isinstance(n, int) else n for n in pair]) for pair in amounts])
    return pad(x, amounts, constant_values=value)


def _same_totals(x: Tensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[Any]:
    """How many elements of padding there are along each axis, so that `ceil(length / stride)` windows fit."""
    totals: list[Any] = []
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations, strict=True)):
        n, span = length(x, i + 2), (k - 1) * d + 1
        if s == 1:
            totals.append(span - 1)
        elif isinstance(n, int):
            totals.append(max((-(-n // s) - 1) * s + span - n, 0))
        else:
            totals.append(maximum(((n + (s - 1)) // s - 1) * s + span - n, 0))
    return totals
