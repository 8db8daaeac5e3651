"""`function`: variables and random numbers, read and changed by calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def run(fetches: Any, engine: str = "numpy", feeds: Any = None) -> Any:
    with pb.Session(engine=engine) as session:
        if pb.get_default_graph().get_collection("variables"):
            session.run(pb.global_variables_initializer())
        return session.run(fetches, feeds)


# State


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_function_assigns_when_it_is_run(engine: str) -> None:
    v = pb.Variable(1.0)

    @pb.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return v * 2.0

    y = step(pb.constant(3.0))
    assert y.op.type == "StatefulPartitionedCall"
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        assert [session.run(y), session.run(y), session.run(v)] == [8.0, 14.0, 7.0]


def test_effects_of_a_call_inside_a_function_run_without_its_result() -> None:
    v = pb.Variable(0.0)
    count = pb.function(lambda x: v.assign_add(x))

    @pb.function
    def f(x: Any) -> Any:
        count(x)
        return x

    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        session.run(f(pb.constant(2.0)))
        assert session.run(v) == 2.0


def test_a_function_without_results_is_an_operation_to_run() -> None:
    v = pb.Variable(0.0)

    @pb.function
    def f(x: Any) -> None:
        v.assign(x)

    op = f(pb.constant(5.0))
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(op) is None
        assert session.run(v) == 5.0


def test_variables_that_are_only_read_are_read_outside() -> None:
    v = pb.Variable(3.0)
    y = pb.function(lambda x: x * v)(pb.constant(2.0))
    assert [t.op.type for t in y.op.inputs] == ["Const", "ReadVariableOp"]
    assert y.op.type == "PartitionedCall"


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_assignment_after_the_call_does_not_change_its_derivative(engine: str) -> None:
    v = pb.Variable(3.0)
    read = pb.function(lambda x: x * v * v)
    changed = pb.function(lambda x: x * x * v.assign_add(1.0))
    x = pb.constant(2.0)
    ys = [read(x), changed(x)]
    assigned = v.assign(100.0)
    with pb.control_dependencies([assigned]):
        seed = pb.identity(pb.constant(1.0))
    dxs = [pb.gradients(y, x, grad_ys=seed)[0] for y in ys]
    assert run([*ys, *dxs], engine) == [18.0, 16.0, 9.0, 16.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_derivative_of_a_call_sees_the_numbers_that_it_drew(engine: str) -> None:
    drop = pb.function(lambda x: x * pb.random.uniform([3]))
    outer = pb.function(lambda x: drop(x) * x)
    x = pb.ones([3])
    for f in (drop, outer):
        y = f(x)
        value, dx = run([y, *pb.gradients(y, x)], engine)
        np.testing.assert_allclose(dx, value * (1 if f is drop else 2), rtol=1e-6)


def test_a_variable_is_made_on_the_first_call_only() -> None:
    class Layer:
        w: Any = None

        @pb.function
        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = pb.Variable(pb.ones([2]) * 3.0, name="w")
            return x * self.w

    layer = Layer()
    y = layer(pb.constant([1.0, 2.0]))
    assert layer.w.graph is pb.get_default_graph()
    assert run([y, *pb.gradients(y, layer.w)])[0].tolist() == [3.0, 6.0]


def test_a_variable_made_on_each_call_is_refused() -> None:
    with pytest.raises(ValueError, match="singleton Variables") as error:
        pb.function(lambda x: x * pb.Variable(1.0, name="w"))(pb.constant(1.0))
    assert str(error.value) == (
        "function 'lambda' only supports singleton Variables created on the first call. Make sure the Variable is only "
        "created once or created outside the function: w was made again."
    )


def test_a_variable_cannot_begin_with_an_argument() -> None:
    with pytest.raises(pb.errors.InaccessibleTensorError) as error:
        pb.function(lambda x: pb.Variable(x * 2.0) + x)(pb.constant(1.0))
    assert "depends on 'x:0', a parameter of 'lambda'." in str(error.value)
