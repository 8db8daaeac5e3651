"""TensorArray: elements that are written and read one by one, above all in loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.composite import AbstractComposite
from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import INTEGER, as_dtype, int32
from ..core.errors import InvalidArgumentError
from ..core.graph import Graph, Operation, Tensor
from ..core.seen import seen
from ..core.shape import TensorShape, as_shape
from ..core.types import TensorType
from ..core.typing import DTypeLike, ShapeLike, TensorLike
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import constant, constant_value, convert_to_tensor
from ..primitives.creation.fill import zeros
from ..primitives.debugging.assertions import assert_
from ..primitives.elementwise.maximum import maximum
from ..primitives.identity.identity import ensure_shape, identity, no_op
from ..primitives.indexing.where import where
from ..primitives.logic.comparison import equal
from ..primitives.reduction.reduce import reduce_max
from ..primitives.shape.reshape import reshape
from ..primitives.shape.size import rank, shape
from ..primitives.shape.stacking import concat
from ..primitives.tensor_array import ArrayBlank, ArrayRead, ArrayWrite
from .array_elements import Elements
from .array_pieces import Pieces, pieces_of


class TensorArray(AbstractComposite):
    """An array of tensors of one dtype and shape; each writing method returns a new one, with what was written.

    Args:
        dtype: the dtype of the elements.
        size: the number of elements, a scalar integer; 0 unless given: then `unstack` and `split` say it.
        dynamic_size: whether writing behind the end makes it longer. On XLA only where it can be told, when the graph
            is built, how long it may get: at positions that are known, or a counter's in a loop of bounded steps.
        clear_after_read: whether an element that was read is gone, as in TensorFlow 1, None for yes; see below.
        tensor_array_name: a name for what it makes.
        infer_shape: whether all elements have one shape. With False they may have different ones, as long as the size
            and the positions are known when the graph is built; what loops and branches change has one shape.
        element_shape: the shape of the elements, where it is known; else the first that is written says it.

    `handle`, `flow` and `colocate_with_first_write_call` are taken for TensorFlow's sake. An array may be a loop
    variable, captured, or returned by a branch. Elements that were not written are zeros. An element may be written
    again and again, the last value counts, and it alone has a derivative; and read again and again, which adds up. In
    programs of TensorFlow 1 (after `disable_v2_behavior`) a run fails, as there, where it is known when the graph is
    built that a position is written twice, or that an element is read after another operation has read it; with
    `clear_after_read=False` that may be. Derivatives of every order go through all methods.

    Raises:
        TypeError: a value of another dtype; a size or an index that is no integer. ValueError: a value of another
            shape; the size is no scalar, or negative.
        InvalidArgumentError: in a run, an index out of range; in a compiled program, if it is not known before, what is
        read there is NaN, and what is written there is left out.

    >>> import pullback as pb
    >>> x = pb.constant(2.0)
    >>> squares = pb.TensorArray(pb.float32, size=3)
    >>> _, squares = pb.while_loop(
    ...     lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x ** pb.cast(i, pb.float32))), (0, squares))
    >>> y = squares.stack()
    >>> pb.Session().run([y, *pb.gradients(y, x)])
    [array([1., 2., 4.], dtype=float32), np.float32(5.0)]
    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: object = None,
        flow: TensorLike | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        del handle, flow, colocate_with_first_write_call
        self._dtype = as_dtype(dtype)
        self._dynamic_size, self._is_sized = bool(dynamic_size), size is not None
        self._element_shape = as_shape(element_shape)
        count = _integers("TensorArray: size must be a scalar integer", 0 if size is None else size)
        if count.shape.rank not in (0, None):
            raise ValueError(f"TensorArray: size must be a scalar integer, not {count}")
        known = constant_value(count)
        if known is not None and known < 0:
            raise ValueError(f"TensorArray: size must not be negative, not {known}")
        self._size = cast(count, int32)
        self._pieces: Pieces | None = None
        self._buffer: Tensor | None = None
        self._inferred: list[TensorShape] | None = [] if infer_shape else None
        self._elements = Elements({} if clear_after_read in (None, True) else None)
        if known is not None and not infer_shape:
            self._pieces = Pieces(self._dtype, self._element_shape, int(known), {})
            return
        name = name or tensor_array_name or "TensorArray"
        if self._element_shape.is_fully_defined():
            rows = self._size if known is None else int(known)
            self._buffer = zeros([rows, *self._element_shape.known], self._dtype, name=name)
        else:
            self._buffer = ArrayBlank(self._dtype)(self._size, name=name)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return seen.dtype(self._dtype)

    @property
    def dynamic_size(self) -> bool:
        """Whether writing behind the end makes the array longer."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._element_shape

    @property
    def flow(self) -> Tensor:
        """The tensor that holds the elements."""
        return self._rows

    @property
    def handle(self) -> None:
        """None: no resource stands behind an array."""
        return None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The elements, and their number."""
        return self._rows, self._size

    @property
    def graph(self) -> Graph:
        """The graph of the elements."""
        return self._size.graph

    @property
    def lasting_types(self) -> tuple[TensorType, ...]:
        """The types of the two; the number of the elements is not for ever where it may grow."""
        rows = self._rows.type
        if self._dynamic_size and rows.shape.rank:
            rows = TensorType(rows.dtype, TensorShape([None]).concatenate(rows.shape[1:]))
        return rows, self._size.type

    def types_within(self, invariant: TensorShape) -> tuple[TensorType, ...]:
        """Those that last: of an array nothing need be said."""
        del invariant
        return self.lasting_types

    def with_tensors(self, tensors: Sequence[Tensor]) -> TensorArray:
        """An array like this one of other elements."""
        rows, size = tensors
        return self._like(rows, size)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, a scalar of int32."""
        return identity(self._size, name=name) if name else self._size

    @in_graph_of_inputs
    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element number `index`."""
        number = _position("read", index)
        name, known = name or "TensorArrayRead", constant_value(number)
        piece = None if self._pieces is None else self._pieces.at(self._place(number))
        if known is None:
            return self.gather(number, name) if piece is None else identity(piece, name=name)
        cleared = self._elements.before_read(int(known))
        y = self.gather(number, name) if piece is None else identity(piece, name=name)
        self._elements.after_read(int(known), y.op)
        return _failing(y, cleared)

    @in_graph_of_inputs
    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements of the numbers `indices` [...], stacked: [..., element...]."""
        numbers = _integers("TensorArray.gather: the indices must be integers", indices)
        if self._pieces is not None:
            return self._dense().gather(numbers, name)
        self._check_written("gather", self._outside("read from", numbers))
        numbers = self._inside("read from", numbers)
        return ArrayRead(self._element_shape.static)(self._rows, numbers, self._size, name=name or "TensorArrayGather")

    @in_graph_of_inputs
    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with `value` as its element number `index`."""
        number, row = _position("write", index), convert_to_tensor(value, self._dtype)
        elements, complaint = self._elements.after_write(_known_positions(number))
        row = _failing(row, complaint)
        if self._pieces is not None and (known := self._place(number)) is not None:
            return self._of_pieces(self._pieces.with_one(known, row))._of(elements)
        return self._dense()._written(number, row, name)._of(elements)

    @in_graph_of_inputs
    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` [n, element...] as its elements of the numbers `indices` [n]."""
        numbers = _integers("TensorArray.scatter: the indices must be integers", indices)
        elements, complaint = self._elements.after_write(_known_positions(numbers))
        rows = _failing(convert_to_tensor(value, self._dtype), complaint)
        return self._dense()._written(numbers, rows, name)._of(elements)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor [n, element...].

        Raises:
            ValueError: nothing was written to it, and the shape of its elements is not known; they have different ones.
        """
        if self._pieces is not None:
            return self._pieces.stacked(name) if self._pieces.is_full() else self._dense().stack(name)
        if self._is_blank() and (self._element_shape.rank is not None or self._inferred):
            return self._never_written(name or "TensorArrayStack")
        self._check_written("stack")
        known = constant_value(self._size)
        static = TensorShape([None if known is None else int(known)]).concatenate(self._element_shape)
        if static == self._rows.shape or static.rank is None:
            return identity(self._rows, name=name or "TensorArrayStack")
        return ensure_shape(self._rows, static, name=name or "TensorArrayStack")

    @in_graph_of_inputs
    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array whose elements are the rows of `value` [n, element...]."""
        rows = convert_to_tensor(value, self._dtype)
        if rows.shape.rank == 0:
            raise ValueError(f"TensorArray.unstack: {rows} is a scalar and has no rows")
        del name
        count = rows.shape.size(0)
        if count and self._is_sized:
            rows = self._inside("write to", constant(count - 1), rows)
        elements, complaint = self._elements.after_write(range(count or 0))
        rows = _failing(rows, complaint)
        return self._like(rows, shape(rows)[0])._of(elements)

    def concat(self, name: str | None = None) -> Tensor:
        """All elements [k, ...] one behind the other: [n * k, ...], or [the sum of all k, ...] where they differ."""
        joined = None if self._pieces is None else self._pieces.concatenated(name)
        if joined is not None:
            return joined
        rows = self.stack()
        if rows.shape.rank is not None and rows.shape.rank < 2:
            raise ValueError(f"TensorArray.concat: the elements are scalars, {rows}; use stack")
        if rows.shape.is_fully_defined():
            n, k, *rest = rows.shape.known
            return reshape(rows, [n * k, *rest], name=name or "TensorArrayConcat")
        return reshape(rows, concat([[-1], shape(rows)[2:]], 0), name=name or "TensorArrayConcat")

    @in_graph_of_inputs
    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """The array whose elements are pieces of `value` [n, ...] of the given lengths, a vector whose sum is n.

        Lengths that only a run knows must all be the same.

        Raises:
            InvalidArgumentError: they are no vector, or have another sum; in a run: not one for each element.
        """
        rows = convert_to_tensor(value, self._dtype)
        pieces = _integers("TensorArray.split: the lengths must be integers", lengths)
        known = _checked_lengths(rows, pieces)
        rows = _failing(rows, self._miscounted(pieces))
        if known is not None and len(set(known)) > 1:
            return self._of_pieces(pieces_of(rows, known))
        if pieces.shape.rank is None:
            data = ["TensorArray.split: Expected lengths to be a vector, received shape:", shape(pieces)]
            is_vector = equal(rank(pieces), 1)
            with pieces.graph.acting.control_dependencies([assert_(is_vector, data)]):
                whole = cast(
                    shape(rows)[0], pieces.dtype
                )  # So that XLA, which has the shapes first, gets to the check.
                pieces = reshape(where(is_vector, pieces, whole), [-1])
        count = shape(pieces)[0]
        length = reduce_max(pieces)
        del name
        parts = reshape(rows, concat([[count], [cast(length, int32)], shape(rows)[1:]], 0))
        return self._like(parts, count)

    def identity(self) -> TensorArray:
        """The array again."""
        if self._pieces is not None:
            return self._of_pieces(self._pieces.again())
        return self._like(identity(self._rows), self._size)

    def grad(self, source: str, flow: TensorLike | None = None, name: str | None = None) -> TensorArray:
        """Raises NotImplementedError: derivatives are tensors here, from `gradients`, not arrays of a name."""
        del source, flow, name
        raise NotImplementedError("TensorArray.grad: there are no arrays of derivatives; use pb.gradients")

    def close(self, name: str | None = None) -> Operation:
        """An operation that does nothing: there is nothing to free."""
        return no_op(name or "TensorArrayClose")

    def mark_used(self) -> None:
        """Nothing: no array warns that it is not used."""

    @property
    def _rows(self) -> Tensor:
        """The buffer of all elements."""
        return self._dense()._rows if self._buffer is None else self._buffer

    def _place(self, number: Tensor) -> int | None:
        """The position `number`, where it is known and something can be written there."""
        known, size = constant_value(number), constant_value(self._size)
        fits = known is not None and known >= 0 and (self._dynamic_size or (size is not None and known < size))
        return int(known) if fits and known is not None else None

    def _dense(self) -> TensorArray:
        """The array with a buffer in place of pieces; they have one shape."""
        if self._pieces is None:
            return self
        array = TensorArray(self._dtype, self._pieces.size, self._dynamic_size, element_shape=self._element_shape)
        for number, row in self._pieces.written.items():
            array = array._written(constant(number), row, None)
        return array

    def _of_pieces(self, pieces: Pieces) -> TensorArray:
        """An array like this one of those elements."""
        known = constant_value(self._size)
        size = self._size if known == pieces.size else constant(pieces.size, int32)
        made = self._made(self._element_shape, size)
        made._buffer, made._pieces = None, pieces
        return made

    def _miscounted(self, lengths: Tensor) -> str | None:
        """What to say where it is known that there are not as many `lengths` as elements; None else."""
        size, count = constant_value(self._size), lengths.shape.size(0) if lengths.shape.rank else None
        if size is None or count in (None, size) or self._dynamic_size or not self._is_sized:
            return None
        return (
            f"TensorArray.split: TensorArray's size is not equal to the size of lengths ({size} vs. {count}), and the "
            "TensorArray is not marked as dynamically resizeable; pass size=, or dynamic_size=True"
        )

    def _is_blank(self) -> bool:
        return isinstance(self._rows.op.primitive, ArrayBlank)

    def _never_written(self, name: str) -> Tensor:
        """No elements, of the shape that they or those of arrays made of this one have; any cannot be computed."""
        known = self._element_shape
        if known.rank is None and self._inferred:
            known = self._inferred[0]
        if constant_value(self._size) == 0 and known.is_fully_defined():
            return zeros([0, *known.known], self._dtype, name=name)
        blank = ArrayBlank(self._dtype, known)(self._size, name=name)
        return _failing(blank, f"TensorArray.stack: nothing was written to the array of elements {known}")

    def _check_written(self, what: str, complaint: str | None = None) -> None:
        if self._is_blank():
            empty = f"Tried to {what} elements of an empty list with non-fully-defined element_shape"
            unknown = f"TensorArray.{what}: {empty}: nothing was written to the array; give it element_shape="
            if constant_value(self._size) == 0:
                unknown += "; it has size zero, but element shape <unknown> is not fully defined"
            raise InvalidArgumentError(complaint or unknown)

    def _written(self, numbers: Tensor, rows: Tensor, name: str | None) -> TensorArray:
        if self._dynamic_size:
            return self._grown(numbers, rows, name or "TensorArrayWrite")
        numbers = self._inside("write to", numbers)
        array = ArrayWrite()(self._rows, numbers, rows, self._size, name=name or "TensorArrayWrite")
        return self._like(array, self._size)

    def _grown(self, numbers: Tensor, rows: Tensor, name: str) -> TensorArray:
        """The array with elements written, behind its end too; of a known length where positions and size are known."""
        known, size = constant_value(numbers), constant_value(self._size)
        if known is not None and size is not None and np.all(known >= 0):
            count = max(int(size), int(np.max(known, initial=-1)) + 1)
            longer = self._lengthened(count, int(size))
            if longer is not None:
                total = self._size if count == size else constant(count, int32)
                return self._like(ArrayWrite()(longer, numbers, rows, total, name=name), total)
        array = ArrayWrite(grows=True)(self._rows, numbers, rows, self._size, name=name)
        return self._like(array, maximum(self._size, cast(reduce_max(numbers), int32) + 1))

    def _lengthened(self, count: int, size: int) -> Tensor | None:
        """The buffer of `size` elements with zeros behind, `count` in all; None where their shape is not known."""
        if count == size:
            return self._rows
        if self._is_blank():
            return ArrayBlank(self._dtype)(constant(count, int32))
        if not self._element_shape.is_fully_defined():
            return None
        return concat([self._rows, zeros([count - size, *self._element_shape.known], self._dtype)], 0)

    def _inside(self, what: str, numbers: Tensor, x: Tensor | None = None) -> Tensor:
        """`x`, or `numbers`; where these are known to be outside the array, a run fails, on XLA too."""
        return _failing(numbers if x is None else x, self._outside(what, numbers))

    def _outside(self, what: str, numbers: Tensor) -> str | None:
        """What to say of `numbers` that are known to be outside the array; None else."""
        known, size = constant_value(numbers), constant_value(self._size)
        if known is None or size is None or self._dynamic_size or np.all((known >= 0) & (known < size)):
            return None
        fixed = "array is not resizeable and size is" if what == "write to" else "array size is"
        return f"TensorArray: Tried to {what} index {known} but {fixed}: {size}"

    def _like(self, rows: Tensor, size: Tensor) -> TensorArray:
        known = rows.shape[1:] if rows.shape.rank else TensorShape.UNKNOWN
        if known.rank is not None and self._inferred is not None:
            self._inferred[:] = [known]
        made = self._made(self._element_shape.merge_with(known), size)
        made._buffer, made._pieces = rows, None
        return made

    def _made(self, element_shape: TensorShape, size: Tensor) -> TensorArray:
        made = TensorArray.__new__(TensorArray)
        made._is_sized = True
        made._dtype, made._dynamic_size, made._inferred = self._dtype, self._dynamic_size, self._inferred
        made._element_shape, made._size, made._elements = element_shape, size, self._elements
        return made

    def _of(self, elements: Elements) -> TensorArray:
        """This array, which was just made, of which that is known."""
        self._elements = elements
        return self

    def __repr__(self) -> str:
        known = constant_value(self._size)
        return f"TensorArray({TensorType(self._dtype, self._element_shape)}, size={'?' if known is None else known})"

    def __len__(self) -> int:
        raise TypeError("len of a TensorArray is not known while the graph is built; use .size()")


def _failing(x: Tensor, complaint: str | None) -> Tensor:
    """`x`; a run of it fails where there is a complaint."""
    if complaint is None:
        return x
    with x.graph.acting.control_dependencies([assert_(constant(False), [complaint])]):
        return identity(x)


def _checked_lengths(value: Tensor, lengths: Tensor) -> list[int] | None:
    """The lengths of pieces of `value`, where they are known; InvalidArgumentError unless they fit."""
    if lengths.shape.rank not in (1, None):
        raise InvalidArgumentError(f"TensorArray.split: Expected lengths to be a vector, received {lengths}")
    if value.shape.rank == 0:
        raise InvalidArgumentError(
            f"TensorArray.split: Expected value to be at least a vector, but received shape: [], of {value}"
        )
    known = constant_value(lengths)
    if known is None:
        return None
    count = value.shape.size(0)
    if count not in (None, known.sum()):
        raise InvalidArgumentError(
            f"TensorArray.split: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{known.sum()} and value's shape is: {value.shape.as_list()}, of {value}"
        )
    return [int(n) for n in known]


def _known_positions(numbers: Tensor) -> list[int]:
    """The positions `numbers`, where they are known."""
    known = constant_value(numbers)
    return [] if known is None else [int(n) for n in np.ravel(known)]


def _position(what: str, index: Any) -> Tensor:
    number = _integers(f"TensorArray.{what}: the index must be a scalar integer", index)
    if number.shape.rank not in (0, None):
        raise ValueError(f"TensorArray.{what}: the index must be a scalar integer, not {number}")
    return number


def _integers(rule: str, value: Any) -> Tensor:
    numbers = convert_to_tensor(value, dtype_hint=int32)
    if numbers.dtype not in INTEGER:
        raise TypeError(f"{rule}, not {numbers}")
    return numbers
