"""Taylor mode against forward derivatives of forward derivatives, on every row of the case table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from tests.cases.case import Case
from tests.cases.table import building, differentiable, rows

ORDER = 3
WITHOUT = ("not_differentiable", "not_second_order", "not_on_numpy", "not_exact")
NO_JET = {"call-stateful": "a function that changes state is not run again"}
QUICK = {"activations", "control_flow", "cumulative", "indexing", "reduction", "special"}


def directions(case: Case) -> list[np.ndarray[Any, Any]]:
    """A random direction for each input that a row is differentiated by."""
    random = np.random.default_rng(0)
    found = []
    for i in case.differentiated():
        x = case.arrays(np.float64)[i]
        v = random.normal(size=x.shape)
        found.append((v + 1j * random.normal(size=x.shape) if x.dtype.kind == "c" else v).astype(x.dtype))
    return found


def compare_with_jvps(case: Case) -> None:
    """The jets of a row, and jvp of jvp of jvp."""
    with building(case) as built, pb.densify_policy("allow"):
        ys, xs = differentiable(built.ys), [built.xs[i] for i in case.differentiated()]
        vs = [pb.constant(v) for v in directions(case)]
        if not ys or not xs:
            return
        jets = pb.jet(ys, xs, ORDER, vs)
        nested, current = [], ys
        for _ in range(ORDER):
            current = pb.jvp(current, xs, vs)
            nested.append(current)
        found, expected = built.run([jets, nested])
    for i, derivatives in enumerate(found):
        for k, value in enumerate(derivatives):
            wanted = np.asarray(expected[k][i])
            assert (np.shape(value), np.asarray(value).dtype) == (wanted.shape, wanted.dtype)
            scale = max(1.0, float(np.abs(wanted).max(initial=0)))
            np.testing.assert_allclose(value, wanted, rtol=1e-6, atol=1e-8 * scale, err_msg=f"order {k + 1}")


def chosen(quick: bool) -> list[Any]:
    """Rows of families that are checked always, one in five, or all others."""
    found = [p for p in rows(*WITHOUT) if p.values[0].name not in NO_JET and p.values[0].differentiated()]
    return [p for i, p in enumerate(found) if (p.id.split("-")[0] in QUICK and i % 5 == 0) == quick]


@pytest.mark.parametrize("case", chosen(quick=True))
def test_the_jet_of_a_row_is_what_nested_forward_derivatives_are(case: Case) -> None:
    compare_with_jvps(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", chosen(quick=False))
def test_the_jet_of_any_row_is_what_nested_forward_derivatives_are(case: Case) -> None:
    compare_with_jvps(case)


CLOSED: dict[str, tuple[Callable[..., Any], Callable[[float, int], float]]] = {
    "exp": (pb.exp, lambda x, k: math.exp(x)),
    "sin": (pb.sin, lambda x, k: math.sin(x + k * math.pi / 2)),
    "cos": (pb.cos, lambda x, k: math.cos(x + k * math.pi / 2)),
    "log": (pb.math.log, lambda x, k: (-1) ** (k - 1) * math.factorial(k - 1) / x**k),
    "reciprocal": (pb.math.reciprocal, lambda x, k: (-1) ** k * math.factorial(k) / x ** (k + 1)),
    "quotient": (lambda x: 1.0 / x, lambda x, k: (-1) ** k * math.factorial(k) / x ** (k + 1)),
    "sqrt": (pb.sqrt, lambda x, k: math.prod(0.5 - j for j in range(k)) * x ** (0.5 - k)),
    "power": (lambda x: x**2.5, lambda x, k: math.prod(2.5 - j for j in range(k)) * x ** (2.5 - k)),
    "cube": (lambda x: x**3, lambda x, k: math.prod(3 - j for j in range(k)) * x ** max(3 - k, 0)),
}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", CLOSED)
def test_high_orders_of_elementary_functions(name: str, engine: str) -> None:
    f, expected = CLOSED[name]
    with pb.Graph().as_default() as graph:
        x = pb.constant(0.7, pb.float64)
        found = pb.Session(graph=graph, engine=engine).run(pb.jet(f(x), x, 8))
    np.testing.assert_allclose(found, [expected(0.7, k) for k in range(1, 9)], rtol=1e-10, atol=1e-12)


def test_powers_are_exact_at_zero() -> None:
    x = pb.constant(0.0, pb.float64)
    assert pb.Session().run(pb.jet(x**3, x, 4)) == [0, 0, 6, 0]


def test_a_curve_is_given_by_its_derivatives() -> None:
    """sin(t^2 / 2 + t) at t = 0, as of x with x' = 1, x'' = 1."""
    x = pb.constant(0.0, pb.float64)
    found = pb.Session().run(pb.jet(pb.sin(x), x, 3, series=[1.0, 1.0, None]))
    np.testing.assert_allclose(found, [1, 1, -1])


def test_several_xs_and_ys() -> None:
    x, z = pb.constant(2.0), pb.constant(3.0)
    found = pb.Session().run(pb.jet([x * z, x + z, z * z], [x, z], 2, [1.0, 2.0]))
    assert found == [[7, 4], [3, 0], [12, 8]]


def test_a_y_that_does_not_vary_has_zeros() -> None:
    x = pb.constant([1.0, 2.0])
    found = pb.Session().run(pb.jet([pb.constant([3.0]), x], x, 2))
    np.testing.assert_array_equal(found[0], [[0], [0]])
    np.testing.assert_array_equal(found[1], [[1, 1], [0, 0]])


def test_a_variable_moves() -> None:
    w = pb.Variable(2.0)
    second = pb.jet(w * w, w, 2)[1]
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        assert session.run(second) == 2


def test_jets_are_differentiable() -> None:
    x = pb.constant(0.3, pb.float64)
    third = pb.jet(pb.sin(x), x, 3)[2]
    np.testing.assert_allclose(pb.Session().run(pb.gradients(third, x)), [math.sin(0.3)])


def test_the_solution_of_a_differential_equation_as_a_series() -> None:
    """x' = x^2 from x(0) = 1 is 1 / (1 - t): derivative k is k!."""
    x = pb.constant(1.0, pb.float64)
    derivatives = [x * x]
    for k in range(1, 6):
        derivatives.append(pb.jet(x * x, x, k, series=derivatives)[-1])
    assert pb.Session().run(derivatives) == [1, 2, 6, 24, 120, 720]


def count_of(order: int) -> int:
    """The operations of the jet of a perceptron."""
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float32, [8, 4])
        h = x
        for _ in range(3):
            h = pb.tanh(pb.matmul(h, pb.constant(np.ones((4, 4), np.float32))))
        before = len(graph.operations)
        pb.jet(h, x, order)
        return len(graph.operations) - before


def test_the_cost_is_a_polynomial_of_the_order() -> None:
    assert count_of(8) < 5 * count_of(4)


def test_a_rule_of_a_user() -> None:
    class Fourth(pb.Primitive):
        type = "FourthForJet"

        def infer(self, x: Any) -> Any:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            return x**4

    @pb.RegisterJet("FourthForJet")
    def rule(op: Any, x: Any) -> Any:
        (x0,) = op.inputs
        yield 4.0 * x0**3 * x[1]
        yield 6.0 * x0**2 * x[1] ** 2

    del rule
    x = pb.constant(2.0)
    assert pb.Session().run(pb.jet(Fourth()(x), x, 2)) == [32, 48]


def test_a_rule_is_registered_once() -> None:
    with pytest.raises(KeyError, match="Registering two jets with name 'Exp'!"):
        pb.RegisterJet("Exp")(lambda op, x: iter(()))


def test_an_overridden_gradient_counts() -> None:
    graph = pb.Graph()
    with graph.as_default(), graph.gradient_override_map({"Exp": "JetDoubled"}):
        pb.RegisterGradient("JetDoubled")(lambda op, dy: 2.0 * dy)
        x = pb.constant(0.5)
        found = pb.Session(graph=graph).run(pb.jet(pb.exp(x), x, 2))
    assert found == [2, 0]


def test_refusals() -> None:
    x = pb.constant(1.0)
    with pytest.raises(ValueError, match="jet: the order must be at least 1, not 0"):
        pb.jet(x * x, x, 0)
    with pytest.raises(ValueError, match="jet: 1 directions for 2 xs; pass one like each x"):
        pb.jet(x * x, [x, x], 1, [1.0])
    with pytest.raises(ValueError, match="jet: give directions or series, not both"):
        pb.jet(x * x, x, 1, 1.0, series=[1.0])


def test_a_function_that_changes_state_is_refused() -> None:
    @pb.function
    def noisy(x: Any) -> Any:
        return x * pb.random.uniform([])

    x = pb.constant(1.0)
    with pytest.raises(LookupError, match="reads or changes state, or draws random numbers, in a function"):
        pb.jet(noisy(x), x, 2)


POLES: dict[str, Callable[[Any], Any]] = {
    "acos": pb.acos,
    "log": pb.log,
    "sqrt": pb.sqrt,
    "reciprocal": lambda x: 1.0 / x,
    "pow": lambda x: x**0.5,
    "lgamma": pb.math.lgamma,
    "call": lambda x: pb.function(lambda x: pb.acos(x) * pb.sqrt(x))(x),
    "branch": lambda x: pb.cond(x[1] > 0.0, lambda: pb.log(x), lambda: x),
    "loop": lambda x: pb.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, pb.sqrt(y)), (0, x))[1],
    "map": lambda x: pb.map_fn(pb.sqrt, x),
}


@pytest.mark.parametrize("name", POLES)
def test_what_does_not_move_has_no_derivative_even_at_a_pole(name: str) -> None:
    x = pb.placeholder(pb.float64, [3])
    y = POLES[name](x)
    found = pb.Session(engine="numpy").run(
        pb.jet(y, x, ORDER, pb.constant([0.0, 1.0, 0.0], pb.float64)), {x: [1.0, 0.5, 0.0]}
    )
    for derivative in found:
        np.testing.assert_array_equal(derivative[[0, 2]], 0.0)
        assert np.isfinite(derivative[1])


LEVEL_AT_POLES: dict[str, Callable[[Any], Any]] = {
    "power": lambda x: pb.sqrt(x) ** x,
    "square": lambda x: pb.square(pb.sqrt(x)),
    "product": lambda x: pb.sqrt(x) * pb.sqrt(x),
    "cos": lambda x: pb.cos(pb.sqrt(x)),
    "tanh": lambda x: pb.tanh(pb.log(x)),
    "softplus": lambda x: pb.math.softplus(pb.log(x)),
    "erfc": lambda x: pb.math.erfc(1.0 / x),
    "spence": lambda x: pb.math.special.spence(pb.sqrt(x)),
    "lgamma": lambda x: pb.math.lgamma(pb.sqrt(x)),
    "xlogy": lambda x: pb.math.xlogy(x, pb.constant([2.0, 3.0], pb.float64)),
    "xlog1py": lambda x: pb.math.xlog1py(x, pb.constant([2.0, 3.0], pb.float64)),
    "xdivy": lambda x: pb.math.xdivy(x, pb.constant([2.0, 3.0], pb.float64)),
    "xlogy of both": lambda x: pb.math.xlogy(x, 2.0 + x),
    "xlog1py of both": lambda x: pb.math.xlog1py(x, 2.0 + x),
    "xdivy of both": lambda x: pb.math.xdivy(x, 2.0 + x),
}


@pytest.mark.parametrize("name", LEVEL_AT_POLES)
def test_at_a_pole_the_first_derivative_of_a_jet_is_the_gradient(name: str) -> None:
    x = pb.placeholder(pb.float64, [2])
    y = LEVEL_AT_POLES[name](x)
    dx = pb.gradients(y, x)[0]
    found, expected = pb.Session(engine="numpy").run([pb.jet(y, x, ORDER), dx], {x: [0.0, 0.5]})
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    assert np.isfinite(found).T[1].all()


def test_where_no_pole_can_be_reached_nothing_is_masked() -> None:
    x = pb.placeholder(pb.float64, [3])
    pb.jet(pb.tanh(x * pb.sin(x)), x, ORDER)
    assert not [op for op in x.graph.get_operations() if op.type.startswith("Masked")]


@pytest.mark.parametrize("direction", [1.0, [1.0], [[1.0, 1.0, 1.0]], [1.0, 1.0, 1.0]], ids=str)
def test_directions_take_the_shape_of_what_moves(direction: Any) -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    y = pb.cumsum(x * x)
    for found in (pb.jet(y, x, 2, direction), pb.jet(y, x, 2, series=[direction])):
        assert pb.Session().run(found)[0].tolist() == [2.0, 6.0, 12.0]


def test_directions_of_another_shape_are_refused() -> None:
    x = pb.constant([1.0, 2.0, 3.0], name="x")
    with pytest.raises(
        ValueError, match=r"^jet: a derivative of a curve is float32\[2\] .*, but x is float32\[3\] 'x:0'"
    ):
        pb.jet(x * x, x, 2, [1.0, 1.0])
