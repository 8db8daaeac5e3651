"""Bitcast: the same bits as another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import as_dtype
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..creation.constant import convert_to_tensor


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The bits of `input`, element by element, taken for numbers of another dtype. No derivative goes through.

    Shapes: any. Dtypes: any two of the same number of bytes.

    Raises:
        ValueError: the dtypes differ in size.

    >>> import pullback as pb
    >>> pb.Session().run(pb.bitcast([1.0, -2.0], pb.int32))
    array([ 1065353216, -1073741824], dtype=int32)
    """
    wanted: Any = as_dtype(type)
    return Bitcast(wanted)(convert_to_tensor(input), name=name)


class Bitcast(Primitive):
    type = "Bitcast"

    dtype: Any

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype.itemsize != self.dtype.itemsize:
            raise ValueError(
                f"bitcast: the elements of {x} have {x.dtype.itemsize} bytes, those of {self.dtype.name} "
                f"{self.dtype.itemsize}"
            )
        return (TensorType(self.dtype, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        if xp is np:
            return np.ascontiguousarray(x).view(self.dtype).reshape(x.shape)
        if x.dtype == np.bool_:
            x = x.astype(np.uint8)
        return x != 0 if self.dtype == np.bool_ else x.view(self.dtype)

    gradient = no_gradient
