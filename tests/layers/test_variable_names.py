"""Names of shared variables: what `get_variable` asks for, and what the operation is called."""

from __future__ import annotations

import pytest

import pullback as pb


def test_a_name_that_an_operation_or_a_scope_has_is_made_unique() -> None:
    with pb.name_scope("W"):
        pb.constant(1.0)
    pb.constant(1.0, name="K")
    w, k = pb.get_variable("W", [2]), pb.get_variable("K", [2])
    assert [w.name, k.name, w.initializer.name] == ["W_1:0", "K_1:0", "W_1/Assign"]
    with pb.variable_scope("", reuse=True):
        assert pb.get_variable("W", [2]) is w
    with pytest.raises(ValueError, match=r"^Variable W already exists, disallowed\. Did you mean"):
        pb.get_variable("W", [2])


def test_a_variable_that_was_not_made_by_name_is_not_shared() -> None:
    own = pb.Variable(1.0, name="v")
    with pb.variable_scope("", reuse=True), pytest.raises(ValueError, match=r"^Variable v does not exist, or was not"):
        pb.get_variable("v", [])
    with pb.variable_scope("", reuse=pb.AUTO_REUSE):
        shared = pb.get_variable("v", [])
        assert pb.get_variable("v", []) is shared
    assert shared is not own
    assert [shared.name, own.name] == ["v_1:0", "v:0"]


def test_a_variable_that_a_failing_call_took_back_is_made_again() -> None:
    def fails() -> None:
        with pb.get_default_graph().transaction():
            pb.get_variable("u", [2])
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert pb.get_variable("u", [3]).name == "u:0"
