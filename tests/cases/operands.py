"""Rows of what takes as an operand what others take as an attribute: axes of reductions, positions from the end."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.casting.bitcast import bitcast
from pullback.primitives.indexing.index_arithmetic import FlatPositions, FromFront, VectorsFromFront
from pullback.primitives.indexing.scatter_product import tensor_scatter_nd_mul
from pullback.primitives.reduction.reduce_like import MaxLike, MinLike, ProdLike, ShapeOnly
from pullback.primitives.sets.unique_along import UniqueAlong
from pullback.primitives.shape.reshape_keeping import ReshapeKeeping

from .case import Case, distinct, normal

PLACES = np.array([[0], [2], [0], [2]])


def _reduced(primitive: Any, *lengths: int) -> Any:
    """A reduction to these lengths, given as a vector."""
    return lambda x: primitive(x, ShapeOnly((None,) * len(lengths))(pb.constant(np.array(lengths, np.int64))))


def _elements_added(x: Any, indices: Any, updates: Any) -> Any:
    flat = pb.tensor_scatter_nd_add(pb.reshape(x, [-1]), FlatPositions(1)(indices, x), pb.reshape(updates, [-1]))
    return pb.reshape(flat, pb.shape(x))


CASES = [
    Case("max_like", _reduced(MaxLike(), 2, 1, 4), [distinct(2, 3, 4)]),
    Case("max_like_two_axes", _reduced(MaxLike(), 1, 3, 1), [distinct(2, 3, 4)]),
    Case("min_like", _reduced(MinLike(), 1, 3), [distinct(2, 3)]),
    Case("max_like_of_none", _reduced(MaxLike(), 2, 1), [np.zeros((2, 0))], not_differentiable="there is no element"),
    Case("prod_like", _reduced(ProdLike(), 2, 1, 1), [normal(2, 3, 2)], lambda x: x.prod((1, 2), keepdims=True)),
    Case("prod_like_third_order", _reduced(ProdLike(), 1, 3), [normal(3, 3)], third_order=True),
    Case("prod_like_with_zeros", _reduced(ProdLike(), 1, 3), [np.array([[0.0, 0.0, 2.0], [0.0, 3.0, 4.0]])]),
    Case("gather_from_the_end", lambda x: pb.gather(x, FromFront(0)(pb.constant([-1, 0, -1]), x)), [normal(3, 2)]),
    Case(
        "gather_nd_from_the_end",
        lambda x: pb.gather_nd(x, VectorsFromFront()(pb.constant([[-1, 0], [1, -2]]), x)),
        [normal(2, 3)],
        lambda x: np.stack([x[1, 0], x[1, 1]]),
    ),
    Case(
        "scatter_elements",
        _elements_added,
        [normal(2, 3), np.array([[0, -1], [1, 1]]), normal(2, 2)],
        not_erased="the lengths of the updates say where they go",
    ),
    Case(
        "scatter_mul",
        lambda x, updates: tensor_scatter_nd_mul(x, pb.constant(PLACES), updates),
        [normal(3, 2), normal(4, 2)],
        lambda x, u: np.stack([x[0] * u[0] * u[2], x[1], x[2] * u[1] * u[3]]),
    ),
    Case(
        "scatter_mul_by_zero",
        lambda x, updates: tensor_scatter_nd_mul(x, pb.constant(PLACES), updates),
        [np.array([0.0, 2.0, 3.0]), np.array([0.0, 4.0, 5.0, 0.0])],
    ),
    Case(
        "scatter_mul_integers",
        lambda x: tensor_scatter_nd_mul(x, pb.constant([[1], [1]]), pb.constant([2, 5], x.dtype)),
        [np.array([1, 2, 3], np.int32)],
        np.array([1, 20, 3], np.int32),
    ),
    Case("reshape_keeping", lambda x: ReshapeKeeping((0, -1))(x), [normal(2, 3, 2)], lambda x: x.reshape(2, 6)),
    Case(
        "reshape_keeping_by_a_vector",
        lambda x: ReshapeKeeping(None)(x, pb.constant([0, 1, -1])),
        [normal(2, 3)],
        lambda x: x.reshape(2, 1, 3),
    ),
    Case(
        "bitcast", lambda x: bitcast(x, pb.int32), [np.array([1, 2**31], np.uint32)], np.array([1, -(2**31)], np.int32)
    ),
    Case("bitcast_bool", lambda x: bitcast(x, pb.uint8), [np.array([True, False])], np.array([1, 0], np.uint8)),
    Case(
        "unique_along",
        lambda: list(UniqueAlong(0)(pb.constant([[2, 1], [0, 5], [2, 1]]))),
        expected=[np.array([1, 0]), np.array([1, 0, 1]), np.array([1, 2])],
    ),
    Case(
        "unique_in_order",
        lambda: list(UniqueAlong(None, False)(pb.constant([[2, 1], [0, 2]]))),
        expected=[np.array([0, 1, 2]), np.array([0, 1, 2, 0]), np.array([2, 1, 1])],
    ),
]
