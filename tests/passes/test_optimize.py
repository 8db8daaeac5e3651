"""`pb.optimize`: what it gives back, what it leaves alone, and what derivatives of it are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.function import Parameter, trace
from pullback.core.printing import graph_text
from pullback.core.types import tensor_type
from pullback.passes.optimizing import Optimizing
from pullback.passes.ruleset import Rules, library

from .functions import size, traced, types


def _x(shape: Any = (3,), name: str = "x") -> pb.Tensor:
    return pb.placeholder(pb.float32, shape, name=name)


def _run(fetches: Any, feeds: Any) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


def test_the_structure_of_what_is_given_comes_back() -> None:
    x = _x()
    (made, nothing), report = pb.optimize(({"a": pb.exp(x), "b": [x * 1.0]}, []))
    assert made["a"].op.type == "Exp"
    assert made["b"] == [x]
    assert nothing == []
    assert report.counts == {"times one": 1}


def test_what_cannot_be_better_comes_back_as_it_was_and_nothing_is_added() -> None:
    y = pb.tanh(_x() + 1.0)
    before = len(y.graph.operations)
    assert pb.optimize(y).fetches is y
    assert len(y.graph.operations) == before


def test_what_is_new_has_the_place_the_device_and_the_attributes_of_what_it_stands_for() -> None:
    x = _x()
    graph = pb.get_default_graph()
    with graph.device("/device:CPU:0"), graph.attr_scope({"note": 7}):
        y = pb.log(pb.nn.softmax(x), name="y")
    made, _ = pb.optimize(y)
    assert (made.op.name, made.op.device, made.op.get_attr("note")) == ("optimized/y/LogSoftmax", "/device:CPU:0", 7)
    assert made.op.site == y.op.site


def test_operations_on_several_devices_are_no_pattern() -> None:
    x = _x()
    with pb.device("/device:CPU:1"):
        inner = pb.nn.softmax(x)
    assert pb.optimize(pb.log(inner)).report.rewrites == ()


def test_what_is_kept_is_the_same_tensor_afterwards_and_is_differentiated_by() -> None:
    x = _x()
    h = pb.nn.softmax(x)
    y = pb.log(h) * 1.0
    made, _ = pb.optimize(y, keep=h)
    (dh,) = pb.gradients(made, h)
    np.testing.assert_allclose(_run(dh, {h: [0.5, 0.25, 0.25]}), [2, 4, 4])


def test_equal_operations_are_not_merged_with_what_is_kept() -> None:
    x = _x()
    h, other = pb.exp(x), pb.exp(x)
    made, _ = pb.optimize(h * 2.0 + other, keep=h)
    np.testing.assert_allclose(_run(pb.gradients(made, h), {x: [0, 0, 0]}), [[2, 2, 2]])


def test_a_constant_that_is_kept_is_no_number() -> None:
    x = pb.constant(1.0)
    y, _ = pb.optimize(_x() * x + pb.constant(1.0) * 2.0, keep=x)
    assert pb.gradients(y, x)[0] is not None


def test_fetches_are_differentiated_by_each_other_as_before() -> None:
    x = _x()
    h = pb.nn.softmax(x * 1.0)
    (y, again), _ = pb.optimize([pb.log(h), h])
    (dh,) = pb.gradients(y, again)
    np.testing.assert_allclose(_run(dh, {again: [0.5, 0.25, 0.25]}), [2, 4, 4])


def test_a_kept_tensor_inside_a_loop_keeps_the_loop_as_it_is() -> None:
    inside = []

    def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        inside.append(pb.log(pb.nn.softmax(y)))
        return [i + 1, inside[-1] * 1.0]

    y = pb.while_loop(lambda i, _: i < 2, step, [0, _x()])[1]
    assert pb.optimize(y, keep=inside).fetches is y
    assert pb.optimize(y).fetches is not y


def test_effects_random_numbers_and_checks_stay() -> None:
    v = pb.Variable(1.0)
    with pb.control_dependencies([v.assign_add(1.0)]):
        y = pb.identity(_x([])) * 1.0
    z = pb.check_numerics(y, "bad") * pb.random.normal([]) * 0.0
    made, _ = pb.optimize(z)
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    with pytest.raises(pb.errors.InvalidArgumentError, match="bad"):
        session.run(made, {"x:0": np.nan})
    assert session.run(made, {"x:0": 2.0}) == 0.0
    assert session.run(v) == 2.0


def test_random_numbers_are_those_of_the_graph() -> None:
    noise = pb.random.normal([3], seed=3)
    y, _ = pb.optimize(noise * 1.0 + pb.log(pb.nn.softmax(noise)))
    random = [op for op in y.graph.operations if op.primitive.stateful]
    assert random == [noise.op]


def test_a_variable_stays_the_one_that_it_is() -> None:
    v = pb.Variable([0.5, 0.25], name="v")
    y, _ = pb.optimize(pb.reduce_sum(pb.log(1.0 - v) * 1.0))
    dv = pb.gradients(y, v)
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    np.testing.assert_allclose(session.run(dv)[0], [-2, -4 / 3], rtol=1e-6)


def test_slices_stay_slices() -> None:
    table = pb.Variable(np.ones([4, 2], np.float32))
    (slices,) = pb.gradients(pb.gather(table, [1, 1]) * 3.0, table)
    made, _ = pb.optimize(slices)
    session = pb.Session(engine="numpy")
    session.run(table.initializer)
    assert isinstance(made, pb.IndexedSlices)
    np.testing.assert_array_equal(session.run(made).values, np.full([2, 2], 3))


def test_derivatives_that_were_chosen_stay() -> None:
    x = _x()
    with pb.get_default_graph().gradient_override_map({"Softmax": "TwiceForOptimize"}):
        h = pb.nn.softmax(x)
    made, _ = pb.optimize(pb.log(h) * 1.0)
    np.testing.assert_allclose(_run(pb.gradients(made, x), {x: [0, 0, 0]})[0], [6, 6, 6], rtol=1e-6)


@pb.RegisterGradient("TwiceForOptimize")
def _twice(op: pb.Operation, dy: pb.Tensor) -> pb.Tensor:
    del op
    return 2.0 * dy


def test_functions_branches_and_loops_are_optimised_inside() -> None:
    f = pb.function(lambda x: pb.log(1.0 + pb.exp(x)))

    def build(x: pb.Tensor) -> list[pb.Tensor]:
        branch = pb.cond(pb.reduce_sum(x) > 0.0, lambda: x * 1.0, lambda: pb.log(1.0 - x))
        loop = pb.while_loop(lambda i, _: i < 3, lambda i, y: [i + 1, f(y) * 1.0], [0, branch])[1]
        return [loop]

    made = Optimizing(Rules()).function(traced(build))
    text = graph_text(made.operations)
    assert "Softplus" in text
    assert "Log1p" in text
    assert "Mul" not in text


def test_one_function_stays_one() -> None:
    f = pb.function(lambda x: x * 1.0 + 2.0)
    made = Optimizing(Rules()).function(traced(lambda x, y: [f(x), f(y)], 2))
    first, second = [op.primitive.functions[0] for op in made.operations]
    assert first is second
    assert types(first) == ["Const", "AddV2"]


def test_inside_a_body_that_is_open() -> None:
    def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.optimize(pb.log(1.0 + pb.exp(y)) * 1.0).fetches]

    x = _x()
    y = pb.while_loop(lambda i, _: i < 1, step, [0, x])[1]
    np.testing.assert_allclose(_run(y, {x: [200, 0, -200]}), [200, np.log(2), 0], rtol=1e-6)


def test_named_lengths_stay() -> None:
    x = pb.placeholder(pb.float32, ["batch", 3])
    y, _ = pb.optimize(pb.log(pb.nn.softmax(pb.transpose(pb.transpose(x)))))
    assert str(y.op.inputs[0].type) == "float32[batch,3]"
    assert y.op.inputs[0] is x


def test_a_tensor_of_no_known_rank_is_left_alone() -> None:
    x = pb.placeholder(pb.float32)
    assert pb.optimize(pb.maximum(x, x)).report.rewrites == ()


def test_a_rule_that_goes_in_circles_comes_to_an_end() -> None:
    @pb.rewrite("exact")
    def round_and_round(x: pb.Tensor, y: pb.Tensor) -> Any:
        yield x + y
        yield y + x

    y, report = pb.optimize(_x() + _x(name="z"), pb.Rules("exact", round_and_round))
    assert y.op.type == "AddV2"
    assert 0 < len(report.rewrites) < 100


def test_time_is_in_proportion_to_the_size() -> None:
    counts = []
    for n in (50, 100):

        def build(x: pb.Tensor, n: int = n) -> list[pb.Tensor]:
            for _ in range(n):
                x = pb.log(1.0 + pb.exp(x)) * 1.0
            return [x]

        optimizing = Optimizing(Rules())
        assert size(optimizing.function(traced(build))) == n
        counts.append(len(optimizing.rewrites))
    assert counts[1] == 2 * counts[0]


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (lambda: pb.optimize(1.0), TypeError, "optimize: 1.0 is no tensor; pass tensors, and lists or dictionaries"),
        (lambda: pb.optimize(_x(), "fats"), ValueError, "the level must be 'exact', 'safe' or 'fast', not 'fats'"),
        (lambda: pb.Rules("safe", max), TypeError, "Rules: <built-in function max> is no rule; make one with @pb.rew"),
    ],
)
def test_refused_is(bad: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bad()


def test_tensors_of_two_graphs_are_refused() -> None:
    with pb.Graph().as_default():
        other = _x()
    with pytest.raises(ValueError, match="is not an element of this graph"):
        pb.optimize([_x(), other])


def test_every_rule_of_the_library_has_a_reason_and_a_name_of_its_own() -> None:
    assert all(rule.reason.endswith(".") for rule in library())
    assert len({rule.name for rule in library()}) == len(library())


def test_functions_keep_parameters_and_handles() -> None:
    traced_one = trace(lambda x: [x * 1.0], [Parameter(tensor_type("float32", [3]))], "f", ["x"]).function
    made = Optimizing(Rules()).function(traced_one)
    assert str(made) == "f(x: float32[3]) -> (x)"


@pytest.mark.parametrize("shape", [[None, None], ["n", 3], [5, None]])
def test_what_may_be_repeated_in_a_run_is_no_contraction(shape: Any) -> None:
    x, y = _x(shape), _x([5, 3], "y")
    z = pb.reduce_sum(x * y)
    optimised = pb.optimize([z, *pb.gradients(z, [x, y])], rules="fast").fetches
    for lengths in ((5, 3), (1, 3), (5, 1)):
        if all(n in (m, None, "n") for n, m in zip(lengths, shape, strict=True)):
            feeds = {x: np.full(lengths, 0.5), y: np.arange(15.0).reshape(5, 3)}
            for a, b in zip(_run(optimised, feeds), _run([z, *pb.gradients(z, [x, y])], feeds), strict=True):
                np.testing.assert_allclose(a, b)
