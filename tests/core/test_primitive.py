"""Primitives that users write: what calling one makes."""

from __future__ import annotations

from typing import Any

import pullback as pb
from pullback.core.types import TensorType


class Halves(pb.Primitive):
    type = "HalvesForTest"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return x, x

    def kernel(self, xp: Any, x: Any) -> Any:
        return x / 2, x / 2


class Nothing(pb.Primitive):
    type = "NothingForTest"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return ()


def test_operation_adds_one_whose_outputs_are_a_tuple() -> None:
    left, right = Halves().operation(pb.constant(4.0), name="halves").outputs
    assert (left.name, right.name) == ("halves:0", "halves:1")
    assert pb.Session().run([left, right]) == [2.0, 2.0]


def test_a_call_gives_the_tuple_of_several_outputs_and_the_operation_without_one() -> None:
    x = pb.constant(4.0)
    assert [y.value_index for y in Halves()(x)] == [0, 1]
    assert isinstance(Nothing()(x), pb.Operation)


def test_the_name_of_a_class_is_its_op_type_unless_it_states_another() -> None:
    class AbstractThirdForTest(pb.Primitive):
        def infer(self, x: TensorType) -> tuple[TensorType, ...]:
            return (x,)

    class ThirdForTest(AbstractThirdForTest):
        pass

    class Other(ThirdForTest):
        type = "OtherThirdForTest"

    class ThirdAgainForTest(Other):
        pass

    x = pb.constant(3.0)
    made = [cls()(x).op for cls in (ThirdForTest, Other, ThirdAgainForTest)]
    assert [op.type for op in made] == ["ThirdForTest", "OtherThirdForTest", "ThirdAgainForTest"]
    assert [op.name for op in made] == ["ThirdForTest", "OtherThirdForTest", "ThirdAgainForTest"]
    assert AbstractThirdForTest.type == "ThirdForTest"
