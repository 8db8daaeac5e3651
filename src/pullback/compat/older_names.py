"""TensorFlow 1 functions that only it has, or with arguments in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import INEXACT, bfloat16, complex64, complex128, float32, float64, int32, int64
from ..core.named_functions import named
from ..core.operation import Tensor
from ..core.shape import as_shape
from ..core.slices import IndexedSlices
from ..core.typing import AxisLike, DTypeLike, ShapeLike, TensorLike
from ..primitives.base.broadcasting import operands
from ..primitives.casting.cast import cast
from ..primitives.counting import confusion_matrix as confusion_matrix_today
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.elementwise.add_n import add_n
from ..primitives.elementwise.division import divide, floordiv
from ..primitives.image.patches import extract_patches
from ..primitives.indexing.gather import gather
from ..primitives.random.discrete import random_poisson as random_poisson_today
from ..primitives.random.stateful import categorical
from ..primitives.reduction.argmax import argmax, argmin
from ..primitives.segment.sparse_segments import sparse_segment_mean as segment_mean
from ..primitives.segment.sparse_segments import sparse_segment_sqrt_n as segment_sqrt_n
from ..primitives.segment.sparse_segments import sparse_segment_sum as segment_sum
from ..primitives.shape.space_to_depth import depth_to_space as depth_to_space_today
from ..primitives.shape.space_to_depth import space_to_depth as space_to_depth_today


class _To(Protocol):
    def __call__(self, x: TensorLike, name: str = ...) -> Tensor | IndexedSlices: ...


def _to(dtype: Any, called: str, operations: str) -> _To:
    def function(x: TensorLike, name: str = operations) -> Tensor | IndexedSlices:
        return cast(x, dtype, name)

    doc = f"""`x` as {dtype.name}; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.{called}([1, 2]).dtype == pb.{dtype.name}
    True
    """
    return named(called, doc, function)


to_float = _to(float32, "to_float", "ToFloat")
to_double = _to(float64, "to_double", "ToDouble")
to_int32 = _to(int32, "to_int32", "ToInt32")
to_int64 = _to(int64, "to_int64", "ToInt64")
to_bfloat16 = _to(bfloat16, "to_bfloat16", "ToBFloat16")
to_complex64 = _to(complex64, "to_complex64", "ToComplex64")
to_complex128 = _to(complex128, "to_complex128", "ToComplex128")


@in_graph_of_inputs
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` as Python 2 divides: integers by `pb.floordiv`, everything else by `pb.divide`.

    >>> import pullback as pb
    >>> pb.Session().run([pb.div(7, 2), pb.div(7.0, 2.0)])
    [np.int32(3), np.float32(3.5)]
    """
    a, b = operands(x, y)
    return (divide if a.dtype in INEXACT else floordiv)(a, b, name)


def arg_max(input: TensorLike, dimension: AxisLike, output_type: DTypeLike = int64, name: str | None = None) -> Tensor:
    """The position of the largest element along `dimension`; see `pb.argmax`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.arg_max([1.0, 3.0, 2.0], 0))
    np.int64(1)
    """
    return argmax(input, dimension, output_type, name)


def arg_min(input: TensorLike, dimension: AxisLike, output_type: DTypeLike = int64, name: str | None = None) -> Tensor:
    """The position of the smallest element along `dimension`; see `pb.argmin`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.arg_min([1.0, 3.0, 2.0], 0))
    np.int64(0)
    """
    return argmin(input, dimension, output_type, name)


def accumulate_n(
    inputs: Sequence[Any],
    shape: ShapeLike | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of the list `inputs`, all of one shape and dtype; see `pb.add_n`.

    Raises:
        ValueError: they have not the static shape `shape`. TypeError: their dtype is not `tensor_dtype`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.accumulate_n([1.0, 2.0, 3.0]))
    np.float32(6.0)
    """
    tensors = [convert_to_tensor(x, tensor_dtype) for x in inputs]
    for x in tensors:
        as_shape(shape).assert_is_compatible_with(x.shape)
    return add_n(tensors, name)


@in_graph_of_inputs
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """The slices of `params` along the last axis of `indices`, all axes before which count batches; see `pb.gather`.

    Raises:
        ValueError: the rank of `indices` is unknown, or 0.

    >>> import pullback as pb
    >>> pb.Session().run(pb.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]])).tolist()
    [[3], [4]]
    """
    rows = convert_to_tensor(indices)
    if not rows.shape.rank:
        raise ValueError(f"batch_gather: indices must have a known rank of at least 1, but they are {rows}")
    axis = rows.shape.rank - 1
    return gather(params, rows, axis=axis, batch_dims=axis, name=name)


def multinomial(
    logits: TensorLike,
    num_samples: int,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Numbers of classes drawn anew in each run; see `pb.random.categorical`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.multinomial([[0.0, 99.0]], 3))
    array([[1, 1, 1]])
    """
    return categorical(logits, num_samples, output_dtype, seed, name)


def random_poisson(
    lam: TensorLike, shape: ShapeLike, dtype: DTypeLike = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Numbers of the Poisson distribution with mean `lam`, `shape` of them for each; see `pb.random.poisson`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random_poisson([1.0, 5.0], [4])).shape
    (4, 2)
    """
    return random_poisson_today(shape, lam, dtype, seed, name)


class _OfSegments(Protocol):
    def __call__(
        self,
        data: TensorLike,
        indices: TensorLike,
        segment_ids: TensorLike,
        name: str | None = None,
        num_segments: TensorLike | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor: ...


def _of_segments(today: Callable[..., Tensor], what: str, words: str) -> _OfSegments:
    def function(
        data: TensorLike,
        indices: TensorLike,
        segment_ids: TensorLike,
        name: str | None = None,
        num_segments: TensorLike | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:
        return today(data, indices, segment_ids, num_segments, name, sparse_gradient)

    doc = f"""For each segment {words} of the rows of `data` at `indices`; see `pb.sparse.segment_{what}`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse_segment_{what}([1.0, 2.0, 4.0], [2], [0])).tolist()
    [4.0]
    """
    return named(f"sparse_segment_{what}", doc, function)


sparse_segment_sum = _of_segments(segment_sum, "sum", "the sum")
sparse_segment_mean = _of_segments(segment_mean, "mean", "the mean")
sparse_segment_sqrt_n = _of_segments(segment_sqrt_n, "sqrt_n", "the sum, divided by the root of the number,")


def depth_to_space(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Each pixel as a block of pixels, which share its channels; see `pb.nn.depth_to_space`.

    >>> import pullback as pb
    >>> pb.depth_to_space(pb.zeros([1, 2, 2, 4]), 2).shape
    TensorShape([1, 4, 4, 1])
    """
    return depth_to_space_today(input, block_size, data_format, name)


def space_to_depth(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Each block of pixels as one pixel, with the channels of all; see `pb.nn.space_to_depth`.

    >>> import pullback as pb
    >>> pb.space_to_depth(pb.zeros([1, 4, 4, 1]), 2).shape
    TensorShape([1, 2, 2, 4])
    """
    return space_to_depth_today(input, block_size, data_format, name)


@in_graph_of_inputs
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """How often each class (row) was predicted as each (column); see `pb.math.confusion_matrix`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.confusion_matrix([0, 1, 1], [0, 1, 0])).tolist()
    [[1, 0], [1, 1]]
    """
    return confusion_matrix_today(labels, predictions, num_classes, weights, dtype, name)


def extract_image_patches(
    images: TensorLike,
    ksizes: int | Sequence[int] | None = None,
    strides: int | Sequence[int] | None = None,
    rates: int | Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] | None = None,
    name: str | None = None,
    sizes: int | Sequence[int] | None = None,
) -> Tensor:
    """The windows of images, of the size `ksizes`, or `sizes`; see `pb.image.extract_patches`.

    >>> import pullback as pb
    >>> x = pb.zeros([1, 4, 4, 2])
    >>> pb.extract_image_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 8])
    """
    windows: Any = (ksizes if sizes is None else sizes, strides, rates, padding, name)
    return extract_patches(images, *windows)
