"""Functions and gradients of users' own do what graph-mode TensorFlow's do, and what it leaves out."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def compute(fetches: Any, feeds: Any = None) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


def with_variables(fetches: Any) -> Any:
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session.run(fetches)


@pb.function
def squared(x: Any) -> Any:
    return x * x


# Calls


def test_a_call_has_derivatives_of_every_order_by_all_that_it_reads(run: Any) -> None:
    x, y = pb.constant(2.0), pb.constant(3.0)

    @pb.function
    def power(a: Any) -> Any:
        return a * a * y

    dx, dy = pb.gradients(power(x), [x, y])
    assert run([dx, dy, *pb.gradients(dx, [x, y])]) == [12.0, 4.0, 6.0, 4.0]


def test_a_call_hands_derivatives_to_variables_that_it_captured() -> None:
    w, x = pb.Variable(3.0), pb.constant(2.0)
    assert with_variables(pb.gradients(pb.function(lambda a: a * w * w)(x), [x, w])) == [9.0, 12.0]


def test_a_function_without_a_name_may_be_called() -> None:
    x = pb.constant(3.0)
    assert compute(pb.gradients(pb.function(lambda a: a * a)(x), x)) == [6.0]


def test_an_integer_argument_has_no_gradient_and_an_integer_result_hands_none_on() -> None:
    x, i = pb.constant(2.5), pb.constant(3)
    product, whole = pb.function(lambda a, n: (a * pb.cast(n, pb.float32), pb.cast(a, pb.int32)))(x, i)
    assert pb.gradients(whole, x) == [None]
    dx, di = pb.gradients(product, [x, i])
    assert di is None
    assert compute(dx) == 3.0


def test_a_differentiated_call_is_the_operation_that_it_was() -> None:
    x = pb.constant(3.0)
    y = squared(x)
    before = pb.operation_text(y.op)
    (dx,) = pb.gradients(y, x)
    pb.gradients(dx, x)
    assert pb.operation_text(y.op) == before


def test_a_result_of_a_call_that_is_an_x_costs_no_derivative_of_the_call() -> None:
    y = squared(pb.constant(3.0))
    before = len(y.graph.operations)
    pb.gradients(y * 3.0, y)
    assert "PartitionedCall" not in [op.type for op in y.graph.operations[before:]]


def test_a_stopped_call_hands_nothing_on() -> None:
    x = pb.constant(3.0)
    y = squared(x)
    assert pb.gradients(y * 3.0, x, stop_gradients=[y]) == [None]


def test_a_rule_for_calls_may_be_given_by_an_override() -> None:
    @pb.RegisterGradient("ReferenceTimesTen")
    def ten(op: pb.Operation, dy: Any) -> Any:
        return dy * 10.0

    x = pb.constant(3.0)
    with x.graph.gradient_override_map({"PartitionedCall": "ReferenceTimesTen"}):
        y = squared(x)
    assert compute(pb.gradients(y, x)) == [10.0]


# Gradients asked for inside


def test_inside_a_function_outer_tensors_at_every_distance_are_xs() -> None:
    a = pb.constant(2.0)
    b = a * 3.0
    y = pb.function(lambda x: pb.stack(pb.gradients(b * b * x, [b, a, x])))(pb.constant(5.0))
    assert compute(y).tolist() == [60.0, 180.0, 36.0]


def test_inside_a_function_outer_ys_and_xs_may_both_be_outside(run: Any) -> None:
    a = pb.constant(2.0)
    b = a * a
    outside = len(a.graph.operations)
    y = pb.function(lambda x: pb.gradients(b, a)[0] * x)(pb.constant(5.0))
    assert run(y) == 20.0
    assert [op.type for op in a.graph.operations[outside:]] == ["Const", "PartitionedCall"]


def test_a_captured_tensor_that_is_an_x_does_not_hide_what_is_behind_it() -> None:
    a = pb.constant(2.0)
    b = a * a
    y = pb.function(lambda x: pb.stack(pb.gradients(b * x, [b, a])))(pb.constant(5.0))
    assert compute(y).tolist() == [5.0, 20.0]


def test_inside_nested_functions_a_derivative_crosses_both_and_has_derivatives_itself() -> None:
    a = pb.constant(2.0)

    @pb.function
    def outer(x: Any) -> Any:
        return pb.function(lambda z: pb.gradients(z * a * a * x, a)[0])(x)

    y = outer(pb.constant(5.0))
    assert compute([y, *pb.gradients(y, a)]) == [100.0, 50.0]


def test_inside_a_function_a_variable_is_an_x() -> None:
    w = pb.Variable(3.0)
    y = pb.function(lambda x: pb.gradients(x * w * w, w)[0])(pb.constant(2.0))
    assert with_variables([y, *pb.gradients(y, w)]) == [12.0, 4.0]


def test_a_tensor_of_another_function_is_refused() -> None:
    kept: list[pb.Tensor] = []
    pb.function(lambda x: kept.append(x * x) or kept[0])(pb.constant(2.0))
    with pytest.raises(ValueError, match="must be from the same graph as"):
        pb.function(lambda x: pb.gradients(kept[0], x)[0])(pb.constant(2.0))


# Compile scopes


def test_derivatives_of_a_marked_call_have_a_scope_named_after_their_own() -> None:
    x = pb.constant(2.0)
    with pb.xla.experimental.jit_scope(separate_compiled_gradients=True):
        y = squared(x)
    scope = y.op.get_attr("_XlaScope").decode()
    for name in ("gradients", "aa/bb"):
        (dx,) = pb.gradients(y, x, name=name)
        assert dx.op.get_attr("_XlaScope").decode() == f"{scope}_grad_{name.replace('/', '_')}"
        assert dx.op.get_attr("_XlaCompile") is True
        assert "_XlaSeparateCompiledGradients" not in dx.op.attrs


# Gradients of users' own


@pytest.mark.parametrize("kind", ["by position", "by keyword", "among keywords"])
def test_variables_are_taken_in_every_way_that_python_knows(kind: str) -> None:
    w, x = pb.Variable(2.0), pb.constant(1.0)
    rules = {
        "by position": lambda dy, variables: (dy * 10.0, [dy * 20.0 for _ in variables]),
        "by keyword": lambda dy, *, variables: (dy * 10.0, [dy * 20.0 for _ in variables]),
        "among keywords": lambda dy, **more: (dy * 10.0, [dy * 20.0 for _ in more["variables"]]),
    }
    y = pb.custom_gradient(lambda a: (a * w, rules[kind]))(x)
    assert with_variables(pb.gradients(y, [x, w])) == [10.0, 20.0]


def test_a_variable_that_is_not_trained_does_not_count() -> None:
    w, x = pb.Variable(2.0, trainable=False), pb.constant(1.0)
    y = pb.custom_gradient(lambda a: (a * w, lambda dy: dy * 7.0))(x)
    dx, dw = pb.gradients(y, [x, w])
    assert dw is None
    assert with_variables(dx) == 7.0


def test_variables_come_in_the_order_of_their_names() -> None:
    last, first = pb.Variable(2.0, name="b"), pb.Variable(3.0, name="a")
    seen: list[str] = []

    def grad_fn(dy: Any, variables: Any) -> Any:
        seen.extend(v.name for v in variables)
        return dy, [None] * len(variables)

    pb.gradients(pb.custom_gradient(lambda x: (x * last * first, grad_fn))(pb.constant(1.0)), first)
    assert seen == ["a:0", "b:0"]


def test_what_a_rule_closes_over_is_differentiated_again(run: Any) -> None:
    def shifted(x: Any) -> Any:
        y = pb.square(x)
        return y, lambda dy: dy * y

    x = pb.constant(3.0)
    (dx,) = pb.gradients(pb.custom_gradient(shifted)(x), x)
    assert run([dx, *pb.gradients(dx, x)]) == [9.0, 6.0]


def test_custom_gradients_inside_custom_gradients_keep_their_own_rule() -> None:
    inner = pb.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 100.0))
    outer = pb.custom_gradient(lambda x: (inner(x) * 3.0, lambda dy: pb.gradients(inner(x), x, grad_ys=dy)[0]))
    x = pb.constant(1.0)
    assert compute([outer(x), *pb.gradients(outer(x), x)]) == [6.0, 100.0]


def test_a_recomputed_function_is_still_at_hand() -> None:
    def f(x: Any) -> Any:
        return x * x

    assert pb.recompute_grad(f).__wrapped__ is f


def test_a_recomputed_function_is_computed_again_after_the_cotangent_is_there() -> None:
    x = pb.constant(2.0)
    y = pb.recompute_grad(lambda a: pb.sin(a) * a)(x)
    plain = pb.sin(x) * x
    (dx,), (expected,) = pb.gradients(y, x), pb.gradients(plain, x)
    assert compute(y - plain) == compute(dx - expected) == 0.0


def test_passing_through_is_the_identity_for_arguments_and_nothing_for_variables() -> None:
    w, x = pb.Variable(2.0), pb.constant(1.7)
    dx, dw = pb.gradients(pb.grad_pass_through(lambda a: pb.round(a) * w)(x), [x, w])
    assert dw is None
    assert compute(dx) == 1.0


# Threads


def test_a_session_may_run_while_another_thread_builds_a_gradient() -> None:
    x = pb.constant(1.0)
    found: list[Any] = []

    @pb.RegisterGradient("ReferenceRunInBetween")
    def slow(op: pb.Operation, dy: Any) -> Any:
        session = pb.Session(graph=op.graph, engine="numpy")
        runner = threading.Thread(target=lambda: found.append(session.run(op.outputs[0])))
        runner.start()
        runner.join(timeout=10.0)
        return dy

    with x.graph.gradient_override_map({"Neg": "ReferenceRunInBetween"}):
        y = -x
    pb.gradients(y, x)
    assert found == [-1.0]


def test_threads_that_differentiate_calls_and_loops_at_once_all_succeed() -> None:
    x = pb.constant(2.0)
    y = squared(pb.while_loop(lambda y: y < 10.0, lambda y: (y * x,), (x,))[0])
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(pb.gradients(y, x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pb.Session(engine="numpy", graph=x.graph).run(found) == [8 * 2.0**7] * 4
