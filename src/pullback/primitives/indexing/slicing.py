"""Strided slices: parts of a tensor by position, single elements, new axes; and their derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, int64
from ...core.dtypes import bool as bool_
from ...core.lengths import Dimension, greatest, least
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ADDS, MOVES, VIEWS, ZEROS, Link, Links, same_axes
from ...core.types import TensorType, shape_to_infer
from ...core.typing import TensorLike
from ..casting.cast import cast
from ..creation.constant import constant_value, convert_to_tensor, shape_value
from ..shape.reshape import shape_to_use, split_shape_of
from ..shape.stacking import stack
from ..shape.transpose import transpose

Entry = Any
"""One entry of a slicing: an integer (that element, the axis goes), None (a new axis), "..." (all axes between), or a
triple (begin, end, step) whose begin and end may be None. "?" stands for a number that a run provides."""
FULL: Entry = (None, None, 1)
UNKNOWN = "?"


@in_graph_of_inputs
def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: int | Sequence[int] | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements of `input_` from `begin` up to `end` by `strides`, along each of the first axes.

    Bit i of a mask says of entry i: `begin_mask`, `end_mask`: the bound is ignored and all is taken that way;
    `ellipsis_mask`: as many whole axes as needed stand here; `new_axis_mask`: an axis of length one is put in;
    `shrink_axis_mask`: the one element at `begin` is taken and the axis goes. Of a variable, given as `input_` or as
    `var`, the result has a method `assign`, as `v[1:3]` has.

    Shapes: any; `begin`, `end`, `strides` are integer vectors of one length, no longer than the rank.
    Dtypes: any.

    Derivative: dx = zeros with dy in the places of the elements.

    Raises:
        ValueError: the vectors differ in length, a stride is 0, an element is out of range, or there are two ellipses.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strided_slice([0, 1, 2, 3, 4], [1], [5], [2]))
    array([1, 3], dtype=int32)
    """
    x = convert_to_tensor(input_ if var is None else var)
    vectors = [convert_to_tensor(v) for v in (begin, end, *(() if strides is None else (strides,)))]
    columns = [_known_length(v) for v in vectors]
    if strides is None:
        columns.append((1,) * len(columns[0]))
    if len({len(c) for c in columns}) != 1:
        raise ValueError(f"strided_slice: begin, end and strides differ in length: {', '.join(map(str, columns))}")
    if (ellipsis_mask & ((1 << len(columns[0])) - 1)).bit_count() > 1:
        raise ValueError(
            f"strided_slice: an index can only have a single ellipsis, not those of the mask {ellipsis_mask}"
        )
    spec: list[Entry] = []
    numbers: list[Tensor] = []

    def bound(column: int, i: int) -> Any:
        value = columns[column][i]
        if value is not None:
            return value
        numbers.append(Take(0)(vectors[column], convert_to_tensor(i)))
        return UNKNOWN

    for i in range(len(columns[0])):
        bit = 1 << i
        if ellipsis_mask & bit:
            spec.append("...")
        elif new_axis_mask & bit:
            spec.append(None)
        elif shrink_axis_mask & bit:
            spec.append(bound(0, i))
        else:
            first = None if begin_mask & bit else bound(0, i)
            last = None if end_mask & bit else bound(1, i)
            spec.append((first, last, bound(2, i)))
    return slice_by(x, tuple(spec), numbers, name)


def _known_length(vector: Tensor) -> tuple[int | None, ...]:
    values = shape_value(vector) if vector.dtype in INTEGER else None
    if values is None:
        raise ValueError(f"strided_slice: begin, end and strides must be integer vectors of known length, not {vector}")
    return values


def slice_by(x: Tensor, spec: tuple[Entry, ...], numbers: Sequence[Tensor], name: str | None = None) -> Tensor:
    """`x` sliced by `spec`, whose unknown numbers are the scalars `numbers`, in order."""
    if not numbers:
        return StridedSlice(spec)(x, name=name)
    if len({n.dtype for n in numbers}) > 1:
        numbers = [cast(n, int64) for n in numbers]
    result = StridedSlice(spec)(x, stack(numbers), name=name)
    return result


class StridedSlice(Primitive):
    traits = (MOVES, VIEWS)
    shape_inputs = (1,)

    spec: tuple[Entry, ...]

    def infer(self, x: TensorType, numbers: TensorType | None = None) -> tuple[TensorType, ...]:
        del numbers
        if x.shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        return (TensorType(x.dtype, TensorShape(_sliced_dims(self.spec, x))),)

    def kernel(self, xp: Any, x: Any, numbers: Any = None) -> Any:
        del xp
        return x[index_of(self.spec, numbers)]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, *numbers = op.inputs
        return (lambda: _slice_back(dy, x, self.spec, numbers), None)[: len(op.inputs)]


def _slice_back(dy: Tensor, x: Tensor, spec: tuple[Entry, ...], numbers: Sequence[Tensor]) -> Tensor:
    dims, lengths = split_shape_of(x)
    return StridedSliceGrad(spec, dims)(dy, *numbers, *(() if lengths is None else (lengths,)))


class StridedSliceGrad(Primitive):
    """Zeros of a shape, with the cotangent of a slice in the slice's place."""

    traits = (ADDS, ZEROS)
    shape_inputs = length_inputs = (1, 2)

    spec: tuple[Entry, ...]
    shape: tuple[int | None, ...] | None

    def infer(self, dy: TensorType, *rest: TensorType) -> tuple[TensorType, ...]:
        lengths = rest[1:] if _has_unknown(self.spec) else rest
        whole = TensorType(dy.dtype, shape_to_infer(self.shape, lengths[0] if lengths else None))
        (part,) = StridedSlice(self.spec).infer(whole)
        if not dy.shape.is_compatible_with(part.shape):
            raise ValueError(f"strided_slice: the slice of {whole} is {part}, but its cotangent is {dy}")
        return (whole,)

    def kernel(self, xp: Any, dy: Any, *rest: Any) -> Any:
        index, dims = self.index_and_shape(rest)
        if xp is not np:
            return xp.zeros(dims, dy.dtype).at[index].set(dy)
        total = np.zeros(dims, dy.dtype)
        total[index] = dy
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        numbers = op.inputs[1:2] if _has_unknown(self.spec) else ()
        entries = (lambda: StridedSlice(self.spec)(dy, *numbers), None, None)
        return entries[: len(op.inputs)]

    def index_and_shape(self, rest: Sequence[Any]) -> tuple[Any, tuple[int, ...]]:
        """The NumPy index of the slice and the full shape."""
        numbers, *lengths = rest if _has_unknown(self.spec) else (None, *rest)
        return index_of(self.spec, numbers), shape_to_use(self.shape, *(lengths or (None,)))


def _has_unknown(spec: tuple[Entry, ...]) -> bool:
    return any(e == UNKNOWN or (isinstance(e, tuple) and UNKNOWN in e) for e in spec)


def index_of(spec: tuple[Entry, ...], numbers: Any = None) -> tuple[Any, ...]:
    """The NumPy index that `spec` stands for, its unknown numbers taken from the vector `numbers`."""
    given: Iterator[int] = iter(()) if numbers is None else iter([int(n) for n in np.asarray(numbers)])
    return tuple([_index_entry(entry, given) for entry in spec])


def _index_entry(entry: Entry, given: Iterator[int]) -> Any:
    if entry == "...":
        return Ellipsis
    if isinstance(entry, tuple):
        return slice(*[next(given) if n == UNKNOWN else n for n in entry])
    return next(given) if entry == UNKNOWN else entry


def expand_ellipsis(spec: Sequence[Entry], rank: int, x: Any) -> list[Entry]:
    """`spec` with one entry for each axis (and new axis): whole axes in place of the ellipsis, or at the end."""
    spec = list(spec)
    missing = rank - sum(1 for e in spec if e is not None and e != "...")
    if missing < 0:
        raise ValueError(f"strided_slice: {rank - missing} indices are too many for {x}")
    place = spec.index("...") if "..." in spec else len(spec)
    return spec[:place] + [FULL] * missing + spec[place + 1 :]


def _sliced_dims(spec: tuple[Entry, ...], x: TensorType) -> list[Dimension | None]:
    assert x.shape.lengths is not None
    lengths = iter(enumerate(x.shape.lengths))
    dims: list[Dimension | None] = []
    for entry in expand_ellipsis(spec, len(x.shape.lengths), x):
        if entry is None:
            dims.append(1)
            continue
        axis, n = next(lengths)
        if isinstance(entry, tuple):
            dims.append(_sliced_length(entry, n))
        elif isinstance(n, int) and entry != UNKNOWN and not -n <= entry < n:
            raise ValueError(f"strided_slice: index {entry} is out of bounds for axis {axis} of {x}")
    return dims


def _sliced_length(entry: tuple[Any, Any, Any], n: Dimension | None) -> Dimension | None:
    begin, end, step = entry
    if step == 0:
        raise ValueError("strided_slice: a step of 0 leads nowhere; steps are positive or negative")
    if (begin, end) == (None, None) and step in (1, -1):
        return n
    if n is None or UNKNOWN in entry:
        return None
    if isinstance(n, int):
        return len(range(*slice(begin, end, step).indices(n)))
    if step < 0:
        return None
    # A bound beyond an end of the axis needs no care where the difference is negative all the same.
    first = (begin or 0) if begin is None or begin >= 0 else greatest(n + begin, 0)
    last = n if end is None else least(end, n) if end >= 0 else n + end
    return greatest(0, -((first - last) // step))


class Take(Primitive):
    """What stands at given positions of one axis; negative ones count from its end."""

    traits = (MOVES,)

    axis: int

    def infer(self, x: TensorType, positions: TensorType) -> tuple[TensorType, ...]:
        if positions.dtype not in INTEGER:
            raise TypeError(f"take: positions must be integers, not {positions}")
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if not -len(dims) <= self.axis < len(dims):
            raise ValueError(f"take: axis {self.axis} is outside {x}")
        axis = self.axis % len(dims)
        before, after = TensorShape(dims[:axis]), TensorShape(dims[axis + 1 :])
        return (TensorType(x.dtype, before.concatenate(positions.shape).concatenate(after)),)

    def links(self, i: int, x: TensorType, positions: TensorType) -> Links | None:
        return links_of_slices(i, x, positions, self.axis)

    def kernel(self, xp: Any, x: Any, positions: Any) -> Any:
        return xp.take(x, positions, axis=self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        from .gather import put_back

        x, positions = op.inputs
        return lambda: put_back(dy, positions, x, self.axis), None


def links_of_slices(i: int, x: TensorType, positions: TensorType, axis: int, batch_dims: int = 0) -> Links | None:
    """Which axes go along which where slices of `x` along `axis` are picked: of `x` (i = 0) and of the `positions`."""
    if x.shape.rank is None or positions.shape.rank is None:
        return None
    axis, picked = axis % x.shape.rank, positions.shape.rank - batch_dims
    if i:
        return (*same_axes(range(batch_dims)), *[Link(axis + n, batch_dims + n) for n in range(picked)])
    return (*same_axes(range(axis)), *[Link(a - 1 + picked, a) for a in range(axis + 1, x.shape.rank)])


def static_number(value: Any) -> Any:
    """The integer that a bound or position is, or the tensor, where a run computes it.

    Raises:
        TypeError: it is no integer.
    """
    if value is None or type(value) is int:
        return value
    if isinstance(value, Tensor | AbstractTensorLike):
        tensor = convert_to_tensor(value)
        if tensor.dtype not in INTEGER or tensor.shape.rank not in (0, None):
            raise TypeError(f"an index must be an integer, not {tensor}")
        known = constant_value(tensor)
        return tensor if known is None else int(known)
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"an index must be an integer, a slice, None, ..., or an integer or bool array, not {value!r}")
    return int(value.__index__())


@in_graph_of_inputs
def getitem(tensor: Tensor, key: Any) -> Tensor:
    """`tensor[key]`, as NumPy indexes: integers, slices, None, `...`, tensors as bounds; one array.

    An array holds integers or bools. Bools pick the elements where they are true; how many is known in a run only,
    which XLA cannot have.

    Shapes: any. Dtypes: any; indices are integers, masks are bool.

    Raises:
        TypeError: an index is of another kind. ValueError: it is out of range, or there are too many.
        NotImplementedError: two arrays index at once.

    >>> import pullback as pb
    >>> x = pb.constant([[1, 2, 3], [4, 5, 6]])
    >>> pb.Session(engine="numpy").run([x[-1], x[:, ::2], x[x > 4]])
    [array([4, 5, 6], dtype=int32), array([[1, 3],
           [4, 6]], dtype=int32), array([5, 6], dtype=int32)]
    """
    given = _read_key(key if isinstance(key, tuple) else (key,))
    entries = given if tensor.shape.rank is None else _without_ellipsis(given, tensor)
    basic, numbers, special = _split_key(entries)
    trivial = all(e == FULL or e == "..." for e in basic)
    result = tensor if trivial and special else slice_by(tensor, basic, numbers, "strided_slice")
    before = [item for item in special if item[0] >= 0]
    after = [item for item in special if item[0] < 0]
    for axis, positions in [*reversed(before), *after]:
        if isinstance(positions, _Mask):
            from .gather import boolean_mask

            result = boolean_mask(result, positions.tensor, axis)
        else:
            result = Take(axis)(result, positions)
    return result if _stay_in_place(given) else _moved_to_front(result, entries)


@dataclass(frozen=True)
class _Mask:
    tensor: Tensor
    rank: int


def _read_key(key: tuple[Any, ...]) -> list[Any]:
    """The items of a key: integers, None, "...", triples, tensors of integers, masks."""
    entries = [_read_item(item) for item in key]
    if sum(1 for e in entries if e == "...") > 1:
        raise ValueError("an index can only have a single ellipsis ('...')")
    if sum(1 for e in entries if _is_array(e)) > 1:
        raise NotImplementedError("two arrays cannot index at once; use pb.gather_nd with their elements side by side")
    return entries


def _read_item(item: Any) -> Any:
    if item is None:
        return None
    if item is Ellipsis:
        return "..."
    if isinstance(item, slice):
        step = static_number(item.step)
        return (static_number(item.start), static_number(item.stop), 1 if step is None else step)
    if isinstance(item, list | np.ndarray):
        item = convert_to_tensor(np.asarray(item, np.int32) if isinstance(item, list) and not item else item)
    if isinstance(item, AbstractTensorLike):
        item = convert_to_tensor(item)
    if isinstance(item, Tensor) and item.dtype == bool_:
        if not item.shape.rank:
            raise ValueError(f"a mask must have a known rank of at least 1, not {item}")
        return _Mask(item, item.shape.rank)
    if isinstance(item, Tensor) and item.dtype in INTEGER and item.shape.rank != 0:
        return item
    return static_number(item)


def _is_array(entry: Any) -> bool:
    return isinstance(entry, _Mask) or (isinstance(entry, Tensor) and entry.shape.rank != 0)


def _axes_read(entry: Any) -> int:
    """How many axes of the tensor an entry takes up."""
    if isinstance(entry, _Mask):
        return entry.rank
    return 0 if entry is None or entry == "..." else 1


def _without_ellipsis(entries: list[Any], x: Tensor) -> list[Any]:
    assert x.shape.rank is not None
    missing = x.shape.rank - sum(map(_axes_read, entries))
    if missing < 0:
        raise ValueError(
            f"too many indices for {x}: it has rank {x.shape.rank}, but {x.shape.rank - missing} axes are indexed"
        )
    place = entries.index("...") if "..." in entries else len(entries)
    return entries[:place] + [FULL] * missing + entries[place + 1 :]


def _split_key(entries: list[Any]) -> tuple[tuple[Entry, ...], list[Tensor], list[tuple[int, Any]]]:
    """A slicing, its unknown numbers, and what is left to take from its result: axes there, and positions or masks."""
    basic: list[Entry] = []
    numbers: list[Tensor] = []
    special: list[tuple[int, Any]] = []
    made = 0
    for i, entry in enumerate(entries):
        if isinstance(entry, Tensor | _Mask):
            special.append((made if "..." not in entries[:i] else made - _axes_made(entries), entry))
            basic.extend([FULL] * _axes_read(entry))
        elif isinstance(entry, tuple):
            numbers.extend(n for n in entry if isinstance(n, Tensor))
            basic.append(tuple([UNKNOWN if isinstance(n, Tensor) else n for n in entry]))
        else:
            basic.append(entry)
        made += _axes_made([entry])
    return tuple(basic), numbers, special


def _axes_made(entries: list[Any]) -> int:
    """How many axes a slicing by `entries` leaves, before arrays and masks are applied; an ellipsis counts for none."""
    return sum(1 if entry is None else _axes_read(entry) for entry in entries if type(entry) is not int)


def _stay_in_place(entries: list[Any]) -> bool:
    """NumPy puts the axes of an index array first where integers elsewhere in the key are not next to it."""
    if not any(_is_array(e) for e in entries):
        return True
    together = [i for i, e in enumerate(entries) if _is_array(e) or type(e) is int or isinstance(e, Tensor)]
    return together == list(range(together[0], together[-1] + 1))


def _moved_to_front(result: Tensor, entries: list[Any]) -> Tensor:
    place, array = next((i, e) for i, e in enumerate(entries) if _is_array(e))
    width = 1 if isinstance(array, _Mask) else array.shape.rank
    if width is None or result.shape.rank is None:
        raise ValueError(f"an index array apart from an integer needs known ranks, but the result is {result}")
    start = sum(1 for e in entries[:place] if e is None or isinstance(e, tuple))
    moved = list(range(start, start + width))
    return transpose(result, moved + [i for i in range(result.shape.rank) if i not in moved])
