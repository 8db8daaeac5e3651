"""Python's operators on tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pullback as pb

X, Y = np.array([7.0, -7.0, 2.5]), np.array([2.0, 3.0, -1.5])
BITS, OTHER = np.array([12, 10, 7]), np.array([6, 3, 2])
BINARY = {
    "+": (operator.add, "add", "AddV2"),
    "-": (operator.sub, "sub", "Sub"),
    "*": (operator.mul, "mul", "Mul"),
    "/": (operator.truediv, "truediv", "RealDiv"),
    "//": (operator.floordiv, "floordiv", "FloorDiv"),
    "%": (operator.mod, "mod", "FloorMod"),
    "**": (operator.pow, "pow", "Pow"),
    "<": (operator.lt, "Less", "Less"),
    "<=": (operator.le, "LessEqual", "LessEqual"),
    ">": (operator.gt, "Greater", "Greater"),
    ">=": (operator.ge, "GreaterEqual", "GreaterEqual"),
}


@pytest.mark.parametrize("sign", BINARY)
def test_binary_operators_have_tensorflows_names_and_numpys_values(sign: str) -> None:
    function, name, type_name = BINARY[sign]
    x, y = pb.constant(np.abs(X)), pb.constant(Y)
    made = [function(x, y), function(x, 2.0), function(2.0, x), function(np.abs(X), y), function(x, Y)]
    assert (made[0].op.name, made[0].op.type) == (name, type_name)
    expected = [function(np.abs(X), Y), function(np.abs(X), 2.0), function(2.0, np.abs(X))] + [
        function(np.abs(X), Y)
    ] * 2
    for actual, wanted in zip(pb.Session(engine="numpy").run(made), expected, strict=True):
        np.testing.assert_allclose(actual, wanted)


@pytest.mark.parametrize(("function", "name"), [(operator.and_, "and"), (operator.or_, "or"), (operator.xor, "xor")])
def test_bit_operators_are_logical_on_truth_values(function: Any, name: str) -> None:
    a, b = pb.constant([True, True, False]), pb.constant([True, False, False])
    i, j = pb.constant(BITS), pb.constant(OTHER)
    truth, bits, number = function(a, b), function(i, j), function(6, i)
    assert [truth.op.type, bits.op.type] == [f"Logical{name.title()}", f"Bitwise{name.title()}"]
    assert truth.op.name == name
    values = pb.Session().run([truth, bits, number])
    np.testing.assert_array_equal(values[0], function(np.array([True, True, False]), np.array([True, False, False])))
    np.testing.assert_array_equal(values[1], function(BITS, OTHER))
    np.testing.assert_array_equal(values[2], function(6, BITS))


def test_unary_operators() -> None:
    x, i, a = pb.constant(X), pb.constant(BITS), pb.constant([True, False])
    made = [-x, abs(x), ~i, ~a]
    assert [y.op.name for y in made] == ["Neg", "Abs", "Invert", "LogicalNot"]
    negative, size, bits, other = pb.Session().run(made)
    np.testing.assert_array_equal(negative, -X)
    np.testing.assert_array_equal(size, abs(X))
    np.testing.assert_array_equal(bits, ~BITS)
    assert other.tolist() == [False, True]


def test_matrix_products() -> None:
    m = np.arange(6.0).reshape(2, 3)
    x = pb.constant(m)
    left, right = x @ m.T, m.T @ x
    assert [left.op.name, left.op.type] == ["matmul", "MatMul"]
    for actual, wanted in zip(pb.Session().run([left, right]), [m @ m.T, m.T @ m], strict=True):
        np.testing.assert_allclose(actual, wanted)


def test_indexing_makes_a_strided_slice() -> None:
    part = pb.constant(X)[1:]
    assert part.op.name == "strided_slice"
    assert pb.Session().run(part).tolist() == [-7.0, 2.5]


def test_equality_is_identity() -> None:
    x = pb.constant(1.0)
    assert x == x
    assert x != pb.constant(1.0)
    assert len({x, x}) == 1


def test_integers_are_divided_as_floats() -> None:
    quotient = pb.constant([7, -7]) / 2
    assert quotient.dtype == pb.float64
    assert quotient.op.name == "truediv"
    assert pb.Session().run(quotient).tolist() == [3.5, -3.5]
    assert (pb.constant([7], pb.int16) / pb.constant([2], pb.int16)).dtype == pb.float32


def test_numpy_does_not_take_the_operation_over() -> None:
    product = np.array([1.0, 2.0]) * pb.constant([3.0, 4.0])
    assert isinstance(product, pb.Tensor)
    assert pb.Session().run(product).tolist() == [3.0, 8.0]


def test_a_tensor_of_another_graph_is_refused() -> None:
    other = pb.Graph()
    with other.as_default():
        y = pb.constant(2.0)
    x = pb.constant(1.0)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        x + y


def test_bits_of_a_float_are_refused() -> None:
    x = pb.constant([1.0])
    with pytest.raises(TypeError) as info:
        x & x
    assert str(info.value).startswith("bitwise_and: 'a' has DataType float32 not in list of allowed values: int16")
    assert str(info.value).endswith("; found float32[1] and float32[1]")
