"""Scatter-multiply: elements multiplied into a tensor at index vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import Links, all_axes_but, linear
from ...core.types import TensorType
from ..complex.complex import conj
from ..elementwise.arithmetic import NUMBERS
from ..segment.products import ProductOfOthers
from .index_arithmetic import RowNumbers
from .scatter_nd import _infer_scattered, _scatter_into, _scatter_op, gather_nd


def tensor_scatter_nd_mul(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with what stands at the index vectors `indices` multiplied by `updates`; equal ones all count.

    The derivatives are exact where elements are 0.

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is the shape of `tensor` from axis k on.
    Dtypes: any number; `indices` any integer.

    Raises:
        TypeError: `indices` are no integers, or the dtypes differ. ValueError: the shapes do not fit.
    """
    return _scatter_op(TensorScatterMul(), tensor, indices, updates, name)


class TensorScatterMul(Primitive):
    traits = (linear(0),)

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        return _infer_scattered("tensor_scatter_nd_mul", x, indices, updates, NUMBERS)

    def links(self, i: int, x: TensorType, indices: TensorType, updates: TensorType) -> Links | None:
        del indices, updates
        return None if i else all_axes_but(x.shape.rank)

    def kernel(self, xp: Any, x: Any, indices: Any, updates: Any) -> Any:
        return _scatter_into(xp, "tensor_scatter_nd_mul", x, indices, updates, "multiply")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, indices, updates = op.inputs

        def by_updates() -> Tensor:
            others = ProductOfOthers()(updates, RowNumbers()(indices, x))
            return gather_nd(dy * conj(x), indices) * conj(others)

        return lambda: TensorScatterMul()(dy, indices, conj(updates)), None, by_updates
