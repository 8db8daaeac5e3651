"""TensorArray rows: read, written, added up. Each is a derivative of the others.

None of the derivatives reads the array itself, only positions and the number of rows: a loop that differentiates its
reads and writes keeps no copy of the array for each of its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.intervals import any_input_or_zero
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape
from ..core.traits import ADDS, MOVES, SETTLES
from ..core.types import TensorType
from .base.scattering import check_range
from .creation.fill import zeros_like
from .shape.size import shape


class ArrayBlank(Primitive):
    """An array of so many rows that nothing is known of yet: the first that is written says their shape."""

    type = "TensorListReserve"
    shape_inputs = (0,)

    dtype: DType
    row: TensorShape = TensorShape.UNKNOWN
    """What is known of the shape of a row."""

    def infer(self, size: TensorType) -> tuple[TensorType, ...]:
        del size
        known = self.row.rank is not None
        return (TensorType(self.dtype, TensorShape([None]).concatenate(self.row) if known else TensorShape.UNKNOWN),)

    def kernel(self, xp: Any, size: Any) -> Any:
        row = (None,) if self.row.sizes is None else self.row.sizes
        return xp.zeros((int(size), *[n or 0 for n in row]), self.dtype)

    gradient = no_gradient


class ArrayRead(Primitive):
    """Rows of an array: [n, row...] at positions [...] gives [..., row...]. The last input is n."""

    type = "TensorListGetItem"
    traits = (MOVES, SETTLES)

    row: TensorShape = TensorShape.UNKNOWN
    """What is known of the shape of a row, beyond what the array says."""
    room: int | None = None
    """More rows than n is ever; what XLA has, which must know how many, for an array that grows."""

    def infer(self, array: TensorType, indices: TensorType, size: TensorType) -> tuple[TensorType, ...]:
        del size
        row = (array.shape[1:] if array.shape.rank else TensorShape.UNKNOWN).merge_with(self.row)
        return (TensorType(array.dtype, indices.shape.concatenate(row)),)

    def kernel(self, xp: Any, array: Any, indices: Any, size: Any) -> Any:
        del size
        if xp is np:
            check_range(np.asarray(indices), array.shape[0], "TensorArray.read")
        return xp.take(array, indices, axis=0)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        _, indices, size = op.inputs
        return partial(ArrayAdd(self.room), dy, indices, size), None, None


class ArrayWrite(Primitive):
    """An array [n, row...] with rows [..., row...] at positions [...]; the last input is n before it grows.

    With `grows` the array gets as many rows as the positions need, the new ones zeros.
    """

    type = "TensorListSetItem"
    traits = (MOVES, SETTLES)

    grows: bool = False
    room: int | None = None
    """More rows than it is ever to have, where that is known."""

    def infer(
        self, array: TensorType, indices: TensorType, rows: TensorType, size: TensorType
    ) -> tuple[TensorType, ...]:
        del size
        if rows.dtype != array.dtype:
            raise TypeError(f"TensorArray.write: the value is {rows}, but the array is of {array.dtype.name}")
        row = rows.shape[indices.shape.rank :] if None not in (rows.shape.rank, indices.shape.rank) else array.shape[1:]
        known = array.shape[1:] if array.shape.rank else TensorShape.UNKNOWN
        if not known.is_compatible_with(row):
            raise ValueError(
                f"TensorArray.write: the value {rows} has not the shape of the other elements, {known}; "
                "all elements of an array have one shape, unless infer_shape=False and all positions are known"
            )
        count = None if self.grows else array.shape.length(0)
        return (TensorType(array.dtype, TensorShape([count]).concatenate(row.merge_with(known))),)

    def _unwritten(self, op: Operation, dy: Tensor) -> Tensor:
        _, indices, rows, size = op.inputs
        others = ArrayWrite()(dy, indices, zeros_like(rows), self._grown(op, dy))
        return ArrayHead(self.room)(others, size) if self.grows else others

    def _grown(self, op: Operation, dy: Tensor) -> Tensor:
        """How many rows the result has."""
        return shape(dy)[0] if self.grows else op.inputs[3]

    def kernel(self, xp: Any, array: Any, indices: Any, rows: Any, size: Any) -> Any:
        del size
        row = rows.shape[np.ndim(indices) :]
        count = array.shape[0]
        if self.grows:
            count = max(count, int(np.max(indices, initial=-1)) + 1)
        else:
            check_range(np.asarray(indices), count, "TensorArray.write")
        result = xp.zeros((count, *row), array.dtype)
        if array.shape[1:] == row:
            result[: array.shape[0]] = array
        elif array.size:
            raise ValueError(f"TensorArray.write: a value of shape {row} among elements of shape {array.shape[1:]}")
        result[indices] = rows
        return result

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        indices = op.inputs[1]
        return (
            partial(self._unwritten, op, dy),
            None,
            lambda: ArrayRead()(dy, indices, self._grown(op, dy)),
            None,
        )

    bounds = any_input_or_zero


class ArrayAdd(Primitive):
    """An array of n rows of zeros, to which rows [..., row...] are added at positions [...]; the last input is n."""

    type = "TensorListAddItems"
    traits = (ADDS,)

    room: int | None = None
    """As for reading."""

    @property
    def shape_inputs(self) -> tuple[int, ...]:  # type: ignore[override]
        """The number of rows, where there is no room."""
        return (2,) if self.room is None else ()

    def infer(self, rows: TensorType, indices: TensorType, size: TensorType) -> tuple[TensorType, ...]:
        del size
        known = None not in (rows.shape.rank, indices.shape.rank)
        row = rows.shape[indices.shape.rank :] if known else TensorShape.UNKNOWN
        return (TensorType(rows.dtype, TensorShape([None]).concatenate(row)),)

    def kernel(self, xp: Any, rows: Any, indices: Any, size: Any) -> Any:
        total = xp.zeros((int(size), *rows.shape[np.ndim(indices) :]), rows.dtype)
        np.add.at(total, indices, rows)
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        _, indices, size = op.inputs
        return (lambda: ArrayRead(room=self.room)(dy, indices, size)), None, None


class ArrayHead(Primitive):
    """The first n rows of an array; the last input is n."""

    type = "TensorListHead"

    room: int | None = None
    """So many rows XLA has in place of n, those behind the first n zeros, for an array that grows in a loop."""
    ended: bool = False
    """Whether that loop has ended, so that XLA is to see that the rows behind are none."""

    @property
    def shape_inputs(self) -> tuple[int, ...]:  # type: ignore[override]
        """The number of rows, where there is no room."""
        return (1,) if self.room is None else ()

    def infer(self, array: TensorType, size: TensorType) -> tuple[TensorType, ...]:
        del size
        row = array.shape[1:] if array.shape.rank else TensorShape.UNKNOWN
        return (TensorType(array.dtype, TensorShape([None]).concatenate(row)),)

    def kernel(self, xp: Any, array: Any, size: Any) -> Any:
        del xp
        return array[: int(size)]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        if self.room is None:
            return (lambda: ArrayTail()(dy, op.inputs[0])), None
        return partial(ArrayTail(self.room, self.ended), dy, *op.inputs), None


class ArrayTail(Primitive):
    """An array with rows of zeros behind it, up to as many as the second input has.

    With `room` the third input is the number of its rows.
    """

    type = "TensorListTail"

    room: int | None = None
    ended: bool = False

    def infer(self, array: TensorType, like: TensorType, *size: TensorType) -> tuple[TensorType, ...]:
        del size
        row = array.shape[1:] if array.shape.rank else TensorShape.UNKNOWN
        return (TensorType(array.dtype, TensorShape([like.shape.length(0)]).concatenate(row)),)

    def kernel(self, xp: Any, array: Any, like: Any, *size: Any) -> Any:
        del size
        more = like.shape[0] - array.shape[0]
        return xp.concatenate([array, xp.zeros((more, *array.shape[1:]), array.dtype)])

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        array, _, *size = op.inputs
        nothing = [None] * (1 + len(size))
        if size:
            return partial(ArrayHead(self.room, self.ended), dy, *size), *nothing
        return (lambda: ArrayHead()(dy, shape(array)[0])), *nothing
