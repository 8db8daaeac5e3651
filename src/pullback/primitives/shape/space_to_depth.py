"""Space-to-depth and depth-to-space: blocks of pixels exchanged for channels, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import Lengths, TensorShape
from ...core.traits import MOVES
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor


def space_to_depth(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Each block of `block_size` by `block_size` pixels as one pixel, whose channels are those of the block.

    Shapes: [n, h, w, c], h and w multiples of `block_size` b; the result [n, h/b, w/b, b*b*c]. With "NCHW" the channels
    stand second. Dtypes: any.

    Derivative: dx = depth_to_space(dy).

    Raises:
        ValueError: the rank is not 4, a length is no multiple of the block, or another `data_format`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2))
    array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    primitive = SpaceToDepth(block_size, _checked(data_format, "space_to_depth"))
    return primitive(convert_to_tensor(input), name=name)


class SpaceToDepth(Primitive):
    traits = (MOVES,)

    block_size: int
    data_format: str = "NHWC"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        n, h, w, c = _lengths(x, self.data_format, "space_to_depth")
        b = self.block_size
        if b < 2 or any(isinstance(length, int) and length % b for length in (h, w)):
            raise ValueError(f"space_to_depth: {x} cannot be cut into blocks of {b} by {b} pixels")
        h, w = None if h is None else h // b, None if w is None else w // b
        return (TensorType(x.dtype, _shape(n, h, w, None if c is None else c * b * b, self.data_format)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        b = self.block_size
        if self.data_format == "NCHW":
            n, c, h, w = x.shape
            blocks = xp.transpose(x.reshape((n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
            return blocks.reshape((n, b * b * c, h // b, w // b))
        n, h, w, c = x.shape
        blocks = xp.transpose(x.reshape((n, h // b, b, w // b, b, c)), (0, 1, 3, 2, 4, 5))
        return blocks.reshape((n, h // b, w // b, b * b * c))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: DepthToSpace(self.block_size, self.data_format)(dy),)


def depth_to_space(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Each pixel as a block of `block_size` by `block_size` pixels, which share its channels.

    Shapes: [n, h, w, c], c a multiple of `block_size` b squared; the result [n, h*b, w*b, c/(b*b)]. With "NCHW" the
    channels stand second. Dtypes: any.

    Derivative: dx = space_to_depth(dy).

    Raises:
        ValueError: the rank is not 4, the channels do not fill the blocks, or another `data_format`.

    >>> import pullback as pb
    >>> pb.nn.depth_to_space(pb.zeros([1, 2, 3, 8]), 2).shape
    TensorShape([1, 4, 6, 2])
    """
    primitive = DepthToSpace(block_size, _checked(data_format, "depth_to_space"))
    return primitive(convert_to_tensor(input), name=name)


class DepthToSpace(Primitive):
    traits = (MOVES,)

    block_size: int
    data_format: str = "NHWC"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        n, h, w, c = _lengths(x, self.data_format, "depth_to_space")
        b = self.block_size
        if b < 2 or (isinstance(c, int) and c % (b * b)):
            raise ValueError(f"depth_to_space: the channels of {x} do not fill blocks of {b} by {b} pixels")
        h, w = None if h is None else h * b, None if w is None else w * b
        return (TensorType(x.dtype, _shape(n, h, w, None if c is None else c // (b * b), self.data_format)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        b = self.block_size
        if self.data_format == "NCHW":
            n, c, h, w = x.shape
            blocks = xp.transpose(x.reshape((n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
            return blocks.reshape((n, c // (b * b), h * b, w * b))
        n, h, w, c = x.shape
        blocks = xp.transpose(x.reshape((n, h, w, b, b, c // (b * b))), (0, 1, 3, 2, 4, 5))
        return blocks.reshape((n, h * b, w * b, c // (b * b)))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: SpaceToDepth(self.block_size, self.data_format)(dy),)


def _checked(data_format: str, what: str) -> str:
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"{what}: data_format must be 'NHWC' or 'NCHW', not {data_format!r}")
    return data_format


def _lengths(x: TensorType, data_format: str, what: str) -> Lengths:
    """The number, height, width and channels."""
    if x.shape.rank not in (4, None):
        raise ValueError(f"{what}: images have four axes, but {x} has {x.shape.rank}")
    dims = (None,) * 4 if x.shape.lengths is None else x.shape.lengths
    return dims if data_format == "NHWC" else (dims[0], dims[2], dims[3], dims[1])


def _shape(n: Any, h: Any, w: Any, c: Any, data_format: str) -> TensorShape:
    return TensorShape([n, h, w, c] if data_format == "NHWC" else [n, c, h, w])
