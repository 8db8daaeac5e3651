"""Sorting, top-k and arg-max: what comes first, and its position.

NaN counts as larger than every number. Equal elements keep their order, on every engine. NumPy's own order of bfloat16
puts NaN anywhere, and other elements with it: 16-bit floats are compared as float32, here and wherever else it sorts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, DType, as_dtype, int32
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import Links, all_axes_but, links_of_vectors
from ...core.types import TensorType
from ...core.typing import AxisLike, DTypeLike, TensorLike
from ..base.axes import as_axis, is_computed, static_integer
from ..base.integer_keys import stable_order
from ..base.precision import widened
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..debugging.assertions import assert_
from ..elementwise.masking import mask
from ..identity.identity import identity
from ..indexing.gather import gather
from ..indexing.take_along import PutAlong, TakeAlong
from ..logic.comparison import greater_equal, is_finite, less, less_equal
from ..logic.logical import logical_and, logical_not
from ..reduction.reduce import REAL, CountNonzero, reduce_all, take_numbers
from ..shape.size import shape
from ..shape.squeeze import expand_dims

_SHARE = 4
"""The elements that are selected before they are ordered are at most one of so many."""


class TopK(NamedTuple):
    """The k largest elements and where they stand."""

    values: Tensor
    indices: Tensor


@in_graph_of_inputs
def top_k(
    input: TensorLike,
    k: int | Tensor = 1,
    sorted: bool = True,
    index_type: DTypeLike = int32,
    name: str | None = None,
) -> TopK:
    """The `k` largest elements along the last axis, largest first, and their positions; of equals the first come first.

    They are in this order with `sorted=False` too. NaN counts as the largest. The derivative goes to exactly the
    elements picked.

    Shapes: `input` [..., n] with n >= k; both results [..., k]; a run may compute `k`. Dtypes: integers and floats;
    positions `index_type`.

    Derivative: dx = zeros with dvalues in the places where the values stood.

    Raises:
        ValueError: `k` is negative, or larger than the axis. InvalidArgumentError: the same, found in a run.

    >>> import pullback as pb
    >>> values, indices = pb.math.top_k([1.0, 5.0, 3.0], k=2)
    >>> pb.Session().run([values, indices])
    [array([5., 3.], dtype=float32), array([1, 2], dtype=int32)]
    """
    del sorted
    x = take_numbers(input, "top_k", REAL)
    if is_computed(k):
        return _top_computed(x, take_numbers(k, "top_k: k", INTEGER), as_dtype(index_type), name)
    values, indices = TopKV2(static_integer(k, "top_k: k"), as_dtype(index_type)).operation(x, name=name).outputs
    return TopK(values, indices)


def _top_computed(x: Tensor, k: Tensor, index_type: DType, name: str | None) -> TopK:
    """The first `k` of all elements in order."""
    with x.graph.acting.within(name or "TopKV2"):
        fits = (k >= 0) & (cast(k, int32) <= shape(x)[-1])
        with x.graph.acting.control_dependencies(
            [assert_(fits, ["top_k: there are no", k, "elements in", shape(x)], 8)]
        ):
            count = identity(k)
        places = ArgSort(-1, True)(x)[..., :count]
        return TopK(TakeAlong()(x, places), cast(places, index_type))


class TopKV2(Primitive):
    k: int
    index_type: DType = int32

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return TensorType(x.dtype, TensorShape.UNKNOWN), TensorType(self.index_type, TensorShape.UNKNOWN)
        if not dims or self.k < 0 or (isinstance(dims[-1], int) and dims[-1] < self.k):
            raise ValueError(f"top_k: there are no {self.k} elements along the last axis of {x}")
        shape = TensorShape([*dims[:-1], self.k])
        return TensorType(x.dtype, shape), TensorType(self.index_type, shape)

    links = links_of_vectors

    def kernel(self, xp: Any, x: Any) -> Any:
        check_number(x, self.k)
        positions = _first_of_many(x, self.k) if _is_worth_selecting(x, self.k) else _descending(xp, x)[..., : self.k]
        return xp.take_along_axis(x, positions, axis=-1), positions.astype(self.index_type)

    def gradient(self, op: Operation, dy: Tensor, _: Any) -> Sequence[Any]:
        return (lambda: PutAlong()(dy, op.outputs[1], op.inputs[0]),)


def check_number(x: Any, k: int) -> None:
    """ValueError if the last axis of the array `x` has less than `k` elements."""
    if x.shape[-1] < k:
        raise ValueError(f"top_k: there are no {k} elements along the last of the axes {list(x.shape)}")


def _descending(xp: Any, x: Any) -> Any:
    """The positions of the elements along the last axis, largest first, equals in order."""
    n = x.shape[-1]
    return n - 1 - stable_order(xp, x[..., ::-1])[..., ::-1]


def _is_worth_selecting(x: Any, k: int) -> bool:
    """Whether so few elements of NumPy's array are wanted that these had better be found before they are ordered."""
    return isinstance(x, np.ndarray) and bool(x.size) and 0 < k <= x.shape[-1] // _SHARE and not np.isnan(x).any()


def _first_of_many(x: Any, k: int) -> Any:
    """The positions of the `k` largest numbers along the last axis, largest first, equals in order.

    Those are all above the k-th, and of its equals the first.
    """
    x = widened(x)
    least = np.partition(x, -k, axis=-1)[..., -k, None]
    chosen = x >= least
    if chosen.sum() > k * math.prod(x.shape[:-1]):
        above = x > least
        equal = chosen & ~above
        chosen = above | (equal & (np.cumsum(equal, axis=-1) <= k - above.sum(-1, keepdims=True)))
    positions = np.nonzero(chosen)[-1].reshape(*x.shape[:-1], k)
    order = _descending(np, np.take_along_axis(x, positions, axis=-1))
    return np.take_along_axis(positions, order, axis=-1)


@in_graph_of_inputs
def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Whether fewer than `k` of the predictions are larger than the one of the target.

    False where one of them is NaN or infinite, or the target is not the number of a class.

    Shapes: `targets` [n], `predictions` [n, classes]; the result [n]. Dtypes: integers, and floats.

    Raises:
        TypeError, ValueError: the types do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.in_top_k([1, 0], [[0.1, 0.7, 0.2], [0.3, 0.6, 0.5]], 2))
    array([ True, False])
    """
    x, classes = take_numbers(predictions, "in_top_k", FLOATING), convert_to_tensor(targets)
    with x.graph.within(name or "InTopK"):
        known = logical_and(greater_equal(classes, 0), less(classes, shape(x, classes.dtype)[1]))
        finite = reduce_all(is_finite(x), 1)
        own = gather(x, expand_dims(mask(known, classes), 1), axis=1, batch_dims=1)
        larger = CountNonzero((1,), False, int32)(logical_not(less_equal(x, own)))
        above = less(larger, cast(take_numbers(k, "in_top_k: k", INTEGER), int32))
        return logical_and(logical_and(known, finite), above)


@in_graph_of_inputs
def argsort(
    values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The positions of the elements along `axis` in ascending (or "DESCENDING") order; equals keep their order.

    They do so with `stable=False` too. NaN counts as the largest.

    Shapes: any of rank at least 1; the result has the same. Dtypes: integers and floats; the result is int32.

    Raises:
        ValueError: the axis is out of range, or another direction.

    >>> import pullback as pb
    >>> pb.Session().run(pb.argsort([3, 1, 2]))
    array([1, 2, 0], dtype=int32)
    """
    del stable
    x = take_numbers(values, "argsort", REAL)
    place = as_axis(axis, x.shape.rank, "argsort", x.type)
    return ArgSort(place, _is_descending(direction, "argsort"))(x, name=name)


def _is_descending(direction: str, what: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{what}: direction must be 'ASCENDING' or 'DESCENDING', not {direction!r}")
    return direction == "DESCENDING"


class ArgSort(Primitive):
    axis: int
    descending: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(int32, x.shape),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        if not self.descending:
            return stable_order(xp, x, self.axis).astype(int32)
        return xp.moveaxis(_descending(xp, xp.moveaxis(x, self.axis, -1)), -1, self.axis).astype(int32)

    gradient = no_gradient


@in_graph_of_inputs
def sort(values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The elements along `axis` in ascending (or "DESCENDING") order. NaN counts as the largest.

    Shapes: any of rank at least 1; the result has the same. Dtypes: integers and floats.

    Derivative: dx = dy in the places where the values stood.

    Raises:
        ValueError: the axis is out of range, or another direction.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sort([3.0, 1.0, 2.0], direction="DESCENDING"))
    array([3., 2., 1.], dtype=float32)
    """
    x = take_numbers(values, "sort", REAL)
    place = as_axis(axis, x.shape.rank, "sort", x.type)
    order = ArgSort(place, _is_descending(direction, "sort"))(x)
    return TakeAlong(place)(x, order, name=name or "sort")
