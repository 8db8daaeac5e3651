"""Programs of XLA that were called before: they go straight to what is compiled, and notice what has changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback as pb

CALLS = 4
"""Of which the last are those of a settled program."""


def settled(session: pb.Session) -> list[Any]:
    """For each program of the session what its calls go to."""
    return [program.settled for program in session._engine.programs]  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", [pb.float32, pb.float64, pb.int64, pb.complex128, pb.bfloat16, pb.bool])
@pytest.mark.parametrize("to_host", [True, False])
def test_calls_that_are_settled_give_what_the_first_gives(dtype: pb.DType, to_host: bool) -> None:
    x = pb.placeholder(dtype, [3])
    y = pb.stack([x, x[::-1]])
    with pb.Session(engine="xla") as session:
        call = session.make_callable([y, x[0]], [x], to_host=to_host)
        for i in range(CALLS):
            value = np.array([1, i, i % 2]).astype(dtype)
            for fed in (value, value.tolist(), session._engine.put(x, value)):  # type: ignore[attr-defined]
                rows, first = call(fed)
                assert rows.dtype == dtype
                np.testing.assert_array_equal(np.asarray(rows, np.complex128), [value, value[::-1]])
                assert np.asarray(first) == value[0]
        assert None not in settled(session)
        assert not jax.config.jax_enable_x64


def test_steps_that_are_settled_change_variables_in_place() -> None:
    v, x = pb.Variable(np.zeros(1000)), pb.placeholder(pb.float64, [])
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        step = session.make_callable(v.assign_add(pb.fill([1000], x)).op, [x])
        values: Any = session._engine.values  # type: ignore[attr-defined]
        places = []
        for i in range(CALLS):
            step([1.0, jnp.float32(1.0)][i % 2])
            places.append(values[v.op].unsafe_buffer_pointer())
        assert len(set(places)) == 1
        assert session.run(v)[0] == CALLS
        assert any(settled(session))


def test_a_variable_that_is_given_a_value_of_another_shape_is_read_anew() -> None:
    v = pb.Variable([1.0, 2.0], validate_shape=False)
    longer = pb.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    twice, doubled = v * 2.0, pb.assign(v, v * 2.0, validate_shape=False)
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        for _ in range(CALLS):
            assert session.run(twice).tolist() == [2.0, 4.0]
            session.run(doubled.op), session.run(v.initializer)
        session.run(longer.op)
        for _ in range(CALLS):
            assert session.run(twice).tolist() == [2.0, 4.0, 6.0]
            assert session.run(doubled).tolist() == [2.0, 4.0, 6.0]
            session.run(longer.op)


def test_a_variable_without_value_is_said_also_after_many_runs() -> None:
    v, x = pb.Variable(1.0), pb.placeholder(pb.float32, [])
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        for _ in range(CALLS):
            session.run([v * x, v.assign_add(x)], {x: 1.0})
        session._engine.forget_state(v.op)  # type: ignore[attr-defined]
        for fetches in (v * x, v.assign_add(x)):
            with pytest.raises(pb.errors.FailedPreconditionError):
                session.run(fetches, {x: 1.0})
        session.run(v.initializer)
        assert session.run([v * x, v.assign_add(x)], {x: 2.0})[1] == 3.0


def test_a_session_that_is_closed_lets_go_of_settled_programs() -> None:
    x = pb.placeholder(pb.float32, [])
    session = pb.Session(engine="xla")
    call = session.make_callable(x + 1.0, [x])
    for _ in range(CALLS):
        call(1.0)
    (program,) = session._engine.programs  # type: ignore[attr-defined]
    session.close()
    assert program.settled is None
    with pytest.raises(RuntimeError, match=r"^Attempted to use a closed Session\.$"):
        call(1.0)


def test_threads_share_a_settled_program() -> None:
    v, x = pb.Variable(np.zeros(8)), pb.placeholder(pb.float64, [8])
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        double, step = session.make_callable(x * 2.0, [x]), session.make_callable(v.assign_add(x).op, [x])

        def work(number: int) -> None:
            for i in range(50):
                value = np.full(8, number * 100.0 + i)
                assert double(value).tolist() == (value * 2.0).tolist()
                step(np.ones(8))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert session.run(v).tolist() == [200.0] * 8


@pytest.mark.parametrize("precision", [False, True])
def test_settled_programs_run_inside_of_blocks_of_jax(precision: bool) -> None:
    x, v = pb.placeholder(pb.float32, [2]), pb.Variable([1.0, 1.0])
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        calls = [session.make_callable(y, [x]) for y in (x * 2.0, v.assign_add(x))]
        for i in range(1, CALLS + 1):
            with jax.enable_x64(precision and i > 2):
                twice, total = [call(np.ones(2, np.float32)) for call in calls]
            assert twice.tolist() == [2.0, 2.0]
            assert total.tolist() == [1.0 + i] * 2


def test_what_checks_numbers_calls_python_or_has_rows_of_zeros_is_called_as_at_first() -> None:
    x = pb.placeholder(pb.float32, [3])
    ys = [pb.py_function(lambda x: x + 1, [x], pb.float32), pb.boolean_mask(x, x > 0.0)]
    with pb.Session(engine="xla") as session:
        for y in ys:
            for _ in range(CALLS):
                session.run(y, {x: [-1.0, 1.0, 2.0]})
        assert set(settled(session)) == {None}
    with pb.Session(engine="xla", check_numerics=True) as session:
        for _ in range(CALLS):
            session.run(x * 2.0, {x: [-1.0, 1.0, 2.0]})
        with pytest.raises(pb.errors.InvalidArgumentError):
            session.run(x * 2.0, {x: [-1.0, 1.0, np.nan]})


def _after_a_check(x: pb.Tensor) -> pb.Tensor:
    with pb.control_dependencies([pb.debugging.Assert(x < 3, ["too much"])]):
        return pb.identity(x)


def _steps(x: pb.Tensor) -> pb.Tensor:
    return pb.while_loop(lambda i: i < x, lambda i: _after_a_check(i + 1), [0])[0]


CHECKED = {
    "Assert": _after_a_check,
    "check_numerics": lambda x: pb.debugging.check_numerics(1.0 / pb.cast(3 - x, pb.float32), "divided"),
    "invert_permutation": lambda x: pb.math.invert_permutation(pb.stack([0, 3 - x])),
    "case": lambda x: pb.case([(pb.equal(x, 1), lambda: x), (pb.equal(x, 2), lambda: -x)], exclusive=True),
    "branch": lambda x: pb.cond(x > 0, lambda: _after_a_check(x), lambda: x),
    "loop": _steps,
}


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.parametrize("assigns", [False, True])
def test_what_a_run_refuses_it_refuses_after_many_runs_too(name: str, assigns: bool) -> None:
    x, v = pb.placeholder(pb.int32, []), pb.Variable(0)
    y = CHECKED[name](x)
    fetch = v.assign(pb.reduce_sum(pb.cast(y, pb.int32))) if assigns else y
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        good, bad = (2, 4) if name == "invert_permutation" else (2, 3)
        for _ in range(CALLS):
            session.run(fetch, {x: good})
        kept = session.run(v)
        for _ in range(2):
            with pytest.raises(pb.errors.InvalidArgumentError):
                session.run(fetch, {x: bad})
            assert session.run(v) == kept
            session.run(fetch, {x: good})


@pytest.mark.parametrize("assigns", [False, True])
def test_programs_with_buffers_for_loops_use_them_again(assigns: bool) -> None:
    n, w = pb.placeholder(pb.int32, []), pb.Variable(np.full((64, 64), 0.01, np.float32))
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.tanh(y @ w + 0.1)], [0, pb.zeros([8, 64])])[1]
    (dw,) = pb.gradients(pb.reduce_sum(y), w)
    fetch = w.assign_sub(0.001 * dw) if assigns else dw
    with pb.Session(engine="xla") as session, pb.Session() as reference:
        for each in (session, reference):
            each.run(w.initializer)
        call = session.make_callable(fetch, [n])
        places = set()
        for steps in (5, 6, 5, 700, 0, 1500, 3):
            np.testing.assert_allclose(call(steps), reference.run(fetch, {n: steps}), rtol=2e-4, atol=1e-6)
            rooms = session._engine.rooms  # type: ignore[attr-defined]
            places.add(tuple([x.unsafe_buffer_pointer() for free in rooms.free.values() for x in free]))
        assert None not in settled(session)[1:]
        assert [*map(len, places)] == [1]
