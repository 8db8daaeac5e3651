"""Constant folding: what is computed once, and what is left to the run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb
from pullback.core.function import Function
from pullback.core.types import tensor_type
from pullback.passes.fold import LARGEST, fold

from .functions import traced, types


def test_what_depends_on_constants_only_is_a_constant_of_that_name() -> None:
    function = traced(lambda x: [x * pb.add(pb.constant(2.0), 3.0, name="sum")])
    assert str(fold(function)) == (
        "f(x: float32[3]) -> (mul)\n  sum: float32[] = Const[value=5.0]()\n  mul: float32[3] = Mul(x, sum)"
    )


def test_all_outputs_of_an_operation_are_folded() -> None:
    function = traced(lambda x: [x * y for y in pb.unstack(pb.constant([2.0, 3.0]))])
    assert types(fold(function)) == ["Const", "Const", "Mul", "Mul"]


def test_a_fetched_result_may_be_a_constant() -> None:
    assert types(fold(traced(lambda x: [pb.constant(2.0) * 3.0]))) == ["Const"]


def test_large_results_are_left_to_the_run() -> None:
    function = traced(lambda x: [pb.tanh(np.zeros(n, np.float32)) for n in (LARGEST, LARGEST + 1)])
    assert types(fold(function)) == ["Const", "Const", "Tanh"]


def test_random_numbers_are_left_to_the_run() -> None:
    function = traced(lambda x: [pb.random.normal([3]), pb.placeholder(pb.float32, [])])
    assert fold(function).stateful


@pytest.mark.parametrize(
    "build",
    [
        lambda x: [pb.check_numerics(pb.constant(1.0), "bad")],
        lambda x: [pb.py_function(lambda a: a, [pb.constant(1.0)], pb.float32)],
        lambda x: [pb.log(pb.constant(0.0))],
        lambda x: [pb.gather(pb.constant([1.0]), pb.constant(7))],
    ],
    ids=["a check", "a Python function", "what is not finite", "what fails"],
)
def test_left_to_the_run_is(build: object) -> None:
    function = traced(build)
    assert types(fold(function)) == types(function)


def test_an_operation_on_a_device_is_left_to_the_run() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        with pb.device("/device:CPU:3"):
            return [pb.constant(2.0) * 3.0]

    assert "Mul" in types(fold(traced(build)))


def test_a_constant_that_waits_for_something_is_not_folded_into_what_does_not() -> None:
    v = pb.Variable(1.0)
    with pb.control_dependencies([v.assign(5.0)]):
        y = pb.constant(2.0) * 3.0
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(y) == 6.0
    assert session.run(v.read_value()) == 5.0


def test_an_error_in_constants_is_that_of_the_run() -> None:
    y = pb.gather(pb.constant([1.0]), pb.constant(7), name="look")
    with pytest.raises(pb.errors.InvalidArgumentError, match="'look'"):
        pb.Session(engine="numpy").run(y)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_operation_that_is_not_finite_is_named(engine: str) -> None:
    y = pb.log(pb.constant(0.0), name="ends") + 1.0
    with pytest.raises(pb.errors.InvalidArgumentError, match="'ends'"):
        pb.Session(engine=engine, check_numerics=True).run(y)


def test_functions_inside_are_folded_too() -> None:
    f = pb.function(lambda x: x * (pb.constant(2.0) + 3.0))
    (call,) = fold(traced(lambda x: [f(x)])).operations
    assert types(call.primitive.functions[0]) == ["Const", "Mul"]


def _of_rows(build: Callable[[pb.Tensor], list[pb.Tensor]]) -> Function:
    """A function of a matrix whose number of rows only a run knows."""
    return traced(build, of=tensor_type(pb.float32, ["rows", 3]))


def test_what_is_known_of_a_shape_is_folded_where_not_all_is() -> None:
    function = _of_rows(lambda x: [pb.cast(pb.shape(x)[1] * 2, pb.float32) + pb.reduce_sum(x)])
    assert str(fold(function)) == (
        "f(x: float32[rows,3]) -> (add)\n"
        "  Cast: float32[] = Const[value=6.0]()\n"
        "  Sum: float32[] = Sum(x)\n"
        "  add: float32[] = AddV2(Cast, Sum)"
    )


def test_arithmetic_of_lengths_is_folded_where_a_number_is_left() -> None:
    n = "pb.shape(x)[0]"
    for formula, value in [(f"{n} - {n} + 7", 7), (f"({n} * 6) // 2 - {n} * 3", 0), (f"({n} + 5) - {n}", 5)]:
        function = _of_rows(lambda x, formula=formula: [eval(formula, {"pb": pb, "x": x})])
        assert types(fold(function)) == ["Const"], formula
        assert fold(function).results[0].op.get_attr("value") == value


def test_a_length_that_a_run_decides_is_left_to_it() -> None:
    function = _of_rows(lambda x: [pb.shape(x)[0] + 1])
    assert "Shape" in types(fold(function))


def test_a_quotient_of_lengths_is_left_to_the_run_for_one_may_be_zero() -> None:
    function = _of_rows(lambda x: [(pb.shape(x)[0] * 6) // (pb.shape(x)[0] * 2)])
    assert "FloorDiv" in types(fold(function))


def test_a_comparison_of_lengths_is_left_to_the_run() -> None:
    function = _of_rows(lambda x: [pb.shape(x)[0] > 0])
    assert "Greater" in types(fold(function))


def test_the_shape_of_what_is_fed_is_that_of_its_value() -> None:
    x = pb.placeholder(pb.float32, [None, 3])
    y = pb.identity(x)
    rows = pb.shape(y)[0] - pb.shape(x)[0] + pb.shape(y)[1]
    assert pb.Session(engine="numpy").run(rows, {x: np.zeros([2, 3])}) == 3
