"""Names of shared variables: what `get_variable` asks for, and what the operation is called."""

from __future__ import annotations

from typing import Any

import numpy as np
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


@pytest.mark.parametrize(
    "initializer",
    [
        lambda shape, dtype: pb.ones(shape, dtype),
        lambda shape, d: pb.ones(shape, d),
        lambda shape, *rest: pb.ones(shape, *rest),
        lambda shape, *, dtype: pb.ones(shape, dtype),
        lambda shape, **options: pb.ones(shape, options["dtype"]),
        lambda shape, partition_info, dtype: pb.ones(shape, dtype),
        np.ones,
    ],
)
def test_an_initializer_is_told_the_dtype_by_name_where_it_can_be(initializer: Any) -> None:
    v = pb.get_variable("v", [2], pb.float64, initializer)
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(v).tolist() == [1.0, 1.0]


def test_a_scope_needs_a_name() -> None:
    with pytest.raises(TypeError, match=r"^If default_name is None then name_or_scope is required$"):
        pb.variable_scope(None).__enter__()
