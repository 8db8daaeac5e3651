"""Type annotations for programs that use pullback: `def loss(x: pb.typing.TensorLike) -> pb.Tensor`."""

from .core.typing import AxisLike, DTypeLike, ShapeLike, TensorLike

__all__ = ["AxisLike", "DTypeLike", "ShapeLike", "TensorLike"]
