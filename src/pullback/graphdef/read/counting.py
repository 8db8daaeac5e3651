"""GraphDef import of counting: occurrences."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.counting import bincount, histogram_fixed_width
from ..nodes import Node, reader


@reader("Bincount", "DenseBincount")
def bincount_(node: Node, x: Tensor, size: Tensor, weights: Tensor) -> Any:
    (n,) = node.integers(size, "the number of bins")
    given = weights if weights.shape.num_elements() != 0 else None
    dtype = weights.dtype
    binary = node.attribute("binary_output", False)
    axis = -1 if x.shape.rank == 2 else None
    return bincount(x, given, n, n, dtype, node.exactly, axis, binary)


@reader("HistogramFixedWidth")
def histogram(node: Node, values: Tensor, ends: Tensor, bins: Tensor) -> Any:
    (n,) = node.integers(bins, "the number of bins")
    return histogram_fixed_width(values, ends, n, node.attribute("dtype", "int32"), name=node.exactly)
