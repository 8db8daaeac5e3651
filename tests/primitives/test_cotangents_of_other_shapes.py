"""Operations of derivatives, as a file may state them: what cannot be of the shapes is refused when it is built."""

from __future__ import annotations

import pytest

import pullback as pb
from pullback.primitives.creation.ranges import Range
from pullback.primitives.elementwise.arithmetic import Mul
from pullback.primitives.indexing.slicing import StridedSliceGrad
from pullback.primitives.logic.comparison import Less
from pullback.primitives.reduction.sum import SumLike


def test_the_cotangent_of_a_slice_has_its_shape() -> None:
    placed = StridedSliceGrad(((0, 2, 1),), (5, 3))
    assert placed(pb.zeros([2, 3])).shape == (5, 3)
    assert placed(pb.placeholder(pb.float32)).shape == (5, 3)
    with pytest.raises(ValueError, match=r"the slice of float32\[5,3\] is float32\[2,3\], but .* is float32\[4,3\]"):
        placed(pb.zeros([4, 3]))


def test_what_is_summed_is_of_a_shape_that_the_sum_repeats_to() -> None:
    assert SumLike()(pb.zeros([4, 3]), pb.zeros([1, 3])).shape == (1, 3)
    for x, like in (([0], [2, 1]), ([3], [2])):
        with pytest.raises(ValueError, match=r"^sum_like: float32\[.*\] does not broadcast to "):
            SumLike()(pb.zeros(x), pb.zeros(like))


@pytest.mark.parametrize(("primitive", "name"), [(Mul(), "multiply"), (Less(), "less")])
def test_operands_are_as_many_as_are_taken(primitive: pb.Primitive, name: str) -> None:
    x = pb.zeros([2])
    for xs in ((x,), (x, x, x)):
        with pytest.raises(TypeError, match=f"^{name}: it takes 2 inputs, not {len(xs)}$"):
            primitive(*xs)


def test_a_range_is_of_scalars() -> None:
    one, four = pb.placeholder(pb.float32, []), pb.placeholder(pb.float32, [4])
    assert Range(pb.float32)(one, pb.placeholder(pb.float32, [1]), pb.placeholder(pb.float32)).shape.rank == 1
    with pytest.raises(ValueError, match=r"^range: start, limit and step must be scalars, not float32\[4\]$"):
        Range(pb.float32)(one, four, one)
    with pytest.raises(TypeError, match=r"^range: it takes start, limit and step, not 2 inputs$"):
        Range(pb.float32)(one, one)
