"""The library's rules: each is tried on numbers, as rules of users are, and rewrites what it says to what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.types import tensor_type
from pullback.passes.optimizing import Optimizing
from pullback.passes.rewrite import check_rule
from pullback.passes.rule import Rule
from pullback.passes.ruleset import Rules, library
from pullback.primitives.casting.cast import Cast
from pullback.primitives.complex.complex import Complex
from pullback.primitives.creation.constant import Const
from pullback.primitives.creation.eye import Eye
from pullback.primitives.indexing.gather import GatherV2
from pullback.primitives.indexing.slice import Slice
from pullback.primitives.indexing.slicing import FULL, StridedSlice
from pullback.primitives.linalg.einsum import Einsum
from pullback.primitives.reduction.reduce import Mean
from pullback.primitives.reduction.sum import Sum
from pullback.primitives.shape.broadcast import BroadcastTo
from pullback.primitives.shape.reshape import Reshape
from pullback.primitives.shape.reverse import ReverseV2
from pullback.primitives.shape.squeeze import ExpandDims
from pullback.primitives.shape.stacking import ConcatV2, Split, Unpack
from pullback.primitives.shape.transpose import Transpose

from .functions import size, traced, types

MATRIX = np.random.default_rng(0).normal(size=[4, 4])
WHOLE = np.arange(16).reshape([4, 4])
TRUTH = MATRIX > 0
UNIT = Const(np.eye(4))
EYE = Eye(np.dtype("float64"), (4, 4))
TURN = Transpose((1, 0))
STACK = np.stack([MATRIX, MATRIX + 1])
STACK_TURN = Transpose((0, 2, 1))
EXAMPLES: dict[str, dict[str, Any]] = {
    "casts": {"first": Cast(np.dtype("complex128")), "second": Cast(np.dtype("float32"))},
    "chain to the left": {"a": MATRIX[:1]},
    "chain to the right": {"c": MATRIX[:, :1]},
    "choice by a negation": {"c": TRUTH},
    "choice of equals": {"c": TRUTH},
    "conjugated twice": {"x": MATRIX + 2j},
    "divided by a power of two": {"divisor": Const(np.array(4.0))},
    "even function of a magnitude": {"x": MATRIX},
    "imaginary part of parts": {"joined": Complex()},
    "movement that does nothing": {"move": Cast(np.dtype("float64"))},
    "logarithm of a mean of exponentials": {"mean": Mean((1,))},
    "logarithm of moved elements": {"move": TURN},
    "logarithm of picked elements": {"indices": np.array([2, 0]), "pick": GatherV2(1)},
    "mean of one": {"x": MATRIX[:1], "mean": Mean((0,), keepdims=True)},
    "item of a stack": {"cut": StridedSlice((0, FULL, (0, 2, 1)))},
    "negated twice": {"x": TRUTH},
    "parts of a concatenation": {"parts": Split(1), "joined": ConcatV2(0)},
    "parts of a stack": {"parts": Unpack(1)},
    "norm by a contraction": {"contraction": Einsum("ij,ij->i")},
    "product of a unit matrix": {"unit": UNIT},
    "product of eye": {"unit": EYE},
    "product with a unit matrix": {"unit": UNIT},
    "product with eye": {"unit": EYE},
    "products with a unit matrix": {"x": STACK, "unit": UNIT},
    "products with eye": {"x": STACK, "unit": EYE},
    "reshapes": {"first": Reshape((16,)), "second": Reshape((2, 8))},
    "reshapes to a shape": {"first": Reshape((16,))},
    "reversed twice": {"move": ReverseV2((0,))},
    "root of a mean square": {"mean": Mean((1,))},
    "slice of a concatenation": {"joined": ConcatV2(0), "cut": Slice((1, 1), (2, -1))},
    "slice of all": {"cut": StridedSlice(((None, None, 1), (0, 4, 1)))},
    "strided slice of a concatenation": {"joined": ConcatV2(0), "cut": StridedSlice(((1, 3, 1),))},
    "slice that adds axes": {"cut": StridedSlice((None, FULL, None))},
    "softmax by a widened sum": {"total": Sum((1,)), "widen": ExpandDims((1,))},
    "softmax by hand": {"total": Sum((1,), keepdims=True)},
    "sum of a multiple": {"factor": np.array(3.0)},
    "sum of moved elements": {"move": TURN},
    "extreme of moved elements": {"move": TURN},
    "sum of outer products": {"widen": ExpandDims((1,)), "other": ExpandDims((0,)), "total": Sum((2,))},
    "sum of products": {"total": Sum((1,))},
    "sum of repeated elements": {"x": MATRIX[:1], "wide": BroadcastTo((4, 4)), "total": Sum((0,))},
    "sum of sums": {"first": Sum((1,)), "second": Sum((0,))},
    "transpose that does nothing": {"move": Transpose((0, 1))},
    "transposed first factor": {"move": TURN},
    "transposed first stack": {"x": STACK, "y": STACK, "move": STACK_TURN},
    "transposed second factor": {"move": TURN},
    "transposed second stack": {"x": STACK, "y": STACK, "move": STACK_TURN},
    "transposes": {"x": STACK, "first": Transpose((2, 0, 1)), "second": Transpose((0, 2, 1))},
    "whole numbers times zero": {"x": WHOLE},
}


@pytest.mark.parametrize("rule", library(), ids=lambda rule: rule.name)
def test_both_sides_have_the_same_types_values_and_derivatives(rule: Rule) -> None:
    check_rule(rule, EXAMPLES.get(rule.name, {}))


def _becomes(build: Callable[..., Any], level: str = "safe", count: int = 1, of: Any = None) -> list[str]:
    made = Optimizing(Rules(level)).function(
        traced(lambda *xs: [build(*xs)], count, of or tensor_type("float32", [3, 4]))
    )
    return [kind for kind in types(made) if kind != "Const"]


ROWS: Sequence[tuple[Callable[..., Any], str, list[str]]] = [
    (lambda x: pb.identity(x) * 1.0 / 1.0, "exact", []),
    (lambda x: x * pb.ones_like(x), "exact", []),
    (lambda x: x + 0.0, "exact", ["AddV2"]),
    (lambda x: 0.0 + x - 0.0, "safe", []),
    (lambda x: -(x - pb.tanh(x)), "safe", ["Tanh", "Sub"]),
    (lambda x: x / 8.0, "exact", ["Mul"]),
    (lambda x: x / 3.0, "safe", ["RealDiv"]),
    (lambda x: x / 3.0, "fast", ["Mul"]),
    (lambda x: x**2.0, "safe", ["Square"]),
    (lambda x: pb.tanh(x) * x + pb.sin(x) * x, "safe", ["Tanh", "Mul", "Sin", "Mul", "AddV2"]),
    (lambda x: pb.tanh(x) * x + pb.sin(x) * x, "fast", ["Tanh", "Sin", "AddV2", "Mul"]),
    (lambda x: x * 2.0 + x * 3.0, "fast", ["Mul"]),
    (lambda x: (x * 2.0) * 3.0 / 4.0, "fast", ["Mul"]),
    (lambda x: x * 0.0, "fast", ["Mul"]),
    (lambda x: x - x, "fast", ["Sub"]),
    (lambda x: pb.reshape(pb.reshape(pb.expand_dims(x, 0), [12]), [3, 4]), "exact", []),
    (lambda x: pb.transpose(pb.transpose(x)), "exact", []),
    (lambda x: pb.matmul(pb.transpose(x), x), "exact", ["MatMul"]),
    (lambda x: pb.cast(pb.cast(x, pb.float64), pb.float32), "exact", []),
    (lambda x: pb.cast(pb.cast(x, pb.float16), pb.float32), "fast", ["Cast", "Cast"]),
    (lambda x: pb.cast(pb.cast(x, pb.int32), pb.float32), "fast", ["Cast", "Cast"]),
    (lambda x: pb.unstack(pb.stack([x, pb.tanh(x)]))[0], "exact", []),
    (lambda x: pb.split(pb.concat([x, pb.tanh(x)], 0), 2)[1], "exact", ["Tanh"]),
    (lambda x: pb.slice(pb.concat([x, pb.tanh(x)], 0), [4, 1], [2, 2]), "exact", ["Tanh", "Slice"]),
    (lambda x: pb.slice(pb.concat([x, pb.tanh(x)], 0), [2, 1], [2, 2]), "exact", ["Tanh", "ConcatV2", "Slice"]),
    (lambda x: pb.concat([x, pb.tanh(x)], 0)[4:, 1:3], "exact", ["Tanh", "StridedSlice"]),
    (lambda x: pb.concat([x, pb.tanh(x)], 0)[3:], "exact", ["Tanh"]),
    (lambda x: pb.concat([x, pb.tanh(x)], 0)[2:5], "exact", ["Tanh", "ConcatV2", "StridedSlice"]),
    (lambda x: pb.concat([x, pb.tanh(x)], 0)[::-1], "exact", ["Tanh", "ConcatV2", "StridedSlice"]),
    (lambda x: x[:, 0:4], "exact", []),
    (lambda x: x[::-1], "exact", ["StridedSlice"]),
    (lambda x: pb.reduce_sum(pb.expand_dims(x, 1) * pb.expand_dims(pb.sin(x), 0), 2), "fast", ["Sin", "Einsum"]),
    (lambda x: pb.reduce_sum(pb.broadcast_to(x, [5, 3, 4]), 0), "fast", ["Mul"]),
    (lambda x: (pb.matmul(x, x, transpose_b=True) @ x) @ pb.ones([4, 1]), "fast", ["MatMul", "MatMul", "MatMul"]),
    (lambda x: pb.nn.relu(pb.nn.relu(x)), "exact", ["Relu"]),
    (lambda x: pb.where(pb.logical_not(x > 0.0), x, -x), "exact", ["Greater", "Neg", "SelectV2"]),
    (lambda x: pb.maximum(x, x), "exact", []),
    (lambda x: -x * x, "exact", ["Square", "Neg"]),
    (lambda x: 2.0 - x / 3.0 * -x, "exact", ["RealDiv", "Mul", "AddV2"]),
    (lambda x: -x / pb.sin(x), "exact", ["Sin", "RealDiv", "Neg"]),
    (lambda x: x / (1.0 + pb.exp(-1.5 * x)), "safe", ["Mul", "Sigmoid", "Mul"]),
    (lambda x: x / (1.0 + pb.exp(-x)), "safe", ["Sigmoid", "Mul"]),
    (lambda x: x / (1.0 + pb.exp(x)), "safe", ["Neg", "Sigmoid", "Mul"]),
    (lambda x: 1.0 / (1.0 + pb.exp(-x)), "safe", ["Sigmoid"]),
    (lambda x: pb.exp(x) / pb.reduce_sum(pb.exp(x), 1)[:, None], "safe", ["Softmax"]),
    (lambda x: pb.exp(x) / pb.reshape(pb.reduce_sum(pb.exp(x), -1), [-1, 1]), "safe", ["Softmax"]),
    (lambda x: pb.exp(x[0]) / pb.reduce_sum(pb.exp(x[0])), "safe", ["StridedSlice", "Softmax"]),
    (lambda x: pb.reduce_sum(x[:, None] * pb.sin(x)[None], 2), "fast", ["Sin", "Einsum"]),
    (lambda x: pb.sqrt(pb.einsum("ij,ij->j", x, x)), "safe", ["EuclideanNorm"]),
    (lambda x: pb.sqrt(pb.einsum("ij,ij->ji", x, x)), "safe", ["Einsum", "Sqrt"]),
    (lambda x: pb.sqrt(pb.einsum("ij,kj->ik", x, x)), "safe", ["Einsum", "Sqrt"]),
    (lambda x: pb.sqrt(pb.einsum("ii,ii->", x[:, :3], x[:, :3])), "safe", ["StridedSlice", "Einsum", "EuclideanNorm"]),
    (lambda x: x[..., None, 1:], "exact", ["StridedSlice"]),
    (lambda x: pb.stack([x, pb.tanh(x)])[1], "exact", ["Tanh"]),
    (lambda x: pb.stack([x, pb.tanh(x)], 1)[:, -1, 2:], "exact", ["Tanh", "StridedSlice"]),
    (lambda x: pb.where(pb.ones([3, 4], pb.bool), x, pb.tanh(x)), "exact", []),
    (lambda x: pb.where(False, x, pb.tanh(x)), "exact", ["Tanh"]),
    (lambda x: pb.where(pb.zeros([2, 3, 4], pb.bool), x, pb.tanh(x)), "exact", ["Tanh", "SelectV2"]),
    (lambda x: pb.reduce_max(pb.reduce_max(x, 1)), "exact", ["Max"]),
    (lambda x: pb.reduce_min(pb.reduce_max(x, 1)), "fast", ["Max", "Min"]),
    (lambda x: pb.reduce_min(pb.reshape(x, [-1])), "exact", ["Min"]),
    (lambda x: pb.reduce_mean(pb.transpose(x)), "fast", ["Mean"]),
    (lambda x: pb.reduce_sum(pb.transpose(x), 0), "fast", ["Transpose", "Sum"]),
    (lambda x: pb.reduce_sum(pb.broadcast_to(x, [5, 3, 4])), "fast", ["Sum", "Mul"]),
    (lambda x: pb.reduce_sum(x * x[0], 0), "fast", ["StridedSlice", "Sum", "Mul"]),
    (lambda x: pb.reduce_sum(x * x[:, :1], 1, keepdims=True), "fast", ["StridedSlice", "Sum", "Mul"]),
    (lambda x: pb.reduce_sum(x * x[0], 1), "fast", ["StridedSlice", "Einsum"]),
    (lambda x: x @ pb.transpose(x) - pb.tanh(x) @ pb.transpose(x), "fast", ["Tanh", "Sub", "MatMul"]),
    (lambda x: pb.transpose(x) @ x + pb.transpose(x) @ pb.tanh(x), "fast", ["Tanh", "AddV2", "MatMul"]),
    (lambda x: pb.matmul(x, pb.eye(3), transpose_a=True), "safe", ["Transpose"]),
    (lambda x: pb.matmul(x[None] * pb.ones([2, 1, 1]), pb.eye(4)), "safe", ["ExpandDims", "Mul"]),
    (lambda x: x * 2.0 * pb.tanh(x) * 3.0, "fast", ["Tanh", "Mul", "Mul"]),
    (lambda x: pb.exp(x) / pb.exp(pb.tanh(x)), "fast", ["Tanh", "Sub", "Exp"]),
]


@pytest.mark.parametrize(("build", "level", "left"), ROWS, ids=range(len(ROWS)))
def test_what_is_left_at_a_level(build: Callable[..., Any], level: str, left: list[str]) -> None:
    assert _becomes(build, level) == left


def test_a_slice_of_a_part_is_that_of_the_whole_with_any_steps_along_other_axes() -> None:
    x = np.arange(12.0).reshape(3, 4)
    whole = pb.concat([x, -x], 1)
    for y in (whole[::-1, 4:6], whole[::-2, 5:], whole[1:, 1:4], whole[-2:, -3:-1], whole[:, 2:2], whole[::-1, 3:5]):
        lean, report = pb.optimize(y, "exact", keep=whole.op.inputs)
        np.testing.assert_array_equal(*pb.Session(engine="numpy").run([lean, y]))
        assert y is lean or "strided slice of a concatenation" in report.counts


def test_whole_numbers_are_not_rounded() -> None:
    assert _becomes(lambda x: x * 0, "exact", of=tensor_type("int32", [3])) == []
    assert _becomes(lambda x: x * 1 + 0, "safe", of=tensor_type("int32", [3])) == []
    assert _becomes(lambda x: 0 - x, "safe", of=tensor_type("uint8", [3])) == ["Sub"]


def test_a_number_that_other_dtypes_do_not_take_is_no_number_of_theirs() -> None:
    @pb.rewrite("exact")
    def once(x: pb.Tensor) -> Any:
        yield x * 1.0
        yield x

    x = pb.placeholder(pb.int32, [3])
    assert pb.optimize(x * 1, pb.Rules("exact", once)).fetches is x


def test_a_result_of_another_shape_is_not_used() -> None:
    assert _becomes(lambda x: x * pb.ones([2, 3, 4])) == ["Mul"]
    assert _becomes(lambda x: pb.where(pb.constant([[[True]]]), x, x)) == ["SelectV2"]


def test_what_others_read_is_not_computed_in_two_ways() -> None:
    made = Optimizing(Rules("fast")).function(traced(lambda x: [a := pb.sin(x) * 2.0, a * 3.0 + pb.cos(x)]))
    assert types(made).count("Mul") == 2
    function = traced(lambda x: [a := pb.sin(x) * x, a + pb.cos(x) * x])
    assert size(Optimizing(Rules("fast")).function(function)) == size(function)


def test_what_is_more_accurate_is_computed_even_where_it_takes_more() -> None:
    made = Optimizing(Rules()).function(traced(lambda x: [(e := 1.0 - x), pb.log(e)]))
    assert "Log1p" in types(made)


def test_chains_are_multiplied_in_the_order_that_takes_fewest_products() -> None:
    def build(a: pb.Tensor, b: pb.Tensor) -> list[pb.Tensor]:
        return [pb.matmul(pb.matmul(a, b, transpose_b=True), pb.ones([300, 1]))]

    made = Optimizing(Rules("fast")).function(traced(build, 2, tensor_type("float32", [300, 4])))
    assert [str(op.outputs[0].shape) for op in made.operations if op.type == "MatMul"] == ["(4, 1)", "(300, 1)"]
