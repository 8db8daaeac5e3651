"""Which operations a run needs, in which order, and when values are let go."""

from __future__ import annotations

import pullback as pb
from pullback.engines.plan import make_plan, needed_operations


def names(ops: list[pb.Operation]) -> list[str]:
    return [op.name for op in ops]


def test_only_what_leads_to_the_fetches_is_needed_in_the_order_it_was_made() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.identity(x, name="y")
    pb.identity(x, name="other")
    z = pb.identity(y, name="z")
    assert names(needed_operations([z], [], [])) == ["x", "y", "z"]


def test_nothing_behind_a_fed_tensor_is_needed() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.identity(x, name="y")
    z = pb.identity(y, name="z")
    assert names(needed_operations([z], [], [y])) == ["z"]
    assert names(needed_operations([y], [], [y])) == []


def test_control_inputs_are_needed() -> None:
    first = pb.no_op(name="first")
    with pb.get_default_graph().control_dependencies([first]):
        x = pb.constant(1.0, name="x")
    assert names(needed_operations([x], [], [])) == ["first", "x"]


def test_a_value_is_freed_after_its_last_use() -> None:
    x = pb.constant(1.0)
    a = pb.identity(x)
    b = pb.identity(a)
    c = a + b
    d = c + b
    steps = make_plan([d], [], []).steps
    slots = {step.op: step.outputs[0] for step in steps}
    assert [step.frees for step in steps] == [(), (), (slots[a.op],), (slots[c.op], slots[b.op])]


def test_fetched_values_and_constants_are_not_freed() -> None:
    x = pb.constant(1.0)
    a = pb.identity(x)
    b = a + x
    assert [step.frees for step in make_plan([a, b], [], []).steps] == [(), ()]


def test_a_value_nobody_reads_goes_to_slot_zero() -> None:
    a, b = pb.identity_n([pb.constant(1.0), pb.constant(2.0)])
    (step,) = make_plan([b], [], []).steps
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
