"""Bias addition: a number for each channel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.lengths import known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import Link, Links, linear, same_axes
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..linalg.contraction import check_numbers
from ..reduction.sum import Sum, sum_like
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.stacking import concat


@in_graph_of_inputs
def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`value` with `bias` added to each channel: the last axis, or the second where `data_format` begins with "NC".

    Shapes: `value` [n, ..., c] or [n, c, ...], `bias` [c]. Dtypes: any number, the same for both.

    Derivative: dvalue = dy, dbias = sum of dy over all axes but the channels.

    Raises:
        ValueError: the shapes or `data_format` do not fit. TypeError: the dtypes differ, or are no numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]))
    array([[11., 22.],
           [13., 24.]], dtype=float32)
    """
    x, b = operands(value, bias)
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(f"bias_add: data_format must be one like N...C or NC..., not {data_format!r}")
    first = data_format is not None and data_format.startswith("NC")
    return BiasAdd(first)(x, b, name=name)


class BiasAdd(Primitive):
    traits = (linear(0, 1),)

    channels_first: bool = False

    def infer(self, x: TensorType, bias: TensorType) -> tuple[TensorType, ...]:
        check_numbers("bias_add", x, bias)
        dims = x.shape.lengths
        if bias.shape.rank not in (1, None) or (dims is not None and len(dims) < 2):
            raise ValueError(f"bias_add: a value of two axes or more and a vector are needed, not {x} and {bias}")
        if dims is None:
            return (x,)
        axis = 1 if self.channels_first else len(dims) - 1
        own, count = dims[axis], None if bias.shape.lengths is None else bias.shape.lengths[0]
        if known_to_differ(own, count):
            raise ValueError(f"bias_add: {x} has {own} channels, but {bias} is for {count}")
        if isinstance(own, int) or count is None:
            return (x,)
        return (TensorType(x.dtype, TensorShape([*dims[:axis], count, *dims[axis + 1 :]])),)

    def links(self, i: int, x: TensorType, bias: TensorType) -> Links | None:
        del bias
        if x.shape.rank is None:
            return None
        return (Link(1 if self.channels_first else x.shape.rank - 1, 0),) if i else same_axes(range(x.shape.rank))

    def kernel(self, xp: Any, x: Any, bias: Any) -> Any:
        if self.channels_first:
            bias = bias.reshape((bias.shape[0], *[1] * (x.ndim - 2)))
        return xp.add(x, bias)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return dy, partial(self._by_bias, op, dy)

    def _by_bias(self, op: Operation, dy: Tensor) -> Tensor:
        x, bias = op.inputs
        rank = dy.shape.rank or x.shape.rank
        if rank is not None:
            axis = 1 if self.channels_first else rank - 1
            return Sum(tuple([i for i in range(rank) if i != axis]))(dy)
        if self.channels_first:
            return Sum((0, 2))(reshape(dy, concat([shape(dy)[:2], [-1]], 0)))
        return sum_like(dy, bias)
