"""GraphDef export of sorting: the k largest, and the places of elements in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.sorting.sort import ArgSort, TopKV2
from ..body import Body, Ref
from ..exporting import writer


@writer(TopKV2)
def top_k(body: Body, p: Any, x: Ref) -> Any:
    return body.main("TopKV2", x, body.integers(p.k), index_type=body.op.outputs[1].dtype)


@writer(ArgSort)
def arg_sort(body: Body, p: Any, x: Ref) -> Any:
    """The k largest of all along the last axis; from the end, where the smallest come first: NaN is the largest."""
    (given,) = body.op.inputs
    rank = body.known_rank(0)
    axis, last = p.axis % rank, rank - 1
    order = [*range(axis), *range(axis + 1, rank), axis]
    back = body.integers([*range(axis), last, *range(axis, last)])
    x = x if axis == last else body.node("Transpose", x, body.integers(order))
    length = given.shape.as_list()[axis]
    counted = body.integers(length) if length is not None else body.shape_of(x)
    count = counted if length is not None else body.node("GatherV2", counted, body.integers(last), body.integers(0))
    turned = x if p.descending else _backward(body, x, last)
    _, places = body.outputs("TopKV2", turned, count, index_type=np.dtype(np.int32))
    if not p.descending:
        largest = body.node("Sub", count, body.integers(1))
        places = _backward(body, body.node("Sub", largest, places), last)
    return places if axis == last else body.main("Transpose", places, back)


def _backward(body: Body, x: Ref, axis: int) -> Ref:
    return body.node("ReverseV2", x, body.integers([axis]))
