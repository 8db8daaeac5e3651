"""The order in which operations are differentiated, and with it the terms and the names of sums: TensorFlow 2.21's."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import pullback as pb

Call = tuple[list[pb.Tensor], list[pb.Tensor], list[pb.Tensor] | None]


def placeholder(name: str) -> pb.Tensor:
    return pb.placeholder(pb.float32, [3], name=name)


def branches() -> Call:
    x = placeholder("x")
    a, b = pb.tanh(x, name="a"), pb.exp(x, name="b")
    c, d = pb.sin(a, name="c"), pb.cos(x, name="d")
    return [pb.add_n([d, c, b, a])], [x, a], None


def branches_of_other_lengths() -> Call:
    x = placeholder("x")
    short = pb.exp(x, name="short")
    long = pb.tanh(pb.tanh(pb.tanh(x, name="first"), name="second"), name="third")
    return [pb.add_n([long, short, pb.cos(x, name="late")])], [x], None


def steps_that_share() -> Call:
    x, w = placeholder("x"), placeholder("w")
    h = x
    for i in range(3):
        h = pb.tanh(pb.maximum(h, w, name=f"m{i}") + x, name=f"h{i}")
    return [h], [x, w], None


def ys_that_lead_to_one_another() -> Call:
    x = placeholder("x")
    z, u = pb.tanh(x, name="z"), pb.exp(x, name="u")
    return [z, u, pb.sin(z, name="y"), z], [x, z], None


def a_stop() -> Call:
    x = placeholder("x")
    a = pb.tanh(x, name="a")
    b, c, d = pb.sin(a, name="b"), pb.cos(x, name="c"), pb.exp(x, name="d")
    return [pb.add_n([b, c, d, a])], [x, a], [b]


def a_way_through_integers() -> Call:
    x = placeholder("x")
    a, b = pb.tanh(x, name="a"), pb.exp(x, name="b")
    return [pb.add_n([pb.cast(pb.cast(a, pb.int32), pb.float32), b, a, x])], [x, a], None


def sums(call: Callable[[], Call], method: int) -> list[str]:
    """Each sum: its name, its terms, and after `@` what it is colocated with; of rules, only whose they are."""
    ys, xs, stops = call()
    graph = pb.get_default_graph()
    before = len(graph.operations)
    pb.gradients(ys, xs, stop_gradients=stops, aggregation_method=method)
    rows = []
    for op in graph.operations[before:]:
        if op.type == "AddN":
            terms = " ".join(x.op.name for x in op.inputs)
            row = f"{op.name}: {terms} @ {op.colocation_groups()[0].decode()}"
            rows.append(re.sub(r"_grad/\w+", "_grad", row.replace("gradients/", "").replace("loc:@", "")))
    return rows


TENSORFLOW = {
    branches: ["AddN: grad_ys_0 c_grad @ grad_ys_0", "AddN_1: d_grad b_grad a_grad @ d_grad"],
    branches_of_other_lengths: ["AddN: short_grad late_grad first_grad @ short_grad"],
    steps_that_share: ["AddN: h2_grad h1_grad h0_grad m0_grad @ h2_grad", "AddN_1: m2_grad m1_grad m0_grad @ m2_grad"],
    ys_that_lead_to_one_another: [
        "AddN: grad_ys_0 grad_ys_3 y_grad @ grad_ys_0",
        "AddN_1: u_grad z_grad @ u_grad",
    ],
    a_stop: ["AddN: c_grad d_grad a_grad @ c_grad"],
    a_way_through_integers: ["AddN: grad_ys_0 b_grad a_grad @ grad_ys_0"],
}


@pytest.mark.parametrize("call", TENSORFLOW, ids=lambda call: call.__name__)
def test_terms_come_in_the_order_of_tensorflow(call: Callable[[], Call]) -> None:
    assert sums(call, pb.AggregationMethod.DEFAULT) == TENSORFLOW[call]


def test_sums_of_two_terms_at_a_time_stand_with_themselves() -> None:
    assert sums(branches, pb.AggregationMethod.EXPERIMENTAL_TREE) == [
        "a_gradient_sum/AddN: grad_ys_0 c_grad @ a_gradient_sum/AddN",
        "x_gradient_sum/AddN: d_grad b_grad @ x_gradient_sum/AddN",
        "x_gradient_sum/AddN_1: x_gradient_sum/AddN a_grad @ x_gradient_sum/AddN_1",
    ]


def test_an_operation_that_no_gradient_reaches_holds_none_up() -> None:
    """What y needs of x through integers alone is never differentiated, and what it was made of is."""
    x = placeholder("x")
    a = pb.tanh(x)
    b = pb.exp(a)
    rows = pb.gather(pb.constant([1.0, 2.0, 3.0]), pb.cast(b, pb.int32))
    (dx,) = pb.gradients(rows * a, x)
    assert "TanhGrad" in dx.op.type
