"""Set operations on vectors: distinct elements, differences, searchsorted, inverse permutations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype, int32
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import FEWER
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..base.broadcasting import operands
from ..base.equal_elements import equal_elements
from ..base.integer_keys import stable_order
from ..base.precision import widened
from ..creation.constant import convert_to_tensor
from ..indexing.gather import gather


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

    traits = (FEWER,)
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
        order, starts, groups = equal_elements(x)
        first, counts = order[starts], np.diff(starts, append=x.size)
        appearance = stable_order(np, first)
        rank = np.empty(appearance.size, np.int64)
        rank[appearance] = np.arange(appearance.size)
        return tuple([z.astype(self.out_idx) for z in (first[appearance], rank[groups], counts[appearance])])

    gradient = no_gradient


class ListDiff(NamedTuple):
    """The elements of one vector that another lacks, and where they stand."""

    out: Tensor
    idx: Tensor


@in_graph_of_inputs
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
        return np.flatnonzero(~np.isin(widened(x), widened(y))).astype(self.index_dtype)

    gradient = no_gradient
