"""TensorFlow 1 functions that only it has, or with arguments in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import INEXACT, bfloat16, complex64, complex128, float32, float64, int32, int64
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


def to_float(x: TensorLike, name: str = "ToFloat") -> Tensor | IndexedSlices:
    """`x` as float32; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_float([1, 2]).dtype
    dtype('float32')
    """
    return cast(x, float32, name)


def to_double(x: TensorLike, name: str = "ToDouble") -> Tensor | IndexedSlices:
    """`x` as float64; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_double([1, 2]).dtype
    dtype('float64')
    """
    return cast(x, float64, name)


def to_int32(x: TensorLike, name: str = "ToInt32") -> Tensor | IndexedSlices:
    """`x` as int32; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_int32([1.0, 2.0]).dtype
    dtype('int32')
    """
    return cast(x, int32, name)


def to_int64(x: TensorLike, name: str = "ToInt64") -> Tensor | IndexedSlices:
    """`x` as int64; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_int64([1.0, 2.0]).dtype
    dtype('int64')
    """
    return cast(x, int64, name)


def to_bfloat16(x: TensorLike, name: str = "ToBFloat16") -> Tensor | IndexedSlices:
    """`x` as bfloat16; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_bfloat16([1.0, 2.0]).dtype
    dtype(bfloat16)
    """
    return cast(x, bfloat16, name)


def to_complex64(x: TensorLike, name: str = "ToComplex64") -> Tensor | IndexedSlices:
    """`x` as complex64; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_complex64([1.0, 2.0]).dtype
    dtype('complex64')
    """
    return cast(x, complex64, name)


def to_complex128(x: TensorLike, name: str = "ToComplex128") -> Tensor | IndexedSlices:
    """`x` as complex128; see `pb.cast`.

    >>> import pullback as pb
    >>> pb.to_complex128([1.0, 2.0]).dtype
    dtype('complex128')
    """
    return cast(x, complex128, name)


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


def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """For each segment the sum of the rows of `data` at `indices`; see `pb.sparse.segment_sum`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse_segment_sum([1.0, 2.0, 4.0], [0, 2], [0, 0])).tolist()
    [5.0]
    """
    return segment_sum(data, indices, segment_ids, num_segments, name, sparse_gradient)


def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """For each segment the mean of the rows of `data` at `indices`; see `pb.sparse.segment_mean`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse_segment_mean([1.0, 2.0, 4.0], [0, 2], [0, 0])).tolist()
    [2.5]
    """
    return segment_mean(data, indices, segment_ids, num_segments, name, sparse_gradient)


def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """As `sparse_segment_sum`, divided by the root of the number of rows; see `pb.sparse.segment_sqrt_n`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse_segment_sqrt_n([1.0, 2.0, 4.0], [0, 0, 0, 0], [0, 0, 0, 0])).tolist()
    [2.0]
    """
    return segment_sqrt_n(data, indices, segment_ids, num_segments, name, sparse_gradient)


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
