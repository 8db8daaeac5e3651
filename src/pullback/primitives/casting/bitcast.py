"""Bitcast: the same bits as another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..creation.constant import convert_to_tensor


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The bits of `input`, element by element, taken for numbers of another dtype. No derivative goes through.

    An element of which several smaller ones are made becomes a new last axis of these, the lowest bits first; where a
    larger one is made of several, they are the last axis, which goes.

    Shapes: any; [...] gives [..., k] where the new dtype has k times less bytes, and [..., k] gives [...] where it has
    k times more. Dtypes: any two.

    Raises:
        ValueError: the last axis has not as many elements as make one. InvalidArgumentError: in a run.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitcast([1.0, -2.0], pb.int32))
    array([ 1065353216, -1073741824], dtype=int32)
    """
    wanted: Any = as_dtype(type)
    return Bitcast(wanted)(convert_to_tensor(input), name=name)


class Bitcast(Primitive):
    dtype: Any

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        old, new, dims = x.dtype.itemsize, self.dtype.itemsize, x.shape.lengths
        if dims is None or old == new:
            return (TensorType(self.dtype, x.shape),)
        if old > new:
            return (TensorType(self.dtype, TensorShape([*dims, old // new])),)
        if not dims or (isinstance(dims[-1], int) and dims[-1] != new // old):
            raise ValueError(
                f"bitcast: the elements of {x} have {old} bytes, those of {self.dtype.name} {new}: the last axis must "
                f"have {new // old} elements"
            )
        return (TensorType(self.dtype, TensorShape(dims[:-1])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        old, new = x.dtype.itemsize, np.dtype(self.dtype).itemsize
        if old < new and x.shape[-1:] != (new // old,):
            raise ValueError(
                f"bitcast: the last axis must have {new // old} elements, but the shape is {list(x.shape)}"
            )
        dims = x.shape if old == new else (*x.shape, old // new) if old > new else x.shape[:-1]
        if xp is not np and x.dtype == np.bool_:
            x = x.astype(np.uint8)
        if xp is not np and self.dtype == np.bool_:
            return Bitcast(np.dtype(np.uint8)).kernel(xp, x) != 0
        if xp is np:
            x = np.ascontiguousarray(x).reshape(x.shape)
        return (x.reshape((*x.shape, 1)) if old > new else x).view(self.dtype).reshape(dims)

    gradient = no_gradient
