"""Cross products of vectors in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import PARTLY, bilinear, links_of_vectors
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..complex.complex import conj


@in_graph_of_inputs
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross product of vectors of length 3.

    Shapes: [..., 3], the same for both. Dtypes: any number, the same for both.

    Derivative: da = cross(b, dy), db = cross(dy, a).

    Raises:
        ValueError: the shapes differ, or the last length is not 3. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    array([0., 0., 1.], dtype=float32)
    """
    x, y = operands(a, b)
    return Cross()(x, y, name=name)


class Cross(Primitive):
    traits = (bilinear(0, 1), PARTLY)

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        if a.dtype != b.dtype:
            raise TypeError(f"cross: dtypes differ: {a} and {b}; convert one with pb.cast")
        if not a.shape.is_compatible_with(b.shape):
            raise ValueError(f"cross: the shapes differ: {a} and {b}")
        for x in (a, b):
            if x.shape.sizes is not None and (not x.shape.sizes or x.shape.sizes[-1] not in (3, None)):
                raise ValueError(f"cross: vectors of length 3 are needed: {a} and {b}")
        return (a if a.shape.sizes is not None and None not in a.shape.sizes else b,)

    links = links_of_vectors

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        x, y, z = a[..., 0], a[..., 1], a[..., 2]
        u, v, w = b[..., 0], b[..., 1], b[..., 2]
        return xp.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        a, b = op.inputs
        return lambda: Cross()(conj(b), dy), lambda: Cross()(dy, conj(a))
