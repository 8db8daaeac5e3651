"""Global value numbering: equal sums and products become one, and what only looks equal does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pullback as pb
from pullback.passes.numbering import numbered
from pullback.passes.view import view_of
from tests.cases.table import Case, building, differentiable, each, rows

RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.standard_normal((3, 3))


def placeholders(count: int, shape: Any = (3, 3)) -> list[pb.Tensor]:
    return [pb.placeholder(pb.float64, shape, name="abcd"[i]) for i in range(count)]


def are_one(y: pb.Tensor, z: pb.Tensor) -> bool:
    """Whether the two became one tensor."""
    view = numbered(view_of([y, z], [], frozenset()))
    return view.stand_in(y) is view.stand_in(z)


EQUAL: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "products": lambda a, b, c: (a * b * c, c * (b * a)),
    "sums": lambda a, b, c: (a + b + c, pb.add_n([c, b, a])),
    "twice": lambda a, b, c: (a + a, 2.0 * a),
    "distributed": lambda a, b, c: ((a + b) * c, a * c + c * b),
    "differences": lambda a, b, c: (a - b, -(b - a)),
    "quotients": lambda a, b, c: ((a + b) / c, b / c + a / c),
    "matrix products": lambda a, b, c: (pb.matmul(a + 2.0 * b, c), pb.matmul(a, c) + pb.matmul(b, c) * 2.0),
    "moved": lambda a, b, c: (pb.transpose(a + b), pb.transpose(b) + pb.transpose(a)),
    "summed": lambda a, b, c: (pb.reduce_sum(3.0 * a, 0), 3.0 * pb.reduce_sum(a, 0)),
    "within functions": lambda a, b, c: (pb.exp(a * b) * c, c * pb.exp(b * a)),
    "chosen": lambda a, b, c: (pb.where(a > 0.0, b + c, b), pb.where(a > 0.0, c, 0.0 * b) + pb.where(a > 0.0, b, b)),
}
UNEQUAL: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "matrix products in another order": lambda a, b, c: (pb.matmul(a, b), pb.matmul(b, a)),
    "products with a sum between": lambda a, b, c: (pb.reduce_sum(a * b, 0), pb.reduce_sum(a, 0) * b),
    "what cancels": lambda a, b, c: ((a + b) - b, a + 0.0),
    "exponentials that cancel": lambda a, b, c: ((a + pb.exp(a)) - pb.exp(a), a + 0.0),
    "nothing, divided": lambda a, b, c: ((a - a) / a, a - a),
    "nothing by nothing": lambda a, b, c: ((a - a) / (a - a), a - a),
    "a solution that cancels": lambda a, b, c: (pb.linalg.solve(a, a - a), a - a),
    "what is held constant": lambda a, b, c: (pb.stop_gradient(a) * b, a * b),
    "other functions": lambda a, b, c: (pb.exp(a) * b, pb.sin(a) * b),
    "other axes": lambda a, b, c: (pb.reduce_sum(a, 0), pb.reduce_sum(a, 1)),
    "what a mask hides": lambda a, b, c: (pb.math.multiply_no_nan(a, b), a * b),
    "random numbers": lambda a, b, c: (
        a * pb.random.normal([3, 3], dtype=pb.float64),
        a * pb.random.normal([3, 3], dtype=pb.float64),
    ),
    "checked": lambda a, b, c: (pb.debugging.check_numerics(a, "a") * b, a * b),
    "sums of what was repeated": lambda a, b, c: (
        pb.reduce_sum(pb.ones([1, 3], pb.float64) * a[0], 0),
        pb.reduce_sum(pb.ones([5, 3], pb.float64) * a[0], 0),
    ),
    "a constant almost equal": lambda a, b, c: (a * 0.1 * 3.0, a * 0.3),
}


COMPLEX_UNEQUAL: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "conjugates": lambda a, b: (pb.conj(a), pb.identity(a)),
    "one factor conjugated": lambda a, b: (pb.conj(a * b), pb.conj(a) * b),
    "the other factor conjugated": lambda a, b: (a * pb.conj(b), pb.conj(a) * b),
    "imaginary parts": lambda a, b: (pb.imag(a * b), pb.imag(a + b)),
    "real parts of products": lambda a, b: (pb.real(a * b), pb.real(a) * pb.real(b)),
    "parts of different factors": lambda a, b: (pb.real(a) * pb.imag(b), pb.imag(a) * pb.real(b)),
    "products of matrices": lambda a, b: (pb.matmul(a, pb.conj(b)), pb.matmul(a, b)),
}


@pytest.mark.parametrize("pair", COMPLEX_UNEQUAL.values(), ids=COMPLEX_UNEQUAL)
def test_conjugates_and_parts_of_complex_numbers_are_not_the_numbers(pair: Callable[..., Any]) -> None:
    assert not are_one(*pair(*[pb.placeholder(pb.complex128, (3, 3)) for _ in range(2)]))


def test_products_of_complex_numbers_are_arranged() -> None:
    a, b, c = [pb.placeholder(pb.complex128, (3, 3)) for _ in range(3)]
    assert are_one(pb.conj(a * b) * c, c * pb.conj(b * a))


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal_however_they_are_arranged(pair: Callable[..., Any]) -> None:
    assert are_one(*pair(*placeholders(3)))


@pytest.mark.parametrize("pair", UNEQUAL.values(), ids=UNEQUAL)
def test_what_is_not_equal_for_all_values_stays_apart(pair: Callable[..., Any]) -> None:
    assert not are_one(*pair(*placeholders(3)))


def test_of_lengths_that_nobody_knows_nothing_is_said() -> None:
    a, b = (pb.boolean_mask(pb.ones([4]), pb.placeholder(pb.bool, [4])) for _ in range(2))
    assert not are_one(pb.zeros_like(a), pb.zeros_like(b))


def test_what_is_kept_stays_itself() -> None:
    a, b = placeholders(2)
    y, z = a * b, b * a
    for how in ({"keep": frozenset([z])}, {"apart": frozenset([z])}):
        view = numbered(view_of([y, z], [], frozenset(), **how))
        assert view.stand_in(z) is z


def test_only_the_fast_level_arranges_anew() -> None:
    a, b, c = placeholders(3)
    y = pb.sin(a * b * c) + pb.sin(c * b * a)
    found = {level: pb.optimize(y, level).report.counts for level in ("exact", "safe", "fast")}
    assert found["fast"]["equal sums and products"] >= 1
    assert "equal sums and products" not in {**found["exact"], **found["safe"]}


def perceptron(x: pb.Tensor, function: Any) -> pb.Tensor:
    for _ in range(3):
        x = function(pb.matmul(x, MATRIX))
    return pb.matmul(x, MATRIX[:, :1])


def operations(y: pb.Tensor) -> int:
    return sum(op.type != "Const" for op in view_of([y], [], frozenset()).operations)


@pytest.mark.parametrize("function", [pb.tanh, pb.sin, pb.sigmoid, pb.exp, pb.nn.softplus])
@pytest.mark.parametrize("order", [4, 5, 6])
def test_nested_gradients_are_within_four_times_a_jet(function: Any, order: int) -> None:
    t = pb.placeholder(pb.float64, [None, 1])
    u = perceptron(t * [[1.0, 0.5, -0.5]], function)
    nested = pb.optimize(reduce(lambda y, _: pb.gradients(y, t)[0], range(order), u), "fast").fetches
    jet = pb.jet(u, t, order)[-1]
    assert operations(nested) <= 4 * operations(pb.optimize(jet, "fast").fetches)
    found, expected = pb.Session(engine="numpy").run([nested, jet], {t: [[0.3], [-0.7]]})
    np.testing.assert_allclose(found, expected, rtol=1e-9)


STEPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a * b,
    lambda a, b: a + b,
    lambda a, b: a - 2.0 * b,
    lambda a, b: pb.tanh(a) * b,
    lambda a, b: pb.matmul(a, b) * 0.25,
    lambda a, b: pb.reduce_sum(a, 0, keepdims=True) * b * 0.25,
    lambda a, b: a / (1.0 + b * b),
    lambda a, b: pb.transpose(a) + b,
]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_values_and_derivatives_of_random_graphs_stay(steps: list[tuple[int, int, int]]) -> None:
    with pb.Graph().as_default():
        xs = placeholders(2)
        made = list(xs)
        for kind, i, j in steps:
            made.append(STEPS[kind](made[i % len(made)], made[j % len(made)]))
        y = pb.reduce_sum(pb.tanh(pb.add_n(made)))
        (dx,) = pb.gradients(y, xs[0])
        plain = [y, dx, *pb.gradients(pb.reduce_sum(pb.sin(dx)), xs[:1])]
        lean, _ = pb.optimize(plain, "fast")
        again = pb.gradients(pb.optimize(y, "fast").fetches, xs[0])
        feeds = {x: RANDOM.standard_normal((3, 3)) for x in xs}
        expected, found, (derivative,) = pb.Session(engine="numpy").run([plain, lean, again], feeds)
    for a, b in zip([*found, derivative], [*expected, expected[1]], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12 + 1e-6 * np.abs(b).max())


@pytest.mark.parametrize(
    "outputs_of",
    [
        lambda a, b: pb.while_loop(lambda i, *_: i < 2, lambda i, a, b: (i + 1, a * a, b + a), [0, a, b])[1:],
        lambda a, b: pb.cond(a[0, 0] > 0.0, lambda: [a, b], lambda: [b, a]),
        lambda a, b: pb.function(lambda a, b: (a * b, a - b))(a, b),
        lambda a, b: pb.unique_with_counts(a[0])[:2],
        lambda a, b: pb.linalg.qr(a),
    ],
    ids=["loop", "branch", "call", "counts", "decomposition"],
)
def test_outputs_of_one_operation_stay_apart(outputs_of: Callable[[Any, Any], Any]) -> None:
    a, b = placeholders(2)
    y, z = (pb.sin(pb.cast(x, pb.float64)) for x in outputs_of(a, b))
    assert not are_one(y, z)


def test_a_contraction_of_one_operand_is_numbered() -> None:
    (a,) = placeholders(1)
    assert not are_one(pb.einsum("ij->ji", a), pb.einsum("ij->ij", a))


def slopes(ys: list[pb.Tensor], xs: list[pb.Tensor]) -> list[pb.Tensor]:
    """The derivatives of `ys` by `xs` that are tensors."""
    found = pb.gradients(ys, xs, grad_ys=[pb.ones_like(y) for y in ys]) if ys and xs else []
    return [dx for dx in found if isinstance(dx, pb.Tensor)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@each(rows("not_differentiable", "not_second_order", "not_on_numpy"))
def test_tensors_that_became_one_have_one_value(case: Case) -> None:
    """Of every row of the case table, with its first and second derivatives."""
    with building(case) as built:
        ys, xs = differentiable(built.ys), differentiable(built.xs)
        firsts = slopes(ys, xs)
        seconds = slopes([pb.sin(dx) for dx in differentiable(firsts[:1])], xs)
        for pair in numbered(view_of([*built.ys, *firsts, *seconds], [], frozenset())).same.items():
            found, expected = built.run(pair)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
