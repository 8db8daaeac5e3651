"""Placeholders: tensors whose values a run is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import DType, as_dtype
from ...core.graph import get_default_graph
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape, as_shape, unnamed_shape
from ...core.traits import GIVEN
from ...core.types import TensorType, tensor_type
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from .constant import convert_to_tensor


def placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor that must be fed in every run that needs it.

    Shapes: `shape`, with None for lengths that may differ from run to run; None for any shape. A string names a length:
    all that is called by one name has one length in a run. Dtypes: `dtype`.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [None])
    >>> pb.Session().run(x + x, feed_dict={x: [1.0, 2.0]})
    array([2., 4.], dtype=float32)
    >>> pb.placeholder(pb.float32, ["batch", 3])
    <Tensor 'Placeholder_1:0' float32[batch,3]>
    """
    return get_default_graph().add(Placeholder(as_dtype(dtype), as_shape(shape)), (), name).outputs[0]


class Placeholder(Primitive):
    traits = (GIVEN,)
    stateful = True

    dtype: DType
    shape: TensorShape

    def infer(self) -> tuple[TensorType, ...]:
        return (tensor_type(self.dtype, self.shape),)

    def kernel(self, xp: Any) -> Any:
        del xp
        raise ValueError(f"a placeholder of type {TensorType(self.dtype, self.shape)} was not fed")

    gradient = no_gradient


@in_graph_of_inputs
def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor that may be fed, and is `input` where it is not.

    Shapes: `shape`, of which that of `input` is a case. Dtypes: that of `input`.

    Derivative: dx = dy.

    Raises:
        ValueError: `shape` contradicts the shape of `input`.

    >>> import pullback as pb
    >>> rate = pb.placeholder_with_default(0.5, [])
    >>> pb.Session().run(rate), pb.Session().run(rate, feed_dict={rate: 2.0})
    (np.float32(0.5), np.float32(2.0))
    """
    return PlaceholderWithDefault(unnamed_shape("placeholder_with_default", shape))(convert_to_tensor(input), name=name)


class PlaceholderWithDefault(Primitive):
    traits = (GIVEN,)
    stateful = True

    shape: TensorShape

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if not self.shape.is_compatible_with(x.shape):
            raise ValueError(f"placeholder_with_default: {x} cannot stand for a placeholder of shape {self.shape}")
        return (TensorType(x.dtype, self.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (dy,)
