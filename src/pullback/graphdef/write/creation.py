"""GraphDef export of array creation: constants, placeholders, filled arrays, ranges, one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import int32, int64
from ...core.values import Const
from ...primitives.creation.eye import Eye
from ...primitives.creation.fill import Fill, Filled, FillLike
from ...primitives.creation.one_hot import OneHot
from ...primitives.creation.placeholders import Placeholder, PlaceholderWithDefault
from ...primitives.creation.ranges import Range
from ..body import Body, Ref
from ..exporting import writer


def lengths_of(body: Body, lengths: Sequence[int | None] | None, given: Sequence[Ref]) -> Ref:
    """A vector of lengths: static ones, and where they are None those of the vector that is given."""
    if not given:
        return body.integers(lengths)
    (vector,) = given
    if lengths is None or None not in lengths:
        return vector
    known = [0 if n is None else n for n in lengths]
    if vector.dtype != np.int32 or max(known) >= 2**31:
        vector = body.cast(vector, int64)
    open_ = body.constant(np.array([n is None for n in lengths]))
    return body.node("SelectV2", open_, vector, body.constant(known, vector.dtype))


def sizes_of(body: Body, lengths: Sequence[int | None], given: Sequence[Ref], like: Ref) -> Ref:
    """A shape of which the batch may be that of `like`, where nothing is given."""
    if given or None not in lengths:
        return lengths_of(body, lengths, given)
    batch = body.node("Slice", body.shape_of(like), body.integers([0]), body.integers([1]))
    return body.node("ConcatV2", [batch, body.integers(lengths[1:])], body.integers(0))


@writer(Const)
def constant(body: Body, p: Any) -> Any:
    return body.main("Const", value=p.value, dtype=p.value.dtype)


@writer(Placeholder)
def placeholder(body: Body, p: Any) -> Any:
    (y,) = body.op.outputs
    return body.main("Placeholder", dtype=y.dtype, shape=y.shape)


@writer(PlaceholderWithDefault)
def placeholder_with_default(body: Body, p: Any, x: Ref) -> Any:
    return body.main("PlaceholderWithDefault", x, shape=body.op.outputs[0].shape)


@writer(Fill)
def fill(body: Body, p: Any, x: Ref, *lengths: Ref) -> Any:
    return body.main("Fill", lengths_of(body, p.shape, lengths), x)


@writer(Filled)
def filled(body: Body, p: Any, *lengths: Ref) -> Any:
    value = body.constant(p.value, p.dtype)
    return body.main("Fill", lengths_of(body, p.shape, lengths), value)


@writer(FillLike)
def fill_like(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Fill", body.shape_of(x), body.constant(p.value, p.dtype))


@writer(Eye)
def eye(body: Body, p: Any, *lengths: Ref) -> Any:
    ones = body.node("Fill", lengths_of(body, p.shape, lengths), body.constant(1, p.dtype))
    return body.main("MatrixBandPart", ones, body.integers(0), body.integers(0))


@writer(Range)
def range_(body: Body, p: Any, *given: Ref) -> Any:
    if p.numbers is not None:
        return body.main("Range", *[body.constant(n, p.dtype) for n in p.numbers])
    return body.main("Range", *[body.cast(n, p.dtype) for n in given])


@writer(OneHot)
def one_hot(body: Body, p: Any, indices: Ref, *depth: Ref) -> Any:
    known = body.constant(p.depth[0], int32) if not depth else body.node("Squeeze", depth[0])
    known = body.cast(known, int32)
    on, off = (body.constant(n, p.dtype) for n in (1, 0))
    return body.main("OneHot", indices, known, on, off, axis=p.axis)
