"""What can be told of integer tensors while the graph is built, and the static shapes that follow."""

from __future__ import annotations

import pytest

import pullback as pb
from pullback.primitives.creation.constant import constant_value, shape_value


@pytest.fixture
def x() -> pb.Tensor:
    return pb.placeholder(pb.float32, [None, 3], name="x")


def test_known_lengths_of_a_partly_known_shape_are_told(x: pb.Tensor) -> None:
    assert shape_value(pb.shape(x)) == (None, 3)
    assert constant_value(pb.shape(x)[1]) == 3
    assert constant_value(pb.shape(x)[0]) is None


def test_arithmetic_on_known_lengths_is_told(x: pb.Tensor) -> None:
    assert constant_value(pb.shape(x)[1] * 2 + 1) == 7
    assert shape_value(pb.stack([pb.shape(x)[0] * 2, pb.shape(x)[1] * 2])) == (None, 6)


def test_joined_shapes_are_told(x: pb.Tensor) -> None:
    assert shape_value(pb.concat([[5], pb.shape(x), [-1]], 0)) == (5, None, 3, -1)
    assert shape_value(pb.cast(pb.shape(x), pb.int64)[::-1]) == (3, None)


def test_a_length_that_a_run_computes_leaves_the_rest_known(x: pb.Tensor) -> None:
    n = pb.placeholder(pb.int32, [])
    assert pb.zeros([n, 2]).shape == [None, 2]
    assert pb.reshape(x, [pb.shape(x)[0], 3, 1]).shape == [None, 3, 1]
    assert pb.broadcast_to(x, pb.concat([[4], pb.shape(x)], 0)).shape == [4, None, 3]
    assert pb.tile(x, [n, 2]).shape == [None, 6]


def test_a_vector_of_known_length_gives_the_rank(x: pb.Tensor) -> None:
    assert pb.reshape(x, pb.placeholder(pb.int32, [4])).shape == [None] * 4
    assert pb.reshape(x, pb.placeholder(pb.int32, [None])).shape.rank is None


def test_a_known_shape_is_a_constant_of_the_graph() -> None:
    assert pb.shape(pb.zeros([2, 3])).op.type == "Const"
    assert pb.rank(pb.placeholder(pb.float32, [None])).op.type == "Const"


def test_what_may_be_fed_is_not_told() -> None:
    assert constant_value(pb.placeholder_with_default(3, [])) is None


def test_large_arrays_are_not_computed_while_the_graph_is_built() -> None:
    assert constant_value(pb.range(10**9) + 1) is None


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (
            [None, 3],
            "a shape is a sequence of integers, but [None, 3] holds None; "
            "take a length that is not known yet from pb.shape(x)",
        ),
        (
            [2.0],
            "a shape is a sequence of integers, but [2.0] holds 2.0; "
            "take a length that is not known yet from pb.shape(x)",
        ),
    ],
)
def test_what_is_no_length_is_refused(shape: object, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        pb.zeros(shape)
    assert str(caught.value) == text
