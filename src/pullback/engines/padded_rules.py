"""What operations do to rows with zeros behind them: work on each by itself, not see the zeros, or something else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.graph import Operation
from ..primitives.addn import AddN
from ..primitives.array_rows import ArrayHead, ArrayTail
from ..primitives.bias import BiasAdd
from ..primitives.casting import Cast
from ..primitives.creation import FillLike, OneHot
from ..primitives.cumulative import Cumsum
from ..primitives.einsum import Einsum
from ..primitives.elementwise import AbstractElementwise, AbstractPredicate
from ..primitives.identity import Identity, StopGradient
from ..primitives.indexing import GatherV2, MergeLeading
from ..primitives.linalg import BatchMatMul, MatMul
from ..primitives.masking import Mask
from ..primitives.norms import EuclideanNorm, L2Loss, LogSumExp
from ..primitives.ordering import ArgMax, ArgMin
from ..primitives.reduction import All, Any_, CountNonzero, Max, Mean, Min
from ..primitives.reshaping import BroadcastLike, ExpandDims, Reshape, Sum, SumLike
from ..primitives.scatter import ScatterNd
from ..primitives.segment import SegmentGather, UnsortedSegmentSum
from ..primitives.selection import Select
from ..primitives.shaping import Rank, ReverseV2, Transpose
from ..primitives.softmax import LogSoftmax, LogSoftmaxGrad, Softmax, SoftmaxGrad
from ..primitives.stacking import ConcatV2, JoinRows, Pack, RowsLike, Split, Unpack
from ..primitives.unique_rows import SumEqualRows

_BY_ELEMENT = (
    *(AbstractElementwise, AbstractPredicate, AddN, Select, Mask, Cast),
    *(Identity, StopGradient, FillLike, BroadcastLike),
)
_REDUCTIONS = (Sum, Mean, Max, Min, All, Any_, LogSumExp, EuclideanNorm, CountNonzero)
_NEUTRAL = (Sum, SumLike, Any_, CountNonzero, EuclideanNorm, L2Loss, Rank, ScatterNd, SumEqualRows, UnsortedSegmentSum)
"""Those that add up slices among them: what rows of zeros add to row 0 is nothing."""
Ranks = Sequence[int | None]
"""For each input the rank of an array with zeros behind its rows; None for others."""


def rows_of_one(op: Operation, shape: tuple[int, ...]) -> int | None:
    """How many rows a reshape makes of each row of an array of that shape, where it does."""
    primitive = op.primitive
    if isinstance(primitive, MergeLeading):
        rank = op.inputs[1].shape.rank
        return None if rank is None else math.prod(shape[1:rank])
    if not isinstance(primitive, Reshape) or primitive.shape is None or primitive.shape[:1] != (-1,):
        return None
    rest = primitive.shape[1:]
    if None in rest:
        return None
    times, left = divmod(math.prod(shape[1:]), max(math.prod([n for n in rest if n is not None]), 1))
    return None if left else times


def goes_row_by_row(op: Operation, ranks: Ranks) -> bool:
    """Whether each row of what `op` makes comes from the rows of that number."""
    primitive: Any = op.primitive
    known = {n for n in ranks if n is not None}
    if isinstance(primitive, _BY_ELEMENT):
        return known == {op.outputs[0].shape.rank}
    if isinstance(primitive, RowsLike | JoinRows):
        return None not in ranks[:2]
    if len(known) > 1:
        return False
    (rank,) = known
    if isinstance(primitive, _REDUCTIONS):
        return primitive.axis is not None and {0, -rank}.isdisjoint(primitive.axis)
    if isinstance(primitive, ArgMax | ArgMin | Softmax | SoftmaxGrad | LogSoftmax | LogSoftmaxGrad):
        return bool(primitive.axis % rank) and None not in ranks
    if isinstance(primitive, MatMul):
        return ranks[1] is None and not primitive.transpose_a
    if isinstance(primitive, BatchMatMul):
        return None not in ranks and rank > 2
    if isinstance(primitive, Einsum):
        return _einsum_keeps_rows(primitive.equation, ranks) is True
    return _moves_no_row(op, ranks, rank)


def _moves_no_row(op: Operation, ranks: Ranks, rank: int) -> bool:
    primitive: Any = op.primitive
    if isinstance(primitive, BiasAdd):
        return ranks[1] is None
    if isinstance(primitive, OneHot):
        return primitive.axis != 0
    if isinstance(primitive, Cumsum):
        return True
    if isinstance(primitive, ExpandDims):
        return 0 not in primitive.axis and -(rank + len(primitive.axis)) not in primitive.axis
    if isinstance(primitive, ReverseV2):
        return {0, -rank}.isdisjoint(primitive.axis)
    if isinstance(primitive, Transpose):
        return primitive.perm is not None and primitive.perm[0] == 0
    if isinstance(primitive, Pack):
        return None not in ranks and bool(primitive.axis % (rank + 1))
    if isinstance(primitive, ConcatV2 | Split | Unpack):
        return None not in ranks and bool(primitive.axis % rank)
    if isinstance(primitive, SegmentGather):
        return ranks[0] is None
    if isinstance(primitive, GatherV2):
        of_rows = ranks[0] is not None and ranks[1] is None and primitive.axis % rank > 0
        by_rows = ranks[0] is None and primitive.axis == 0
        return primitive.batch_dims == 0 and (of_rows or by_rows)
    return False


def is_neutral(op: Operation, ranks: Ranks) -> bool:
    """Whether zeros behind the rows add nothing to what `op` makes."""
    primitive = op.primitive
    if isinstance(primitive, MatMul):
        contracted = (primitive.transpose_a, not primitive.transpose_b)
        return all(n is None or first for n, first in zip(ranks, contracted, strict=True))
    if isinstance(primitive, Einsum):
        return _einsum_keeps_rows(primitive.equation, ranks) is False
    if isinstance(primitive, ArrayHead | ArrayTail):
        return primitive.room is not None
    return isinstance(primitive, _NEUTRAL)


def _einsum_keeps_rows(equation: str, ranks: Ranks) -> bool | None:
    """Whether the rows of all inputs that have zeros behind them are rows of the result; False: they are summed."""
    terms, result = equation.split("->")
    first = {term[0] for term, n in zip(terms.split(","), ranks, strict=True) if n is not None}
    (letter, *others) = first
    if others or letter == ".":
        return None
    if letter not in result:
        return False
    return True if result.startswith(letter) else None
