"""`tf.Module`: names, and what its objects hold, in TensorFlow's order."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.compat import v1 as tf


class Inner(tf.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.v = tf.Variable(1.0, name="v")

    @tf.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        return tf.multiply(x, self.v, name="y")


class Outer(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(1.0, name="w")
        self.parts: list[Any] = [Inner(), {"a": Inner()}]
        self.again = self.parts[0]
        self.n = tf.Variable(2.0, trainable=False, name="n")
        self.dense = tf.keras.layers.Dense(2)


def test_what_a_module_holds_is_found_once_in_the_order_of_the_attributes() -> None:
    net = Outer()
    net.dense(tf.zeros([1, 3]))
    kinds = [type(m).__name__ for m in net.submodules]
    assert kinds == ["Inner", "Dense", "Inner"]
    found = [v.op.name for v in net.variables]
    assert found[:2] == ["n", "w"]
    assert sorted(found) == ["dense/bias", "dense/kernel", "n", "v", "v_1", "w"]
    assert [v.op.name for v in net.non_trainable_variables] == ["n"]
    assert [v.op.name for v in net.trainable_variables] == [name for name in found if name != "n"]


def test_a_method_has_the_names_of_the_module_each_time() -> None:
    inner, other = Inner(), Inner(name="inner")
    x = pb.constant(1.0)
    assert [inner(x).name, inner(x).name, other(x).name] == ["inner/y:0", "inner/y_1:0", "inner_1/y:0"]
    assert (inner.name, other.name, other.name_scope.name) == ("inner", "inner", "inner_1/")


def test_variables_that_a_module_gets_later_are_its_own_too() -> None:
    inner = Inner()
    inner.extra = [tf.Variable(2.0, name="extra")]  # type: ignore[attr-defined]
    assert [v.op.name for v in inner.variables] == ["extra", "v"]


def test_a_name_that_is_no_identifier_is_an_error() -> None:
    with pytest.raises(ValueError, match="is not a valid") as caught:
        Inner(name="1 a")
    assert str(caught.value) == (
        "'1 a' is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class name)."
    )
