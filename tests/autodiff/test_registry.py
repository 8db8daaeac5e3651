"""Registering, overriding and refusing gradient rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.primitive import Primitive


def run(fetches: Any) -> Any:
    with pb.Session(graph=pb.get_default_graph(), engine="numpy") as session:
        return session.run(fetches)


class Mystery(Primitive):
    type = "Mystery"

    def infer(self, x: Any) -> Any:
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        return x


def test_an_operation_without_a_rule_is_named_with_its_line_and_the_remedy() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.tanh(Mystery()(x, name="odd"), name="y")
    with pytest.raises(LookupError) as caught:
        pb.gradients(y, x)
    text = str(caught.value)
    assert "It lies on the path x -> odd -> y. " in text
    assert text.startswith("No gradient defined for operation'odd' (op type: Mystery), made at test_registry.py:")
    assert 'Define one with @pb.RegisterGradient("Mystery"), or put pb.stop_gradient() on its inputs.' in text


def test_a_long_path_is_shortened_in_the_middle() -> None:
    x = y = pb.constant(1.0, name="x")
    for _ in range(5):
        y = pb.tanh(y)
    y = Mystery()(y, name="odd")
    for _ in range(5):
        y = pb.tanh(y)
    with pytest.raises(
        LookupError, match=r"the path x -> Tanh -> Tanh_1 -> Tanh_2 -> \.\.\. -> Tanh_6 -> .* -> Tanh_9\. "
    ):
        pb.gradients(y, x)


def test_an_operation_without_a_rule_may_stand_at_the_boundary() -> None:
    x = pb.constant(1.0)
    y = Mystery()(x)
    assert run(pb.gradients(y, y)) == [1.0]
    assert pb.gradients(y * 2.0, x, stop_gradients=y) == [None]
    assert run(pb.gradients(y * 2.0, y)) == [2.0]


def test_an_override_applies_to_operations_made_inside_the_map() -> None:
    @pb.RegisterGradient("TimesTen")
    def times_ten(op: Any, dy: Any) -> Any:
        return 10.0 * dy

    graph = pb.get_default_graph()
    x = pb.constant(0.5)
    outside = pb.tanh(x)
    with graph.gradient_override_map({"Tanh": "TimesTen"}):
        inside = pb.tanh(x)
    assert inside.op.get_attr("_gradient_op_type") == b"TimesTen"
    assert run(pb.gradients(inside, x)) == [10.0]
    assert run(pb.gradients(outside, x))[0] == pytest.approx(1 - np.tanh(0.5) ** 2)


def test_a_misspelt_override_fails_when_it_is_used() -> None:
    x = pb.constant(0.5)
    with pb.get_default_graph().gradient_override_map({"Tanh": "TimesTne"}):
        y = pb.tanh(x)
    with pytest.raises(LookupError, match="Its override 'TimesTne' is not registered"):
        pb.gradients(y, x)


def test_override_maps_nest_and_are_restored() -> None:
    graph = pb.get_default_graph()
    x = pb.constant(0.5)
    with graph.gradient_override_map({"Tanh": "Outer"}):
        with graph.gradient_override_map({"Tanh": "Inner"}):
            assert pb.tanh(x).op.get_attr("_gradient_op_type") == b"Inner"
        assert pb.tanh(x).op.get_attr("_gradient_op_type") == b"Outer"


def test_an_override_map_is_a_dictionary_of_strings() -> None:
    with pytest.raises(TypeError, match="op_type_map must be a dictionary mapping strings to strings"):
        pb.get_default_graph().gradient_override_map({"Tanh": 3}).__enter__()  # type: ignore[dict-item]


def test_registering_twice_and_registering_a_known_type_are_refused() -> None:
    pb.RegisterGradient("OnlyOnce")(lambda op, dy: dy)
    with pytest.raises(KeyError, match=r"Registering two gradient with name .*OnlyOnce.*test_registry\.py"):
        pb.NotDifferentiable("OnlyOnce")
    with pytest.raises(KeyError, match=r"Registering two gradient with name .*Tanh"):
        pb.RegisterGradient("Tanh")(lambda op, dy: dy)


def test_the_name_of_a_type_is_a_string() -> None:
    with pytest.raises(TypeError, match="op_type must be a string"):
        pb.RegisterGradient(3)  # type: ignore[arg-type]


def test_a_type_declared_not_differentiable_gives_none() -> None:
    class Flat(Primitive):
        type = "FlatForTheTest"

        def infer(self, x: Any) -> Any:
            return (x,)

    pb.NotDifferentiable("FlatForTheTest")
    x = pb.constant(1.0)
    assert pb.gradients(Flat()(x), x) == [None]


def test_a_registered_rule_serves_a_primitive_that_has_none() -> None:
    class Shy(Primitive):
        type = "ShyForTheTest"

        def infer(self, x: Any) -> Any:
            return (x,)

    @pb.RegisterGradient("ShyForTheTest")
    def shy(op: Any, dy: Any) -> Any:
        return dy * 7.0

    x = pb.constant(1.0)
    assert run(pb.gradients(Shy()(x), x)) == [7.0]


def test_prevent_gradient_says_why() -> None:
    x = pb.constant(1.0)
    with pytest.raises(LookupError, match=r"Gradient explicitly disabled\. Reason: frozen"):
        pb.gradients(pb.prevent_gradient(x, message="frozen"), x)
