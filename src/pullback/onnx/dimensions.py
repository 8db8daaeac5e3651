"""Which lengths that only a run knows are the same: so that a batch is not taken for something that was repeated.

Each axis of a value has a length: a number, or a `Symbol` that is shared by all axes that the nodes show to be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from ..core.traits import shaped_by
from .factors import product, quotient
from .operators import BROADCASTING, UNARY

if TYPE_CHECKING:
    from ..core.primitive import Primitive
    from .records import Model, Record, Value

Symbol = tuple[str, int]
"""The axis of a value; or, with no name, the number of what an operator makes of the lengths of others."""
Length = int | Symbol
Lengths = tuple[Length, ...]
_NO_END = 2**31 - 1
_NAMELESS = frozenset(["?", "-1", "None", "unk", "unknown", "dynamic"])
"""What exporters write for any length that is open."""
Rule = Callable[["Model", "Record", int], Sequence[Length | None] | None]


def lengths_of(model: Model, name: str) -> Lengths | None:
    """The length of each axis of a value; None where its rank is not known."""
    known = model.lengths.get(name)
    if known is None:
        for x in sorted(_not_worked_out(model, name), key=int):
            model.lengths[x] = _worked_out(model, x)
        known = model.lengths[name]
    found: Lengths | None = known[0]
    return found if found is None or not model.merged else tuple([_merged(model, n) for n in found])


def _merged(model: Model, length: Length) -> Length:
    while length in model.merged:
        length = model.merged[length]
    return length


def merge(model: Model, names: Sequence[str]) -> None:
    """Remember that these values have one shape."""
    given = [lengths_of(model, x) for x in names]
    if any(x is None for x in given):
        return
    for axis in zip(*[x for x in given if x is not None], strict=True):
        first, *rest = sorted({_merged(model, n) for n in axis}, key=_age)
        model.merged.update({n: first for n in rest if not isinstance(n, int)})


def merge_named(model: Model, entries: Sequence[tuple[Value, Sequence[int | str | None]]]) -> None:
    """Remember that lengths of inputs which have one name are equal, as the standard says; some names say nothing."""
    first: dict[str, Symbol] = {}
    for x, dims in entries:
        for i, name in enumerate(dims):
            if isinstance(name, str) and name not in _NAMELESS:
                symbol = first.setdefault(name, (x.name, i))
                if symbol != (x.name, i):
                    model.merged[x.name, i] = symbol


def _age(length: Length) -> tuple[int, int, int]:
    """Numbers first, then lengths that are made of others, then what was met first."""
    if isinstance(length, int):
        return 0, length, 0
    name, number = length
    return (1, number, 0) if name == "" else (2, int(name), number)


def _not_worked_out(model: Model, name: str) -> set[str]:
    """The values that `name` is made of and whose lengths were not worked out yet, itself among them."""
    found, pending = {name}, [name]
    while pending:
        current = pending.pop()
        record = model.producers.get(current)
        made_of = [model.root(current), *(() if record is None else record.inputs)]
        new = [x for x in made_of if x and x not in found and x not in model.lengths]
        found.update(new)
        pending.extend(new)
    return found


def _worked_out(model: Model, name: str) -> tuple[Lengths | None]:
    dims = model.types[name].shape.dims
    record = model.producers.get(name)
    found: Sequence[Length | None] | None = None
    if dims is None or None not in dims:
        return (dims,)  # type: ignore[return-value]
    if model.root(name) != name:
        found = lengths_of(model, model.root(name))
    elif record is not None and record.outputs:
        rule = _RULES.get(record.op_type)
        found = None if rule is None else rule(model, record, record.outputs.index(name))
    if found is None or len(found) != len(dims):
        found = [None] * len(dims)
    told = zip(dims, found, strict=True)
    return (tuple([n if n is not None else s if s is not None else (name, i) for i, (n, s) in enumerate(told)]),)


def repeated_axes(model: Model, x: str, like: str) -> list[int] | None:
    """The axes of `x` along which `like` was repeated; None where a run has to tell."""
    a, b = lengths_of(model, x), lengths_of(model, like)
    if a is None or b is None:
        return None
    lead = len(a) - len(b)
    axes = list(range(lead))
    for i, (m, n) in enumerate(zip(a[lead:], b, strict=True), start=lead):
        if m in (n, 1) or _fit(model, m, n):
            continue
        if n == 1:
            axes.append(i)
        elif not isinstance(n, int):
            return None
    return axes


def _fit(model: Model, m: Length, n: Length) -> bool:
    """Whether one is at most the other, and no 1 unless that is: they fit only if they are equal."""
    return any(x in model.at_most and _merged(model, model.at_most[x]) == y for x, y in ((m, n), (n, m)))


def note_lengths(model: Model, primitive: Primitive, inputs: Sequence[Any], made: Sequence[Any]) -> None:
    """Remember that what an operation made has the shape that an operand says."""
    place = next((i for i in range(len(inputs)) if shaped_by(i) in primitive.traits), None)
    if place is None or made[0].name in model.lengths:
        return
    told, dims = vector_lengths(model, inputs[place].name), made[0].type.shape.dims
    if told is None or dims is None or len(told) != len(dims) or None in told:
        return
    model.lengths[made[0].name] = (tuple([t if n is None else n for n, t in zip(dims, told, strict=True)]),)


def vector_lengths(model: Model, name: str) -> list[Length | None] | None:
    """The lengths that a vector of integers consists of, None for others; None where their number is not known."""
    array = model.arrays.get(name)
    if array is not None:
        return [int(n) for n in array.reshape(-1)]
    record = model.producers.get(name)
    rule = None if record is None else _VECTORS.get(record.op_type)
    if record is not None and rule is not None:
        return rule(model, record)
    dims = model.types[name].shape.dims
    return None if dims is None or len(dims) != 1 or dims[0] is None else [None] * dims[0]


def _symbol(model: Model, *made_of: Any) -> Symbol:
    """The length that is made in this way of other lengths."""
    symbol: Symbol = model.symbols.setdefault(made_of, ("", len(model.symbols)))
    return symbol


def _first(model: Model, record: Record, number: int) -> Lengths | None:
    del number
    return lengths_of(model, record.inputs[0])


def _broadcast(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    given = [lengths_of(model, x) for x in record.inputs if x]
    return None if any(x is None for x in given) else _broadcast_lengths(model, [x for x in given if x is not None])


def _broadcast_lengths(model: Model, given: Sequence[Sequence[Length | None]]) -> list[Length | None]:
    """The lengths of what arrays of these lengths are broadcast to."""
    rank = max(map(len, given), default=0)
    result: list[Length | None] = []
    for i in range(rank):
        others = {x[i - rank + len(x)] for x in given if i - rank + len(x) >= 0} - {1}
        if len(others) > 1:
            others -= {n for n in others if n in model.at_most and _merged(model, model.at_most[n]) in others}
        result.append(1 if not others else others.pop() if len(others) == 1 else None)
    return result


def _windows(model: Model, record: Record, number: int) -> list[Length | None] | None:
    """Batch and channels of convolutions and pools; a spatial length is known by that of the input and the windows."""
    del number
    x = lengths_of(model, record.inputs[0])
    if x is None:
        return None
    told = record.attributes
    kernel = list(told.get("kernel_shape") or ())
    if record.op_type.startswith("Conv") and not kernel:
        kernel = list(model.types[record.inputs[1]].shape.dims or ())[2:]
    count = len(x) - 2
    strides, dilations = told.get("strides") or [1] * count, told.get("dilations") or [1] * count
    pads = told.get("pads") or [0] * 2 * count
    if told.get("auto_pad", "NOTSET") != "NOTSET" or told.get("output_shape") or len(kernel) != count:
        return [x[0], *[None] * (count + 1)]
    more = told.get("output_padding") or [0] * count
    spatial: list[Length | None] = []
    for i in range(count):
        key = (kernel[i], strides[i], dilations[i], pads[i] + pads[i + count], more[i], told.get("ceil_mode", 0))
        same = strides[i] == 1 and pads[i] + pads[i + count] == (kernel[i] - 1) * dilations[i] and not more[i]
        spatial.append(x[i + 2] if same else _symbol(model, record.op_type == "ConvTranspose", x[i + 2], *key))
    channels = None if record.op_type.startswith("Conv") else x[1]
    return [x[0], channels, *spatial]


def _pooled(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x = lengths_of(model, record.inputs[0])
    return None if x is None else [*x[:2], *[1] * (len(x) - 2)]


def _kept_axes(model: Model, record: Record, number: int) -> list[Length | None] | None:
    """All but the axis of the attribute `axis`."""
    del number
    x = lengths_of(model, record.inputs[0])
    if x is None:
        return None
    result: list[Length | None] = list(x)
    result[record.attributes.get("axis", 0 if record.op_type == "Split" else -1)] = None
    return result


def _joined_axis(model: Model, record: Record, number: int) -> list[Length | None] | None:
    result = _kept_axes(model, record, number)
    given = [lengths_of(model, x) for x in record.inputs]
    if result is None or any(x is None for x in given):
        return result
    axis = record.attributes.get("axis", 0)
    parts = [x[axis] for x in given if x is not None]
    result[axis] = reduce(lambda m, n: _computed(model, "Add", m, n), parts)
    return result


def _transposed(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x = lengths_of(model, record.inputs[0])
    return None if x is None else [x[p] for p in record.attributes.get("perm") or reversed(range(len(x)))]


def _product(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    a, b = [lengths_of(model, x) for x in record.inputs[:2]]
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return None
    if record.op_type == "Gemm":
        return [a[record.attributes.get("transA", 0)], b[1 - record.attributes.get("transB", 0)]]
    return [*_broadcast_lengths(model, [a[:-2], b[:-2]]), a[-2], b[-1]]


def _reduced(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x = lengths_of(model, record.inputs[0])
    if x is None:
        return None
    given = record.attributes.get("axes")
    if given is None and len(record.inputs) > 1 and record.inputs[1]:
        array = model.arrays.get(record.inputs[1])
        if array is None:
            return None
        given = array.reshape(-1).tolist()
    gone = {a % len(x) for a in (given or range(len(x)))}
    if record.attributes.get("keepdims", 1):
        return [1 if i in gone else n for i, n in enumerate(x)]
    return [n for i, n in enumerate(x) if i not in gone]


def _sliced(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x = lengths_of(model, record.inputs[0])
    axes = model.arrays.get(record.inputs[3]) if len(record.inputs) > 3 else None
    if x is None or axes is None:
        return None
    found: list[Length | None] = list(x)
    bounds = [vector_lengths(model, name) for name in record.inputs[1:3]]
    step = model.arrays.get(record.inputs[4]) if len(record.inputs) > 4 else None
    ahead = step is None or (step == 1).all()
    for i, a in enumerate(axes.reshape(-1).tolist()):
        start, end = [None if b is None or len(b) <= i else b[i] for b in bounds]
        found[a] = _up_to(model, x[a], end) if start == 0 and ahead else None
    return found


def _up_to(model: Model, n: Length, end: Length | None) -> Length | None:
    """The length of what comes before `end`."""
    if end == n or (isinstance(end, int) and end >= _NO_END):
        return n
    if not isinstance(n, int) or n == 1 or end is None or isinstance(end, int):
        return None
    least = _symbol(model, "Min", n, end)
    model.at_most[least] = end
    return least


def _reshaped(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x, wanted = lengths_of(model, record.inputs[0]), vector_lengths(model, record.inputs[1])
    if wanted is None:
        return None
    zeros = record.attributes.get("allowzero", 0)
    found: list[Length | None] = []
    for i, n in enumerate(wanted):
        copied = n == 0 and not zeros
        found.append(None if n == -1 else (x[i] if x is not None and i < len(x) else None) if copied else n)
    if x is not None and found.count(None) == 1:
        found[found.index(None)] = quotient(
            model, product(model, x), product(model, [n for n in found if n is not None])
        )
    return found


def _recurrent(model: Model, record: Record, number: int) -> list[Length | None] | None:
    """LSTM, GRU, RNN: all states [steps, directions, batch, size], and the last of each kind."""
    x, r = lengths_of(model, record.inputs[0]), model.types[record.inputs[2]].shape.dims
    if x is None or len(x) != 3 or r is None:
        return None
    first, second, directions, size = x[0], x[1], r[0], r[2]
    if record.attributes.get("layout", 0):
        return [first, directions, size] if number else [first, second, directions, size]
    return [directions, second, size] if number else [first, directions, second, size]


def _counted(model: Model, record: Record, number: int) -> list[Length | None] | None:
    """Range from 0 in steps of 1."""
    del number
    start, step = model.arrays.get(record.inputs[0]), model.arrays.get(record.inputs[2])
    if start is None or step is None or start.item() != 0 or step.item() != 1:
        return None
    return vector_lengths(model, record.inputs[1])


def _filled(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    return vector_lengths(model, record.inputs[0])


def _expanded(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x, wanted = lengths_of(model, record.inputs[0]), vector_lengths(model, record.inputs[1])
    return None if x is None or wanted is None else _broadcast_lengths(model, [x, wanted])


def _gathered(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x, places = lengths_of(model, record.inputs[0]), lengths_of(model, record.inputs[1])
    if x is None or places is None:
        return None
    axis = record.attributes.get("axis", 0) % len(x)
    return [*x[:axis], *places, *x[axis + 1 :]]


def _gathered_rows(model: Model, record: Record, number: int) -> list[Length | None] | None:
    """GatherND: the last axis of the indices picks along the first axes behind the batch."""
    del number
    x, places = lengths_of(model, record.inputs[0]), lengths_of(model, record.inputs[1])
    if x is None or places is None or not isinstance(places[-1], int):
        return None
    return [*places[:-1], *x[record.attributes.get("batch_dims", 0) + places[-1] :]]


def _second_of(model: Model, record: Record, number: int) -> Lengths | None:
    del number
    return lengths_of(model, record.inputs[1])


def _with_axes(model: Model, record: Record, number: int) -> list[Length | None] | None:
    """Unsqueeze and Squeeze."""
    del number
    x = lengths_of(model, record.inputs[0])
    axes = model.arrays.get(record.inputs[1]) if len(record.inputs) > 1 else None
    if x is None or axes is None:
        return None
    if record.op_type == "Squeeze":
        gone = {int(a) % len(x) for a in axes.reshape(-1)}
        return [n for i, n in enumerate(x) if i not in gone]
    rank = len(x) + axes.size
    ones, rest = {int(a) % rank for a in axes.reshape(-1)}, iter(x)
    return [1 if i in ones else next(rest) for i in range(rank)]


def _padded(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x = lengths_of(model, record.inputs[0])
    pads = model.arrays.get(record.inputs[1]) if len(record.inputs) > 1 else None
    if x is None or pads is None or pads.size != 2 * len(x):
        return None
    total = pads[: len(x)] + pads[len(x) :]
    return [n if not p else _symbol(model, "Pad", n, int(p)) for n, p in zip(x, total, strict=True)]


def _resized(model: Model, record: Record, number: int) -> list[Length | None] | None:
    del number
    x = lengths_of(model, record.inputs[0])
    scales = model.arrays.get(record.inputs[2]) if len(record.inputs) > 2 else None
    if x is None or scales is None or scales.size != len(x):
        return None
    return [n if s == 1 else _symbol(model, "Resize", n, float(s)) for n, s in zip(x, scales, strict=True)]


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(UNARY, _first),
    **dict.fromkeys(["Dropout", "LRN"], _first),
    **dict.fromkeys(BROADCASTING, _broadcast),
    **dict.fromkeys(["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"], _windows),
    **dict.fromkeys(["MatMul", "Gemm"], _product),
    **dict.fromkeys(["Split", "TopK"], _kept_axes),
    "Concat": _joined_axis,
    "GatherND": _gathered_rows,
    "GatherElements": _second_of,
    **dict.fromkeys(["Squeeze", "Unsqueeze"], _with_axes),
    **dict.fromkeys(
        [f"Reduce{kind}" for kind in ("Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSumExp")],
        _reduced,
    ),
    **dict.fromkeys(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"], _pooled),
    "Transpose": _transposed,
    "Slice": _sliced,
    "Reshape": _reshaped,
    **dict.fromkeys(["LSTM", "GRU", "RNN"], _recurrent),
    "Expand": _expanded,
    "Range": _counted,
    "ConstantOfShape": _filled,
    "Gather": _gathered,
    "Pad": _padded,
    "Resize": _resized,
}


def _part_of_shape(model: Model, record: Record) -> list[Length | None] | None:
    x = lengths_of(model, record.inputs[0])
    return None if x is None else list(x[record.attributes.get("start", 0) : record.attributes.get("end", len(x))])


def _joined(model: Model, record: Record) -> list[Length | None] | None:
    parts = [vector_lengths(model, x) for x in record.inputs]
    return None if any(part is None for part in parts) else [n for part in parts for n in part or ()]


def _picked(model: Model, record: Record) -> list[Length | None] | None:
    vector, places = vector_lengths(model, record.inputs[0]), model.arrays.get(record.inputs[1])
    if vector is None or places is None:
        return None
    return [vector[int(i)] for i in places.reshape(-1)]


def _cut(model: Model, record: Record) -> list[Length | None] | None:
    vector, bounds = vector_lengths(model, record.inputs[0]), [model.arrays.get(x) for x in record.inputs[1:] if x]
    if vector is None or any(b is None or b.size != 1 for b in bounds):
        return None
    start, end, *more = [int(b.reshape(-1)[0]) for b in bounds if b is not None]
    return vector[start : end : more[1] if len(more) > 1 else 1]


def _multiplied(model: Model, record: Record) -> list[Length | None] | None:
    """Mul, Div and Add of lengths, which are not negative."""
    a, b = [vector_lengths(model, x) for x in record.inputs]
    if a is None or b is None or (len(a) != len(b) and 1 not in (len(a), len(b))):
        return None
    count = max(len(a), len(b))
    pairs = zip(a * (count // len(a)) if a else a, b * (count // len(b)) if b else b, strict=True)
    return [_computed(model, record.op_type, m, n) for m, n in pairs]


def _computed(model: Model, op_type: str, m: Length | None, n: Length | None) -> Length | None:
    if m is None or n is None or any(isinstance(k, int) and k < 0 for k in (m, n)):
        return None
    if op_type == "Mul":
        return product(model, [m, n])
    if op_type == "Div":
        return quotient(model, m, n)
    return m + n if isinstance(m, int) and isinstance(n, int) else _symbol(model, "Add", *sorted((m, n), key=_age))


def _passed_on(model: Model, record: Record) -> list[Length | None] | None:
    return vector_lengths(model, record.inputs[0]) if (model.types[record.outputs[0]].shape.rank or 0) < 2 else None


_VECTORS: Mapping[str, Callable[[Model, Record], list[Length | None] | None]] = {
    "Shape": _part_of_shape,
    "Concat": _joined,
    "Gather": _picked,
    "Slice": _cut,
    **dict.fromkeys(["Mul", "Div", "Add"], _multiplied),
    **dict.fromkeys(["Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze"], _passed_on),
}
