"""Common subexpression elimination: what becomes one, and what never does."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
from pullback.core.function import Function
from pullback.core.types import tensor_type
from pullback.passes.merge import merge

from .functions import size, traced, types


def test_equal_operations_on_equal_inputs_become_one() -> None:
    function = traced(lambda x, y: [pb.sin(x * y) + pb.sin(x * y)], 2)
    assert str(merge(function)) == (
        "f(x: float32[3], y: float32[3]) -> (add)\n"
        "  mul: float32[3] = Mul(x, y)\n"
        "  Sin: float32[3] = Sin(mul)\n"
        "  add: float32[3] = AddV2(Sin, Sin)"
    )


def test_other_attributes_or_inputs_are_something_else() -> None:
    function = traced(lambda x, y: [pb.reduce_sum(x, 0), pb.reduce_sum(x, 0, keepdims=True), pb.reduce_sum(y, 0)], 2)
    assert types(merge(function)) == ["Sum", "Sum", "Sum"]


def test_attributes_that_are_equal_and_not_the_same_are_something_else() -> None:
    function = traced(lambda x: [pb.pad(x, [[1, 1]], constant_values=c) for c in (0.0, -0.0)])
    assert types(merge(function)).count("Pad") == 2


def test_results_that_were_equal_are_one_result_twice() -> None:
    function = merge(traced(lambda x: [pb.tanh(x), pb.tanh(x)]))
    assert function.results[0] is function.results[1]


def test_small_constants_are_equal_by_value_and_large_ones_by_identity() -> None:
    large = np.zeros(5000, np.float32)
    large.setflags(write=False)
    values = [np.float32(2.0), np.float32(2.0), np.float32(-0.0), np.float32(0.0), large, large, large.copy()]
    function = traced(lambda x: [pb.constant(v) for v in values])
    assert len(types(merge(function))) == 5


def test_operations_on_different_devices_stay_apart() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        ys = []
        for device in ("/device:CPU:0", "/device:CPU:1", "/device:CPU:0"):
            with pb.device(device):
                ys.append(pb.sin(x))
        return ys

    assert [op.device for op in merge(traced(build)).operations] == ["/device:CPU:0", "/device:CPU:1"]


def test_operations_with_other_control_inputs_stay_apart() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        y = pb.sin(x)
        with pb.control_dependencies([pb.exp(x)]):
            return [y, pb.sin(x), pb.sin(x)]

    assert types(merge(traced(build))).count("Sin") == 2


def test_control_inputs_are_those_that_stand_for_them() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        first = pb.sin(x, name="first")
        second = pb.sin(x, name="second")
        with pb.control_dependencies([second]):
            return [first, second, pb.exp(x, name="after")]

    made = merge(traced(build))
    after = made.graph.get_operation_by_name("after")
    assert [op.name for op in after.control_inputs] == ["first"]


def test_random_numbers_are_drawn_each_time() -> None:
    function = traced(lambda x: [x + pb.random.normal([3], seed=1) - pb.random.normal([3], seed=1)])
    assert size(merge(function)) == size(function)


def test_stateless_random_numbers_of_one_seed_are_drawn_once() -> None:
    function = traced(lambda x: [pb.random.stateless_normal([3], [1, 2]) + pb.random.stateless_normal([3], [1, 2])])
    assert size(merge(function)) < size(function)


def test_reads_of_a_variable_between_writes_stay_apart() -> None:
    v = pb.Variable(1.0)
    before, written = v.read_value(), v.assign_add(1.0)
    with pb.control_dependencies([written]):
        after = v.read_value()
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run([before, after, written]) == [1.0, 2.0, 2.0]


def test_python_functions_are_called_each_time() -> None:
    calls = []

    def note(x: np.ndarray) -> np.ndarray:
        calls.append(1)
        return x

    x = pb.constant([1.0])
    ys = [pb.py_function(note, [x], pb.float32) for _ in range(2)]
    pb.Session(engine="numpy").run(ys)
    assert len(calls) == 2


def test_what_is_computed_again_on_purpose_is_not_merged_with_the_first_time() -> None:
    layer = pb.recompute_grad(lambda x: pb.tanh(pb.tanh(x)))
    function = traced(lambda x: [layer(x), *pb.gradients(layer(x), x)])
    made = merge(function)
    assert types(made).count("RecomputedCall") == 1
    assert types(made).count("OptimizationBarrier") == 1


def test_two_barriers_stay_two() -> None:
    from pullback.primitives.identity.barrier import optimization_barrier

    function = traced(lambda x: [optimization_barrier([x])[0] + optimization_barrier([x])[0]])
    assert types(merge(function)) == ["OptimizationBarrier", "OptimizationBarrier", "AddV2"]


def test_what_is_kept_by_name_stays_and_stands_for_what_comes_later() -> None:
    found = {}

    def build(x: pb.Tensor) -> list[pb.Tensor]:
        a, found["b"], c = pb.tanh(x, name="a"), pb.tanh(x, name="b"), pb.tanh(x, name="c")
        return [a, found["b"], c]

    function = traced(build)
    made = merge(function, keep=[found["b"]])
    assert [op.name for op in made.operations] == ["a", "b"]


def test_calls_of_one_function_and_of_equal_functions_become_one() -> None:
    def body(x: pb.Tensor) -> pb.Tensor:
        return pb.tanh(x) * 2.0

    first, second = pb.function(body), pb.function(body)
    function = traced(lambda x: [first(x) + first(x) + second(x)])
    assert types(merge(function)).count("PartitionedCall") == 1


@pytest.mark.parametrize("other", [lambda x: pb.tanh(x) * 3.0, lambda x: pb.sin(x) * 2.0, lambda x: 2.0 * pb.tanh(x)])
def test_calls_of_different_functions_stay_apart(other: object) -> None:
    first, second = pb.function(lambda x: pb.tanh(x) * 2.0), pb.function(other)
    function = traced(lambda x: [first(x) + second(x)])
    assert types(merge(function)).count("PartitionedCall") == 2


def test_branches_that_were_made_twice_become_one() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        holds = pb.reduce_sum(x) > 0.0
        return [pb.cond(holds, lambda: pb.sin(x), lambda: pb.cos(x)) for _ in range(2)]

    made = merge(traced(build))
    assert types(made).count("If") == 1
    assert made.results[0] is made.results[1]


def _loop(x: pb.Tensor) -> pb.Tensor:
    return pb.while_loop(lambda i, y: i < 4, lambda i, y: [i + 1, pb.sin(pb.cos(y))], [0, x], maximum_iterations=4)[1]


def test_loops_that_were_made_twice_become_one() -> None:
    made = merge(traced(lambda x: [_loop(x), _loop(x)]))
    assert types(made).count("Loop") == 1


def test_of_loops_that_hand_out_more_and_less_the_longest_is_left() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        y = _loop(x)
        return [y, *pb.gradients(y, x, memory=pb.Memory(intermediates=True)), pb.exp(y)]

    function = traced(build)
    made = merge(function)
    assert types(function).count("Loop") == 3
    assert types(made).count("Loop") == 2
    forward = next(op for op in made.operations if op.type == "Loop")
    assert len(forward.outputs) == max(len(op.outputs) for op in function.operations if op.type == "Loop")
    assert made.results[0].op is forward


def test_loops_that_draw_random_numbers_stay_apart_where_each_was_made_for_itself() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
            return [i + 1, y + pb.random.normal([3])]

        return [pb.while_loop(lambda i, y: i < 4, step, [0, x])[1] for _ in range(2)]

    assert types(merge(traced(build))).count("Loop") == 2


def test_functions_inside_are_merged_too_and_one_stays_one() -> None:
    f = pb.function(lambda x: pb.tanh(x) + pb.tanh(x))
    made = merge(traced(lambda x, y: [f(x), f(y)], 2))
    first, second = [op.primitive.functions[0] for op in made.operations]
    assert first is second
    assert types(first) == ["Tanh", "AddV2"]


def test_merging_takes_time_in_proportion_to_the_size() -> None:
    counts = []
    for n in (200, 400):
        hashed = _Counted.hashes = 0

        def build(x: pb.Tensor, n: int = n) -> list[pb.Tensor]:
            for _ in range(n):
                x = _Counted(1)(x)
            return [x]

        merge(traced(build))
        counts.append(_Counted.hashes - hashed)
    assert counts[1] == 2 * counts[0]


class _Counted(pb.Primitive):
    type = "CountedForTest"

    n: int

    def __hash__(self) -> int:
        _Counted.hashes += 1
        return 1

    def infer(self, x: object) -> tuple[object, ...]:
        return (x,)


def test_a_merged_graph_between_tensors_is_a_function_of_them() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    y = pb.exp(x, name="y")
    z = pb.exp(x, name="z")
    assert str(merge(Function(x.graph, (x,), (y * z,), "part"))) == (
        "part(x: float32[3]) -> (mul)\n  y: float32[3] = Exp(x)\n  mul: float32[3] = Mul(y, y)"
    )
    assert tensor_type(pb.float32, [3]) == x.type


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_a_loop_drew_is_what_its_derivative_reads_where_the_two_were_made_in_other_scopes(engine: str) -> None:
    x = pb.placeholder(pb.float32, [])
    with pb.device("/device:CPU:0"), pb.control_dependencies([pb.exp(x)]):

        def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
            return [i + 1, y * pb.random.uniform([], 0.5, 1.5)]

        y = pb.while_loop(lambda i, y: i < 5, step, [0, x], maximum_iterations=5)[1]
    (dx,) = pb.gradients(y, x)
    found, slope = pb.Session(engine=engine).run([y, dx], {x: 2.0})
    np.testing.assert_allclose(slope, found / 2.0, rtol=1e-6)
