"""Max pooling with argmax: the largest element of each window with its place; pooling whose kind is an argument."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import FLOATING, INTEGER, as_dtype, int32, int64
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import CHOOSES, Links
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..base.windows import Padding, offsets, spatial_lengths
from ..creation.constant import convert_to_tensor
from .avg_pool import AvgPool
from .geometry import Window, holes_of, pool_arguments, pool_geometry, pool_links, pooled_type, window_of
from .max_pool import MaxPool, MaxPoolGrad, hits


class Pooled(NamedTuple):
    """The largest elements, and where they stand."""

    output: Tensor
    argmax: Tensor


def max_pool_with_argmax(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    output_dtype: DTypeLike = int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> Pooled:
    """The largest element of each window of images, and the number of the first such element in its flattened image.

    With `include_batch_in_index` that is its number in the flattened batch. See `max_pool` for the other arguments.

    Shapes: `input` [n, h, w, c]; both results are alike. Dtypes: any real number; the numbers are int32 or int64.

    Derivative: dx = sum of dy over the windows in which the element is the largest, of equals the first.

    Raises:
        ValueError: the arguments do not fit the input. TypeError: it holds no real numbers; another `output_dtype`.

    >>> import pullback as pb
    >>> y, places = pb.nn.max_pool_with_argmax([[[[1.0], [2.0]], [[4.0], [3.0]]]], 2, 2, "VALID")
    >>> pb.Session().run(places)
    array([[[[2]]]])
    """
    what = "max_pool_with_argmax"
    x = convert_to_tensor(input)
    if data_format != "NHWC":
        raise ValueError(f"{what}: data_format must be NHWC, not {data_format!r}")
    dtype: Any = as_dtype(output_dtype)
    if dtype not in (int32, int64):
        raise TypeError(f"{what}: output_dtype must be int32 or int64, not {dtype}")
    size, steps, pads, form = pool_arguments(what, x, ksize, strides, padding, data_format, 2)
    primitive = MaxPoolWithArgmax(size, steps, pads, form, (), dtype, bool(include_batch_in_index))
    y, places = primitive.operation(x, name=name).outputs
    return Pooled(y, places)


class MaxPoolWithArgmax(Primitive):
    traits = (CHOOSES,)

    ksize: Window
    strides: Window
    padding: Padding
    data_format: str
    dilations: Window
    output_dtype: Any
    include_batch_in_index: bool

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING and x.dtype not in INTEGER:
            raise TypeError(f"max_pool_with_argmax: no such operation on {x}; it takes real numbers")
        y = pooled_type("max_pool_with_argmax", self, x)
        return y, TensorType(self.output_dtype, y.shape)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return pool_links(self, "windows", "elements", x.shape)

    def kernel(self, xp: Any, x: Any) -> Any:
        y = MaxPool(*window_of(self)).kernel(xp, x)
        total: Any = np.zeros((), self.output_dtype)
        for places, hit in zip(self._numbers(x.shape), hits(self, xp, x, y), strict=True):
            total = total + xp.where(hit, places, np.zeros((), self.output_dtype))
        return y, total

    def _numbers(self, dims: Sequence[int]) -> list[np.ndarray[Any, Any]]:
        """For each place in the window, the number of the element there, without padding."""
        (height, width), pads, counts = pool_geometry(self, dims)
        channels, images = np.arange(dims[3]), np.arange(dims[0] if self.include_batch_in_index else 1)
        result = []
        for offset in offsets(self.ksize):
            row, column = [
                np.arange(m) * s + o * d - before
                for m, s, o, d, (before, _) in zip(counts, self.strides, offset, holes_of(self), pads, strict=True)
            ]
            pixels = (images[:, None, None] * height + row[:, None]) * width + column
            result.append((pixels[..., None] * dims[3] + channels).astype(self.output_dtype))
        return result

    def gradient(self, op: Operation, dy: Tensor, dplaces: Any) -> Sequence[Any]:
        del dplaces
        return (partial(MaxPoolGrad(*window_of(self)), op.inputs[0], op.outputs[0], dy),)


def pool(
    input: TensorLike,
    window_shape: int | Sequence[int],
    pooling_type: str,
    strides: int | Sequence[int] | None = None,
    padding: str | Sequence[Sequence[int]] = "VALID",
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The largest element (`pooling_type` "MAX") or the mean ("AVG") of each window; see `max_pool` for the arguments.

    Windows may have holes: elements that are `dilations` apart. Padding counts neither as an element nor as zero.

    Shapes: `input` [n, spatial..., c] with one to three spatial axes, or [n, c, spatial...] with a data_format that
    begins with "NC". Dtypes: any float.

    Derivative: that of max_pool or avg_pool.

    Raises:
        ValueError: the arguments do not fit the input. TypeError: it holds no floats.

    >>> import pullback as pb
    >>> pb.nn.pool(pb.zeros([8, 10, 10, 3]), [3, 3], "MAX", dilations=2).shape
    TensorShape([8, 6, 6, 3])
    """
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pool: pooling_type must be 'MAX' or 'AVG', not {pooling_type!r}")
    x = convert_to_tensor(input)
    count = len(np.atleast_1d(window_shape)) if np.ndim(window_shape) else None
    given = 1 if strides is None else strides
    size, steps, pads, form = pool_arguments("pool", x, window_shape, given, padding, data_format, count)
    holes = spatial_lengths("pool", "dilations", 1 if dilations is None else dilations, len(size), form)
    kind = MaxPool if pooling_type == "MAX" else AvgPool
    return kind(size, steps, pads, form, holes if max(holes) > 1 else ())(x, name=name)
