"""Equal rows of lookups summed in their derivative, as TensorFlow's sparse lookups have it, which look each id up once.

The norm of such a gradient, by which it is clipped, is that of the sums.
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ...primitives.sparse.lookup import Lookup
from ...primitives.sparse.unique_rows import SumEqualRows


def each_once(lookup: Lookup) -> Lookup:
    """The same rows; in the derivative that of equal ids stands with the first of them, and zeros with the others.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.row_sums import each_once
    >>> table, ids = tf.constant([[1.0], [2.0]]), tf.constant([1, 0, 1])
    >>> (slices,) = tf.gradients(each_once(lambda ids: tf.nn.embedding_lookup(table, ids))(ids), table)
    >>> tf.Session().run(slices.values).tolist()
    [[2.0], [1.0], [0.0]]
    """

    @pb.custom_gradient
    def same(rows: pb.Tensor, ids: pb.Tensor) -> Any:
        return pb.identity(rows), lambda dy: (_summed(dy, ids), None)

    return lambda ids: same(lookup(ids), ids)


def _summed(dy: pb.Tensor, ids: pb.Tensor) -> pb.Tensor:
    _, sums, places = SumEqualRows().operation(ids, dy).outputs
    count = pb.size(ids)
    order = pb.range(count)
    is_first = pb.equal(pb.gather(pb.math.unsorted_segment_min(order, places, count), places), order)
    column = pb.reshape(is_first, pb.concat([[count], pb.ones([pb.rank(dy) - 1], pb.int32)], 0))
    return pb.where(column, pb.gather(sums, places), pb.zeros_like(dy))
