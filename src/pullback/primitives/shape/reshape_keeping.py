"""Reshape as in ONNX, where a length of 0 stands for the length that the input has in its place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.operation import Operation
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import MOVES, VIEWS
from ...core.types import TensorType, VectorType, shape_to_infer
from .reshape import numbers_to_use, reshape_like


class ReshapeKeeping(Primitive):
    """The elements of `x` in another shape: 0 keeps the length of that axis, -1 is worked out."""

    traits = (MOVES, VIEWS)
    shape_inputs = length_inputs = (1,)

    shape: tuple[int | None, ...] | None = None
    """The lengths; None where an input gives them (then for that length, or for all)."""

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        wanted = lengths.elements if isinstance(lengths, VectorType) else self.shape
        if wanted is None:
            return (TensorType(x.dtype, shape_to_infer(None, lengths)),)
        own = x.shape.lengths
        dims = [x.shape.length(i) if d == 0 else d for i, d in enumerate(wanted)]
        if -1 in dims:
            # What is kept stands on both sides: nothing need be known of it.
            rest = [d for d in wanted if d not in (0, -1)]
            kept = {i for i, d in enumerate(wanted) if d == 0}
            size = None if own is None else TensorShape([n for i, n in enumerate(own) if i not in kept]).elements
            unknown = None in rest or size is None or 0 in rest
            dims[dims.index(-1)] = None if unknown else size // math.prod(rest)  # type: ignore[operator, arg-type]
        return (TensorType(x.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        del xp
        dims = numbers_to_use(self.shape, lengths)
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
