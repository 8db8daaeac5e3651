"""GraphDef import of counting: occurrences."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.counting import bincount, histogram_fixed_width
from ...primitives.creation.fill import ones_like
from ...primitives.elementwise.arithmetic import negative
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import less
from ...primitives.segment.sums import unsorted_segment_sum
from ..nodes import Node, reader


@reader("Bincount", "DenseBincount")
def bincount_(node: Node, x: Tensor, size: Tensor, weights: Tensor) -> Any:
    if node.static(size) is None and x.shape.rank == 1 and not node.attribute("binary_output", False):
        return _sums(node, x, size, weights)
    (n,) = node.integers(size, "the number of bins")
    given = weights if weights.shape.num_elements() != 0 else None
    dtype = weights.dtype
    binary = node.attribute("binary_output", False)
    axis = -1 if x.shape.rank == 2 else None
    return bincount(x, given, n, n, dtype, node.exactly, axis, binary)


def _sums(node: Node, x: Tensor, size: Tensor, weights: Tensor) -> Any:
    """The sums of the weights, each one where there are none, for a number of bins that a run computes."""
    given = weights if weights.shape.num_elements() != 0 else ones_like(x, weights.dtype)
    return unsorted_segment_sum(given, where(less(x, size), x, negative(ones_like(x))), size, name=node.exactly)


@reader("HistogramFixedWidth")
def histogram(node: Node, values: Tensor, ends: Tensor, bins: Tensor) -> Any:
    (n,) = node.integers(bins, "the number of bins")
    return histogram_fixed_width(values, ends, n, node.attribute("dtype", "int32"), name=node.exactly)
