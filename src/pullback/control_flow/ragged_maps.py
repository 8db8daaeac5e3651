"""`map_fn` whose results are ragged: what a function makes of each row, of as many elements as it likes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core import nest
from ..core.contexts import in_graph_of_inputs, name_scope
from ..core.dtypes import DType, int64
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.fill import zeros
from ..primitives.ragged.ragged_tensor import RaggedTensor
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from .maps import by_number
from .tensor_array import TensorArray
from .while_loop import while_loop


@dataclass(frozen=True)
class RowKind:
    """What the function makes of a row: elements of `dtype`, in rows nested `depth` deep; None for what has one shape.

    `inner` is the shape below these rows.
    """

    dtype: DType
    depth: int | None
    inner: tuple[int, ...] = ()


@in_graph_of_inputs
def map_to_ragged(fn: Callable[..., Any], elems: Any, kinds: Any, name: str | None = None) -> Any:
    """What `fn` makes of each row of `elems`, in rows; `kinds` is a structure of `RowKind`s like that of its results.

    Derivative: dx_i = that of `fn` at row i.

    Raises:
        TypeError: `fn` makes something of another dtype. ValueError: of another structure, or more deeply nested.
    """
    of_rows, given = by_number(fn, elems)
    rows = nest.map_structure(lambda x: x if isinstance(x, TensorArray) else convert_to_tensor(x), given)
    first = next(x for x in nest.flatten(rows))
    count = first.size() if isinstance(first, TensorArray) else shape(first)[0]
    wanted = nest.flatten(kinds)

    def step(i: Tensor, *so_far: Any) -> Any:
        row = nest.map_structure(lambda x: x.read(i) if isinstance(x, TensorArray) else x[i], rows)
        made = of_rows(row)
        nest.assert_same_structure(nest.map_structure(lambda _: 0, kinds), nest.map_structure(lambda _: 0, made))
        values = nest.flatten(made)
        return (i + 1, *[_longer(k, a, y, i) for k, a, y in zip(wanted, so_far, values, strict=True)])

    with name_scope(name or "map"):
        start = [_nothing(kind, count) for kind in wanted]
        invariants = [nest.map_structure(_any_number, x) for x in start]
        scalar = TensorShape([])
        _, *found = while_loop(lambda i, *_: i < count, step, (0, *start), shape_invariants=(scalar, *invariants))
        return nest.pack_sequence_as(kinds, [_result(kind, x) for kind, x in zip(wanted, found, strict=True)])


def _nothing(kind: RowKind, count: Tensor) -> Any:
    """No results yet: no values, and no lengths; or an array of elements."""
    if kind.depth is None:
        return TensorArray(kind.dtype, size=count)
    return [zeros([0, *kind.inner], kind.dtype), *[zeros([0], int64) for _ in range(kind.depth + 1)]]


def _any_number(x: Any) -> TensorShape:
    return TensorShape.UNKNOWN if isinstance(x, TensorArray) else TensorShape([None, *x.shape.known[1:]])


def _longer(kind: RowKind, so_far: Any, y: Any, i: Tensor) -> Any:
    """The results so far, and behind them those of one more row."""
    if y.dtype != kind.dtype:
        raise TypeError(f"map_fn: fn returns {y}, but dtype says {kind.dtype.name}; convert it with pb.cast")
    if kind.depth is None:
        return so_far.write(i, y)
    if kind.depth and not isinstance(y, RaggedTensor):
        y = RaggedTensor.from_tensor(y, ragged_rank=kind.depth)
    depth = y.ragged_rank if isinstance(y, RaggedTensor) else 0
    if depth != kind.depth:
        raise ValueError(f"map_fn: fn returns {y}, but a row nested {kind.depth} deep was said")
    count, lengths = (y.nrows()[None], y.nested_row_lengths()) if depth else (shape(y, out_type=int64)[:1], ())
    parts = [y.flat_values if depth else y, count, *lengths]
    return [concat([a, b], 0) for a, b in zip(so_far, parts, strict=True)]


def _result(kind: RowKind, parts: Any) -> Any:
    if kind.depth is None:
        return parts.stack()
    values, *lengths = parts
    return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)
