"""Type conversion (cast) between dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from ...core.dtypes import (
    COMPLEX,
    INEXACT,
    INTEGER,
    NARROW,
    as_dtype,
    bfloat16,
    dtype_name,
    float16,
    float32,
    string,
)
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.slices import IndexedSlices
from ...core.traits import CONVERTS, ELEMENTWISE
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..creation.constant import convert_to_tensor


@overload
def cast(x: IndexedSlices, dtype: DTypeLike, name: str | None = None) -> IndexedSlices: ...  # type: ignore[overload-overlap]
@overload
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor | IndexedSlices:
    """`x` with each element converted to `dtype`; `x` itself where it has it; of IndexedSlices, slices.

    Floats become integers by dropping the fraction; what does not fit becomes the nearest that does, NaN becomes 0.
    Complex numbers become real by dropping the imaginary part.

    Shapes: any. Dtypes: any to any.

    Derivative: dx = cast(dy, dtype of x), its real part where x is real; none from or to integers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.cast([1.7, -1.7], pb.int32))
    array([ 1, -1], dtype=int32)
    """
    wanted = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, wanted), x.indices, x.dense_shape, x.static_shape)
    tensor = convert_to_tensor(x)
    if tensor.dtype == wanted:
        return tensor
    return Cast(wanted)(tensor, name=name)


def upcast(x: Tensor) -> Tensor:
    """`x`, 16-bit floats as float32: sums of them, and of their squares, soon exceed the largest float16."""
    return cast(x, float32) if x.dtype in (float16, bfloat16) else x


class Cast(Primitive):
    traits = (ELEMENTWISE, CONVERTS)
    takes_slices = True

    dtype: Any

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if string in (x.dtype, self.dtype):
            raise TypeError(f"cast: no {x} to {dtype_name(self.dtype)}; use strings.as_string or strings.to_number")
        return (TensorType(self.dtype, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        if x.dtype in COMPLEX and self.dtype not in COMPLEX:
            x = xp.real(x)
        if self.dtype in INTEGER and x.dtype in INEXACT:
            return saturate(xp, x, self.dtype)
        if self.dtype in NARROW and "int" in self.dtype.name and x.dtype in INEXACT:
            # The last bits are kept, as of integers; by themselves engines differ.
            x = saturate(xp, x, np.dtype(np.int32))
        return x.astype(self.dtype)

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        (x,) = op.inputs
        if x.dtype not in INEXACT or self.dtype not in INEXACT:
            return (None,)
        return (lambda: cast(dy, x.dtype),)


def saturate(xp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
    """Floats to integers as XLA does: NaN to 0, what is out of range to the nearest in range."""
    limits = np.iinfo(dtype)
    inside = xp.where(xp.isnan(x), xp.zeros_like(x), x)
    if x.dtype.itemsize < 4:
        inside = inside.astype(np.float32)
    # As floats: the largest integer itself is no float for most widths, and the next float above it is out of range.
    low, high = inside <= float(limits.min), inside >= float(limits.max)
    safe = xp.where(low | high, xp.zeros_like(inside), inside).astype(dtype)
    return xp.where(low, dtype.type(limits.min), xp.where(high, dtype.type(limits.max), safe))
