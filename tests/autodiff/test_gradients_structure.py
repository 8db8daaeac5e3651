"""What `gradients` adds: names, originators, devices, colocation, control inputs, gates, sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def run(fetches: Any) -> Any:
    with pb.Session(graph=pb.get_default_graph(), engine="numpy") as session:
        return session.run(fetches)


def added(before: int) -> list[str]:
    return [op.name for op in pb.get_default_graph().operations[before:]]


def test_names_stand_in_a_scope_of_the_call_and_one_of_the_forward_operation() -> None:
    x = pb.constant([1.0, -1.0])
    with pb.name_scope("layer"):
        y = pb.nn.relu(x)
    before = len(pb.get_default_graph().operations)
    pb.gradients(y, x)
    assert added(before) == ["gradients/grad_ys_0", "gradients/layer/Relu_grad/ReluGrad"]


def test_scopes_are_those_around_the_call() -> None:
    x = pb.constant(1.0)
    y, z = x * x, pb.tanh(x)
    with pb.name_scope("outer"):
        (first,) = pb.gradients(z, x)
    assert first.name == "outer/gradients/Tanh_grad/TanhGrad:0"
    assert pb.gradients(y, x)[0].name == "gradients/AddN:0"
    assert pb.gradients(y, x, name="foo")[0].name == "foo/AddN:0"
    assert pb.gradients(y, x, name="a/b")[0].name == "a/b/AddN:0"
    assert pb.gradients(y, x, name="")[0].name == "AddN:0"
    assert pb.gradients(y, x, name=None)[0].name == "gradients_1/AddN:0"


def test_second_order_names_hold_both_scopes() -> None:
    x = pb.constant(1.0)
    (dx,) = pb.gradients(pb.square(x), x)
    (ddx,) = pb.gradients(dx, x)
    assert ddx.name.startswith("gradients_1/gradients/Square_grad/")


def test_uid_is_reserved_in_the_scope() -> None:
    x = pb.constant(1.0)
    pb.gradients(x * x, x)
    assert pb.get_default_graph().unique_name("gradients/uid") == "gradients/uid_1"


def test_operations_of_a_rule_remember_the_operation_that_they_differentiate() -> None:
    x = pb.constant([1.0, 2.0])
    y = pb.tanh(x)
    (dx,) = pb.gradients(y * y, x)
    assert dx.op._original_op is y.op
    seeds = [op for op in pb.get_default_graph().operations if op.name == "gradients/grad_ys_0"]
    assert seeds[0]._original_op is None
    sums = [op for op in pb.get_default_graph().operations if op.type == "AddN"]
    assert sums[0]._original_op is None


def test_gradient_operations_are_made_at_the_line_of_the_call() -> None:
    x = pb.constant([1.0, 2.0])
    y = pb.tanh(x)
    (dx,) = pb.gradients(y, x)
    assert "(dx,) = pb.gradients(y, x)" in str(dx.op.site)


def test_without_colocation_operations_take_the_device_around_the_call() -> None:
    with pb.device("/cpu:1"):
        x = pb.constant([1.0, 2.0])
        y = pb.tanh(x)
    with pb.device("/device:CPU:3"):
        (dx,) = pb.gradients(y, x)
    assert dx.device == "/device:CPU:3"
    assert "_class" not in dx.op.attrs


def test_with_colocation_operations_stand_with_their_forward_operation() -> None:
    with pb.device("/cpu:1"):
        x = pb.constant([1.0, 2.0])
        y = pb.tanh(x)
    with pb.device("/cpu:3"):
        (dx,) = pb.gradients(y, x, colocate_gradients_with_ops=True)
    assert dx.op.colocation_groups() == [b"loc:@Tanh"]
    assert dx.device == "/device:CPU:1"


def test_colocation_groups_nest_sorted_and_follow_explicit_groups() -> None:
    graph = pb.get_default_graph()
    b, a = pb.constant(1.0, name="b"), pb.constant(1.0, name="a")
    with graph.colocate_with(b.op), graph.colocate_with(a.op):
        c = pb.identity(b)
    assert c.op.colocation_groups() == [b"loc:@a", b"loc:@b"]
    with graph.colocate_with(c.op):
        assert pb.identity(a).op.colocation_groups() == [b"loc:@a", b"loc:@b"]
    with graph.colocate_with(c.op), graph.colocate_with(a.op, ignore_existing=True):
        assert pb.identity(a).op.colocation_groups() == [b"loc:@a"]
    assert a.op.colocation_groups() == [b"loc:@a"]


def test_a_sum_is_colocated_with_its_first_term() -> None:
    x = pb.constant(2.0)
    y = pb.exp(x) + pb.tanh(x)
    (dx,) = pb.gradients(y, x)
    assert dx.name == "gradients/AddN:0"
    first = dx.op.inputs[0].op
    assert dx.op.get_attr("_class") == [b"loc:@" + first.name.encode()]
    (dx,) = pb.gradients(y, x, colocate_gradients_with_ops=True)
    assert dx.op.get_attr("_class") == dx.op.inputs[0].op.colocation_groups()


def test_terms_on_several_devices_are_summed_device_by_device() -> None:
    with pb.device("/cpu:1"):
        x = pb.constant(2.0)
        ones = [pb.tanh(x), pb.exp(x)]
    with pb.device("/cpu:0"):
        zeros = [pb.sin(x), pb.cos(x)]
    (dx,) = pb.gradients([*ones, *zeros], x, colocate_gradients_with_ops=True)
    assert dx.op.type == "AddN"
    assert dx.op.colocation_groups() == [x.op.colocation_groups()[0]]
    partial_sums = [t.op for t in dx.op.inputs]
    assert [op.device for op in partial_sums] == ["/device:CPU:0", "/device:CPU:1"]
    assert [op.type for op in partial_sums] == ["AddN", "AddN"]
    assert run(dx) == pytest.approx(1 - np.tanh(2) ** 2 + np.exp(2) + np.cos(2) - np.sin(2), rel=1e-6)


@pytest.mark.parametrize(
    "method", [pb.AggregationMethod.EXPERIMENTAL_TREE, pb.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N]
)
def test_experimental_methods_add_two_at_a_time(method: int) -> None:
    x = pb.constant(2.0, name="x")
    y = x + x + x
    (dx,) = pb.gradients(y, x, aggregation_method=method)
    names = [op.name for op in pb.get_default_graph().operations if op.type == "AddN"]
    assert names == ["gradients/x_gradient_sum/AddN", "gradients/x_gradient_sum/AddN_1"]
    assert run(dx) == 3.0


def test_methods_are_the_integers_of_tensorflow() -> None:
    m = pb.AggregationMethod
    assert (m.ADD_N, m.DEFAULT, m.EXPERIMENTAL_TREE, m.EXPERIMENTAL_ACCUMULATE_N) == (0, 0, 1, 2)


def test_gates_hold_every_gradient_of_an_operation_until_all_are_there() -> None:
    a, b = pb.constant(2.0), pb.constant(3.0)
    y = pb.multiply(a, b)
    da, db = pb.gradients(y, [a, b], gate_gradients=True)
    assert da.name == "gradients/Mul_grad/tuple/control_dependency:0"
    assert db.name == "gradients/Mul_grad/tuple/control_dependency_1:0"
    (deps,) = da.op.control_inputs
    assert deps.name == "gradients/Mul_grad/tuple/group_deps"
    assert [c.name for c in deps.control_inputs] == ["gradients/Mul_grad/mul", "gradients/Mul_grad/mul_1"]
    assert da.op.colocation_groups() == [b"loc:@gradients/Mul_grad/mul"]
    assert run([da, db]) == [3.0, 2.0]


def test_one_gradient_needs_no_gate() -> None:
    x = pb.constant(2.0)
    (dx,) = pb.gradients(pb.tanh(x), x, gate_gradients=True)
    assert dx.op.type == "TanhGrad"


def test_control_dependencies_around_the_call_hold_what_has_no_input_from_inside() -> None:
    x = pb.placeholder(pb.float32, [100])
    y = pb.tanh(x)
    first = pb.no_op("first")
    with pb.control_dependencies([first]):
        (dx,) = pb.gradients(y, x)
    by_name = {op.name: op for op in pb.get_default_graph().operations}
    assert by_name["gradients/grad_ys_0"].control_inputs == [first]
    assert dx.op.control_inputs == []


def test_only_wanted_gradients_are_built() -> None:
    x, w = pb.placeholder(pb.float32, [2, 3]), pb.constant(np.ones((3, 4), np.float32))
    before = len(pb.get_default_graph().operations) + 1
    pb.gradients(pb.matmul(x, w), w)
    assert added(before) == ["gradients/grad_ys_0", "gradients/MatMul_grad/MatMul"]
