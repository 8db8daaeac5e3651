"""Type annotations for programs that use pullback: `def loss(x: pb.typing.TensorLike) -> pb.Tensor`."""

from .core.typing import AxisLike as AxisLike
from .core.typing import DTypeLike as DTypeLike
from .core.typing import ShapeLike as ShapeLike
from .core.typing import TensorLike as TensorLike
