"""Optimization barrier: no compiler merges or moves computations across it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import resource
from ...core.graph import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import JOINS, MOVES
from ...core.types import TensorType


def optimization_barrier(inputs: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Tensors equal to `inputs`, computed when all of them are there; handles of variables are handed on as they are.

    What is computed from the results is not taken for what is computed from the inputs: XLA computes it again.
    """
    arrays = [x for x in inputs if x.dtype != resource]
    if not arrays:
        return list(inputs)
    outputs = iter(arrays[0].op.graph.acting.add(OptimizationBarrier(), arrays, name).outputs)
    return [x if x.dtype == resource else next(outputs) for x in inputs]


class OptimizationBarrier(Primitive):
    traits = (MOVES, JOINS)
    recomputes = True

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        return xs

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        return xs[0] if len(xs) == 1 else xs

    def gradient(self, op: Operation, *dys: Any) -> Sequence[Any]:
        del op
        return dys
