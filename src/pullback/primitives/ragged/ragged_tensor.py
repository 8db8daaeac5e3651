"""Ragged tensors (nested lists, CSR): rows of different lengths, one behind the other, and where they end.

All operations on it are made of operations on its values, so that derivatives of every order are by the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...core.composite import AbstractComposite
from ...core.contexts import control_dependencies, in_graph_of_inputs
from ...core.dtypes import DType, as_dtype, int32, int64
from ...core.graph import Graph, Operation, Tensor
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import constant, constant_value, convert_to_tensor
from ..creation.fill import ones_like
from ..creation.ranges import range_ as numbers_below
from ..cumulative.cumsum import cumsum
from ..debugging.assertions import assert_
from ..identity.identity import identity
from ..indexing.gather import gather
from ..logic.comparison import equal
from ..reduction.reduce import reduce_all, reduce_max
from ..segment.sums import unsorted_segment_sum
from ..shape.size import shape
from ..shape.stacking import concat
from ..sorting.searchsorted import searchsorted


@dataclass(frozen=True, eq=False, repr=False)
class RaggedTensor(AbstractComposite):
    """Rows of different lengths: row i holds `values[row_splits[i]:row_splits[i + 1]]`.

    `values` [n, ...] is a tensor, or a ragged tensor itself, whose rows are then elements; `row_splits` [rows + 1], of
    int64, goes from 0 to n. Use `from_row_splits` and its like, or `pb.ragged.constant`. Derivatives are by the values.

    Operations whose result has as many values as the run says (slices of rows, `gather`, `to_tensor` without a shape)
    work on XLA where what they choose does not depend on what is fed.

    >>> import pullback as pb
    >>> x = pb.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [2, 0, 1])
    >>> x
    RaggedTensor(float32[3,?], 3 values)
    >>> pb.Session().run(x * 2.0).to_list()
    [[2.0, 4.0], [], [6.0]]
    >>> pb.Session().run(pb.ragged.reduce_sum(x, 1)).tolist()
    [3.0, 0.0, 3.0]
    """

    values: Any
    row_splits: Any
    uniform_row_length: Tensor | None = None
    """The length of all rows, where they were made of that."""

    __array_priority__: ClassVar[int] = 102
    from_tensor: ClassVar[Callable[..., RaggedTensor]]
    from_sparse: ClassVar[Callable[..., RaggedTensor]]
    to_tensor: ClassVar[Callable[..., Tensor]]
    to_sparse: ClassVar[Callable[..., Any]]
    __getitem__: ClassVar[Callable[..., Any]]
    __add__: ClassVar[Callable[..., Any]]
    __radd__: ClassVar[Callable[..., Any]]
    __sub__: ClassVar[Callable[..., Any]]
    __rsub__: ClassVar[Callable[..., Any]]
    __mul__: ClassVar[Callable[..., Any]]
    __rmul__: ClassVar[Callable[..., Any]]
    __div__: ClassVar[Callable[..., Any]]
    __rdiv__: ClassVar[Callable[..., Any]]
    __truediv__: ClassVar[Callable[..., Any]]
    __rtruediv__: ClassVar[Callable[..., Any]]
    __floordiv__: ClassVar[Callable[..., Any]]
    __rfloordiv__: ClassVar[Callable[..., Any]]
    __mod__: ClassVar[Callable[..., Any]]
    __rmod__: ClassVar[Callable[..., Any]]
    __pow__: ClassVar[Callable[..., Any]]
    __rpow__: ClassVar[Callable[..., Any]]
    __neg__: ClassVar[Callable[..., Any]]
    __abs__: ClassVar[Callable[..., Any]]
    __lt__: ClassVar[Callable[..., Any]]
    __le__: ClassVar[Callable[..., Any]]
    __gt__: ClassVar[Callable[..., Any]]
    __ge__: ClassVar[Callable[..., Any]]
    __and__: ClassVar[Callable[..., Any]]
    __rand__: ClassVar[Callable[..., Any]]
    __or__: ClassVar[Callable[..., Any]]
    __ror__: ClassVar[Callable[..., Any]]
    __xor__: ClassVar[Callable[..., Any]]
    __rxor__: ClassVar[Callable[..., Any]]
    __invert__: ClassVar[Callable[..., Any]]

    def __post_init__(self) -> None:
        values, splits = _parts(self.values, self.row_splits)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "row_splits", splits)
        if self.row_splits.shape.rank not in (1, None) or self.values.shape.rank == 0:
            raise ValueError(
                f"RaggedTensor: row_splits must be [rows + 1] and values have rows: {self.row_splits}, {self.values}"
            )

    # Made

    @classmethod
    @in_graph_of_inputs
    def from_row_splits(
        cls, values: Any, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i holds `values[row_splits[i]:row_splits[i + 1]]`.

        Unless told otherwise, a run checks splits that are not known before.

        Raises:
            ValueError: constant splits that do not begin with 0, fall, or do not end with the number of values.
        """
        del name
        made = cls(values, row_splits)
        return cls(made.values, _checked(made.row_splits, _rows(made.values))) if validate else made

    @classmethod
    @in_graph_of_inputs
    def from_row_lengths(
        cls, values: Any, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i holds the next `row_lengths[i]` values."""
        lengths = _int64(row_lengths)
        known = constant_value(lengths)
        splits = splits_of(lengths) if known is None else np.concatenate([[0], np.cumsum(known)])
        return cls.from_row_splits(values, splits, name, validate)

    @classmethod
    @in_graph_of_inputs
    def from_row_starts(
        cls, values: Any, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i holds the values from `row_starts[i]` up to the start of the next row."""
        count = shape(_rows(values), out_type=int64)[:1]
        return cls.from_row_splits(values, concat([_int64(row_starts), count], 0), name, validate)

    @classmethod
    @in_graph_of_inputs
    def from_row_limits(
        cls, values: Any, row_limits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row i holds the values from the limit of the row before up to `row_limits[i]`."""
        return cls.from_row_splits(values, concat([constant([0], int64), _int64(row_limits)], 0), name, validate)

    @classmethod
    @in_graph_of_inputs
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Value i belongs to row `value_rowids[i]`, which never fall; there are `nrows` rows, else up to the last.

        Unless told otherwise, a run checks numbers that are not known before.

        Raises:
            ValueError: constant numbers that fall.
        """
        rows = _int64(value_rowids)
        if validate:
            rows = _never_falling(rows)
        if nrows is None:
            known = constant_value(rows)
            nrows = reduce_max(concat([rows, constant([-1], int64)], 0)) + 1 if known is None else _count(known)
        lengths = unsorted_segment_sum(ones_like(rows), rows, nrows)
        return cls.from_row_splits(values, splits_of(lengths), name, validate)

    @classmethod
    @in_graph_of_inputs
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: int | Tensor,
        nrows: TensorLike | None = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Each row holds `uniform_row_length` values."""
        count = shape(_rows(values), out_type=int64)[0] // uniform_row_length if nrows is None else _int64(nrows)
        made = cls.from_row_splits(values, numbers_below(count + 1) * uniform_row_length, name, validate)
        return cls(made.values, made.row_splits, _int64(uniform_row_length))

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of rows, the outermost splits first."""
        result = flat_values
        for splits in reversed(nested_row_splits):
            result = cls.from_row_splits(result, splits, name, validate)
        return result  # type: ignore[no-any-return]

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of rows, the outermost lengths first."""
        result = flat_values
        for lengths in reversed(nested_row_lengths):
            result = cls.from_row_lengths(result, lengths, name, validate)
        return result  # type: ignore[no-any-return]

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of rows, the outermost numbers first."""
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        result = flat_values
        for rows, count in zip(reversed(nested_value_rowids), reversed(counts), strict=True):
            result = cls.from_value_rowids(result, rows, count, name, validate)
        return result  # type: ignore[no-any-return]

    # Looked at

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        """The graph of the values."""
        return self.row_splits.graph  # type: ignore[no-any-return]

    @property
    def flat_values(self) -> Tensor:
        """The values, without any rows."""
        values = self.values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits, the outermost first."""
        return (self.row_splits, *(self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()))

    @property
    def ragged_rank(self) -> int:
        """How many axes have different lengths."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape; None along axes with different lengths."""
        count = self.row_splits.shape.size(0) if self.row_splits.shape.rank else None
        rest = self.values.shape[1:] if self.values.shape.rank else TensorShape.UNKNOWN
        return TensorShape([None if count is None else count - 1, None]).concatenate(rest)

    def get_shape(self) -> TensorShape:
        """What is known of the shape."""
        return self.shape

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        count = shape(self.row_splits, out_type=int64)[0] - 1
        return cast(count, int64 if out_type is None else out_type, name)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row starts."""
        del name
        return self.row_splits[:-1]  # type: ignore[no-any-return]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends."""
        del name
        return self.row_splits[1:]  # type: ignore[no-any-return]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths along `axis`: of rows, or, ragged, of rows of rows."""
        if axis > 1:
            return self.with_values(self.values.row_lengths(axis - 1, name))
        return self.row_limits() - self.row_starts()

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of rows, the outermost first."""
        del name
        return tuple([splits[1:] - splits[:-1] for splits in self.nested_row_splits])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row that each value belongs to."""
        places = numbers_below(shape(_rows(self.values), out_type=int64)[0])
        return searchsorted(self.row_limits(), places, side="right", out_type=int64, name=name)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The numbers of the rows in which the values stand, at each depth, the outermost first."""
        inner = self.values.nested_value_rowids(name) if isinstance(self.values, RaggedTensor) else ()
        return (self.value_rowids(name), *inner)

    def places_in_rows(self) -> Tensor:
        """The place that each value has in its row."""
        rows = self.value_rowids()
        return numbers_below(shape(rows, out_type=int64)[0]) - gather(self.row_starts(), rows)

    def bounding_shape(
        self, axis: int | None = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """The shape of the smallest dense array that has room for all rows, or its length along `axis`."""
        longest = reduce_max(concat([self.row_lengths(), constant([0], int64)], 0))[None]
        inside = (
            self.values.bounding_shape()
            if isinstance(self.values, RaggedTensor)
            else shape(self.values, out_type=int64)
        )
        found = concat([self.nrows()[None], longest, inside[1:]], 0, name=name)
        found = cast(found, int64 if out_type is None else out_type)
        return found if axis is None else found[axis]

    # Changed

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values."""
        return RaggedTensor(new_values, self.row_splits, self.uniform_row_length)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of rows of other values."""
        values = self.values
        return self.with_values(values.with_flat_values(new_values) if isinstance(values, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same: splits are of int64, whatever `dtype` asks for.

        Raises:
            ValueError: `dtype` is neither int32 nor int64.
        """
        if as_dtype(dtype) not in (int32, int64):
            raise ValueError(f"RaggedTensor: row splits are int32 or int64, not {dtype}")
        return self

    def consumers(self) -> list[Operation]:
        """The operations that read the values or the splits."""
        return [op for op in self.graph.operations if any(x in self.tensors for x in op.inputs)]

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The axes from one to the other as one."""
        if outer_axis == inner_axis:
            return self
        values = self.values
        if outer_axis > 1:
            return self.with_values(values.merge_dims(outer_axis - 1, inner_axis - 1))
        if outer_axis == 1:
            merged = RaggedTensor(values.values, gather(values.row_splits, self.row_splits))
            return merged.merge_dims(1, inner_axis - 1)
        return values if inner_axis == 1 else values.merge_dims(0, inner_axis - 1)

    # What it is to loops and branches

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The flat values, and the splits."""
        return self.flat_values, *self.nested_row_splits

    @property
    def lasting_types(self) -> tuple[TensorType, ...]:
        """Another one of as many rows may have any number of values."""
        return self.types_within(TensorShape([self.shape.size(0) if self.shape.rank else None]))

    def types_within(self, invariant: TensorShape) -> tuple[TensorType, ...]:
        """Those of as many rows as `invariant` says, and any number of values."""
        rows = invariant.size(0) if invariant.rank else None
        values, splits, *inner = self.tensors
        return (
            TensorType(values.type.dtype, _any_number(values)),
            TensorType(splits.type.dtype, TensorShape([None if rows is None else rows + 1])),
            *[TensorType(x.type.dtype, _any_number(x)) for x in inner],
        )

    def with_tensors(self, tensors: Sequence[Tensor]) -> RaggedTensor:
        """The ragged tensor of other values and splits."""
        result: Any = tensors[0]
        for splits in reversed(tensors[1:]):
            result = RaggedTensor(result, splits)
        return result  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        count = self.flat_values.shape.size(0) if self.flat_values.shape.rank else None
        dims = "..." if self.shape.sizes is None else ",".join("?" if n is None else str(n) for n in self.shape.sizes)
        return f"RaggedTensor({self.flat_values.type.dtype.name}[{dims}], {'?' if count is None else count} values)"


class RaggedTensorValue(NamedTuple):
    """The arrays of a RaggedTensor: what a run gives for one, and is fed with.

    >>> import numpy as np
    >>> import pullback as pb
    >>> pb.ragged.RaggedTensorValue(np.array([1.0, 2.0]), np.array([0, 2, 2])).to_list()
    [[1.0, 2.0], []]
    """

    values: Any
    row_splits: Any

    @property
    def flat_values(self) -> Any:
        """The values, without any rows."""
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits, the outermost first."""
        return (self.row_splits, *(self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()))

    def to_list(self) -> list[Any]:
        """The rows, as lists."""
        nested = isinstance(self.values, RaggedTensorValue)
        values = self.values.to_list() if nested else np.asarray(self.values).tolist()
        return [values[a:b] for a, b in zip(self.row_splits[:-1], self.row_splits[1:], strict=True)]


def ragged_value(arrays: Sequence[Any]) -> RaggedTensorValue:
    """The value whose flat values come first, and whose splits follow, the outermost first."""
    result = arrays[0]
    for splits in reversed(arrays[1:]):
        result = RaggedTensorValue(result, splits)
    return result  # type: ignore[no-any-return]


def splits_of(lengths: Tensor) -> Tensor:
    """Where rows of these lengths begin and end."""
    return concat([constant([0], int64), cumsum(lengths)], 0)


def _checked(splits: Tensor, values: Tensor) -> Tensor:
    """`splits`, which begin with 0, never fall, and end with the number of values."""
    known, count = constant_value(splits), values.shape.size(0) if values.shape.rank else None
    if known is not None and (not known.size or known[0] != 0 or (np.diff(known) < 0).any()):
        raise ValueError(f"RaggedTensor: row_splits must begin with 0 and never fall, not {known.tolist()}")
    if known is not None and count is not None:
        if known[-1] != count:
            raise ValueError(
                f"RaggedTensor: row_splits must end with {count}, as many values are, not {known.tolist()}"
            )
        return splits
    ends = concat([splits[:1], splits[-1:]], 0), concat([constant([0], int64), shape(values, out_type=int64)[:1]], 0)
    right = concat([equal(*ends), splits[1:] >= splits[:-1]], 0)
    return _after(right, splits, "row_splits must begin with 0, never fall, and end with the number of values")


def _never_falling(rows: Tensor) -> Tensor:
    known = constant_value(rows)
    if known is None:
        return _after(rows[1:] >= rows[:-1], rows, "value_rowids must never fall")
    if (np.diff(known) < 0).any():
        raise ValueError(f"RaggedTensor: value_rowids must never fall, not {known.tolist()}")
    return rows


def _after(right: Tensor, x: Tensor, wanted: str) -> Tensor:
    """`x`, of which a run checks that all is `right`."""
    with control_dependencies([assert_(reduce_all(right), [f"RaggedTensor: {wanted}, not", x])]):
        return identity(x)


@in_graph_of_inputs
def _parts(values: Any, splits: TensorLike) -> tuple[Any, Tensor]:
    return values if isinstance(values, RaggedTensor) else convert_to_tensor(values), _int64(splits)


def _int64(x: TensorLike) -> Tensor:
    tensor = convert_to_tensor(x, None if isinstance(x, Tensor) else int64)
    return tensor if tensor.type.dtype == int64 else cast(tensor, int64)


def _rows(values: Any) -> Any:
    """A tensor that has as many rows as `values`."""
    return values.row_splits[1:] if isinstance(values, RaggedTensor) else convert_to_tensor(values)


def _count(rows: Any) -> int:
    return int(rows[-1]) + 1 if rows.size else 0


def _any_number(x: Tensor) -> TensorShape:
    return TensorShape.UNKNOWN if x.shape.rank is None else TensorShape([None]).concatenate(x.shape[1:])
