"""Masks of sequences: true as far as each sequence is long."""

from __future__ import annotations

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, int32
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.typing import DTypeLike, TensorLike
from ..casting.cast import cast
from ..logic.comparison import less
from ..reduction.reduce import reduce_max
from ..shape.squeeze import expand_dims
from .constant import convert_to_tensor
from .ranges import range_


@in_graph_of_inputs
def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = bool_, name: str | None = None
) -> Tensor:
    """For each of `lengths` a row that is true in as many first places.

    Shapes: `lengths` any; the result [lengths..., `maxlen`]; None means the largest length, which XLA must know
    when it compiles. Dtypes: `lengths` any integer or float, of which, given `maxlen`, the fraction does not count; the
    result has `dtype`.

    Raises:
        TypeError: `lengths` are no numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sequence_mask([1, 3], 4, pb.int32))
    array([[1, 0, 0, 0],
           [1, 1, 1, 0]], dtype=int32)
    """
    counts = convert_to_tensor(lengths)
    if counts.dtype not in INTEGER | FLOATING:
        raise TypeError(f"sequence_mask: lengths must be integers or floats, not {counts}")
    with counts.graph.within(name or "SequenceMask"):
        if counts.dtype in FLOATING and maxlen is not None:
            counts = cast(counts, int32)
        longest = reduce_max(counts) if maxlen is None else maxlen
        return cast(less(range_(0, longest, dtype=counts.dtype), expand_dims(counts, -1)), dtype)
