"""Repetition to a shape by NumPy's rule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape, as_shape, same_shape
from ...core.traits import MOVES, VIEWS, reads_shape
from ...core.types import TensorType
from ...core.typing import ShapeLike, TensorLike
from ..creation.constant import convert_to_tensor
from .reshape import shape_to_use, split_shape, wanted_lengths


@in_graph_of_inputs
def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`input` repeated to `shape` by NumPy's rule.

    Shapes: `shape`, a sequence of integers or an integer vector, to which the shape of `input` broadcasts. Dtypes: any.

    Derivative: dx = sum of dy over the axes along which x was repeated.

    Raises:
        ValueError: the shape of `input` does not broadcast to `shape`.

    >>> import pullback as pb
    >>> pb.broadcast_to([1.0, 2.0], [3, 2])
    <Tensor 'BroadcastTo:0' float32[3,2]>
    """
    x = convert_to_tensor(input)
    dims, lengths = split_shape(shape)
    inputs = (x,) if lengths is None else (x, lengths)
    return BroadcastTo(dims)(*inputs, name=name)


class BroadcastTo(Primitive):
    traits = (MOVES, VIEWS)
    shape_inputs = length_inputs = (1,)

    shape: tuple[int | None, ...] | None = None

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        shape = as_shape(wanted_lengths(self.shape, lengths))
        return (TensorType(x.dtype, broadcast_result(x, shape)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        return xp.broadcast_to(x, shape_to_use(self.shape, lengths))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(_sum_back, dy, op.inputs[0]), None)[: len(op.inputs)]


def broadcast_like(x: Tensor, like: Tensor) -> Tensor:
    """`x` repeated to the shape of `like`."""
    if same_shape(x.shape, like.shape):
        return x
    return BroadcastTo(like.shape.known)(x) if like.shape.is_fully_defined() else BroadcastLike()(x, like)


class BroadcastLike(Primitive):
    traits = (MOVES, VIEWS, reads_shape(1))

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, broadcast_result(x, like.shape)),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        return xp.broadcast_to(x, like.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(_sum_back, dy, op.inputs[0]), None


def _sum_back(dy: Tensor, x: Tensor) -> Tensor:
    from ..reduction.sum import sum_like  # which needs broadcasting for its own derivative

    return sum_like(dy, x)


def broadcast_result(x: TensorType, shape: TensorShape, what: str = "broadcast_to") -> TensorShape:
    """`shape`, with the lengths of `x` where it says none and `x` has another than 1."""
    given, wanted = x.shape.lengths, shape.lengths
    if given is None or wanted is None:
        return shape
    lead = len(wanted) - len(given)
    pairs = list(zip(given, wanted[max(lead, 0) :], strict=False))
    if lead < 0 or any(isinstance(m, int) and isinstance(n, int) and m not in (1, n) for m, n in pairs):
        raise ValueError(f"{what}: {x} does not broadcast to {shape}")
    lengths = wanted[:lead] + tuple([m if n is None and isinstance(m, int) and m != 1 else n for m, n in pairs])
    return shape if lengths == wanted else TensorShape(lengths)
