"""Functions: bodies, captures, copies, text and dict form."""

from __future__ import annotations

import pytest

import pullback as pb
from pullback.control_flow.call import Call
from pullback.core.function import inline, trace, types_at_call


def test_a_body_captures_what_it_reads_from_around_it() -> None:
    x, w = pb.constant(2.0, name="x"), pb.constant(3.0, name="w")
    traced = trace(lambda a: [a * w + w], [x.type], "affine", ["a"])
    assert traced.captured == (w,)
    assert str(traced.function) == "\n".join(
        [
            "affine(a: float32[], w: float32[]) -> (add)",
            "  mul: float32[] = Mul(a, w)",
            "  add: float32[] = AddV2(mul, w)",
        ]
    )


def test_small_integer_constants_are_copied_into_a_body() -> None:
    n = pb.constant(3, name="n")
    traced = trace(lambda a: [a + n], [n.type], "f", ["a"])
    assert traced.captured == ()


def test_nested_bodies_capture_through_each_other() -> None:
    w = pb.constant(3.0, name="w")

    def outer(a: pb.Tensor) -> list[pb.Tensor]:
        inner = trace(lambda b: [b * w], [a.type], "inner")
        return [Call(inner.function)(a, *inner.captured)]

    traced = trace(outer, [w.type], "outer")
    assert traced.captured == (w,)
    y = Call(traced.function)(pb.constant(2.0), *traced.captured)
    assert pb.Session(engine="numpy").run(y) == 6.0


def test_operations_on_outer_tensors_are_made_in_the_body() -> None:
    w = pb.constant(3.0, name="w")
    graph = pb.get_default_graph()
    size = len(graph.operations)
    with_name = trace(lambda a: [pb.nn.softplus(w) + a], [w.type], "f").function
    assert len(graph.operations) == size
    assert [op.type for op in with_name.operations] == ["Softplus", "AddV2"]


def test_a_tensor_of_a_closed_body_cannot_be_used_outside() -> None:
    kept: list[pb.Tensor] = []
    trace(lambda a: [kept.append(a) or a], [pb.constant(1.0).type], "f", ["a"])
    with pytest.raises(pb.errors.InaccessibleTensorError) as error:
        pb.tanh(kept[0])
    assert str(error.value) == (
        "Cannot use 'a:0' (made at test_function.py:55: "
        'trace(lambda a: [kept.append(a) or a], [pb.constant(1.0).type], "f", ["a"])) '
        "as input to 'Tanh', because it is inside the body 'f'; return it from the body instead."
    )


def test_inlined_operations_keep_their_attributes() -> None:
    with pb.get_default_graph().gradient_override_map({"Tanh": "Mine"}):
        function = trace(lambda a: [pb.tanh(a)], [pb.constant(1.0).type], "f").function
    (y,) = inline(function, [pb.constant(0.5)])
    assert y.op.get_attr("_gradient_op_type") == b"Mine"


def test_a_failing_body_leaves_the_graph_around_it_as_it_was() -> None:
    w = pb.constant(3.0, name="w")
    before = str(w.graph)
    with pytest.raises(ValueError, match="matmul"):
        trace(lambda a: [pb.matmul(a, pb.zeros([2, 2]))], [w.type], "f")
    assert str(w.graph) == before


def test_gradients_inside_a_body_cross_into_the_graph_around_it() -> None:
    x = pb.constant(2.0, name="x")
    m = x * x

    def build(a: pb.Tensor) -> list[pb.Tensor]:
        return pb.gradients(a * m, [a, m, x])

    traced = trace(build, [x.type], "f")
    ys = Call(traced.function)(pb.constant(5.0), *traced.captured)
    assert pb.Session(engine="numpy").run(list(ys)) == [4.0, 5.0, 20.0]


def test_a_length_that_stands_for_two_at_a_call_says_nothing() -> None:
    x = pb.placeholder(pb.float32, ["n"])
    twice = trace(lambda a, b: [a + b, a * 2.0], [x.type, x.type], "twice").function
    y, z = pb.placeholder(pb.float32, ["m"]), pb.placeholder(pb.float32, ["k"])
    assert [str(t) for t in types_at_call(twice, [y.type, y.type])] == ["float32[m]", "float32[m]"]
    assert [str(t) for t in types_at_call(twice, [y.type, z.type])] == ["float32[?]", "float32[?]"]
