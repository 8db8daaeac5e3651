"""Shape inference of ONNX nodes: the lengths of what operators make, from those of their operands.

Lengths are those of the core: numbers, and formulas of symbols. A vector of integers is known by its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.lengths import Dimension, greatest, least
from ..core.shape import Lengths, TensorShape, broadcast_static_shape
from .operators import BROADCASTING, UNARY

if TYPE_CHECKING:
    from .records import Model, Value

_NO_END = 2**31 - 1
Found = TensorShape | Sequence[Dimension | None] | None


class Node(NamedTuple):
    """A node that is about to be written."""

    model: Model
    op_type: str
    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    number: int = 0
    """The number of the output that is asked for."""

    def lengths(self, i: int) -> Lengths | None:
        """The lengths of an input; None where its rank is not known, or there is no such input."""
        x = self.inputs[i] if i < len(self.inputs) else None
        return None if x is None else x.type.shape.lengths

    def elements(self, i: int, attribute: str = "") -> list[Dimension | None] | None:
        """The elements of an input, or else of an attribute; None where not even their number is known."""
        x = self.inputs[i] if i < len(self.inputs) else None
        if x is None:
            given = self.attributes.get(attribute)
            return None if given is None else list(given)
        known = self.model.elements_of(x)
        return None if known is None else known.reshape(-1).tolist()

    def integers(self, i: int, attribute: str = "") -> list[int] | None:
        """The elements of an input, or else of an attribute, where they are all numbers."""
        found = self.elements(i, attribute)
        numbers = [n for n in found or () if isinstance(n, int)]
        return numbers if found is not None and len(numbers) == len(found) else None


def inferred(node: Node) -> TensorShape:
    """What is known of the shape of an output; nothing where the operands contradict each other, which a run says."""
    rule = _RULES.get(node.op_type)
    try:
        found = None if rule is None else rule(node)
        return found if isinstance(found, TensorShape) else TensorShape(found)
    except (IndexError, ValueError):
        return TensorShape.UNKNOWN


def _first(node: Node) -> Found:
    return node.inputs[0].type.shape if node.inputs and node.inputs[0] is not None else None


def _broadcast(node: Node) -> Found:
    shape = TensorShape.SCALAR
    for x in node.inputs:
        if x is not None and x.type.shape.lengths != ():
            shape = broadcast_static_shape(shape, x.type.shape) if shape.lengths != () else x.type.shape
    return shape


def _windows(node: Node) -> Found:
    """Convolutions and pools: batch, channels, numbers of windows."""
    x, filters = node.lengths(0), node.lengths(1)
    if x is None:
        return None
    told, count = node.attributes, len(x) - 2
    channels = x[1] if not node.op_type.startswith("Conv") else None if filters is None else filters[0]
    kernel = told.get("kernel_shape") or (filters or [None] * (count + 2))[2:]
    strides, dilations = [told.get(key) or [1] * count for key in ("strides", "dilations")]
    pads = told.get("pads") or [0] * 2 * count
    placing = told.get("auto_pad", "NOTSET")
    spatial = [
        _count(n, k, s, d, (pads[i], pads[i + count]), placing, told.get("ceil_mode", 0))
        for i, (n, k, s, d) in enumerate(zip(x[2:], kernel, strides, dilations, strict=True))
    ]
    return [x[0], channels, *spatial]


def _count(
    n: Dimension | None, k: Dimension | None, s: int, d: int, pads: tuple[int, int], placing: str, ceil: int
) -> Dimension | None:
    """How many windows of `k` elements there are along an axis of length `n`."""
    if n is None or not isinstance(k, int):
        return None
    if placing.startswith("SAME"):
        return -(-n // s)
    before, after = pads if placing == "NOTSET" else (0, 0)
    room = n + before + after - (k - 1) * d - 1
    # No window may begin behind the last element.
    count = least(-(-room // s), (n + before - 1) // s) if ceil else room // s
    return greatest(count + 1, 0)


def _transposed_windows(node: Node) -> Found:
    """ConvTranspose."""
    x, filters, told = node.lengths(0), node.lengths(1), node.attributes
    if x is None or filters is None:
        return None
    count = len(x) - 2
    channels = None if filters[1] is None else filters[1] * told.get("group", 1)
    strides, dilations = [told.get(key) or [1] * count for key in ("strides", "dilations")]
    pads, more = told.get("pads") or [0] * 2 * count, told.get("output_padding") or [0] * count
    if told.get("output_shape"):
        return [x[0], channels, *told["output_shape"]]
    if told.get("auto_pad", "NOTSET") != "NOTSET":
        return [x[0], channels, *[None] * count]
    spatial = [
        None if n is None or k is None else (n - 1) * s + m + (k - 1) * d + 1 - pads[i] - pads[i + count]
        for i, (n, k, s, d, m) in enumerate(zip(x[2:], filters[2:], strides, dilations, more, strict=True))
    ]
    return [x[0], channels, *spatial]


def _pooled(node: Node) -> Found:
    x = node.lengths(0)
    return None if x is None else [*x[:2], *[1] * (len(x) - 2)]


def _with(x: Sequence[Dimension | None], axis: int, n: Dimension | None) -> list[Dimension | None]:
    """`x` with another length along one axis."""
    found = list(x)
    found[axis] = n
    return found


def _split(node: Node) -> Found:
    x, sizes, axis = node.lengths(0), node.elements(1), node.attributes.get("axis", 0)
    return None if x is None else _with(x, axis, None if sizes is None else sizes[node.number])


def _largest(node: Node) -> Found:
    """TopK."""
    x, count = node.lengths(0), node.elements(1)
    return None if x is None else _with(x, node.attributes.get("axis", -1), None if count is None else count[0])


def _joined(node: Node) -> Found:
    given = [node.lengths(i) for i in range(len(node.inputs))]
    known = [x for x in given if x is not None]
    if not known:
        return None
    axis = node.attributes["axis"]
    places = [next((n for n in column if isinstance(n, int)), column[0]) for column in zip(*known, strict=True)]
    parts = [x[axis] for x in known]
    whole = len(known) == len(given) and None not in parts
    return _with(places, axis, sum([n for n in parts if n is not None]) if whole else None)


def _transposed(node: Node) -> Found:
    x = node.lengths(0)
    return None if x is None else [x[p] for p in node.attributes.get("perm") or reversed(range(len(x)))]


def _product(node: Node) -> Found:
    a, b = node.lengths(0), node.lengths(1)
    if not a or not b:
        return None
    if node.op_type == "Gemm":
        return [a[node.attributes.get("transA", 0)], b[1 - node.attributes.get("transB", 0)]]
    outer = broadcast_static_shape(TensorShape(a[:-2]), TensorShape(b[:-2]))
    return outer.concatenate([*a[-2:-1], *(b[-1:] if len(b) > 1 else ())])


def _reduced(node: Node) -> Found:
    x = node.lengths(0)
    axes = node.integers(1, "axes") if len(node.inputs) > 1 or "axes" in node.attributes else []
    keep = node.attributes.get("keepdims", 1)
    if x is None:
        return TensorShape.SCALAR if axes == [] and not keep else None
    if axes is None:
        return [None] * len(x) if keep else None
    if not axes and node.attributes.get("noop_with_empty_axes"):
        return x
    gone = {a % len(x) for a in axes or range(len(x))}
    return [1 if i in gone else n for i, n in enumerate(x) if keep or i not in gone]


def _sliced(node: Node) -> Found:
    x = node.lengths(0)
    starts, ends = node.elements(1), node.elements(2)
    axes = node.integers(3) if len(node.inputs) > 3 and node.inputs[3] is not None else None
    if x is None or (axes is None and len(node.inputs) > 3 and node.inputs[3] is not None):
        return None if x is None else [None] * len(x)
    count = len(axes) if axes is not None else len(starts or ends or ())
    steps: Sequence[Any] | None = node.elements(4) if len(node.inputs) > 4 else [1] * count
    found = list(x)
    for i, axis in enumerate(axes if axes is not None else range(count)):
        bounds = [None if column is None else column[i] for column in (starts, ends, steps)]
        found[axis] = _cut(x[axis], *bounds)
    return found


def _cut(n: Dimension | None, start: Any, end: Any, step: Any) -> Dimension | None:
    """How many elements there are from `start` to `end` by `step` along an axis of length `n`."""
    if n is None or start is None or end is None or not isinstance(step, int):
        return None
    if not (isinstance(n, int) and isinstance(start, int) and isinstance(end, int)):
        forward = step == 1 and start == 0 and (end is n or _is_far(end))
        if forward or (step == -1 and (start == -1 or _is_far(start)) and _is_far(end, -1)):
            return n
        return _cut_ahead(n, start, end, step) if step > 0 else None
    a, b = start + n if start < 0 else start, end + n if end < 0 else end
    if step > 0:
        return len(range(min(max(a, 0), n), min(max(b, 0), n), step))
    return len(range(min(max(a, 0), n - 1), min(max(b, -1), n - 1), step))


def _is_far(bound: Any, sign: int = 1) -> bool:
    """Whether a bound is outside of every array."""
    return isinstance(bound, int) and bound * sign >= _NO_END


def _cut_ahead(n: Dimension, start: Dimension, end: Dimension, step: int) -> Dimension:
    """`_cut` forward, where a length is a formula."""
    first = greatest(n + start, 0) if isinstance(start, int) and start < 0 else start
    last = n + end if isinstance(end, int) and end < 0 else n if _is_far(end) else least(end, n)
    return greatest(0, -((first - last) // step))


def _reshaped(node: Node) -> Found:
    x, wanted = node.lengths(0), node.elements(1)
    if wanted is None:
        return None
    found: list[Dimension | None] = []
    for i, n in enumerate(wanted):
        copied = n == 0 and not node.attributes.get("allowzero", 0)
        found.append(None if n == -1 else (x[i] if x is not None and i < len(x) else None) if copied else n)
    rest = TensorShape([n for n in found if n is not None])
    whole, part = TensorShape(x).elements, rest.elements
    if x is None or whole is None or not part or -1 not in wanted or len(rest) != len(found) - 1:
        return found
    return [whole // part if n is None else n for n in found]


def _recurrent(node: Node) -> Found:
    """LSTM, GRU, RNN: all states [steps, directions, batch, size], and the last of each kind."""
    x, r = node.lengths(0), node.lengths(2)
    if x is None or len(x) != 3 or r is None:
        return None
    first, second, directions, size = x[0], x[1], r[0], r[2]
    if node.attributes.get("layout", 0):
        return [first, directions, size] if node.number else [first, second, directions, size]
    return [directions, second, size] if node.number else [first, directions, second, size]


def _counted(node: Node) -> Found:
    """Range; its length is known where it begins with 0 and goes on by 1."""
    start, end, step = [node.elements(i) for i in range(3)]
    return end if start == [0] and step == [1] and end is not None else [None]


def _filled(node: Node) -> Found:
    return node.elements(0)


def _expanded(node: Node) -> Found:
    x, wanted = node.inputs[0], node.elements(1)
    if x is None or wanted is None or x.type.shape.rank is None:
        return None
    return broadcast_static_shape(x.type.shape, TensorShape(wanted))


def _gathered(node: Node) -> Found:
    x, places = node.lengths(0), node.lengths(1)
    if x is None or places is None:
        return None
    axis = node.attributes.get("axis", 0) % len(x)
    return [*x[:axis], *places, *x[axis + 1 :]]


def _gathered_rows(node: Node) -> Found:
    """GatherND: the last axis of the indices picks along the first axes behind the batch."""
    x, places = node.lengths(0), node.lengths(1)
    if x is None or places is None or not isinstance(places[-1], int):
        return None
    return [*places[:-1], *x[node.attributes.get("batch_dims", 0) + places[-1] :]]


def _without_axes(node: Node) -> Found:
    x, axes = node.lengths(0), node.integers(1, "axes")
    if x is None or axes is None:
        return None
    gone = {a % len(x) for a in axes}
    return [n for i, n in enumerate(x) if i not in gone]


def _with_axes(node: Node) -> Found:
    x, axes = node.lengths(0), node.integers(1, "axes")
    if x is None or axes is None:
        return None
    rank = len(x) + len(axes)
    ones, rest = {a % rank for a in axes}, iter(x)
    return [1 if i in ones else next(rest) for i in range(rank)]


def _padded(node: Node) -> Found:
    x, pads = node.lengths(0), node.elements(1)
    axes = node.integers(3) if len(node.inputs) > 3 else None
    if x is None:
        return None
    if pads is None or axes is not None or len(pads) != 2 * len(x):
        return [None] * len(x)
    triples = zip(x, pads[: len(x)], pads[len(x) :], strict=True)
    return [None if None in t else t[0] + t[1] + t[2] for t in triples]  # type: ignore[operator]


def _repeated(node: Node) -> Found:
    """Tile."""
    x, times = node.lengths(0), node.elements(1)
    if x is None or times is None:
        return x if x is None else [None] * len(x)
    return [None if n is None or k is None else n * k for n, k in zip(x, times, strict=True)]


def _resized(node: Node) -> Found:
    x, scales, sizes = node.lengths(0), node.elements(2), node.elements(3)
    if x is None or "axes" in node.attributes or "keep_aspect_ratio_policy" in node.attributes:
        return None if x is None else [None] * len(x)
    if sizes is not None:
        return sizes
    known = scales is not None and len(scales) == len(x)
    return [_scaled(n, s) for n, s in zip(x, scales or (), strict=True)] if known else [None] * len(x)


def _scaled(n: Dimension | None, scale: Any) -> Dimension | None:
    if n is None or not isinstance(scale, float):
        return None
    if isinstance(n, int):
        return int(n * scale)
    return n * int(scale) if scale == int(scale) else n // int(1 / scale) if 1 / scale == int(1 / scale) else None


def _shape_of(node: Node) -> Found:
    x = node.lengths(0)
    bounds = node.attributes.get("start", 0), node.attributes.get("end")
    return [None if x is None else len(x[slice(*bounds)])]


def _scalar(node: Node) -> Found:
    del node
    return TensorShape.SCALAR


_RULES: Mapping[str, Callable[[Node], Found]] = {
    **dict.fromkeys([*UNARY, "Dropout", "LRN"], _first),
    **dict.fromkeys(BROADCASTING, _broadcast),
    **dict.fromkeys(["Conv", "MaxPool", "AveragePool", "LpPool"], _windows),
    **dict.fromkeys(["MatMul", "Gemm"], _product),
    **dict.fromkeys(
        [f"Reduce{kind}" for kind in ("Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSumExp")],
        _reduced,
    ),
    **dict.fromkeys(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"], _pooled),
    **dict.fromkeys(["LSTM", "GRU", "RNN"], _recurrent),
    "Concat": _joined,
    "ConstantOfShape": _filled,
    "ConvTranspose": _transposed_windows,
    "Expand": _expanded,
    "Gather": _gathered,
    "GatherElements": lambda node: node.lengths(1),
    "GatherND": _gathered_rows,
    "Pad": _padded,
    "Range": _counted,
    "Reshape": _reshaped,
    "Resize": _resized,
    "Shape": _shape_of,
    "Size": _scalar,
    "Slice": _sliced,
    "Split": _split,
    "Squeeze": _without_axes,
    "Tile": _repeated,
    "TopK": _largest,
    "Transpose": _transposed,
    "Unsqueeze": _with_axes,
}
