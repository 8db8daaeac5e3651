"""Sequence reversal: sequences of several lengths in one tensor, turned round."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER
from ...core.errors import InvalidArgumentError
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import MOVES
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import as_axis
from ..creation.constant import convert_to_tensor


@in_graph_of_inputs
def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` elements along `seq_axis` of entry i of the batch turned round.

    Shapes: any of rank 2 or more; `seq_lengths` [length of `batch_axis`], each at most the length of `seq_axis`; both
    axes are 0 unless given. Dtypes: any; the lengths are integers.

    Derivative: dx = reverse_sequence(dy).

    Raises:
        ValueError: an axis is out of range, both are the same, or the lengths do not fit. TypeError: no integers.
        InvalidArgumentError: on NumPy, in a run, a length is negative, or more than there is.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1))
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    x, lengths = convert_to_tensor(input), convert_to_tensor(seq_lengths)
    axes = [as_axis(0 if a is None else a, x.shape.rank, "reverse_sequence", x.type) for a in (seq_axis, batch_axis)]
    return ReverseSequence(*axes)(x, lengths, name=name)


class ReverseSequence(Primitive):
    traits = (MOVES,)

    seq_axis: int
    batch_axis: int

    def infer(self, x: TensorType, lengths: TensorType) -> tuple[TensorType, ...]:
        if lengths.dtype not in INTEGER:
            raise TypeError(f"reverse_sequence: seq_lengths must be integers, not {lengths}")
        if self.seq_axis == self.batch_axis:
            raise ValueError(f"reverse_sequence: seq_axis and batch_axis are both {self.seq_axis}")
        batch = None if x.shape.sizes is None else x.shape.sizes[self.batch_axis]
        if not lengths.shape.is_compatible_with([batch]):
            raise ValueError(f"reverse_sequence: axis {self.batch_axis} of {x} needs as many lengths, not {lengths}")
        return (x,)

    def kernel(self, xp: Any, x: Any, lengths: Any) -> Any:
        seq_axis, batch_axis = self.seq_axis % x.ndim, self.batch_axis % x.ndim
        if xp is np and lengths.size and not 0 <= lengths.min() <= lengths.max() <= x.shape[seq_axis]:
            raise InvalidArgumentError(
                f"reverse_sequence: the lengths must be from 0 to {x.shape[seq_axis]}, and are {lengths.tolist()}"
            )
        places = np.arange(x.shape[seq_axis])
        ends = lengths.astype(np.int64)[:, None]
        numbers = xp.where(places < ends, ends - 1 - places, places)
        dims = [1] * x.ndim
        dims[batch_axis], dims[seq_axis] = numbers.shape
        numbers = (numbers if batch_axis < seq_axis else numbers.T).reshape(dims)
        return xp.take_along_axis(x, numbers, axis=seq_axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(self, dy, op.inputs[1]), None
