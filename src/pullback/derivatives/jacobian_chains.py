"""Jacobian chains: where all paths go through narrow tensors, the Jacobian is a product of small ones.

Vertices are eliminated in blocks: those between two tensors that every path passes, by rows or by columns, and such a
tensor by the product of the Jacobians on its two sides. The order is that of matrix chains, by dynamic programming
(Griewank and Naumann 2003, Accumulating Jacobians as chained sparse matrix products), among the narrowest tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from ..autodiff.paths import operations_between
from ..core.dtypes import COMPLEX, TRAINABLE
from ..core.errors import InvalidArgumentError
from ..core.graph import Operation, Tensor
from ..passes.costs import flops
from ..passes.run_lengths import Lengths
from ..primitives.linalg.matmul import matmul
from ..primitives.shape.reshape import reshape
from .products import source_tensor, value_type

_MOST = 16
"""The tensors among which chains are looked for; the time is cubic in them."""
_PRODUCT = 2.0
"""What a product with a vector costs, of what the values cost."""


@dataclass(frozen=True)
class Chain:
    """The cheapest order for one Jacobian. Number 0 among `tensors` is the input, the last one the output."""

    tensors: Sequence[Any]
    cost: float
    """In floating-point operations, about."""
    direct: float
    """What the fewest products with vectors cost."""
    split: dict[tuple[int, int], int]
    """For two numbers the one between them through which the Jacobian goes; none where it is taken at once."""

    def accumulated(self, direct: Callable[[Tensor, Any], Tensor]) -> Tensor:
        """The Jacobian [size of output, size of input]; `direct` gives that of one tensor by another at once."""

        def between(i: int, j: int) -> Tensor:
            k = self.split.get((i, j))
            if k is not None:
                return matmul(between(k, j), between(i, k))
            y, x = self.tensors[j], self.tensors[i]
            return reshape(direct(y, x), [y.shape.num_elements(), value_type(x).shape.num_elements()])

        return between(0, len(self.tensors) - 1)


def chain_of(y: Tensor, x: Any) -> Chain | None:
    """The cheapest chain for the Jacobian of `y` by `x`; None where only a run knows a length."""
    source = source_tensor(x)
    operations = operations_between([y], [source])[::-1]
    try:
        costs = [float(flops(op, Lengths())) for op in operations]
    except InvalidArgumentError:
        return None
    columns, rows = value_type(x).shape.num_elements(), y.shape.num_elements()
    if not operations or rows is None or columns is None:
        return None
    cuts = _narrowest(_cuts(operations, source, y), min(rows, columns))
    done = [0.0, *accumulate(costs)]
    work = [0.0, *[done[cut.place + 1] for cut in cuts], done[-1]]
    return _cheapest([x, *[cut.tensor for cut in cuts], y], work, [columns, *[cut.size for cut in cuts], rows])


class _Cut(NamedTuple):
    """A tensor that every path goes through."""

    place: int
    """The number of the operation that makes it."""
    size: int
    tensor: Tensor


def _cuts(operations: Sequence[Operation], source: Tensor, y: Tensor) -> list[_Cut]:
    """What every path from `source` to `y` goes through, in order, where its size is known."""
    number = {op: i for i, op in enumerate(operations)}
    ends: dict[Tensor, float] = {source: 0, y: math.inf}
    for i, op in enumerate(operations):
        for t in op.inputs:
            if t is source or (t.op in number and t.op is not source.op and t.type.dtype in TRAINABLE):
                ends[t] = max(ends.get(t, 0), i)
    found, live = [], {source}
    for i, op in enumerate(operations):
        live = {t for t in (*live, *op.outputs) if ends.get(t, -1) > i}
        for t in op.outputs:
            size = t.shape.num_elements()
            if live == {t} and t is not source and t is not y and size is not None and t.dtype not in COMPLEX:
                found.append(_Cut(i, size, t))
    return found


def _narrowest(cuts: Sequence[_Cut], below: int) -> list[_Cut]:
    """Those that have fewer elements than both ends, a few at most, in order."""
    narrow = sorted([cut for cut in cuts if cut.size < below], key=lambda cut: cut.size)
    return sorted(narrow[:_MOST], key=lambda cut: cut.place)


def _cheapest(tensors: Sequence[Any], work: Sequence[float], lengths: Sequence[int]) -> Chain:
    count = len(tensors)
    cost: dict[tuple[int, int], float] = {}
    split: dict[tuple[int, int], int] = {}
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            cost[i, j] = _PRODUCT * (work[j] - work[i]) * min(lengths[i], lengths[j])
            for k in range(i + 1, j):
                through = cost[i, k] + cost[k, j] + 2.0 * lengths[i] * lengths[k] * lengths[j]
                if through < cost[i, j]:
                    cost[i, j], split[i, j] = through, k
    direct = _PRODUCT * work[-1] * min(lengths[0], lengths[-1])
    return Chain(tensors, cost[0, count - 1], direct, split)
