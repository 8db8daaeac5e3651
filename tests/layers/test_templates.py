"""Templates: names of variables and operations, call by call."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb


def template(name: str, **options: Any) -> Any:
    return pb.make_template(
        name, lambda x: pb.multiply(x, pb.get_variable("k", [], initializer=pb.ones_initializer())), **options
    )


def test_each_call_has_a_name_scope_of_its_own() -> None:
    a, b, c = template("t"), template("t"), template("t", unique_name_="own")
    assert [a(1.0).op.name, a(2.0).op.name] == ["t/Mul", "t_1/Mul"]
    assert [f(1.0).op.name for f in (b, c, c)] == ["t_2/Mul", "own/Mul", "own_1/Mul"]
    with pb.variable_scope("w"):
        assert template("t")(1.0).op.name == "w/t/Mul"
    assert [v.op.name for v in pb.global_variables()] == ["t/k", "t_1/k", "own/k", "w/t/k"]


def test_a_scope_made_at_once_takes_no_name_of_an_operation() -> None:
    now = template("t", create_scope_now_=True)
    later = template("t")
    assert [later(1.0).op.name, now(1.0).op.name] == ["t/Mul", "t_1/Mul"]
    assert [v.op.name for f in (now, later) for v in f.variables] == ["t/k", "t_1/k"]


def test_later_calls_make_no_variables() -> None:
    make = pb.make_template("t", lambda: pb.Variable(0.0, name="v"))
    make()
    with pytest.raises(
        ValueError, match=r"^make_template: a later call of 't' made <Variable 't_1/v:0' float32\[\]>; use"
    ):
        make()
    names = iter("ab")
    shared = pb.make_template("u", lambda: pb.get_variable(next(names), []))
    shared()
    with pytest.raises(ValueError, match=r"^Variable u/b does not exist"):
        shared()
