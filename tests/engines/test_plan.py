"""The steps of a run, and when values are let go."""

from __future__ import annotations

import pullback as pb
from pullback.engines.plan import make_plan


def test_a_value_is_freed_after_its_last_use() -> None:
    x = pb.placeholder(pb.float32, [])
    a = pb.identity(x)
    b = pb.identity(a)
    c = a + b
    d = c + b
    steps = make_plan([d], [], [x]).steps
    slots = {step.op: step.outputs[0] for step in steps}
    assert [step.frees for step in steps] == [(1,), (), (slots[a.op],), (slots[c.op], slots[b.op])]


def test_fetched_values_and_constants_are_not_freed() -> None:
    x = pb.placeholder(pb.float32, [])
    a = pb.identity(x)
    b = a + 1.0
    assert [step.frees for step in make_plan([x, a, b], [], [x]).steps] == [(), ()]


def test_a_value_nobody_reads_goes_to_slot_zero() -> None:
    x, y = pb.placeholder(pb.float32, []), pb.placeholder(pb.float32, [])
    a, b = pb.identity_n([x, y])
    (step,) = make_plan([b], [], [x, y]).steps
    assert step.outputs[0] == 0
    assert step.outputs[1] != 0
    del a


def test_reads_and_assignments_of_a_variable_share_a_state() -> None:
    v, w = pb.Variable(1.0), pb.Variable(2.0)
    plan = make_plan([v.read_value(), w.read_value()], [v.assign_add(1.0).op], [])
    assert plan.states == (v.handle.op, w.handle.op)
    assert plan.written == {0}


def test_handles_are_no_steps() -> None:
    v = pb.Variable(1.0)
    assert [step.op.type for step in make_plan([v.read_value()], [], []).steps] == ["ReadVariableOp"]


def test_equal_operations_are_one_step() -> None:
    x = pb.placeholder(pb.float32, [])
    plan = make_plan([pb.tanh(x), pb.tanh(x)], [], [x])
    assert [step.op.type for step in plan.steps] == ["Tanh"]
    assert plan.fetch_slots[0] == plan.fetch_slots[1]


def test_what_depends_on_constants_only_is_no_step() -> None:
    x = pb.placeholder(pb.float32, [])
    plan = make_plan([x * (pb.constant(2.0) + 3.0)], [], [x])
    assert [step.op.type for step in plan.steps] == ["Mul"]
    assert [value.item() for _, value in plan.constants] == [5.0]


def test_what_is_fed_is_neither_known_nor_equal_to_anything() -> None:
    x = pb.constant(1.0)
    a, b = pb.tanh(x), pb.tanh(x)
    session = pb.Session(engine="numpy")
    assert session.run([a, b, x + 1.0], {a: 7.0, x: 0.0}) == [7.0, 0.0, 1.0]


def test_the_functions_inside_are_merged_and_folded_too() -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, pb.tanh(y) + pb.tanh(y)], [0, x])[1]
    (step,) = make_plan([y], [], [x]).steps
    assert sorted(inner.op.type for inner in step.bodies[0].plan.steps) == ["AddV2", "AddV2", "Tanh"]
