"""Gradient tapes: what was recorded counts, and depends on what was watched before; all else is constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def value(x: Any) -> Any:
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session.run(x)


def test_what_was_made_before_the_watch_is_constant() -> None:
    x = pb.constant(3.0)
    with pb.GradientTape() as tape:
        early = x * x
        tape.watch(x)
        y = x * x + early
    assert value(tape.gradient(y, x)) == 6.0


def test_what_is_made_after_the_block_has_no_derivative() -> None:
    x = pb.constant(3.0)
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    after = y * y
    assert tape.gradient(after, x) is None
    assert value(tape.gradient(after, x, unconnected_gradients="zero")) == 0.0
    assert value(tape.gradient([after, y], x)) == 6.0


def test_results_of_what_was_not_recorded_are_constants() -> None:
    x = pb.constant(3.0)
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
        w = y * z
    assert value(tape.gradient(w, [x, y])) == [486.0, 81.0]
    assert tape.gradient(w, z) is tape.gradient(z, x) is None


def test_variables_are_watched_from_their_first_read_if_they_are_trainable() -> None:
    v, fixed, old = pb.Variable(2.0), pb.Variable(3.0, trainable=False), pb.Variable(4.0)
    before = old * 1.0
    with pb.GradientTape(persistent=True) as tape:
        y = v * fixed + before
    assert value(tape.gradient(y, {"v": v})) == {"v": 3.0}
    assert tape.gradient(y, [fixed, old, before]) == [None, None, None]
    assert tape.watched_variables() == (v,)


def test_variables_can_be_left_unwatched() -> None:
    v = pb.Variable(2.0)
    with pb.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        y = v * v
        tape.watch(v)
        z = v * y
    assert tape.gradient(y, v) is None
    assert value(tape.gradient(z, v)) == 4.0


def test_rows_that_were_read_are_slices() -> None:
    v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pb.GradientTape() as tape:
        y = pb.gather(v, [1])
    found = tape.gradient(y, v)
    assert isinstance(found, pb.IndexedSlices)
    assert value(found.indices).tolist() == [1]


def test_a_tape_around_another_gives_second_derivatives() -> None:
    x = pb.constant(3.0)
    with pb.GradientTape() as outer:
        outer.watch(x)
        with pb.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        dy = inner.gradient(y, x)
    assert value(outer.gradient(dy, x)) == 18.0


def test_a_tape_that_was_asked_within_its_block_ends_to_record() -> None:
    x = pb.constant(3.0)
    with pb.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        dy = tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=r"gives derivatives once; make it with GradientTape\(persistent=True\)"):
        tape.gradient(y, x)
    assert value(dy) == 6.0


def test_a_tape_that_is_entered_again_goes_on() -> None:
    x = pb.constant(3.0)
    tape = pb.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y * y
    assert value(tape.gradient(z, x, output_gradients=[pb.constant(2.0)])) == 216.0


def test_a_tape_in_the_body_of_a_loop_a_branch_and_a_function_reads_what_is_around_it() -> None:
    x, v = pb.constant(3.0), pb.Variable(2.0)
    unwatched = x * x

    def step(number: Any) -> Any:
        with pb.GradientTape() as tape:
            tape.watch(x)
            y = number * x * v + unwatched
        return pb.stack(tape.gradient(y, [x, v]))

    assert value(pb.map_fn(step, pb.constant([1.0, 10.0]))).tolist() == [[2.0, 3.0], [20.0, 30.0]]
    assert value(pb.cond(x > 0.0, lambda: step(pb.constant(1.0)), lambda: pb.zeros([2]))).tolist() == [2.0, 3.0]
    assert value(pb.function(step).in_graph()(pb.constant(1.0))).tolist() == [2.0, 3.0]


def test_loops_branches_and_calls_are_recorded_as_one() -> None:
    x, v = pb.constant(3.0), pb.Variable(2.0)
    scaled = pb.function(lambda a: a * v).in_graph()
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = pb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
        z = pb.cond(x > 0.0, lambda: scaled(y), lambda: x)
    assert value(tape.gradient(z, [x, v, y])) == [216.0, 81.0, 2.0]


def test_a_shape_that_is_said_later_does_not_end_the_tape() -> None:
    x = pb.placeholder(pb.float32, [None])
    x.set_shape([2])
    with pb.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert pb.Session(engine="numpy").run(tape.gradient(y, x), {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]


def test_jacobians_hold_the_same_constant_as_gradients() -> None:
    x = pb.constant([[1.0, 2.0]])
    with pb.GradientTape(persistent=True) as tape:
        early = x * x
        tape.watch(x)
        y = x * early
    expected = np.diag([1.0, 4.0])
    assert (value(tape.jacobian(y, [x])[0])[0, :, 0] == expected).all()
    assert (value(tape.batch_jacobian(y, x, experimental_use_pfor=False))[0] == expected).all()
    other = pb.constant([1.0])
    assert tape.jacobian(y, other) is None
    assert value(tape.jacobian(y, other, unconnected_gradients="zero")).shape == (1, 2, 1)
    assert value(tape.batch_jacobian(y, early, unconnected_gradients="zero")).shape == (1, 2, 2)


def test_what_cannot_be_is_refused() -> None:
    tape = pb.GradientTape()
    with pytest.raises(RuntimeError, match=r"GradientTape\.watch: the tape has not been entered"):
        tape.watch(pb.constant(1.0))
    with (
        pytest.raises(ValueError, match=r"GradientTape\.stop_recording: the tape is not recording"),
        tape.stop_recording(),
    ):
        pass
    with tape, pytest.raises(ValueError, match=r"GradientTape\.watch: 3\.0 is neither a tensor nor a variable"):
        tape.watch(3.0)
    with tape, pytest.raises(ValueError, match="GradientTape: the tape is still recording"), tape:
        pass
