"""What reads nothing and computes little is not compiled: initial values that are constants, above all."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")


def compiled(session: pb.Session) -> int:
    """How many programs a session has."""
    return len(session._engine.programs)  # type: ignore[attr-defined]


def variables(**values: object) -> dict[str, pb.Variable]:
    return {name: pb.Variable(value, name=name) for name, value in values.items()}


CONSTANT = {
    "array": np.arange(90000, dtype=np.float32).reshape(300, 300),
    "scalar": 3,
    "truth": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "empty": np.zeros((0, 3), np.float64),
    "half": np.arange(3).astype(pb.bfloat16),
}


def test_constant_initial_values_are_not_compiled() -> None:
    made = variables(**CONSTANT, zeros=pb.zeros([512]), sums=pb.ones([2, 2]) + 1.0)
    with pb.Session(engine="xla") as session, pb.Session(engine="numpy") as other:
        for each in session, other:
            each.run(pb.global_variables_initializer())
        assert compiled(session) == 0
        for v in made.values():
            found, expected = session.run(v), other.run(v)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_initial_values_are_given_again() -> None:
    made = variables(**CONSTANT)
    v = made["array"]
    with pb.Session(engine="xla") as session:
        session.run(pb.global_variables_initializer())
        session.run(v.assign_add(pb.ones([300, 300])))
        session.run(pb.global_variables_initializer())
        np.testing.assert_array_equal(session.run(v), CONSTANT["array"])


def test_variables_have_memory_of_their_own() -> None:
    """A step changes a variable in place: neither the constant nor another variable may change with it."""
    value = np.ones(4096, np.float32)
    a, b = pb.Variable(value, name="a"), pb.Variable(value, name="b")
    constant = pb.constant(value)
    with pb.Session(engine="xla") as session:
        session.run([a.initializer, b.initializer])
        for _ in range(3):
            session.run(a.assign_add(constant))
        np.testing.assert_array_equal(session.run(a), 4 * value)
        np.testing.assert_array_equal(session.run(b), value)
        np.testing.assert_array_equal(session.run(constant), value)
    np.testing.assert_array_equal(value, np.ones(4096, np.float32))


def test_what_reads_a_variable_is_compiled() -> None:
    v, w = pb.Variable(1.0, name="v"), pb.Variable(2.0, name="w")
    with pb.Session(engine="xla") as session:
        session.run([v.initializer, w.initializer])
        session.run(w.assign(v + 3.0))
        assert compiled(session) == 1
        assert session.run(w) == 4.0
        assert session.run(pb.is_variable_initialized(v))
        session.run([v.assign(5.0), w.assign_add(1.0)])
        assert session.run([v, w]) == [5.0, 5.0]


def test_a_failing_initial_value_leaves_all_variables_as_they_were() -> None:
    v, w = pb.Variable(1.0, name="v"), pb.Variable(np.ones(3, np.float32), name="w")
    with pb.Session(engine="xla") as session:
        session.run([v.initializer, w.initializer])
        wrong = pb.reshape(pb.constant(np.ones(4, np.float32)), pb.constant([-1]))
        with pb.control_dependencies([pb.debugging.Assert(pb.constant([False]), ["no"])]):
            given = pb.identity(wrong[:3])
        with pytest.raises(pb.errors.InvalidArgumentError):
            session.run([v.assign(9.0), w.assign(given)])
        assert session.run(v) == 1.0
