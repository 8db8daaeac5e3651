"""Elementwise functions, reductions and shapes under the names of `tf.keras.backend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.dtypes import bool as bool_
from .....core.typing import AxisLike, DTypeLike, ShapeLike, TensorLike
from .state import floatx, rank_of

Reduction = Callable[..., pb.Tensor]


def cast(x: TensorLike, dtype: DTypeLike) -> pb.Tensor:
    """`x` in another dtype."""
    return pb.cast(pb.convert_to_tensor(x), dtype)


def cast_to_floatx(x: TensorLike) -> Any:
    """A tensor, or anything else as an array, in the dtype of `floatx`."""
    return cast(x, floatx()) if isinstance(x, pb.Tensor | pb.Variable) else np.asarray(x, dtype=floatx())


def _reduced(reduction: Reduction, doc: str, of_floats: bool = False) -> Reduction:
    def reduce(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False) -> pb.Tensor:
        tensor = pb.convert_to_tensor(x)
        if of_floats and tensor.dtype == bool_:
            tensor = cast(tensor, floatx())
        return reduction(tensor, axis, keepdims)

    reduce.__doc__ = doc
    return reduce


sum = _reduced(pb.reduce_sum, "The sum along `axis`.")
prod = _reduced(pb.reduce_prod, "The product along `axis`.")
max = _reduced(pb.reduce_max, "The largest element along `axis`.")
min = _reduced(pb.reduce_min, "The smallest element along `axis`.")
mean = _reduced(pb.reduce_mean, "The mean along `axis`; truth values count as 0 and 1.", of_floats=True)
var = _reduced(pb.math.reduce_variance, "The variance along `axis`.", of_floats=True)
std = _reduced(pb.math.reduce_std, "The standard deviation along `axis`.", of_floats=True)


def any(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False) -> pb.Tensor:
    """Whether an element along `axis` is not 0."""
    return pb.reduce_any(cast(x, bool_), axis, keepdims)


def all(x: TensorLike, axis: AxisLike | None = None, keepdims: bool = False) -> pb.Tensor:
    """Whether no element along `axis` is 0."""
    return pb.reduce_all(cast(x, bool_), axis, keepdims)


def argmax(x: TensorLike, axis: int = -1) -> pb.Tensor:
    """Where the largest element along `axis` is."""
    return pb.argmax(x, axis)


def argmin(x: TensorLike, axis: int = -1) -> pb.Tensor:
    """Where the smallest element along `axis` is."""
    return pb.argmin(x, axis)


def cumsum(x: TensorLike, axis: int = 0) -> pb.Tensor:
    """The sums of the elements so far."""
    return pb.cumsum(x, axis)


def cumprod(x: TensorLike, axis: int = 0) -> pb.Tensor:
    """The products of the elements so far."""
    return pb.math.cumprod(x, axis)


def sqrt(x: TensorLike) -> pb.Tensor:
    """The square root, 0 of what is below 0."""
    return pb.sqrt(pb.clip_by_value(x, 0.0, np.inf))


@in_graph_of_inputs
def clip(x: TensorLike, min_value: TensorLike | None, max_value: TensorLike | None) -> pb.Tensor:
    """`x`, from `min_value` to `max_value`; the latter is at least the former, and None is no bound."""
    tensor = pb.convert_to_tensor(x)
    if isinstance(min_value, int | float) and isinstance(max_value, int | float) and max_value < min_value:
        max_value = min_value
    low = -np.inf if min_value is None else min_value
    return pb.clip_by_value(
        tensor, cast(low, tensor.dtype), cast(np.inf if max_value is None else max_value, tensor.dtype)
    )


@in_graph_of_inputs
def pow(x: TensorLike, a: TensorLike) -> pb.Tensor:
    """`x ** a`."""
    return pb.pow(x, a)


def l2_normalize(x: TensorLike, axis: AxisLike | None = None) -> pb.Tensor:
    """`x` over its Euclidean norm along `axis`."""
    return pb.linalg.l2_normalize(x, axis)


@in_graph_of_inputs
def dot(x: TensorLike, y: TensorLike) -> pb.Tensor:
    """The product along the last axis of `x` and the last but one of `y`, as NumPy's `dot` has it.

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> backend.dot(pb.ones([2, 3, 4]), pb.ones([5, 4, 6])).shape
    TensorShape([2, 3, 5, 6])
    """
    a, b = pb.convert_to_tensor(x), pb.convert_to_tensor(y)
    of_a, of_b = rank_of(a), rank_of(b)
    if of_a == of_b == 2:
        return pb.matmul(a, b)
    last = 0 if of_b == 1 else of_b - 2
    return pb.tensordot(a, b, [[of_a - 1], [last]])  # type: ignore[list-item]


@in_graph_of_inputs
def batch_dot(x: TensorLike, y: TensorLike, axes: Any = None) -> pb.Tensor:
    """The products along an axis of `x` and one of `y` for each example; vectors are rows, and what is 1 long goes.

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> backend.batch_dot(pb.ones([8, 2, 3]), pb.ones([8, 4, 3]), axes=2).shape
    TensorShape([8, 2, 4])
    """
    a, b = pb.convert_to_tensor(x), pb.convert_to_tensor(y)
    first_rank, second_rank = rank_of(a), rank_of(b)
    if axes is None:
        axes = [first_rank - 1, 1 if second_rank == 2 else second_rank - 2]
    of_a, of_b = (axes, axes) if isinstance(axes, int) else axes
    letters = "abcdefghijklmnopqrstuvw"
    first = ["z", *letters[: first_rank - 1]]
    second = ["z", *letters[first_rank - 1 : first_rank + second_rank - 2]]
    first[of_a] = second[of_b] = "x"
    kept = [letter for letter in [*first, *second[1:]] if letter != "x"]
    y_ = pb.einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)
    return pb.expand_dims(y_, 1) if y_.shape.rank == 1 else y_


def int_shape(x: TensorLike) -> tuple[int | None, ...] | None:
    """The static shape; None where the rank is not known."""
    shape = pb.convert_to_tensor(x).shape
    return None if shape.rank is None else tuple(shape.as_list())


def ndim(x: TensorLike) -> int | None:
    """The number of axes."""
    rank: int | None = pb.convert_to_tensor(x).shape.rank
    return rank


def dtype(x: Any) -> str:
    """The name of the dtype."""
    return str(x.dtype.name)


def count_params(x: Any) -> int:
    """The number of elements."""
    return int(np.prod(np.asarray(int_shape(x))))


def flatten(x: TensorLike) -> pb.Tensor:
    """All elements as a vector."""
    return pb.reshape(x, [-1])


def batch_flatten(x: TensorLike) -> pb.Tensor:
    """The elements of each example as a vector, [batch, n]."""
    tensor = pb.convert_to_tensor(x)
    count = tensor.shape[1:].num_elements()
    return pb.reshape(tensor, [-1, pb.reduce_prod(pb.shape(tensor)[1:]) if count is None else count])


def expand_dims(x: TensorLike, axis: int = -1) -> pb.Tensor:
    """`x` with one axis more."""
    return pb.expand_dims(x, axis)


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> pb.Tensor:
    """`x` with its axes in that order."""
    return pb.transpose(x, pattern)


@in_graph_of_inputs
def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> pb.Tensor:
    """The tensors behind each other."""
    parts = [pb.convert_to_tensor(x) for x in tensors]
    rank = parts[0].shape.rank
    return pb.concat(parts, axis if axis >= 0 or rank is None else (axis % rank if rank else 0))


def tile(x: TensorLike, n: Any) -> pb.Tensor:
    """`x` repeated `n` times, a number for each axis."""
    return pb.tile(x, [n] if isinstance(n, int) else n)


def repeat(x: TensorLike, n: int) -> pb.Tensor:
    """Each row of `x` [batch, units] `n` times, [batch, n, units].

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> backend.repeat(pb.ones([2, 3]), 4).shape
    TensorShape([2, 4, 3])
    """
    return pb.tile(pb.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x: TensorLike, rep: int, axis: int) -> pb.Tensor:
    """Each element along `axis` `rep` times in a row."""
    return pb.repeat(x, rep, axis=axis)


def reverse(x: TensorLike, axes: Any) -> pb.Tensor:
    """`x` read backward along axes."""
    return pb.reverse(x, [axes] if isinstance(axes, int) else axes)


@in_graph_of_inputs
def arange(start: TensorLike, stop: TensorLike | None = None, step: int = 1, dtype: DTypeLike = "int32") -> pb.Tensor:
    """The numbers from `start` up to `stop`, or from 0 up to `start`."""
    if stop is None and isinstance(start, int) and start < 0:
        start = 0
    return cast(pb.range(start, delta=step) if stop is None else pb.range(start, stop, step), dtype)


def one_hot(indices: TensorLike, num_classes: int) -> pb.Tensor:
    """1 at the place that each index names, 0 elsewhere."""
    return pb.one_hot(indices, num_classes)


@in_graph_of_inputs
def gather(reference: TensorLike, indices: TensorLike) -> pb.Tensor:
    """The rows that the indices name."""
    return pb.gather(reference, indices)


def reshape(x: TensorLike, shape: ShapeLike) -> pb.Tensor:
    """`x` in another shape."""
    return pb.reshape(x, shape)


def logsumexp(x: TensorLike, axis: Any = None, keepdims: bool = False) -> pb.Tensor:
    """The logarithm of the sum of exponentials."""
    return pb.reduce_logsumexp(x, axis, keepdims)


@in_graph_of_inputs
def in_top_k(predictions: TensorLike, targets: TensorLike, k: int) -> pb.Tensor:
    """Whether the class of each target has one of the `k` largest predictions."""
    return pb.nn.in_top_k(targets, predictions, k)


def is_sparse(tensor: object) -> bool:
    """Whether it is a sparse tensor."""
    return isinstance(tensor, pb.SparseTensor)


def to_dense(tensor: Any) -> pb.Tensor:
    """A sparse tensor as a dense one; a dense one as it is."""
    return pb.sparse.to_dense(tensor) if isinstance(tensor, pb.SparseTensor) else pb.convert_to_tensor(tensor)
