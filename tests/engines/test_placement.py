"""How a plan is cut into segments, with devices that need not exist."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
from pullback.engines.placement import Segment, segments_of
from pullback.engines.plan import make_plan

LARGE = np.zeros(1000, np.float32)
"""Too large to be folded."""


def cut(*fetches: pb.Tensor) -> list[Segment]:
    return segments_of(make_plan(fetches, [], []), lambda op: op.device or None, "default")


def parts(*fetches: pb.Tensor) -> list[tuple[object, list[str]]]:
    return [(part.place, [step.op.name for step in part.plan.steps]) for part in cut(*fetches)]


def test_alternating_devices_are_drained_one_after_the_other() -> None:
    sums = []
    for i in range(3):
        with pb.device("/cpu:1"):
            a = pb.exp(pb.constant(float(i)), name=f"a{i}")
        with pb.device("/cpu:2"):
            sums.append(pb.exp(a, name=f"b{i}"))
    assert parts(*sums) == [("/device:CPU:1", ["a0", "a1", "a2"]), ("/device:CPU:2", ["b0", "b1", "b2"])]


def test_a_device_that_can_be_finished_goes_first() -> None:
    x = pb.constant(1.0)
    with pb.device("/cpu:1"):
        b = pb.exp(x, name="b")
    with pb.device("/cpu:2"):
        a = pb.exp(x, name="a")
    with pb.device("/cpu:1"):
        c = pb.exp(a, name="c")
    assert parts(b, c) == [("/device:CPU:2", ["a"]), ("/device:CPU:1", ["b", "c"])]


def test_operations_without_a_device_follow_the_latest_of_their_inputs() -> None:
    with pb.device("/cpu:1"):
        a = pb.exp(pb.constant(1.0), name="a")
    with pb.device("/cpu:2"):
        b = pb.exp(a, name="b")
    c = pb.add(b, a, name="c")
    assert parts(c) == [("/device:CPU:1", ["a"]), ("/device:CPU:2", ["b", "c"])]


def test_operations_that_read_nothing_placed_go_where_they_are_read() -> None:
    a = pb.exp(pb.constant(LARGE), name="a")
    with pb.device("/cpu:1"):
        b = pb.exp(a, name="b")
    assert parts(b) == [("/device:CPU:1", ["a", "b"])]


def test_what_has_nothing_to_do_with_placed_operations_goes_to_the_default_device() -> None:
    a = pb.exp(pb.constant(LARGE), name="a")
    with pb.device("/cpu:1"):
        b = pb.exp(pb.constant(1.0), name="b")
    assert parts(a, b) == [("default", ["a"]), ("/device:CPU:1", ["b"])]


def test_operations_on_a_variable_run_where_it_is() -> None:
    v = pb.Variable(1.0, name="v")
    with pb.device("/cpu:1"):
        w = pb.Variable(1.0, name="w")
        changed = v.assign_add(w)
    assert [(place, len(names)) for place, names in parts(changed)] == [("/device:CPU:1", 1), ("default", 2)]


def test_control_inputs_hold_across_devices_and_an_operation_that_does_nothing_takes_no_segment() -> None:
    with pb.device("/cpu:1"):
        v = pb.Variable(1.0, name="v")
        first = v.assign(2.0, read_value=False)
    with pb.device("/cpu:2"):
        w = pb.Variable(1.0, name="w")
    with pb.device("/cpu:1"):
        other = v.read_value()
    with pb.control_dependencies([pb.group(first)]):
        second = w.assign(3.0)
    assert [place for place, _ in parts(other, second)] == ["/device:CPU:1", "/device:CPU:2"]
    assert [place for place, _ in parts(second)] == ["/device:CPU:1", "/device:CPU:2"]


def test_a_segment_is_fed_what_other_segments_compute_and_lets_it_go() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    with pb.device("/cpu:1"):
        a = pb.exp(x, name="a")
    with pb.device("/cpu:2"):
        b = pb.exp(a, name="b")
    first, second = segments_of(make_plan([b], [], [x]), lambda op: op.device or None, "default")
    assert (first.plan.feeds, first.plan.fetches, first.frees) == ((x,), (a,), first.plan.feed_slots)
    assert (second.plan.feeds, second.plan.fetches, second.frees) == ((a,), (b,), second.plan.feed_slots)


@pytest.mark.parametrize("device", ["/gpu:7", "/job:worker", "nonsense/"])
def test_a_device_that_is_not_here_is_taken_for_the_default_or_refused_word_for_word(engine: str, device: str) -> None:
    with pb.device(device):
        y = pb.exp(pb.constant(0.0), name="y")
    assert pb.Session(engine=engine).run(y) == 1.0
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        pb.Session(engine=engine, soft_placement=False).run(y)
    first, where, last = str(error.value).split("\n")
    assert first == f"operation 'y' (Exp) asks for the device '{y.device}', which is not here."
    assert where.startswith("  made at test_placement.py:")
    assert last.startswith("There are '/device:CPU:0'")
    assert last.endswith(". Ask for one of them, or use Session(soft_placement=True).")


@pytest.mark.parametrize("device", ["/cpu:0", "/device:CPU:*", "/job:localhost/replica:0/task:0", "CPU:0", ""])
def test_devices_that_are_here_are_taken(engine: str, device: str) -> None:
    with pb.device(device):
        y = pb.exp(pb.constant(0.0))
    assert pb.Session(engine=engine, soft_placement=False).run(y) == 1.0
