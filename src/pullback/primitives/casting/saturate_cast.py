"""Saturating casts: what does not fit the dtype becomes the nearest number that does."""

from __future__ import annotations

from ...core.dtypes import INTEGER, as_dtype, finite_range
from ...core.operation import Tensor
from ...core.typing import DTypeLike, TensorLike
from ..creation.constant import convert_to_tensor
from ..elementwise.arithmetic import REAL
from ..elementwise.clip import clip_by_value
from .cast import cast


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """`value` converted to `dtype`, with what does not fit replaced by the nearest number that does, floats included.

    Shapes: any. Dtypes: any real number to any real number.

    Derivative: dx = dy where x fits, else 0; none from or to integers.

    Raises:
        TypeError: a bool or complex dtype on either side.

    >>> import pullback as pb
    >>> pb.Session().run(pb.saturate_cast([-1, 300], pb.uint8))
    array([  0, 255], dtype=uint8)
    """
    wanted = as_dtype(dtype)
    x = convert_to_tensor(value)
    if wanted not in REAL or x.dtype not in REAL:
        raise TypeError(f"saturate_cast: converts real numbers to real numbers, not {x} to {wanted}; use pb.cast")
    with x.graph.within(name or "saturate_cast") as scope:
        (low, high), (lowest, highest) = finite_range(wanted), finite_range(x.dtype)
        if x.dtype not in INTEGER and wanted in INTEGER:
            clipped = x  # Floats become integers by saturation in any case.
        elif low <= lowest and highest <= high:
            clipped = x
        else:
            kind = int if x.dtype in INTEGER else float
            clipped = clip_by_value(x, kind(max(low, lowest)), kind(min(high, highest)))
        result: Tensor = cast(clipped, wanted, scope)
    return result
