"""Runs in steps: each step computes what those before it have not, from all that was fed so far."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb


def placeholders(count: int) -> list[Any]:
    return [pb.placeholder(pb.float32, []) for _ in range(count)]


def test_a_step_goes_on_where_the_last_one_ended(graph: pb.Graph, session: pb.Session) -> None:
    a, b, c = placeholders(3)
    total = a + b
    product = total * c
    steps = session.partial_run_setup([total, product], [a, b, c])
    first = session.partial_run(steps, total, {a: 1.0, b: 2.0})
    assert session.partial_run(steps, {"product": product}, {c: first + 14.0}) == {"product": 51.0}


def test_nothing_is_drawn_or_assigned_twice(graph: pb.Graph, session: pb.Session) -> None:
    a, b = placeholders(2)
    count, drawn = pb.Variable(0.0), pb.random_uniform([])
    with pb.control_dependencies([count.assign_add(1.0)]):
        x = drawn + a
    y = drawn + b
    with pb.control_dependencies([x]):
        z = pb.identity(b)
    session.run(count.initializer)
    steps = session.partial_run_setup([x, y, z], [a, b])
    first = session.partial_run(steps, x, {a: 0.0})
    assert session.partial_run(steps, [y, z], {b: 0.0}) == [first, 0.0]
    assert session.run(count) == 1.0


def test_what_does_not_fit_a_run_in_steps_is_said(graph: pb.Graph, session: pb.Session) -> None:
    a, b, c = placeholders(3)
    total = pb.add(a, b, name="total")
    product = pb.multiply(total, b, name="product")
    steps = session.partial_run_setup([total, product], [a, b])
    for fetches, feeds, message in [
        (total, {a: 1.0}, "has not been fed so far, and a fetch needs it"),
        (total, {a: 2.0}, "'Placeholder:0' has already been fed"),
        (total, {c: 2.0}, "was not specified in partial_run_setup"),
        (2.0 * total, {b: 2.0}, "the fetch .* was not specified in partial_run_setup"),
    ]:
        with pytest.raises(pb.errors.InvalidArgumentError, match=message):
            session.partial_run(steps, fetches, feeds)
    with pytest.raises(RuntimeError, match="partial_run fetches tensors only, not operation 'total'"):
        session.partial_run(steps, total.op)
    assert session.partial_run(steps, total, {b: 2.0}) == 3.0
    with pytest.raises(pb.errors.InvalidArgumentError, match="'total:0' has already been fetched"):
        session.partial_run(steps, total)
    assert session.partial_run(steps, product) == 6.0
    with pytest.raises(pb.errors.InvalidArgumentError, match="Must run 'setup' before performing partial runs"):
        session.partial_run(steps, product)


def test_the_devices_of_a_session_are_those_of_its_engine(graph: pb.Graph, session: pb.Session) -> None:
    devices = session.list_devices()
    assert ("/job:localhost/replica:0/task:0/device:CPU:0", "CPU") in [device[:2] for device in devices]
    with pb.device(devices[-1].name):
        y = pb.constant(1.0) + 1.0
    assert session.run(y) == 2.0
