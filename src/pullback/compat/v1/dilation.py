"""Dilation by space-to-batch: an operation on images applied to every n-th place, `tf.nn.with_space_to_batch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ...core.typing import TensorLike
from .functions import required_space_to_batch_paddings

Op = Callable[[pb.Tensor, Any, str], pb.Tensor]


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: Sequence[int],
    padding: str,
    op: Op,
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> pb.Tensor:
    """What `op(input, number of axes, padding)` gives if its window takes each `dilation_rate`-th place of images.

    `spatial_dims`: the axes of the rates, those after the first unless they are said. With `padding` "SAME" images are
    filled up for a window of `filter_shape`.

    Raises:
        ValueError: a rate is not known, or not positive; another padding; "SAME" without `filter_shape`; other axes.

    >>> import pullback.compat.v1 as tf
    >>> x, w = tf.reshape(tf.range(5.0), [1, 5, 1]), tf.ones([2, 1, 1])
    >>> y = tf.nn.with_space_to_batch(x, [2], "VALID", lambda x, axes, padding: tf.nn.conv1d(x, w, 1, padding))
    >>> tf.Session().run(y)[0, :, 0]
    array([2., 4., 6.], dtype=float32)
    """
    x = pb.convert_to_tensor(input)
    rates = _numbers(dilation_rate, "`dilation_rate`")
    axes = _axes(x, rates, padding, spatial_dims, data_format)
    if all(rate == 1 for rate in rates):
        return op(x, len(rates), padding)
    last = max(axes)
    by_axis = dict(zip(axes, rates, strict=True))
    before = _same_paddings(filter_shape, rates) if padding == "SAME" else [(0, 0)] * len(rates)
    around = dict(zip(axes, before, strict=True))
    blocks = [by_axis.get(axis, 1) for axis in range(1, last + 1)]
    base = [around.get(axis, (0, 0)) for axis in range(1, last + 1)]
    paddings, crops = required_space_to_batch_paddings(_lengths(x, last), blocks, base)
    y = op(pb.space_to_batch(x, blocks, paddings), len(rates), "VALID")
    return pb.batch_to_space(y, blocks, crops)


def _axes(
    x: pb.Tensor, rates: Sequence[int], padding: str, spatial_dims: Sequence[int] | None, data_format: str | None
) -> list[int]:
    """The axes of the rates."""
    if any(rate < 1 for rate in rates):
        raise ValueError(f"with_space_to_batch: `dilation_rate` must be positive, not {list(rates)}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"with_space_to_batch: `padding` must be one of 'SAME' or 'VALID', not {padding!r}")
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(range(first, first + len(rates))) if spatial_dims is None else sorted(spatial_dims)
    if len(axes) != len(rates):
        raise ValueError(f"with_space_to_batch: `dilation_rate` {list(rates)} needs as many spatial_dims, not {axes}")
    if x.shape.rank is None or axes[0] < 1 or axes[-1] >= x.shape.rank:
        raise ValueError(f"with_space_to_batch: the axes {axes} are not those of images in {x}")
    return axes


def _same_paddings(filter_shape: Any, rates: Sequence[int]) -> list[tuple[int, int]]:
    """What a dilated window needs before and behind an axis, so that it gives as much as there was."""
    if filter_shape is None:
        raise ValueError("with_space_to_batch: padding='SAME' needs `filter_shape`")
    windows = _numbers(filter_shape, "`filter_shape`")
    more = [(window - 1) * rate for window, rate in zip(windows, rates, strict=False)]
    return [(n // 2, n - n // 2) for n in more]


def _numbers(given: Any, what: str) -> list[int]:
    """Integers that are known without a run."""
    known = pb.get_static_value(pb.convert_to_tensor(given, pb.int32))
    if known is None:
        raise ValueError(f"with_space_to_batch: {what} must be known while the graph is built, not {given}")
    return [int(number) for number in known]


def _lengths(x: pb.Tensor, last: int) -> Any:
    """The lengths of the axes 1 to `last`."""
    static = x.shape.as_list()[1 : last + 1]
    return static if None not in static else pb.shape(x)[1 : last + 1]
