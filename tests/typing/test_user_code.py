"""Programs as users write them: mypy reads this file too, so that the types that pullback promises are those it has."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import pullback as pb
from pullback.typing import AxisLike, DTypeLike, ShapeLike, TensorLike


def test_functions_of_tensors_give_tensors() -> None:
    x = pb.placeholder(pb.float32, [None, 3])
    assert_type(x, pb.Tensor)
    assert_type(pb.tanh(x), pb.Tensor)
    assert_type(pb.matmul(x, np.ones([3, 2], np.float32)), pb.Tensor)
    assert_type(pb.reduce_sum(x, axis=[0, -1]), pb.Tensor)
    assert_type(pb.nn.softmax(x * 2.0 + 1), pb.Tensor)
    assert_type(x[:, 0], pb.Tensor)


def test_what_numpy_makes_an_array_of_is_taken_for_a_tensor() -> None:
    assert_type(pb.stack([1.0, np.float32(2.0), pb.constant(3.0)]), pb.Tensor)
    assert_type(pb.constant([[1, 2], [3, 4]], "int64"), pb.Tensor)
    assert_type(pb.add(pb.Variable(1.0), np.ones(3, np.float32)), pb.Tensor)


def test_shapes_are_lists_of_lengths_some_unknown_or_computed() -> None:
    x = pb.placeholder("float32", (None, 4))
    assert_type(pb.reshape(x, [-1, 2, 2]), pb.Tensor)
    assert_type(pb.reshape(x, [pb.shape(x)[0], 2, 2]), pb.Tensor)
    assert_type(pb.zeros(x.shape[1:]), pb.Tensor)
    assert_type(pb.placeholder(pb.float32, ["batch", 3]), pb.Tensor)


def test_several_results_are_a_tuple() -> None:
    mean, variance = pb.nn.moments([1.0, 3.0], [0])
    assert_type(mean, pb.Tensor)
    assert_type(variance, pb.Tensor)


def test_casting_keeps_slices_slices() -> None:
    rows = pb.IndexedSlices(pb.ones([1, 2]), pb.constant([0]))
    assert_type(pb.cast(rows, pb.float64), pb.IndexedSlices)
    assert_type(pb.cast([1, 2], pb.float64), pb.Tensor)


class Halves(pb.Primitive):
    type = "HalvesOfUserCode"

    def infer(self, x: pb.TensorType) -> tuple[pb.TensorType, ...]:
        return x, x

    def kernel(self, xp: Any, x: Any) -> Any:
        return x / 2, x / 2


def test_a_primitive_of_ones_own_gives_tensors() -> None:
    assert_type(Halves().operation(pb.constant(1.0)).outputs, list[pb.Tensor])


def scaled(x: TensorLike, shape: ShapeLike, axis: AxisLike, dtype: DTypeLike) -> pb.Tensor:
    return pb.reduce_sum(pb.broadcast_to(pb.cast(pb.convert_to_tensor(x), dtype), shape), axis)


def test_the_names_annotate_functions_of_ones_own() -> None:
    assert scaled([1, 2], [3, 2], 0, float).type == pb.TensorType(pb.float32, pb.TensorShape([2]))


def what_no_tensor_can_be() -> None:
    """Never called: each line is an error that mypy must find, or its ignore is one too many."""
    pb.tanh(object())  # type: ignore[arg-type]
    pb.tanh({"x": 1.0})  # type: ignore[arg-type]
    pb.cast(1.0, 32)  # type: ignore[call-overload]
    pb.zeros([1.5])  # type: ignore[list-item]
    pb.reduce_sum([1.0], axis=0.5)  # type: ignore[arg-type]
