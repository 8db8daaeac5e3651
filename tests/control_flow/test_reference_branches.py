"""Branches do what graph-mode TensorFlow's do, and what it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def compute(fetches: Any, feeds: Any = None) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


def flag() -> pb.Tensor:
    return pb.placeholder(pb.bool, [])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_variable_that_one_branch_reads_has_exact_zeros_when_the_other_is_taken(engine: str) -> None:
    v, x, p = pb.Variable(2.0), pb.constant(3.0), flag()
    slopes = pb.gradients(pb.cond(p, lambda: v * x, lambda: x), [v, x])
    session = pb.Session(engine=engine)
    session.run(v.initializer)
    assert [session.run(slopes, {p: taken}) for taken in (True, False)] == [[3.0, 2.0], [0.0, 1.0]]


def test_the_predicate_has_no_gradient() -> None:
    x, p = pb.constant(3.0), pb.constant(1.0)
    holds = p > 0.0
    assert pb.gradients(pb.cond(holds, lambda: x * 2.0, lambda: x), [p, holds]) == [None, None]


def test_a_result_that_does_not_read_x_has_zeros(run: Any) -> None:
    x, p = pb.constant(1.0), flag()
    (dx,) = pb.gradients(pb.cond(p, lambda: x * 2.0, lambda: pb.constant(5.0)), x)
    assert [run(dx, {p: taken}) for taken in (True, False)] == [2.0, 0.0]


def test_an_x_that_only_another_result_reads_has_no_gradient() -> None:
    x, z = pb.constant(1.0), pb.constant(2.0)
    first, _ = pb.cond(flag(), lambda: (x * 2.0, z * 3.0), lambda: (x, z))
    assert pb.gradients(first, z) == [None]


def test_an_integer_result_has_no_gradient_and_does_not_disturb_the_others(run: Any) -> None:
    x, p = pb.constant(1.0), flag()
    first, count = pb.cond(p, lambda: (x * 2.0, 1), lambda: (x, 2))
    assert pb.gradients(count, x) == [None]
    assert run(pb.gradients(first, x), {p: True}) == [2.0]


# Rows of a table


@pytest.mark.parametrize("taken", [True, False])
def test_rows_in_one_branch_and_a_tensor_in_the_other(run: Any, taken: bool) -> None:
    table, p = pb.constant([[1.0], [2.0], [3.0]]), flag()
    y = pb.cond(p, lambda: pb.reduce_sum(pb.gather(table, [1, 1])), lambda: pb.reduce_sum(table * table))
    dt = pb.convert_to_tensor(pb.gradients(y, table)[0])
    assert run(dt, {p: taken}).tolist() == ([[0.0], [2.0], [0.0]] if taken else [[2.0], [4.0], [6.0]])


@pytest.mark.parametrize("taken", [True, False])
def test_rows_by_indices_of_two_dtypes_and_of_two_numbers(run: Any, taken: bool) -> None:
    table, p = pb.constant([[1.0], [2.0], [3.0]]), flag()
    few, many = pb.constant([2], pb.int64), pb.constant([1, 1])
    y = pb.cond(p, lambda: pb.reduce_sum(pb.gather(table, few)), lambda: pb.reduce_sum(pb.gather(table, many)))
    dt = pb.convert_to_tensor(pb.gradients(y, table)[0])
    assert run(dt, {p: taken}).tolist() == ([[0.0], [0.0], [1.0]] if taken else [[0.0], [2.0], [0.0]])


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_variable_in_one_branch_stay_rows(engine: str) -> None:
    table, p = pb.Variable(np.ones((3, 1), np.float32)), flag()
    (dt,) = pb.gradients(pb.cond(p, lambda: pb.reduce_sum(pb.gather(table, [1, 1])), lambda: 0.0), table)
    assert isinstance(dt, pb.IndexedSlices)
    session = pb.Session(engine=engine)
    session.run(table.initializer)
    assert session.run(pb.convert_to_tensor(dt), {p: False}).tolist() == [[0.0], [0.0], [0.0]]


# Order and nesting


@pytest.mark.parametrize(("value", "first", "second"), [(2.0, 12.0, 12.0), (0.5, 1.0, 2.0), (-1.0, -1.0, 0.0)])
def test_branches_in_branches_are_differentiated_twice(value: float, first: float, second: float) -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.cond(x > 0.0, lambda: pb.cond(x > 1.0, lambda: x * x * x, lambda: x * x), lambda: -x)
    (dx,) = pb.gradients(y, x)
    assert compute([dx, *pb.gradients(dx, x)], {x: value}) == [first, second]


@pytest.mark.parametrize(
    ("number", "first", "second"), [(0, 1.0, 0.0), (1, 4.0, 2.0), (2, 12.0, 12.0), (9, 12.0, 12.0)]
)
def test_one_of_several_is_differentiated_twice(number: int, first: float, second: float) -> None:
    x, i = pb.placeholder(pb.float32, []), pb.placeholder(pb.int32, [])
    (dx,) = pb.gradients(pb.switch_case(i, [lambda: x, lambda: x * x, lambda: x * x * x]), x)
    assert compute([dx, *pb.gradients(dx, x)], {x: 2.0, i: number}) == [first, second]


def test_gradients_inside_a_branch_are_differentiated_from_outside() -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.cond(x > 0.0, lambda: pb.gradients(x * x * x, x)[0], lambda: pb.gradients(x * x, x)[0])
    slopes = [y, *pb.gradients(y, x)]
    assert [compute(slopes, {x: v}) for v in (2.0, -1.0)] == [[12.0, 12.0], [-2.0, 2.0]]


def test_a_stopped_result_hands_nothing_on() -> None:
    x = pb.constant(3.0)
    y = pb.cond(flag(), lambda: x * x, lambda: x)
    assert pb.gradients(y * 2.0, x, stop_gradients=[y]) == [None]


def test_a_branch_that_has_run_can_be_differentiated_and_stays_what_it_is() -> None:
    x, p = pb.constant(3.0), flag()
    y = pb.cond(p, lambda: x * x, lambda: x)
    session = pb.Session(engine="numpy")
    before = pb.operation_text(y.op)
    assert session.run(y, {p: True}) == 9.0
    assert session.run(pb.gradients(y, x), {p: True}) == [6.0]
    assert session.run(pb.gradients(y, x), {p: False}) == [1.0]
    assert pb.operation_text(y.op) == before


def test_a_graph_that_was_saved_and_loaded_is_differentiated_through_its_branch() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    pb.identity(pb.cond(x > 0.0, lambda: x * x, lambda: -x), name="y")
    graph = pb.Graph.from_dict(x.graph.to_dict())
    x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("y:0")
    (dx,) = pb.gradients(y, x)
    session = pb.Session(engine="numpy", graph=graph)
    assert [session.run(dx, {x: v}) for v in (3.0, -3.0)] == [6.0, -1.0]


# What is refused


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "error", "text"),
    [
        (lambda: None, lambda: 1.0, ValueError, "overall structure of return values, not None and Tensor"),
        (lambda: 1.0, lambda: pb.constant(1), TypeError, "must have the same number, type, and overall structure"),
        (lambda: (1.0, 2.0), lambda: 1.0, ValueError, "must have the same number, type, and overall structure"),
        (lambda: [1.0], lambda: (1.0,), TypeError, "is a list, ('Tensor',) a tuple"),
    ],
    ids=["none", "dtype", "number", "kind"],
)
def test_branches_that_do_not_agree_are_refused(
    true_fn: Callable[[], Any], false_fn: Callable[[], Any], error: type[Exception], text: str
) -> None:
    p = flag()
    with pytest.raises(error) as raised:
        pb.cond(p, true_fn, false_fn)
    assert text in str(raised.value)


def kept_of_a_branch() -> tuple[pb.Tensor, pb.Tensor, pb.Tensor]:
    p = flag()
    kept: list[pb.Tensor] = []
    y = pb.cond(p, lambda: kept.append(pb.constant(1.0, name="inner")) or kept[0], lambda: 2.0)
    return p, y, kept[0]


def test_a_tensor_of_a_branch_is_not_used_outside() -> None:
    _, y, inner = kept_of_a_branch()
    with pytest.raises(pb.errors.InaccessibleTensorError, match=r"'inner:0'.* is inside the body 'true_fn'"):
        pb.add(y, inner)


def test_a_tensor_of_a_branch_is_not_fetched() -> None:
    p, _, inner = kept_of_a_branch()
    with pytest.raises(ValueError, match=r"cannot fetch float32\[\] 'inner:0'.*is inside the body 'true_fn'"):
        compute(inner, {p: True})


def test_a_tensor_of_a_branch_is_not_fed() -> None:
    p, y, inner = kept_of_a_branch()
    with pytest.raises(ValueError, match=r"cannot feed float32\[\] 'inner:0'.*is inside the body 'true_fn'"):
        compute(y, {p: True, inner: 3.0})
