"""Compile scopes: the attributes of section 18 of the specification, word for word."""

from __future__ import annotations

from typing import Any

import pullback as pb


def marks(op: Any) -> dict[str, Any]:
    return {name: value for name, value in op.attrs.items() if name.startswith("_Xla")}


def derivative(y: Any, x: Any, name: str = "gradients") -> Any:
    (dx,) = pb.gradients(y, x, name=name)
    return dx.op


def test_operations_are_marked() -> None:
    with pb.xla.experimental.jit_scope():
        y = pb.tanh(1.0)
    assert marks(y.op) == {
        "_XlaCompile": True,
        "_XlaSeparateCompiledGradients": False,
        "_XlaScope": b"jit_scope_0",
    }
    assert marks(pb.tanh(1.0).op) == {}


def test_scopes_are_counted_and_inner_ones_share_that_around() -> None:
    with pb.xla.experimental.jit_scope(), pb.xla.experimental.jit_scope(compile_ops=False):
        inner = pb.tanh(1.0)
    with pb.xla.experimental.jit_scope():
        second = pb.tanh(1.0)
    assert (inner.op.get_attr("_XlaCompile"), inner.op.get_attr("_XlaScope")) == (False, b"jit_scope_0")
    assert second.op.get_attr("_XlaScope") == b"jit_scope_1"


def test_a_function_says_which_operations_are_marked() -> None:
    with pb.xla.experimental.jit_scope(compile_ops=lambda op: op.type == "Tanh"):
        y = pb.tanh(pb.sin(pb.constant(1.0)))
    assert y.op.get_attr("_XlaCompile") is True
    assert y.op.inputs[0].op.get_attr("_XlaCompile") is False


def test_derivatives_share_the_scope() -> None:
    x = pb.constant(1.0)
    with pb.xla.experimental.jit_scope():
        y = pb.sin(x)
    assert marks(derivative(y, x)) == {"_XlaCompile": True, "_XlaScope": b"jit_scope_0"}


def test_separate_derivatives_get_a_scope_of_their_own() -> None:
    x = pb.constant(1.0)
    with pb.get_default_graph().attr_scope(
        {"_XlaCompile": True, "_XlaScope": b"sc", "_XlaSeparateCompiledGradients": True}
    ):
        y = pb.sin(x)
    assert marks(derivative(y, x)) == {"_XlaCompile": True, "_XlaScope": b"sc_grad_gradients"}
    with pb.name_scope("aa"):
        assert marks(derivative(y, x, name="bb"))["_XlaScope"] == b"sc_grad_aa_bb"


def test_all_three_attributes_must_be_there() -> None:
    x = pb.constant(1.0)
    with pb.get_default_graph().attr_scope({"_XlaCompile": True, "_XlaScope": b"sc"}):
        y = pb.sin(x)
    assert marks(derivative(y, x)) == {}


def test_seeds_and_sums_are_not_marked() -> None:
    x = pb.constant(1.0)
    with pb.xla.experimental.jit_scope():
        y = pb.sin(x) * pb.cos(x)
    total = derivative(y, x)
    assert (total.type, marks(total)) == ("AddN", {})
    assert marks(pb.get_default_graph().get_operation_by_name("gradients/grad_ys_0")) == {}


def test_bodies_of_functions_are_marked_and_so_are_their_derivatives() -> None:
    x = pb.constant(1.0)
    with pb.xla.experimental.jit_scope():
        y = pb.function(lambda a: pb.sin(a))(x)
    (backward,) = derivative(y, x).primitive.functions
    assert marks(y.op)["_XlaScope"] == b"jit_scope_0"
    assert {op.attrs["_XlaScope"] for op in backward.operations if op.name.startswith("Sin_grad")} == {b"jit_scope_0"}
