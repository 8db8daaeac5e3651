"""Slices of ragged tensors: rows, and parts of rows, by Python's square brackets."""

from __future__ import annotations

from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int64
from ...core.graph import Tensor
from ...core.operation import define_methods
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_ as numbers_below
from ..elementwise.division import floordiv
from ..elementwise.maximum import maximum, minimum
from ..indexing.where import where
from .arrangement import expand_dims
from .operations import gather, spans
from .ragged_tensor import RaggedTensor


@in_graph_of_inputs
def sliced(self: RaggedTensor, key: Any) -> Any:
    """Rows by a number or a slice, then parts of rows by slices, then elements by whatever tensors take.

    Raises:
        ValueError: a number along an axis whose lengths differ.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(k is Ellipsis for k in keys):
        place = next(i for i, k in enumerate(keys) if k is Ellipsis)
        taken = sum(k is not None for k in keys) - 1
        keys[place : place + 1] = [slice(None)] * ((self.shape.rank or 0) - taken)
    first, rest = keys[0], keys[1:]
    if first is None:
        under_one = expand_dims(self, 0)
        return _inside(under_one, rest) if rest else under_one
    if not isinstance(first, slice):
        row = self.values[_place(self.row_splits, first) : _place(self.row_splits, first, 1)]
        return row[tuple(rest)] if rest else row
    rows = _rows(self, first)
    return _inside(rows, rest) if rest else rows


def _place(splits: Tensor, row: Any, after: int = 0) -> Tensor:
    """Where row number `row`, which counts from the end if it is negative, begins or ends."""
    if isinstance(row, int):
        return splits[row + after if row >= 0 else row - 1 + after]
    return splits[cast(row, int64) + after]


def _rows(x: RaggedTensor, part: slice) -> RaggedTensor:
    """The rows that `part` picks."""
    if part == slice(None):
        return x
    return gather(x, numbers_below(x.nrows())[part])  # type: ignore[no-any-return]


def _inside(x: RaggedTensor, keys: list[Any]) -> Any:
    """The part of each row that the first key picks, and of its elements what the others do."""
    first, rest = keys[0], keys[1:]
    if first is None:
        ones = RaggedTensor.from_uniform_row_length(x, 1, validate=False)
        return _inside(ones, [slice(None), *rest]) if rest else ones
    if not isinstance(first, slice):
        raise ValueError(f"{x}: a number along an axis whose lengths differ; pick a slice of length one: [:, i:i + 1]")
    picked = x if first == slice(None) else _parts(x, first)
    if not rest:
        return picked
    values = picked.values
    if isinstance(values, RaggedTensor):
        return picked.with_values(_inside(values, rest))
    return picked.with_values(values[(slice(None), *rest)])


def _parts(x: RaggedTensor, part: slice) -> RaggedTensor:
    """That part of each row."""
    step = 1 if part.step is None else int(part.step)
    if step == 0:
        raise ValueError(f"{x}: a slice of a row needs a step other than 0")
    lengths = x.row_lengths()
    zero = lengths * 0
    if step < 0:
        start = _bound(part.start, lengths, lengths - 1, zero - 1, lengths - 1)
        stop = _bound(part.stop, lengths, zero - 1, zero - 1, lengths - 1)
        count = maximum(floordiv(start - stop - step - 1, -step), zero)
    else:
        start = _bound(part.start, lengths, zero, zero, lengths)
        stop = _bound(part.stop, lengths, lengths, zero, lengths)
        count = maximum(floordiv(stop - start + (step - 1), step), zero)
    return spans(x.values, x.row_starts() + start, count, step)


def _bound(given: Any, lengths: Tensor, default: Tensor, least: Tensor, most: Tensor) -> Tensor:
    """Where the part begins or ends in rows of these lengths."""
    if given is None:
        return default
    n = convert_to_tensor(given, int64) if isinstance(given, int) else cast(given, int64)
    from_start = where(n < 0, lengths + n, lengths * 0 + n)
    return minimum(maximum(from_start, least), most)


def install_slices() -> None:
    """Give ragged tensors square brackets."""
    define_methods(RaggedTensor, {"__getitem__": sliced})
