"""Order statistics: the n-th smallest element, the nearly largest ones; and isotonic regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, bfloat16, float16, float32, int32
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import linear, links_of_vectors
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import as_axis, static_integer
from ..base.precision import widened
from ..base.scattering import sum_rows
from ..elementwise.arithmetic import Neg
from ..reduction.abstract import reduced_shape
from ..reduction.reduce import REAL, TieShares, take_numbers
from ..reduction.sum import keep_reduced
from ..shape.transpose import transpose
from .sort import TopK, top_k


@in_graph_of_inputs
def nth_element(input: TensorLike, n: int | Tensor, reverse: bool = False, name: str | None = None) -> Tensor:
    """The element along the last axis that is number `n` (from 0) in ascending order, with `reverse` in descending.

    NaN counts as the largest. The derivative is shared equally by equal elements.

    Shapes: `input` [..., k] with k > n; the result [...]. Dtypes: integers and floats.

    Derivative: dx = dy shared by the elements that equal the value.

    Raises:
        ValueError: `n` is out of range, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.nth_element([[4.0, 1.0, 3.0], [0.0, 9.0, 2.0]], 1))
    array([3., 2.], dtype=float32)
    """
    x = take_numbers(input, "nth_element", REAL)
    return NthElement(static_integer(n, "nth_element: n"), bool(reverse))(x, name=name)


class NthElement(Primitive):
    n: int
    reverse: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.sizes
        if dims is not None and (not dims or self.n < 0 or (dims[-1] is not None and dims[-1] <= self.n)):
            raise ValueError(f"nth_element: there is no element {self.n} along the last axis of {x}")
        return (TensorType(x.dtype, reduced_shape(x.shape, (-1,), False)),)

    links = links_of_vectors

    def kernel(self, xp: Any, x: Any) -> Any:
        place = x.shape[-1] - 1 - self.n if self.reverse else self.n
        return xp.sort(widened(x), axis=-1)[..., place].astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,), (y,) = op.inputs, op.outputs
        return (lambda: TieShares((-1,), False)(x, y) * keep_reduced(dy, x, (-1,), False),)


def approx_max_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> TopK:
    """The `k` largest elements along an axis, largest first, and their positions: here always exactly those.

    Shapes: `operand` of known rank, with at least `k` elements along `reduction_dimension`; both results have `k`
    there. Dtypes: floats; positions int32.

    Derivative: dx = dy added where the values were picked.

    Raises:
        ValueError: there are no `k` elements, or the axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.approx_max_k([1.0, 5.0, 3.0], 2).values)
    array([5., 3.], dtype=float32)
    """
    del recall_target, reduction_input_size_override, aggregate_to_topk
    x = take_numbers(operand, "approx_max_k", FLOATING)
    return _largest(x, k, reduction_dimension, "approx_max_k", name)


def approx_min_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> TopK:
    """The `k` smallest elements along an axis, smallest first, and their positions: here always exactly those.

    Shapes: `operand` of known rank, with at least `k` elements along `reduction_dimension`; both results have `k`
    there. Dtypes: floats; positions int32.

    Derivative: dx = dy added where the values were picked.

    Raises:
        ValueError: there are no `k` elements, or the axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.approx_min_k([1.0, 5.0, 3.0], 2).indices)
    array([0, 2], dtype=int32)
    """
    del recall_target, reduction_input_size_override, aggregate_to_topk
    x = take_numbers(operand, "approx_min_k", FLOATING)
    values, indices = _largest(Neg()(x), k, reduction_dimension, "approx_min_k", None)
    return TopK(Neg()(values, name=name), indices)


def _largest(x: Tensor, k: int, axis: int, what: str, name: str | None) -> TopK:
    rank = x.shape.rank
    place = as_axis(axis, rank, what, x.type)
    if place == -1 or place + 1 == rank:
        return top_k(x, k, name=name)
    if rank is None:
        raise ValueError(f"{what}: the rank of {x} must be known; state it with pb.ensure_shape")
    order = [*range(place), *range(place + 1, rank), place]
    values, indices = top_k(transpose(x, order), k, name=name)
    back = [int(i) for i in np.argsort(order)]
    return TopK(transpose(values, back), transpose(indices, back))


def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The nearest sequence along `axis` that does not increase, and the numbers of its constant pieces.

    Nearest in the sum of squares. With `decreasing=False`, one that does not decrease. The derivative is the mean over
    each piece. On XLA the memory grows as the square of the length.

    Shapes: any of rank at least 1, known unless `axis` is the last; both results have it. Dtypes: floats; the numbers
    are int32.

    Derivative: dx = the mean of dy over each piece on which y is constant.

    Raises:
        ValueError: the axis is out of range. TypeError: not floats.

    Source: M. Best, N. Chakravarti, "Active set algorithms for isotonic regression", Mathematical Programming 47, 1990.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.isotonic_regression([3.0, 1.0, 2.0, 0.0]))
    (array([3. , 1.5, 1.5, 0. ], dtype=float32), array([0, 1, 1, 2], dtype=int32))
    """
    x = take_numbers(inputs, "isotonic_regression", FLOATING)
    rank = x.shape.rank
    place = as_axis(axis, rank, "isotonic_regression", x.type)
    order = None
    if place != -1 and place + 1 != rank:
        if rank is None:
            raise ValueError(f"isotonic_regression: the rank of {x} must be known; state it with pb.ensure_shape")
        order = [*range(place), *range(place + 1, rank), place]
        x = transpose(x, order)
    y, pieces = IsotonicRegression().operation(x if decreasing else Neg()(x)).outputs
    y = y if decreasing else Neg()(y)
    if order is None:
        return y, pieces
    back = [int(i) for i in np.argsort(order)]
    return transpose(y, back), transpose(pieces, back)


class IsotonicRegression(Primitive):
    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return x, TensorType(int32, x.shape)

    links = links_of_vectors

    def kernel(self, xp: Any, x: Any) -> Any:
        """With NumPy, by pooling neighbours; XLA has a form of its own."""
        if x.size == 0:
            return x, np.zeros(x.shape, np.int32)
        wide = (x.astype(float32) if x.dtype in (float16, bfloat16) else x).reshape(-1, x.shape[-1])
        rows = [_pieces(row) for row in wide]
        pieces = np.array(rows, np.int32).reshape(x.shape)
        return averaged(xp, x, pieces), pieces

    def gradient(self, op: Operation, dy: Tensor, _: Any) -> Sequence[Any]:
        return (lambda: PieceMeans()(dy, op.outputs[1]),)


def _pieces(row: Any) -> Any:
    """For each element the number of the piece that it is pooled into."""
    sums: list[float] = []
    counts: list[int] = []
    for value in row.tolist():
        total, count = value, 1
        while sums and sums[-1] * count <= total * counts[-1]:
            total, count = total + sums.pop(), count + counts.pop()
        sums.append(total)
        counts.append(count)
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def averaged(xp: Any, x: Any, pieces: Any) -> Any:
    """The means of `x` over the pieces along the last axis, for each element that of its piece."""
    n = x.shape[-1]
    if x.size == 0:
        return x
    flat = (pieces.reshape(-1, n) + n * xp.arange(x.size // n, dtype=np.int32)[:, None]).reshape(-1)
    wide = x.astype(float32) if x.dtype in (float16, bfloat16) else x
    sums = sum_rows(xp, flat, wide.reshape(-1), x.size)
    counts = sum_rows(xp, flat, xp.ones(x.size, wide.dtype), x.size)
    return (sums[flat] / counts[flat]).reshape(x.shape).astype(x.dtype)


class PieceMeans(Primitive):
    """The means over the pieces along the last axis: a projection, and so its own transpose."""

    traits = (linear(0),)

    def infer(self, x: TensorType, pieces: TensorType) -> tuple[TensorType, ...]:
        del pieces
        return (x,)

    links = links_of_vectors

    def kernel(self, xp: Any, x: Any, pieces: Any) -> Any:
        return averaged(xp, x, pieces)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: PieceMeans()(dy, op.inputs[1]), None
