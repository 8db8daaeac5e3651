"""Loops and branches made lean: what is the same in each step, what nobody reads, and choices that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.function import Function
from pullback.core.types import tensor_type
from pullback.passes.optimizing import Optimizing
from pullback.passes.ruleset import Rules
from pullback.primitives.losses.cross_entropy import SoftmaxCrossEntropyWithLogits

from .functions import traced, types

Step = Callable[..., list[Any]]


def _optimised(build: Callable[..., Any], count: int = 1) -> Function:
    return Optimizing(Rules("exact")).function(traced(lambda *xs: [build(*xs)], count))


def _loop(function: Function) -> Any:
    return next(op for op in function.operations if op.type == "Loop").primitive


def _counted(step: Step, *starts: Any, n: int = 3) -> Any:
    """What `step` of `starts` gives after n steps."""
    return pb.while_loop(lambda i, *_: i < n, lambda i, *xs: [i + 1, *step(*xs)], [0, *starts])[1:]


def test_what_is_the_same_in_each_step_is_computed_once() -> None:
    made = _optimised(lambda x, y: _counted(lambda z: [z * pb.tanh(pb.exp(y))], x)[0], 2)
    assert types(made)[-3:] == ["Exp", "Tanh", "Loop"]
    assert "Exp" not in types(_loop(made).body)
    assert "Tanh" not in types(_loop(made).body)


def test_a_matrix_product_of_constants_is_moved_and_what_may_fail_is_not() -> None:
    def build(x: pb.Tensor, y: pb.Tensor) -> Any:
        rows = pb.cast(y[0], pb.int32)
        return _counted(lambda z: [z * pb.tensordot(y, y, 1) + pb.gather(y, rows)], x)[0]

    made = _optimised(build, 2)
    assert "GatherV2" not in types(made) or "GatherV2" in types(_loop(made).body)
    assert not {"MatMul", "Einsum"} & {*types(_loop(made).body)}


def test_all_outputs_of_one_operation_are_moved() -> None:
    def both(x: pb.Tensor, y: pb.Tensor) -> Any:
        def step(z: pb.Tensor) -> list[Any]:
            loss, slope = SoftmaxCrossEntropyWithLogits(-1).operation(y, y).outputs
            return [z * loss + slope]

        return _counted(step, x)[0]

    made = _optimised(both, 2)
    assert types(made)[-2:] == ["SoftmaxCrossEntropyWithLogits", "Loop"]
    assert [x.op.name for x in _loop(made).body.parameters[-2:]] == [
        "SoftmaxCrossEntropyWithLogits",
        "SoftmaxCrossEntropyWithLogits/1",
    ]


def test_random_numbers_and_checks_stay_in_the_loop() -> None:
    made = _optimised(lambda x, y: _counted(lambda z: [z + pb.random.normal([3]) + pb.check_numerics(y, "y")], x)[0], 2)
    assert {"RandomStandardNormal", "CheckNumerics"} <= {*types(_loop(made).body)}


def test_a_carried_variable_that_nobody_reads_goes() -> None:
    made = _optimised(lambda x: _counted(lambda z, unread: [pb.sin(z), pb.exp(unread) + z], x, x)[0])
    assert _loop(made).carried == 2
    assert "Exp" not in types(_loop(made).body)


def test_a_carried_variable_that_another_one_needs_stays() -> None:
    made = _optimised(lambda x: _counted(lambda z, other: [z + other, pb.exp(other)], x, x)[0])
    assert _loop(made).carried == 3


def test_a_variable_that_the_condition_reads_stays() -> None:
    def build(x: pb.Tensor) -> Any:
        cond = lambda z, w: pb.reduce_sum(w) < 9.0  # noqa: E731
        return pb.while_loop(cond, lambda z, w: [pb.sin(z), w + 1.0], [x, x])[0]

    assert _loop(_optimised(build)).carried == 2


def test_rows_that_nobody_reads_go() -> None:
    def build(x: pb.Tensor) -> Any:
        return pb.scan(lambda a, row: [a[0] + row, pb.exp(a[1] * row)], x, [pb.constant(0.0), pb.constant(1.0)])[0]

    made = _optimised(build)
    assert "Exp" not in types(_loop(made).body)


@pytest.mark.parametrize("holds", [True, False])
def test_a_branch_that_is_always_chosen_stands_for_the_choice(holds: bool) -> None:
    made = _optimised(lambda x: pb.cond(pb.constant(holds), lambda: pb.sin(x), lambda: pb.cos(x)))
    assert types(made) == ["Sin" if holds else "Cos"]


def test_a_case_that_is_always_chosen_stands_for_the_choice() -> None:
    for number, kind in [(0, "Sin"), (1, "Cos"), (7, "Tan"), (-1, "Tan")]:

        def build(x: pb.Tensor, number: int = number) -> Any:
            return pb.switch_case(pb.constant(number), [lambda: pb.sin(x), lambda: pb.cos(x), lambda: pb.tan(x)])

        assert types(_optimised(build)) == [kind]


def test_a_choice_that_follows_from_shapes_is_known() -> None:
    def build(x: pb.Tensor) -> Any:
        return pb.cond(pb.shape(x)[0] > 2, lambda: pb.sin(x), lambda: pb.cos(x))

    assert types(_optimised(build)) == ["Sin"]


def test_what_a_chosen_branch_holds_is_there_to_be_read() -> None:
    """A loop in it is not narrowed because nobody has read it yet."""
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [3])

        def loop() -> pb.Tensor:
            return pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, pb.sin(y * x)], [0, x])[1]

        y = pb.cond(pb.constant(True), loop, lambda: x * 2.0)
        better = pb.optimize(y).fetches
        found = [[z, *pb.gradients(z, x)] for z in (y, better)]
        a, b = pb.Session(engine="numpy").run(found, {x: [0.3, 0.7, 1.1]})
    np.testing.assert_allclose(a, b)


def test_a_branch_with_effects_is_left_alone() -> None:
    v = pb.Variable(1.0)

    def build(x: pb.Tensor) -> Any:
        return pb.cond(pb.constant(True), lambda: pb.identity(v.assign_add(1.0)) * x, lambda: x)

    assert "If" in types(_optimised(build))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_values_and_two_derivatives_are_those_of_the_plain_loop(engine: str, steps: int) -> None:
    x, k = pb.placeholder(pb.float32, [3]), pb.placeholder(pb.float32, [3])
    n = pb.placeholder(pb.int32, [])

    def step(i: Any, z: Any, unread: Any) -> list[Any]:
        return [i + 1, z * pb.sin(k * k) + pb.log(1.0 + pb.exp(k)), pb.exp(unread) * z]

    plain = pb.while_loop(lambda i, *_: i < n, step, [0, x, x], maximum_iterations=5)[1]
    lean, report = pb.optimize(plain, keep=[x, k])
    assert {"the same in each step", "unread variables of a loop"} <= {*report.counts}
    found = []
    for y in (plain, lean):
        first = pb.gradients(y, [x, k])
        found.append([y, *first, *pb.gradients(first, [x, k], unconnected_gradients="zero")])
    feeds = {x: [0.1, 0.2, 0.3], k: [0.5, -0.5, 1.0], n: steps}
    values = pb.Session(engine=engine).run(found, feeds)
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_lengths_that_only_a_run_knows_are_moved_too() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        return [_counted(lambda z: [z + pb.exp(x * 2.0)], x)[0]]

    function = traced(build, of=tensor_type("float32", ["rows", 3]))
    made = Optimizing(Rules()).function(function)
    assert str(made.results[0].type) == "float32[rows,3]"
    assert "Exp" not in types(_loop(made).body)


def test_a_constant_that_only_unread_variables_need_goes() -> None:
    made = _optimised(lambda x, y: _counted(lambda z, w: [z + x, w * y], x, x)[0], 2)
    assert len(_loop(made).body.parameters) == 3


@pytest.mark.parametrize("condition", [True, False])
def test_a_run_needs_no_value_of_what_only_unread_variables_of_a_loop_read(condition: bool) -> None:
    v = pb.Variable(1.0)
    read = v.read_value()
    if condition:
        _, kept, _ = pb.while_loop(lambda i, *_: i < 3, lambda i, x, y: [i + 1, x * 2.0, y * read], [0, 1.0, 1.0])
    else:
        rows, _ = pb.map_fn(lambda x: (x * 2.0, x * read), pb.ones([3]), dtype=(pb.float32, pb.float32))
        kept = pb.reduce_sum(rows) + 2.0
    assert pb.Session(engine="numpy").run(kept) == 8.0


def test_what_an_unread_variable_writes_is_still_written() -> None:
    v = pb.Variable(0.0)

    def step(i: pb.Tensor, x: pb.Tensor, y: pb.Tensor) -> list[Any]:
        with pb.control_dependencies([v.assign_add(1.0)]):
            return [i + 1, x * 2.0, y + 1.0]

    _, x, _ = pb.while_loop(lambda i, *_: i < 3, step, [0, 1.0, 1.0])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(x) == 8.0
    assert session.run(v) == 3.0


def test_a_fed_output_of_a_lean_loop_is_what_was_fed() -> None:
    _, x, y = pb.while_loop(lambda i, *_: i < 3, lambda i, x, y: [i + 1, x * 2.0, y + 1.0], [0, 1.0, 1.0])
    session = pb.Session(engine="numpy")
    assert session.run([x, x + y], {y: 10.0}) == [8.0, 18.0]
