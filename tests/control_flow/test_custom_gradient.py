"""`custom_gradient`, `recompute_grad`, `grad_pass_through`: section by section of what TensorFlow's do."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pullback as pb


def run(fetches: Any, engine: str = "numpy") -> Any:
    with pb.Session(engine=engine) as session:
        if pb.get_default_graph().get_collection("variables"):
            session.run(pb.global_variables_initializer())
        return session.run(fetches)


@pb.custom_gradient
def tenfold(x: Any) -> Any:
    return x * x, lambda dy: 10.0 * dy * x


def test_the_derivative_is_what_grad_fn_says() -> None:
    x = pb.constant(3.0)
    y = tenfold(x)
    assert run([y, *pb.gradients(y, x)]) == [9.0, 30.0]


def test_the_derivative_of_the_derivative_is_that_of_what_grad_fn_does() -> None:
    x = pb.constant(3.0)
    (dx,) = pb.gradients(tenfold(x), x)
    (d2x,) = pb.gradients(dx, x)
    assert run(d2x) == 10.0
    assert pb.gradients(d2x, x) == [None]


def test_one_operation_stands_for_the_rule() -> None:
    tenfold(pb.constant(3.0, name="x"))
    assert [op.type for op in pb.get_default_graph().get_operations()] == ["Const", "Mul", "CustomGradient"]


def test_only_the_results_are_computed_by_a_run_that_asks_for_no_derivative() -> None:
    ran: list[int] = []

    def noted(a: Any) -> Any:
        ran.append(1)
        return a

    @pb.custom_gradient
    def f(x: Any) -> Any:
        residual = pb.numpy_function(noted, [x], pb.TensorSpec([], pb.float32))
        return x * 2.0, lambda dy: dy * residual

    x = pb.constant(3.0)
    y = f(x)
    run(y)
    assert ran == []
    assert run(pb.gradients(y, x)) == [3.0]
    assert ran == [1]


def test_arguments_and_results_are_nested() -> None:
    @pb.custom_gradient
    def f(pair: Any, c: Any) -> Any:
        def grad_fn(da: Any, db: Any) -> Any:
            return (da, 2.0 * db), 3.0 * da

        return {"a": pair[0] + c, "b": pair[1] * 1.0}, grad_fn

    a, b, c = pb.constant(1.0), pb.constant(2.0), pb.constant(3.0)
    y = f((a, b), c)
    assert set(y) == {"a", "b"}
    assert run([*y.values(), *pb.gradients(list(y.values()), [a, b, c])]) == [4.0, 2.0, 1.0, 2.0, 3.0]


def test_unused_results_give_zeros_and_integers_none() -> None:
    seen: list[Any] = []

    @pb.custom_gradient
    def f(x: Any) -> Any:
        def grad_fn(*dys: Any) -> Any:
            seen.extend(dys)
            return dys[0] + 5.0 * dys[2]

        return (x * 1.0, pb.constant(7), x * 2.0), grad_fn

    x = pb.constant(1.0)
    first, _, _ = f(x)
    assert run(pb.gradients(first, x)) == [1.0]
    assert [dy if dy is None else str(dy.type) for dy in seen] == ["float32[]", None, "float32[]"]


def test_none_is_a_cotangent() -> None:
    f = pb.custom_gradient(lambda x, y: (x * y, lambda dy: (None, dy)))
    x, y = pb.constant(2.0), pb.constant(3.0)
    dx, dy = pb.gradients(f(x, y), [x, y])
    assert dx is None
    assert run(dy) == 1.0


def test_slices_are_a_cotangent() -> None:
    @pb.custom_gradient
    def first_row(table: Any) -> Any:
        return table[0], lambda dy: pb.IndexedSlices(dy[None, :], pb.constant([0]), pb.shape(table))

    table = pb.ones([3, 2])
    (dtable,) = pb.gradients(first_row(table) * 4.0, table)
    assert isinstance(dtable, pb.IndexedSlices)
    assert run(dtable).values.tolist() == [[4.0, 4.0]]


def test_python_numbers_among_the_arguments_become_tensors() -> None:
    assert run(tenfold(3.0)) == 9.0


def test_keyword_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="keyword arguments") as error:
        tenfold(x=3.0)
    assert str(error.value) == (
        "custom_gradient: 'tenfold' was given the keyword arguments ['x']; pass them by position, for a cotangent "
        "belongs to each argument"
    )


def test_a_function_without_grad_fn_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^custom_gradient: 'lambda' must return a pair \(y, grad_fn\), not "):
        pb.custom_gradient(lambda x: x)(3.0)


def test_a_wrong_number_of_cotangents_is_an_error_when_it_is_reached() -> None:
    x = pb.constant(1.0)
    y = pb.custom_gradient(lambda a: (a * 2.0, lambda dy: (dy, dy)))(x)
    assert run(pb.gradients(y, y)) == [1.0]
    with pytest.raises(ValueError, match="Num gradients 2") as error:
        pb.gradients(y, x)
    assert str(error.value) == (
        "Num gradients 2 generated for op 'CustomGradient' (op type: CustomGradient) do not match num inputs 1"
    )


def test_what_grad_fn_raises_is_raised_unchanged_when_it_is_reached() -> None:
    failure = KeyError("mine")

    @pb.custom_gradient
    def f(x: Any) -> Any:
        def grad_fn(dy: Any) -> Any:
            raise failure

        return x * 2.0, grad_fn

    x = pb.constant(1.0)
    y = f(x)
    assert run(y) == 2.0
    with pytest.raises(KeyError) as error:
        pb.gradients(y, x)
    assert error.value is failure


def test_methods_are_decorated() -> None:
    class Layer:
        factor = 5.0

        @pb.custom_gradient
        def __call__(self, x: Any) -> Any:
            """The argument."""
            return x * 1.0, lambda dy: dy * self.factor

    x = pb.constant(1.0)
    assert run(pb.gradients(Layer()(x), x)) == [5.0]
    assert Layer.__call__.__doc__ == "The argument."


def test_custom_gradients_nest() -> None:
    @pb.custom_gradient
    def outer(x: Any) -> Any:
        y = tenfold(x)
        return y + 1.0, lambda dy: pb.gradients(y, x, dy)[0] * 2.0

    x = pb.constant(3.0)
    (dx,) = pb.gradients(outer(x), x)
    assert run([dx, *pb.gradients(dx, x)]) == [60.0, 20.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_they_work_in_functions_branches_and_loops(engine: str) -> None:
    x = pb.constant(0.5, dtype=pb.float64)

    def body(i: Any, y: Any) -> Any:
        return i + 1, pb.cond(pb.equal(i % 2, 0), lambda: tenfold(y), lambda: y * 3.0)

    looped = pb.function(lambda a: pb.while_loop(lambda i, y: i < 3, body, (0, a))[1])(x)
    (dx,) = pb.gradients(looped, x)
    (d2x,) = pb.gradients(dx, x)
    # y1 = x², y2 = 3 y1, y3 = y2², each square with 10 y for its derivative: dx = 10 y2 · 3 · 10 x
    np.testing.assert_allclose(run([looped, dx, d2x], engine), [0.5625, 112.5, 10 * 15**2 + 300 * 0.75])


# Variables


def test_variables_that_the_result_depends_on_get_their_cotangents() -> None:
    b, a = pb.Variable(2.0, name="b"), pb.Variable(3.0, name="a")
    pb.Variable(4.0, name="unused")
    frozen = pb.Variable(5.0, name="frozen", trainable=False)
    seen = []

    @pb.custom_gradient
    def f(x: Any) -> Any:
        def grad_fn(dy: Any, variables: Any) -> Any:
            seen.extend(variables)
            return dy * 100.0, [dy * 7.0, dy * 8.0]

        return x * b * a * frozen, grad_fn

    x = pb.constant(1.0)
    y = f(x)
    assert seen == [a, b]
    assert run([y, *pb.gradients(y, [x, a, b])]) == [30.0, 100.0, 7.0, 8.0]
    assert pb.gradients(y, frozen) == [None]


def test_variables_behind_the_arguments_or_behind_stopped_paths_do_not_count() -> None:
    v, w = pb.Variable(2.0), pb.Variable(3.0)
    f = pb.custom_gradient(lambda x: (x * pb.stop_gradient(w), lambda dy: dy * 10.0))
    assert run(pb.gradients(f(v * 1.0), v)) == [10.0]


def test_a_variable_that_is_an_argument_is_read() -> None:
    v = pb.Variable(2.0)
    f = pb.custom_gradient(lambda x: (x * v, lambda dy: dy * 10.0))
    assert run(pb.gradients(f(v), v)) == [10.0]


def test_variables_of_a_graph_around_are_found_in_a_function() -> None:
    v = pb.Variable(2.0, name="v")

    @pb.custom_gradient
    def f(x: Any) -> Any:
        return x * v, lambda dy, variables: (dy, [dy * float(len(variables)) * 5.0])

    x = pb.constant(1.0)
    assert run(pb.gradients(pb.function(f)(x), [x, v])) == [1.0, 5.0]


def test_grad_fn_must_take_variables_where_there_are_any() -> None:
    v = pb.Variable(2.0, name="v")
    with pytest.raises(TypeError) as error:
        pb.custom_gradient(lambda x: (x * v, lambda dy: dy))(pb.constant(1.0))
    assert str(error.value) == (
        "custom_gradient: 'lambda' depends on the variables ['v:0'], so its grad_fn must accept keyword argument "
        "'variables' and return a pair: cotangents of the arguments, and a list of those of the variables"
    )


@pytest.mark.parametrize("returned", [lambda dy: dy, lambda dy: (dy, []), lambda dy: (dy, [dy, dy])])
def test_one_cotangent_belongs_to_each_variable(returned: Any) -> None:
    v = pb.Variable(2.0)
    x = pb.constant(1.0)
    y = pb.custom_gradient(lambda a: (a * v, lambda dy, variables: returned(dy)))(x)
    with pytest.raises(ValueError, match="Must return gradient") as error:
        pb.gradients(y, x)
    assert str(error.value) == "Must return gradient for each variable from @custom_gradient grad_fn."


# Saved and loaded


def test_the_rule_survives_saving_and_loading() -> None:
    x = pb.constant(3.0, name="x")
    y = pb.function(lambda a: tenfold(a) * a)(x)
    z = tenfold(y)
    graph = pb.Graph.from_dict(json.loads(json.dumps(pb.get_default_graph().to_dict())))
    with graph.as_default():
        y_, z_, x_ = [graph.get_tensor_by_name(t.name) for t in (y, z, x)]
        found = [pb.gradients(y_, x_)[0], pb.gradients(z_, x_)[0]]
        found += pb.gradients(found[0], x_)
        # y = s(a) a, where s is a² and has the derivative 10 a: dy/da = 10 a² + s(a)
        assert run(found) == [99.0, 10.0 * 27.0 * 99.0, 90.0]


def test_a_failed_gradient_function_says_so_after_loading() -> None:
    x = pb.constant(3.0, name="x")
    y = pb.custom_gradient(lambda a: (a * 2.0, lambda dy: dy.nothing))(x)
    graph = pb.Graph.from_dict(y.graph.to_dict())
    with pytest.raises(LookupError) as error:
        pb.gradients(graph.get_tensor_by_name(y.name), graph.get_tensor_by_name("x:0"))
    assert str(error.value) == (
        "the gradient function failed before the graph was saved: AttributeError: 'Tensor' object has no attribute "
        "'nothing'"
    )


# Recomputing


def test_recompute_grad_gives_the_same_values_and_derivatives() -> None:
    v = pb.Variable(0.7, dtype=pb.float64)

    def f(x: Any) -> Any:
        return pb.tanh(pb.sin(x) * v)

    x = pb.constant([0.5, 1.5], dtype=pb.float64)
    g = pb.recompute_grad(f)
    assert g.__wrapped__ is f
    for engine in ("numpy", "xla"):
        found = []
        for h in (f, g):
            y = h(x)
            dx, dv = pb.gradients(y, [x, v])
            found.append(run([y, dx, dv, *pb.gradients(dx, [x, v])], engine))
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_numpy_computes_a_recomputed_function_twice() -> None:
    ran = []

    def noted(a: Any) -> Any:
        ran.append(1)
        return a

    def f(x: Any) -> Any:
        return pb.sin(x * pb.numpy_function(noted, [x], pb.TensorSpec([]), stateful=False))

    x = pb.constant(2.0)
    y = pb.recompute_grad(f)(x)
    run([y, *pb.gradients(y, x)])
    assert len(ran) == 2


def test_on_xla_recomputing_spares_the_memory() -> None:
    def deep(layer: Any) -> int:
        with pb.Graph().as_default():
            x = y = pb.placeholder(pb.float32, [64, 64])
            w = pb.placeholder(pb.float32, [64, 64])
            for _ in range(5):
                y = layer(y, w)
            feeds = {t: np.ones([64, 64], np.float32) for t in (x, w)}
            memory: int = pb.Session(engine="xla").compiled_memory(pb.gradients(y, x), feeds)["temporary"]
            return memory

    def layer(x: Any, w: Any) -> Any:
        for _ in range(4):
            x = pb.tanh(pb.matmul(x, w))
        return x

    assert deep(pb.recompute_grad(layer)) < 0.6 * deep(layer)


def test_recompute_grad_takes_keyword_arguments_and_python_values() -> None:
    f = pb.recompute_grad(lambda x, *, power: x**power)
    x = pb.constant(3.0)
    assert run(pb.gradients(f(x, power=2.0), x)) == [6.0]


# Passing through


def test_grad_pass_through_is_the_identity_for_derivatives() -> None:
    v = pb.Variable(3.0)
    x = pb.constant(1.4)
    y = pb.grad_pass_through(lambda a: pb.round(a) * v)(x)
    dx, dv = pb.gradients(y * 2.0, [x, v])
    assert run([y, dx]) == [3.0, 2.0]
    assert dv is None


def test_the_rule_is_traced_outside_of_the_scopes_around_its_results() -> None:
    noted: list[Any] = []

    @pb.custom_gradient
    def noting(x: Any) -> Any:
        def grad_fn(dy: Any) -> Any:
            made = pb.identity(dy) * 2.0
            scope = pb.get_variable_scope()
            noted.append((scope.name, scope.reuse, pb.get_default_graph().get_name_scope()))
            noted.append((made.op.device, made.op.control_inputs, list(made.op.colocation_groups())))
            noted.append(dict(dy.op.attrs))
            return made

        return pb.identity(x), grad_fn

    x, graph = pb.constant(1.0), pb.get_default_graph()
    with pb.name_scope("names"), pb.variable_scope("variables", reuse=pb.AUTO_REUSE), pb.device("/gpu:1"):  # noqa: SIM117
        with pb.control_dependencies([pb.no_op()]), pb.colocate_with(pb.constant(0.0)):
            with graph.gradient_override_map({"Identity": "NotThere", "Mul": "NotThere"}):
                y = noting(x)
    assert noted == [("", False, ""), ("", [], [b"loc:@mul"]), {}]
    seed = pb.constant(1.0)
    (dx,) = pb.gradients(y, x, seed)
    assert run(pb.gradients(dx, seed)) == [2.0]


def test_the_rule_is_held_by_the_scopes_around_gradients() -> None:
    x, seed = pb.constant(1.0), pb.constant(1.0)
    y = tenfold(x)
    with pb.device("/gpu:1"), pb.name_scope("names"):
        (dx,) = pb.gradients(y, x, seed)
    assert dx.op.device == "/device:GPU:1"
    assert dx.op.name.startswith("names/")


def test_variables_of_the_rule_are_made_by_no_creator_around_its_results() -> None:
    made: list[str] = []

    def creator(next_creator: Any, **options: Any) -> Any:
        made.append(options["name"])
        return next_creator(**options)

    @pb.custom_gradient
    def with_variable(x: Any) -> Any:
        return pb.identity(x), lambda dy: dy * pb.get_variable("w", [], initializer=pb.ones_initializer())

    with pb.compat.v1.variable_creator_scope(creator), pb.variable_scope("outer"):
        pb.get_variable("v", [])
        with_variable(pb.constant(1.0))
    assert made == ["outer/v"]
    assert [v.op.name for v in pb.global_variables()] == ["outer/v", "w"]


def test_what_is_computed_again_is_traced_once() -> None:
    traced: list[object] = []

    class Noted(pb.Primitive):
        type = "Noted"

        def infer(self, x: Any) -> Any:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            traced.append(x)
            return xp.sin(x)

        def gradient(self, op: Any, dy: Any) -> Any:
            return (dy * pb.cos(op.inputs[0]),)

    x = pb.placeholder(pb.float32, [100_000])
    y = pb.recompute_grad(lambda x: pb.square(Noted()(x)))(x)
    (dx,) = pb.gradients(y, x)
    found = pb.Session(engine="xla").run(dx, {x: np.full(100_000, 0.5, np.float32)})
    np.testing.assert_allclose(found[:3], [2 * np.sin(0.5) * np.cos(0.5)] * 3, rtol=1e-5)
    assert len(traced) == 1


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_result_that_is_kept_for_a_later_function_is_not_computed_again(engine: str) -> None:
    computed: list[object] = []

    class Growth(pb.Primitive):
        type = "Growth"

        def infer(self, x: Any) -> Any:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            computed.append(x)
            return xp.exp(x)

        def gradient(self, op: Any, dy: Any) -> Any:
            return (dy * op.outputs[0],)

    x = pb.placeholder(pb.float64, [1000])
    y = x
    for _ in range(3):
        y = pb.recompute_grad(lambda x: Growth()(-0.5 * x))(y)
    (dx,) = pb.gradients(pb.reduce_sum(y), x)
    a = np.exp(-0.25)
    b = np.exp(-0.5 * a)
    c = np.exp(-0.5 * b)
    with pb.Session(engine=engine) as session:
        np.testing.assert_allclose(session.run(dx, {x: np.full(1000, 0.5)}), -0.125 * a * b * c)
    assert len(computed) == 4  # Three results, and the last one again, which no function reads.
