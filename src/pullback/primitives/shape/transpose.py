"""Transpose: the axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import MOVES, VIEWS, Link, Links
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import static_integers
from ..complex.complex import conj
from ..creation.constant import constant_value, convert_to_tensor


@in_graph_of_inputs
def transpose(
    a: TensorLike, perm: TensorLike | None = None, conjugate: bool = False, name: str | None = "transpose"
) -> Tensor:
    """`a` with its axes in the order `perm`, in the reverse order where it is None; conjugated with `conjugate`.

    Shapes: any; axis i of the result is axis `perm[i]` of `a`. Dtypes: any.

    Derivative: dx = dy with its axes in the inverse order.

    Raises:
        ValueError: `perm` is no permutation of the axes. InvalidArgumentError: one computed in a run is none.

    >>> import pullback as pb
    >>> pb.Session().run(pb.transpose([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    x = convert_to_tensor(a)
    if conjugate:
        x = conj(x)
    rank = x.shape.rank
    if perm is not None and constant_value(convert_to_tensor(perm)) is None:
        return TransposeBy()(x, convert_to_tensor(perm), name=name)
    order = None if perm is None else static_integers(perm, "transpose: perm")
    if order is not None:
        order = tuple([p % len(order) if -len(order) <= p < len(order) else p for p in order])
        if sorted(order) != list(range(len(order))) or rank not in (None, len(order)):
            raise ValueError(f"transpose: perm {list(order)} is no permutation of the axes of {x}")
    elif rank is not None:
        order = tuple(reversed(range(rank)))
    return Transpose(order)(x, name=name)


class Transpose(Primitive):
    traits = (MOVES, VIEWS)

    perm: tuple[int, ...] | None = None

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape([None] * len(self.perm) if self.perm is not None else None)),)
        return (TensorType(x.dtype, TensorShape([dims[p] for p in self.perm or reversed(range(len(dims)))])),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        if x.shape.rank is None:
            return None
        return tuple([Link(o, a) for o, a in enumerate(self.perm or reversed(range(x.shape.rank)))])

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.transpose(x, self.perm)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        inverse = None if self.perm is None else tuple(np.argsort(self.perm).tolist())
        return (lambda: Transpose(inverse)(dy),)


class TransposeBy(Primitive):
    """The transposition by an order of the axes that a run decides, or back from it."""

    traits = (MOVES,)
    shape_inputs = (1,)

    inverse: bool = False

    def infer(self, x: TensorType, perm: TensorType) -> tuple[TensorType, ...]:
        if perm.dtype not in INTEGER or perm.shape.rank not in (None, 1):
            raise ValueError(f"transpose: perm must be a vector of integers, not {perm}")
        rank = x.shape.rank if perm.shape.sizes is None else perm.shape.sizes[0]
        if None not in (rank, x.shape.rank) and rank != x.shape.rank:
            raise ValueError(f"transpose: perm {perm} is no permutation of the axes of {x}")
        return (TensorType(x.dtype, TensorShape(None if rank is None else [None] * rank)),)

    def kernel(self, xp: Any, x: Any, perm: Any) -> Any:
        order = np.asarray(perm) % max(x.ndim, 1)
        if sorted(order) != list(range(x.ndim)):
            found = f"{np.asarray(perm).tolist()} is no permutation of the axes of {x.dtype.name}{list(x.shape)}"
            raise ValueError(f"transpose: perm {found}")
        return xp.transpose(x, np.argsort(order) if self.inverse else order)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: TransposeBy(not self.inverse)(dy, op.inputs[1]), None)
