"""`function`: derivatives of calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.printing import functions_in


def run(fetches: Any, engine: str = "numpy", feeds: Any = None) -> Any:
    with pb.Session(engine=engine) as session:
        if pb.get_default_graph().get_collection("variables"):
            session.run(pb.global_variables_initializer())
        return session.run(fetches, feeds)


# Derivatives


def test_a_thousand_calls_are_differentiated_once() -> None:
    f = pb.function(lambda x: pb.sin(x) * x)
    x = y = pb.constant(0.5)
    for _ in range(1000):
        y = f(y) * 0.9
    (dx,) = pb.gradients(y, x)
    functions = functions_in(pb.get_default_graph().get_operations())
    assert [g.name for g in functions] == ["lambda", "lambda_grad"]
    calls = [op for op in pb.get_default_graph().get_operations() if op.type == "PartitionedCall"]
    assert len(calls) == 2000
    assert np.isfinite(run(dx))


def test_a_function_spares_the_operations_to_differentiate_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(x: Any) -> Any:
        for _ in range(30):
            x = pb.sin(x) * 0.9
        return x

    made: list[str] = []
    add = pb.Graph.add
    monkeypatch.setattr(pb.Graph, "add", lambda self, *arguments: (made.append(self.name), add(self, *arguments))[1])

    def operations_made(f: Any) -> int:
        with pb.Graph().as_default():
            x = y = pb.constant(0.5)
            for _ in range(100):
                y = f(y)
            made.clear()
            pb.gradients(y, x)
            return len(made)

    assert operations_made(pb.function(deep)) < operations_made(deep) / 20


def test_calls_stay_calls_to_the_third_order() -> None:
    f = pb.function(lambda x: x**4.0)
    x = pb.constant(2.0, dtype=pb.float64)
    found = [f(x)]
    for _ in range(3):
        found += pb.gradients(found[-1], x)
    assert [y.op.type for y in found] == ["PartitionedCall"] * 4
    np.testing.assert_allclose(run(found), [16.0, 32.0, 48.0, 48.0])


def test_a_call_is_given_only_what_it_needs() -> None:
    f = pb.function(lambda a, b: 3.0 * a + pb.sin(b))
    a, b = pb.constant(1.0), pb.constant(2.0)
    y = f(a, b)
    (da,) = pb.gradients(y, a)
    assert [t.name for t in da.op.inputs] == ["gradients/grad_ys_0:0"]


def test_integer_arguments_and_unused_ones_have_no_gradient() -> None:
    f = pb.function(lambda a, n, b: a * pb.cast(n, a.dtype))
    a, n, b = pb.constant(1.0), pb.constant(2), pb.constant(3.0)
    da, dn, db = pb.gradients(f(a, n, b), [a, n, b])
    assert (dn, db) == (None, None)
    assert run(da) == 2.0


def test_unused_results_count_as_zeros() -> None:
    f = pb.function(lambda a: (a * 2.0, a * a))
    a = pb.constant(3.0)
    first, second = f(a)
    assert run([*pb.gradients(first, a), *pb.gradients(second, a), *pb.gradients([first, second], a)]) == [2, 6, 8]


def test_a_stopped_call_is_not_differentiated() -> None:
    f = pb.function(lambda a: a * 2.0)
    x = pb.constant(1.0)
    y = f(x)
    before = len(pb.get_default_graph().get_operations())
    assert pb.gradients(y * 3.0, [x, y], stop_gradients=y)[0] is None
    types = {op.type for op in pb.get_default_graph().get_operations()[before:]}
    assert "PartitionedCall" not in types


def test_slices_stay_slices_through_a_call() -> None:
    table = pb.Variable([[1.0], [2.0], [3.0]], name="table")
    f = pb.function(lambda i: pb.reduce_sum(pb.square(pb.gather(table, i))))
    (dtable,) = pb.gradients(f(pb.constant([2, 0, 2])), table)
    assert isinstance(dtable, pb.IndexedSlices)
    values = run(dtable)
    assert values.indices.tolist() == [2, 0, 2]
    assert values.values.tolist() == [[6.0], [2.0], [6.0]]


def test_gradients_inside_a_function_by_its_arguments_and_by_captures() -> None:
    w = pb.constant(3.0)

    @pb.function
    def f(x: Any) -> Any:
        y = x * x * w
        return pb.gradients(y, [x, w])

    x = pb.constant(2.0)
    dx, dw = f(x)
    assert run([dx, dw]) == [12.0, 4.0]
    assert run(pb.gradients([dx], [x, w])) == [6.0, 4.0]


def test_gradients_inside_nested_functions_cross_both_closures() -> None:
    w = pb.constant(3.0)
    u = w * w

    @pb.function
    def outer(x: Any) -> Any:
        @pb.function
        def inner(a: Any) -> Any:
            return pb.gradients(a * u, [w, x])

        dw, _ = inner(x * 2.0)
        return dw

    assert run(outer(pb.constant(2.0))) == 24.0


def test_a_registered_rule_of_the_function_name_counts() -> None:
    @pb.RegisterGradient("squared_for_rule")
    def rule(op: Any, dy: Any) -> Any:
        return 100.0 * dy

    @pb.function
    def squared_for_rule(x: Any) -> Any:
        return x * x

    x = pb.constant(2.0)
    assert run(pb.gradients(squared_for_rule(x), x)) == [100.0]


def test_overrides_by_call_type_get_zeros_for_results_without_gradient() -> None:
    seen = []

    @pb.RegisterGradient("ForCalls")
    def rule(op: Any, *dys: Any) -> Any:
        seen.append([str(dy.type) for dy in dys])
        return dys[0] + dys[1]

    f = pb.function(lambda a: (a * 2.0, a * 3.0))
    x = pb.constant(1.0)
    with pb.get_default_graph().gradient_override_map({"PartitionedCall": "ForCalls"}):
        y, _ = f(x)
    assert run(pb.gradients(y, x)) == [1.0]
    assert seen == [["float32[]", "float32[]"]]
