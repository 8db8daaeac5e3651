"""Diagonal tensors: of any rank, whose first indices equal the others, and what lies there."""

from __future__ import annotations

from ...core.operation import Tensor
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from ..debugging.assertions import assert_
from ..identity.identity import identity
from ..reduction.product import reduce_prod
from ..shape.reshape import reshape
from ..shape.size import rank, shape
from ..shape.stacking import concat
from .einsum import Einsum
from .matrices import diag, diag_part


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with `diagonal` where the first half of the indices equals the second, zeros elsewhere.

    Shapes: [lengths...] gives [lengths..., lengths...]. Dtypes: any number.

    Derivative: dx = tensor_diag_part(dy).

    Raises:
        TypeError: no numbers. ValueError: a scalar, in a run too.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.tensor_diag([1.0, 2.0]))
    array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    x = convert_to_tensor(diagonal)
    if x.shape.rank is None:
        lengths = _no_scalar(x, "tensor_diag")
        return reshape(diag(reshape(x, [-1])), concat([lengths, lengths], 0), name)
    if x.shape.rank == 0:
        raise ValueError(f"tensor_diag: {x} is a scalar")
    labels = "abcdefghijklmnopqrstuvwxyz"[: x.shape.rank]
    return Einsum(f"{labels}->{labels}{labels}")(x, name=name)


def _no_scalar(x: Tensor, what: str) -> Tensor:
    """The lengths of `x`; a run in which there are none fails."""
    lengths = shape(x)
    with x.graph.acting.control_dependencies([assert_(rank(x) > 0, [f"{what}: {x} is a scalar"])]):
        return identity(lengths)


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The elements where the first half of the indices equals the second.

    Shapes: [lengths..., lengths...] gives [lengths...]. Dtypes: any number.

    Derivative: dx = tensor_diag(dy).

    Raises:
        ValueError: the rank is odd or 0, or the halves differ. TypeError: no numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.tensor_diag_part([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.], dtype=float32)
    """
    x = convert_to_tensor(input)
    if x.shape.rank is None:
        lengths = _no_scalar(x, "tensor_diag_part")
        half = lengths[: rank(x) // 2]
        count = reduce_prod(half)
        return reshape(diag_part(reshape(x, [count, count])), half, name)
    if x.shape.rank % 2 or not x.shape.rank:
        raise ValueError(f"tensor_diag_part: the rank of {x} must be even, and not 0")
    labels = "abcdefghijklmnopqrstuvwxyz"[: x.shape.rank // 2]
    return Einsum(f"{labels}{labels}->{labels}")(x, name=name)
