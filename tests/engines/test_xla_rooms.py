"""Rooms of loops on XLA: buffers that take memory as they are written to, and the pool that keeps them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import pullback as pb
from pullback.engines.xla.loops import rooms
from pullback.engines.xla.loops.untouched import can_be_had, untouched

MIB = 1 << 20


def resident() -> int:
    """The bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def described(*shape: int, dtype: Any = np.float32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_untouched_buffers_take_no_memory_and_are_changed_in_place() -> None:
    assert can_be_had()
    large, double = described(256, MIB), described(2, 8, dtype=np.float64)
    untouched([large, double], None)
    before = resident()
    made, other = untouched([large, double], None)
    assert (made.shape, made.dtype, other.dtype) == ((256, MIB), np.float32, np.float64)
    change: Any = jax.jit(lambda x: x.at[3, :5].set(7.0), donate_argnums=0)
    place = made.unsafe_buffer_pointer()
    changed = change(made)
    assert changed.unsafe_buffer_pointer() == place
    assert changed[3, :5].tolist() == [7.0] * 5
    assert resident() - before < 256 * MIB


def test_a_loop_of_few_steps_takes_little_of_its_room() -> None:
    def derivative(memory: pb.Memory | None) -> tuple[Any, Any, Any]:
        x, n = pb.placeholder(pb.float32, [64 << 10]), pb.placeholder(pb.int32, [])
        y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(y) + 0.1 * x], [0, x])[1]
        return pb.gradients(y, x, memory=memory), x, n

    found = []
    for memory in (None, pb.Memory(budget=4 * MIB)):
        with pb.Graph().as_default(), pb.Session(engine="xla") as session:
            dx, x, n = derivative(memory)
            feeds = {x: np.linspace(0.5, 1.5, 64 << 10, dtype=np.float32), n: 70}
            found.append(session.run(dx, feeds)[0])
            room = session._engine.rooms.size  # type: ignore[attr-defined]
            assert room > 256 * MIB if memory is None and can_be_had() else room <= 10 * MIB
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_loops_keep_what_they_did_where_untouched_buffers_are_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "can_be_had", lambda: False)
    with pb.Graph().as_default(), pb.Session(engine="xla") as session:
        x, n = pb.placeholder(pb.float32, [64 << 10]), pb.placeholder(pb.int32, [])
        y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
        dx = session.run(pb.gradients(y, x)[0], {x: np.zeros(64 << 10, np.float32), n: 70})
        assert np.array_equal(dx, np.ones(64 << 10))
        assert session._engine.rooms.size <= 20 * MIB  # type: ignore[attr-defined]


def test_the_pool_keeps_what_the_last_program_needs_and_drops_others_when_it_is_full() -> None:
    keeper = rooms.RoomKeeper()
    one, other = (("one", None, None, 300 * MIB), ("other", None, None, 400 * MIB))
    keeper.give_back([one, one], ["a", "b"])
    assert keeper.size == 600 * MIB
    keeper.give_back([other], ["c"])
    assert keeper.free == {one: [], other: ["c"]}
    assert keeper.size == 400 * MIB


def test_programs_go_on_when_the_pool_was_emptied() -> None:
    with pb.Graph().as_default(), pb.Session(engine="xla") as session:
        x, n = pb.Variable(np.linspace(0.5, 1.5, 100)), pb.placeholder(pb.int32, [])
        y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
        session.run(x.initializer)
        call = session.make_callable(pb.gradients(y, x)[0], [n])
        expected = [call(3) for _ in range(5)][-1]
        session._engine.rooms.clear()  # type: ignore[attr-defined]
        assert np.array_equal(call(3), expected)
        program = session._engine.programs[-1]  # type: ignore[attr-defined]
        assert program.settled is not None
