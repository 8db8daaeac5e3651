"""Set operations on vectors: distinct elements, differences, searchsorted, inverse permutations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import INTEGER, as_dtype, int32
from ..core.operation import Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..core.typing import DTypeLike, TensorLike
from .constant import convert_to_tensor
from .elementwise import operands
from .indexing import gather
from .scattering import combine_rows, wide_enough


class Unique(NamedTuple):
    """The distinct elements of a vector and, for each of its elements, the number of the one that it equals."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The distinct elements of a vector, the number of the one that each element equals, and how often each comes."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


def unique(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> Unique:
    """The distinct elements of `x` in the order in which they come, and where each element of `x` is among them.

    The derivative goes to the first of equal elements. NaN equals nothing, not itself.

    Shapes: `x` [n]; `y` [k], decided by a run: on XLA `x` must be known when it compiles; `idx` [n]. Dtypes: any number
    or bool; `idx` has `out_idx`.

    Derivative: dx = dy where the elements came first.

    Raises:
        ValueError: `x` is no vector.

    >>> import pullback as pb
    >>> pb.Session().run(list(pb.unique([5, 3, 5, 1])))
    [array([5, 3, 1], dtype=int32), array([0, 1, 0, 2], dtype=int32)]
    """
    tensor = convert_to_tensor(x)
    first, places, _ = UniqueIndices(as_dtype(out_idx)).operation(tensor).outputs
    return Unique(gather(tensor, first, name=name or "Unique"), places)


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> UniqueWithCounts:
    """The distinct elements of `x`, where each element of `x` is among them, and how often each comes.

    The derivative goes to the first of equal elements.

    Shapes: `x` [n]; `y` and `count` [k], decided by a run: on XLA `x` must be known when it compiles; `idx` [n].
    Dtypes: any number or bool; `idx` and `count` have `out_idx`.

    Raises:
        ValueError: `x` is no vector.

    >>> import pullback as pb
    >>> pb.Session().run(pb.unique_with_counts([5, 3, 5, 1]).count)
    array([2, 1, 1], dtype=int32)
    """
    tensor = convert_to_tensor(x)
    first, places, counts = UniqueIndices(as_dtype(out_idx)).operation(tensor).outputs
    return UniqueWithCounts(gather(tensor, first, name=name or "UniqueWithCounts"), places, counts)


class UniqueIndices(Primitive):
    """A vector [n] -> where its distinct elements come first [k], each element's number [n], counts [k]."""

    type = "UniqueIndices"
    shape_inputs = (0,)

    out_idx: Any = int32

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.shape.rank not in (1, None):
            raise ValueError(f"unique: x must be a vector, not {x}")
        some = TensorType(self.out_idx, TensorShape([None]))
        return some, TensorType(self.out_idx, TensorShape([x.shape.length(0)])), some

    def kernel(self, xp: Any, x: Any) -> Any:
        """With NumPy: the number of rows depends on the values."""
        del xp
        _, first, places, counts = np.unique(
            x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
        )
        order = np.argsort(first, kind="stable")
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        return tuple([z.astype(self.out_idx) for z in (first[order], rank[places.reshape(-1)], counts[order])])

    gradient = no_gradient


class ListDiff(NamedTuple):
    """The elements of one vector that another lacks, and where they stand."""

    out: Tensor
    idx: Tensor


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: DTypeLike = int32, name: str | None = None) -> ListDiff:
    """The elements of `x` that are not in `y`, in their order and as often as they come, and their positions in `x`.

    Shapes: `x` [n], `y` [m]; both results [k], decided by a run: on XLA `x` and `y` must be known when it compiles.
    Dtypes: any number or bool, the same for both; positions have `index_dtype`.

    Derivative: dx = dy where the elements stood.

    Raises:
        ValueError: not vectors. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.setdiff1d([1, 2, 3, 2], [1, 3]).out)
    array([2, 2], dtype=int32)
    """
    a, b = operands(x, y)
    places = ListDiffIndices(as_dtype(index_dtype))(a, b)
    return ListDiff(gather(a, places, name=name or "ListDiff"), places)


class ListDiffIndices(Primitive):
    """Two vectors -> the positions of those elements of the first that the second lacks."""

    type = "ListDiffIndices"
    shape_inputs = (0, 1)

    index_dtype: Any = int32

    def infer(self, x: TensorType, y: TensorType) -> tuple[TensorType, ...]:
        if x.dtype != y.dtype:
            raise TypeError(f"setdiff1d: dtypes differ: {x} and {y}")
        if x.shape.rank not in (1, None) or y.shape.rank not in (1, None):
            raise ValueError(f"setdiff1d: x and y must be vectors, not {x} and {y}")
        return (TensorType(self.index_dtype, TensorShape([None])),)

    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        del xp
        return np.flatnonzero(~np.isin(x, y)).astype(self.index_dtype)

    gradient = no_gradient


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """For each of `values` the number of elements of its sorted row that are smaller; with "right", not larger.

    Shapes: `sorted_sequence` [rows..., n], `values` [rows..., m]; the result [rows..., m]. Dtypes: any real number,
    the same for both; the result has `out_type`, int32 or int64.

    Raises:
        ValueError: the rows do not fit, or another `side`. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0]))
    array([0, 1, 3], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    return SearchSorted(side, as_dtype(out_type))(*operands(sorted_sequence, values), name=name)


class SearchSorted(Primitive):
    type = "SearchSorted"

    side: Any = "left"
    out_type: Any = int32

    def infer(self, sequence: TensorType, values: TensorType) -> tuple[TensorType, ...]:
        if sequence.dtype != values.dtype:
            raise TypeError(f"searchsorted: dtypes differ: {sequence} and {values}")
        ranks = sequence.shape.rank, values.shape.rank
        if None in ranks:
            return (TensorType(self.out_type, values.shape),)
        if ranks[0] != ranks[1] or not ranks[0] or not sequence.shape[:-1].is_compatible_with(values.shape[:-1]):
            raise ValueError(f"searchsorted: all axes but the last must be the same: {sequence} and {values}")
        return (TensorType(self.out_type, values.shape),)

    def kernel(self, xp: Any, sequence: Any, values: Any) -> Any:
        """With NumPy, row by row; XLA has a form of its own."""
        del xp
        rows, wanted = sequence.reshape(-1, sequence.shape[-1]), values.reshape(-1, values.shape[-1])
        found = [np.searchsorted(row, some, self.side) for row, some in zip(rows, wanted, strict=True)]
        return np.array(found, self.out_type).reshape(values.shape)

    gradient = no_gradient


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: the position of 0 in `x`, of 1, and so on.

    Shapes: `x` [n]; the result [n]. Dtypes: any integer.

    Raises:
        ValueError: `x` is no vector. TypeError: `x` holds no integers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.invert_permutation([2, 0, 1]))
    array([1, 2, 0], dtype=int32)
    """
    return InvertPermutation()(convert_to_tensor(x), name=name)


class InvertPermutation(Primitive):
    type = "InvertPermutation"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in INTEGER:
            raise TypeError(f"invert_permutation: x must hold integers, not {x}")
        if x.shape.rank not in (1, None):
            raise ValueError(f"invert_permutation: x must be a vector, not {x}")
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        n = x.shape[0]
        return combine_rows(xp, xp.zeros(n, x.dtype), wide_enough(x, n), xp.arange(n, dtype=x.dtype), "set")

    gradient = no_gradient
