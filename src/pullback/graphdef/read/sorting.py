"""GraphDef import of sorting and searching."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.indexing.take_along import TakeAlong
from ...primitives.sorting.order_statistics import approx_max_k, approx_min_k, isotonic_regression, nth_element
from ...primitives.sorting.searchsorted import searchsorted
from ...primitives.sorting.sort import argsort, in_top_k, top_k
from ..nodes import Node, reader


@reader("TopKV2", "TopK", outputs=("values", "indices"))
def top_k_(node: Node, x: Tensor, *given: Tensor) -> Any:
    if given and node.static(given[0]) is None:
        return _all_sorted(node, x, given[0])
    (k,) = node.integers(given[0], "k") if given else (node.attribute("k"),)
    return tuple(top_k(x, k, index_type=node.attribute("index_type", "int32"), name=node.exactly))


def _all_sorted(node: Node, x: Tensor, k: Tensor) -> Any:
    """The first `k`, which a run computes, of all elements in descending order."""
    places = argsort(x, direction="DESCENDING", stable=True)[..., :k]
    values = TakeAlong()(x, places)
    return values, cast(places, node.attribute("index_type", "int32"), name=node.exactly)


@reader("NthElement")
def nth_element_(node: Node, x: Tensor, n: Tensor) -> Any:
    return nth_element(x, node.integers(n, "n")[0], node.attribute("reverse", False), name=node.exactly)


@reader("IsotonicRegression", outputs=("output", "segments"))
def isotonic(node: Node, x: Tensor) -> Any:
    del node
    return tuple(isotonic_regression(x))


@reader("ApproxTopK", outputs=("values", "indices"))
def approximate(node: Node, x: Tensor) -> Any:
    best = approx_max_k if node.attribute("is_max_k", True) else approx_min_k
    return tuple(best(x, node.attribute("k"), node.attribute("reduction_dimension", -1)))


@reader("InTopK", "InTopKV2")
def in_top_k_(node: Node, predictions: Tensor, targets: Tensor, *given: Tensor) -> Any:
    (k,) = node.integers(given[0], "k") if given else (node.attribute("k"),)
    return in_top_k(targets, predictions, k, name=node.exactly)


@reader("LowerBound", "UpperBound")
def bound(node: Node, sequence: Tensor, values: Tensor) -> Any:
    side = "left" if node.op_type == "LowerBound" else "right"
    return searchsorted(sequence, values, side, node.attribute("out_type", "int32"), name=node.exactly)
