"""`explain_gradient`: why a gradient is None, with the operation and the user's line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pullback as pb


def test_two_tensors_that_have_nothing_to_do_with_each_other() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.constant(2.0, name="y")
    assert str(pb.explain_gradient(y, x)) == (
        "The gradient of float32[] 'y:0' by float32[] 'x:0' is None: y:0 does not depend on x:0; nothing reads it.\n"
        '- x:0 was made at test_explain.py:13: x = pb.constant(1.0, name="x")\n'
        '- y:0 was made at test_explain.py:14: y = pb.constant(2.0, name="y")\n'
        "A tensor computed again, or converted again, is another tensor: pass the one that y was computed from."
    )


def test_integers_on_the_way() -> None:
    x = pb.constant(2.5, name="x")
    whole = pb.cast(x, pb.int32, name="whole")
    y = pb.multiply(pb.cast(whole, pb.float32), 3.0, name="y")
    assert str(pb.explain_gradient(y, x)) == (
        "The gradient of float32[] 'y:0' by float32[] 'x:0' is None: every path between them is cut.\n"
        "- 'whole' (Cast, made at test_explain.py:25: whole = pb.cast(x, pb.int32, name=\"whole\")) "
        "turns float32[] 'x:0' into int32[] 'whole:0', and integers have no derivative."
    )


def test_a_rule_that_says_none() -> None:
    x = pb.constant(2.5, name="x")
    y = pb.exp(pb.floor(x, name="down"), name="y")
    assert str(pb.explain_gradient(y, x)) == (
        "The gradient of float32[] 'y:0' by float32[] 'x:0' is None: every path between them is cut.\n"
        '- \'down\' (Floor, made at test_explain.py:36: y = pb.exp(pb.floor(x, name="down"), name="y")) '
        "hands no derivative on to float32[] 'x:0': its rule says None."
    )


def test_a_stopped_path_and_an_integer_path() -> None:
    x = pb.constant(2.5, name="x")
    stopped = pb.stop_gradient(x, name="stopped")
    counted = pb.cast(pb.cast(x, pb.int32, name="whole"), pb.float32)
    y = pb.add(stopped, counted, name="y")
    reasons = pb.explain_gradient(y, x).reasons
    assert len(reasons) == 3
    assert reasons[1].startswith("- 'stopped' (made at test_explain.py:46: ")
    assert reasons[1].endswith("is a stop_gradient.")
    assert "turns float32[] 'x:0' into int32[] 'whole:0'" in reasons[2]


def test_a_gradient_that_is_there() -> None:
    x = pb.constant(2.5, name="x")
    found = pb.explain_gradient(pb.exp(x, name="y"), x)
    assert found.connected
    assert str(found) == (
        "The gradient of float32[] 'y:0' by float32[] 'x:0' is not None: "
        "a path of differentiable operations joins them."
    )


def test_the_graph_is_left_as_it_was() -> None:
    x = pb.constant(2.5)
    y = pb.exp(pb.floor(x))
    before = str(x.graph)
    pb.explain_gradient(y, x)
    assert str(x.graph) == before


def test_none_is_refused() -> None:
    with pytest.raises(TypeError, match="gradients: y is None"):
        pb.explain_gradient(None, pb.constant(1.0))


@pytest.mark.parametrize("function", [pb.floor, pb.exp, pb.argmax, pb.ones_like])
def test_it_agrees_with_gradients(function: Callable[[pb.Tensor], pb.Tensor]) -> None:
    x = pb.constant([1.0, 2.0])
    result = function(x)
    there = pb.gradients(result, x) != [None] if result.dtype == pb.float32 else False
    assert pb.explain_gradient(result, x).connected == there
