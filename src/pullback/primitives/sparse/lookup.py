"""Embedding lookup by sparse tensors: the rows of a table that each row of a bag of words names, combined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32, int64
from ...core.graph import Tensor
from ...core.typing import TensorLike
from ..casting.cast import cast, upcast
from ..creation.constant import constant, constant_value, convert_to_tensor
from ..creation.fill import ones, ones_like, zeros_like
from ..cumulative.cumsum import cumprod
from ..debugging.assertions import assert_
from ..elementwise.division import divide_no_nan, floordiv, floormod
from ..elementwise.powers import sqrt, square
from ..identity.identity import identity
from ..indexing.gather import embedding_lookup
from ..indexing.where import where
from ..logic.comparison import equal
from ..ragged.ragged_tensor import RaggedTensor
from ..reduction.product import reduce_prod
from ..reduction.reduce import reduce_sum
from ..segment.sums import unsorted_segment_sum
from ..shape.reshape import reshape
from ..shape.size import rank
from ..shape.size import shape as shape_of
from ..shape.stacking import concat, stack
from .sparse_tensor import SparseTensor, check_countable, lengths_of

Combiner = Literal["sum", "mean", "sqrtn"]
Id = int | Tensor
Lookup = Callable[[Tensor], Tensor]


@in_graph_of_inputs
def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: SparseTensor | RaggedTensor,
    sp_weights: SparseTensor | RaggedTensor | None,
    combiner: Combiner | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """For each row of `sp_ids`, sparse or ragged, the rows of the table `params` that it names, combined.

    They are added, weighted by the values of `sp_weights` at the same places, else alike; "mean" divides by the sum of
    the weights, "sqrtn" by the root of the sum of their squares. `combiner` is "mean" unless given; a row that names
    nothing is zeros.

    Shapes: `params` [n, row...], `sp_ids` [rows, any]; the result [rows, row...]. Dtypes: any float; `sp_ids` integers.

    Derivative: dparams = slices of dy, weighted.

    Raises:
        ValueError: another combiner. TypeError: `sp_ids` is no sparse tensor.

    >>> import pullback as pb
    >>> ids = pb.sparse.SparseTensor([[0, 0], [0, 1], [2, 0]], pb.constant([1, 2, 0]), [3, 2])
    >>> pb.Session().run(pb.nn.embedding_lookup_sparse([[1.0], [2.0], [4.0]], ids, None)).tolist()
    [[3.0], [0.0], [1.0]]
    """
    return bags_looked_up(lambda ids: embedding_lookup(params, ids, max_norm), sp_ids, sp_weights, combiner, name)


@in_graph_of_inputs
def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: SparseTensor | RaggedTensor,
    sparse_weights: SparseTensor | RaggedTensor | None = None,
    combiner: Combiner | None = "mean",
    default_id: Id | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """As `embedding_lookup_sparse`, leaving out ids below 0, and weights that are not above 0 unless they are added up.

    A row in which nothing is left is the row `default_id` of the table, zeros unless given.

    Shapes: `sparse_ids` [rows..., any], of any rank that is known; the result [rows..., row...]. Dtypes: as there.

    Derivative: dparams = slices of dy, weighted.

    Raises:
        ValueError: another combiner. TypeError: `sparse_ids` is no sparse tensor.

    >>> import pullback as pb
    >>> ids = pb.sparse.SparseTensor([[0, 0], [1, 0]], pb.constant([-1, 1]), [2, 1])
    >>> pb.Session().run(pb.nn.safe_embedding_lookup_sparse([[1.0], [2.0]], ids, default_id=0)).tolist()
    [[1.0], [2.0]]
    """

    def lookup(ids: Tensor) -> Tensor:
        return embedding_lookup(embedding_weights, ids, max_norm)

    return bags_looked_up_safely(lookup, sparse_ids, sparse_weights, combiner, default_id, name)


def bags_looked_up(
    lookup: Lookup,
    sp_ids: SparseTensor | RaggedTensor,
    sp_weights: SparseTensor | RaggedTensor | None,
    combiner: Combiner | None,
    name: str | None,
) -> Tensor:
    """`embedding_lookup_sparse` of what `lookup` gives for ids."""
    bags, weighted = _sparse(sp_ids), _sparse(sp_weights)
    _check("embedding_lookup_sparse", bags, combiner)
    if not isinstance(weighted, SparseTensor | None):
        raise TypeError(
            f"embedding_lookup_sparse: sp_weights must be a SparseTensor, ragged, or None, not {weighted!r}"
        )
    with bags.graph.acting.within(name or "embedding_lookup_sparse"):
        weights = None if weighted is None else weighted.values
        return combined(lookup, bags, weights, combiner)


def bags_looked_up_safely(
    lookup: Lookup,
    sparse_ids: SparseTensor | RaggedTensor,
    sparse_weights: SparseTensor | RaggedTensor | None,
    combiner: Combiner | None,
    default_id: Id | None,
    name: str | None,
) -> Tensor:
    """`safe_embedding_lookup_sparse` of what `lookup` gives for ids."""
    bags, weighted = _sparse(sparse_ids), _sparse(sparse_weights)
    _check("safe_embedding_lookup_sparse", bags, combiner)
    with bags.graph.acting.within(name or "safe_embedding_lookup_sparse"):
        weights = None if weighted is None else weighted.values
        flat = bags if bags.shape.rank in (2, None) else reshape_sparse(bags, stack([-1, lengths_of(bags)[-1]]))
        found = safely_combined(lookup, flat, weights, combiner, default_id)
        return found if flat is bags else reshape(found, _outer_lengths(bags, found))


def combined(lookup: Lookup, ids: SparseTensor, weights: Tensor | None, combiner: Combiner | None) -> Tensor:
    """What `lookup` gives for the values of `ids`, combined by their rows."""
    looked_up = lookup(ids.values)
    found = upcast(looked_up)
    w = ones_like(ids.values, dtype=found.dtype) if weights is None else cast(weights, found.dtype)
    known = constant_value(ids.dense_shape)
    count = ids.dense_shape[0] if known is None else int(known[0])
    rows = ids.indices[:, 0]
    broad = reshape(w, _column(found))
    total = unsorted_segment_sum(found * broad, rows, count)
    if combiner == "sum":
        return cast(total, looked_up.dtype)
    share = unsorted_segment_sum(square(broad) if combiner == "sqrtn" else broad, rows, count)
    return cast(divide_no_nan(total, sqrt(share) if combiner == "sqrtn" else share), looked_up.dtype)


def safely_combined(
    lookup: Lookup,
    ids: SparseTensor,
    weights: Tensor | None,
    combiner: Combiner | None,
    default_id: Id | None,
) -> Tensor:
    """The same of valid ids; a row without one is that of `default_id`, or zeros."""
    valid = ids.values >= 0 if weights is None or combiner == "sum" else (ids.values >= 0) & (weights > 0)
    first = where(valid, ids.values, zeros_like(ids.values))
    known = SparseTensor(ids.indices, first, ids.dense_shape)
    like = lookup(zeros_like(first[:1]))
    counted = cast(valid, like.dtype)
    result = combined(lookup, known, counted if weights is None else counted * cast(weights, like.dtype), combiner)
    if default_id is None:
        return result
    counts = combined(lambda values: ones_like(values, dtype=like.dtype)[:, None], known, counted, "sum")
    broad = reshape(counts > 0, _column(like))
    return where(broad, result, lookup(zeros_like(first[:1]) + default_id))


def _outer_lengths(bags: SparseTensor, found: Tensor) -> Any:
    """The lengths of `bags` but for the last one, and those of a row of `found`."""
    outer, row = lengths_of(bags)[:-1], found.shape[1:]
    if all(isinstance(n, int) for n in outer) and row.is_fully_defined():
        return [*outer, *row.known]
    return concat([bags.dense_shape[:-1], cast(shape_of(found)[1:], int64)], 0)


def _column(x: Tensor) -> Any:
    """The shape of a number for each row of `x`."""
    if x.shape.rank is None:
        return concat([[-1], ones([rank(x) - 1], int32)], 0)
    return [-1, *[1] * (x.shape.rank - 1)]


@in_graph_of_inputs
def reshape_sparse(sp_input: SparseTensor, shape: TensorLike, name: str | None = None) -> SparseTensor:
    """`sp_input` in another shape of as many elements, in the order in which they lie in memory.

    Shapes: one length of `shape` may be -1. Dtypes: any.

    Derivative: that of its values, which stay.

    >>> import pullback as pb
    >>> x = pb.sparse.reshape(pb.sparse.SparseTensor([[0, 1], [1, 2]], [1.0, 2.0], [2, 3]), [3, -1])
    >>> pb.Session().run(pb.sparse.to_dense(x)).tolist()
    [[0.0, 1.0], [0.0, 0.0], [0.0, 2.0]]
    """
    with sp_input.graph.acting.within(name or "SparseReshape"):
        wanted = _lengths(sp_input.dense_shape, shape)
        place = reduce_sum(sp_input.indices * _strides(sp_input.dense_shape), 1)
        return SparseTensor(floormod(floordiv(place[:, None], _strides(wanted)), wanted), sp_input.values, wanted)


def _lengths(before: Tensor, shape: TensorLike) -> Tensor:
    """The lengths of a shape, of which one may be -1."""
    wanted = cast(convert_to_tensor(shape, dtype_hint=int64), int64)
    known, given = constant_value(wanted), constant_value(before)
    if known is not None and given is not None:
        check_countable(given.tolist())
        return constant(np.broadcast_to(False, tuple(given)).reshape(tuple(known)).shape, int64)
    others = reduce_prod(where(wanted < 0, ones_like(wanted), wanted))
    count = reduce_prod(before)
    found = where(wanted < 0, floordiv(count, others), wanted)
    complaint = ["sparse.reshape: the elements of the first shape do not fill the second", before, wanted]
    with before.graph.acting.control_dependencies([assert_(equal(reduce_prod(found), count), complaint)]):
        return identity(found)


def _strides(lengths: Tensor) -> Tensor:
    """How many elements lie between neighbours along each axis."""
    return cumprod(lengths, exclusive=True, reverse=True)


def _sparse(x: Any) -> Any:
    """A ragged tensor as a sparse one, all else as it is."""
    return x.to_sparse() if isinstance(x, RaggedTensor) else x


def _check(what: str, ids: SparseTensor, combiner: str | None) -> None:
    if not isinstance(ids, SparseTensor):
        raise TypeError(f"{what}: the ids must be a SparseTensor, or ragged, not {ids!r}")
    if combiner not in (None, "sum", "mean", "sqrtn"):
        raise ValueError(f"{what}: combiner must be 'sum', 'mean' or 'sqrtn', not {combiner!r}")
