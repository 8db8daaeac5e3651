"""Reshaping where a length of 0 stands for the length that the input has in its place, as in ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..core.operation import Operation
from ..core.primitive import Primitive
from ..core.shape import TensorShape
from ..core.types import TensorType
from .reshaping import reshape_like, shape_to_use


class ReshapeKeeping(Primitive):
    """The elements of `x` in another shape: 0 keeps the length of that axis, -1 is worked out."""

    type = "ReshapeKeeping"
    shape_inputs = (1,)

    shape: tuple[int | None, ...] | None = None
    """The lengths; None where an input gives them (then for that length, or for all)."""

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        if self.shape is None:
            rank = None if lengths is None or lengths.shape.rank is None else lengths.shape[0]
            return (TensorType(x.dtype, TensorShape.UNKNOWN if rank is None else TensorShape([None] * rank)),)
        own = x.shape.dims or ()
        dims = [(own[i] if i < len(own) else None) if d == 0 else d for i, d in enumerate(self.shape)]
        size = x.shape.num_elements()
        if size is None and x.shape.dims is not None:
            size = self._remaining(x.shape.dims)
            rest = [d for d in self.shape if d not in (0, -1)]
        else:
            rest = [d for d in dims if d != -1]
        if -1 in dims:
            known = None if None in rest else TensorShape(rest).num_elements()
            place = dims.index(-1)
            dims[place] = size // known if size is not None and known else None
        return (TensorType(x.dtype, TensorShape(dims)),)

    def _remaining(self, own: Sequence[int | None]) -> int | None:
        """The number of elements of a row of what is kept, where that is known."""
        assert self.shape is not None
        kept = {i for i, d in enumerate(self.shape) if d == 0}
        return TensorShape([n for i, n in enumerate(own) if i not in kept]).num_elements()

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        del xp
        dims = shape_to_use(self.shape, lengths)
        kept = [x.shape[i] if d == 0 else d for i, d in enumerate(dims)]
        if -1 in kept and x.size == 0:
            # With an empty row the length is not determined by the others: the one of the input's remaining axes is.
            rest = 1
            for i, n in enumerate(x.shape):
                rest *= 1 if i < len(dims) and dims[i] == 0 else n
            for d in dims:
                rest = rest // d if d > 0 else rest
            kept[kept.index(-1)] = rest
        return x.reshape(tuple(kept))

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        return (partial(reshape_like, dy, op.inputs[0]), None)[: len(op.inputs)]
