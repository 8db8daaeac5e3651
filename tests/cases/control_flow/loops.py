"""Rows: loops whose counts depend on data, branches, calls, in each other; no, one and many steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, normal, positive


def _power(x: Any, n: Any) -> Any:
    """x ** n by n multiplications."""
    return pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, pb.ones_like(x)))[1]


def _until_large(x: Any) -> Any:
    """Doubled and bent until it is above 10: the number of steps depends on x."""
    return pb.while_loop(lambda y: pb.reduce_max(y) < 10.0, lambda y: (2.0 * y + pb.sin(y),), (x,))[0]


def _with_unused(x: Any, w: Any) -> Any:
    """Three loop variables, of which one result is used; one never changes, one is forgotten in each step."""

    def body(i: Any, y: Any, fixed: Any, forgotten: Any) -> Any:
        return i + 1, pb.tanh(y * w) + fixed * forgotten, fixed, y * 0.5

    return pb.while_loop(lambda i, *_: i < 3, body, (0, x, w, x))[1]


def _nested(x: Any) -> Any:
    """A loop in a branch in a loop, with counts that depend on the data."""

    def inner(y: Any, limit: Any) -> Any:
        return pb.while_loop(lambda j, z: j < limit, lambda j, z: (j + 1, z + 0.1 * pb.sin(z)), (0, y))[1]

    def body(i: Any, y: Any) -> Any:
        return i + 1, pb.cond(pb.equal(i % 2, 0), lambda: inner(y, i + 1), lambda: y * pb.cos(y))

    return pb.while_loop(lambda i, y: i < 4, body, (0, x))[1]


def _rnn(x: Any, w: Any, h: Any) -> Any:
    """A recurrent cell over the rows of x."""

    def body(t: Any, state: Any) -> Any:
        return t + 1, pb.tanh(pb.linalg.matvec(w, state) + pb.gather(x, t))

    return pb.while_loop(lambda t, state: t < pb.shape(x)[0], body, (0, h))[1]


def _newton(a: Any) -> Any:
    """The square root by Newton's method, to a tolerance."""

    def far(x: Any) -> Any:
        return pb.reduce_max(pb.abs(x * x - a)) > 1e-12

    return pb.while_loop(far, lambda x: (0.5 * (x + a / x),), (pb.ones_like(a),), maximum_iterations=50)[0]


def _rows_added(table: Any, bound: int | None = None) -> Any:
    """Rows of a table that is the same in each step: its derivative is slices."""

    def body(i: Any, total: Any) -> Any:
        return i + 1, total * 0.9 + pb.reduce_sum(pb.square(pb.gather(table, [i, i % 2])), 0)

    start = (0, pb.zeros_like(table[0]))
    return pb.while_loop(lambda i, total: i < 3, body, start, maximum_iterations=bound)[1]


def _gradient_inside(x: Any) -> Any:
    """Gradient descent: each step differentiates inside the body."""

    def body(i: Any, y: Any) -> Any:
        (slope,) = pb.gradients(pb.reduce_sum(pb.square(pb.sin(y)) * x), y)
        return i + 1, y - 0.1 * slope

    return pb.while_loop(lambda i, y: i < 3, body, (0, x))[1]


def _sqrt_or_zero(x: Any) -> Any:
    return pb.cond(pb.reduce_sum(x) > 0.0, lambda: pb.sqrt(x), lambda: pb.zeros_like(x))


def _one_branch_only(x: Any, w: Any) -> Any:
    return pb.cond(pb.reduce_sum(x) > 100.0, lambda: x * w, lambda: pb.sin(x))


def _switched(x: Any) -> Any:
    functions = [lambda: pb.sin(x), lambda: x * x * x, lambda: pb.exp(x)]
    return [pb.switch_case(pb.constant(i), functions) for i in range(4)]


def _slices_in_branches(table: Any) -> Any:
    rows = pb.cond(pb.reduce_sum(table) > 0.0, lambda: pb.gather(table, [0, 2]), lambda: 2.0 * pb.gather(table, [1, 1]))
    return pb.reduce_sum(pb.square(rows), 0)


def _drawn_in_a_branch(x: Any) -> Any:
    """A mask that only one branch draws: the derivative is given it, in whatever shape it has."""
    kept = pb.placeholder_with_default(x, [None])
    return pb.cond(pb.reduce_sum(x) > -100.0, lambda: pb.nn.dropout(kept, rate=0.5, seed=1), lambda: kept)


def _gradients_inside_two_loops(x: Any, w: Any) -> Any:
    """Derivatives by tensors of the loop around, of the graph around, and by what is computed there."""
    m = w * x

    def outer(i: Any, y: Any) -> Any:
        def inner(j: Any, z: Any) -> Any:
            slopes = pb.gradients(pb.sin(z * m) * y + x, [z, m, y, x, w])
            return j + 1, z + 0.1 * pb.add_n(slopes)

        return i + 1, pb.while_loop(lambda j, z: j < 2, inner, (0, y))[1]

    return pb.while_loop(lambda i, y: i < 2, outer, (0, x))[1]


def _by_the_steps(x: Any) -> Any:
    """The derivatives by the values of all steps, as rows."""
    start = pb.identity(x)
    y = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (0, start), maximum_iterations=3)[1]
    return [pb.history(y), pb.history(pb.gradients(y, start)[0])]


CASES = [
    *[
        Case(f"power_{n}", lambda x, n=n: _power(x, n), [positive(3)], lambda x, n=n: x**n, third_order=n in (0, 3))
        for n in (0, 1, 2, 3, 33)
    ],
    Case("count_of_data", _until_large, [positive(2)], third_order=True),
    Case("unused_results", _with_unused, [normal(2), normal(2, seed=1)], third_order=True),
    Case("loop_in_branch_in_loop", _nested, [normal(2)], third_order=True, slow=True),
    Case("recurrent_cell", _rnn, [normal(3, 2), normal(2, 2, seed=1), normal(2, seed=2)], third_order=True, slow=True),
    Case("newton", _newton, [positive(2)], np.sqrt, third_order=True, tolerance=1e-5),
    Case("rows_of_a_table", _rows_added, [normal(3, 2)], third_order=True, not_erased_rank="rows need a rank"),
    Case(
        "slices_of_a_bounded_loop",
        lambda x: _rows_added(x, 5),
        [normal(3, 2)],
        third_order=True,
        not_erased_rank="rows need a rank",
    ),
    Case("gradient_inside_a_body", _gradient_inside, [normal(2)], third_order=True),
    Case("branch_taken", _sqrt_or_zero, [positive(2)], np.sqrt, third_order=True),
    Case("branch_not_taken", _sqrt_or_zero, [-positive(2)], np.zeros(2), third_order=True),
    Case("used_in_one_branch", _one_branch_only, [normal(2), normal(2, seed=1)], third_order=True),
    Case("switch_case", _switched, [normal(2)], lambda x: [np.sin(x), x**3, np.exp(x), np.exp(x)], third_order=True),
    Case("slices_in_branches", _slices_in_branches, [positive(3, 2)], third_order=True),
    Case("complex_loop", lambda x: _power(x, 3), [normal(2) + 1j * normal(2, seed=1)], lambda x: x**3),
    Case("drawn_in_a_branch", _drawn_in_a_branch, [positive(4)], not_exact="random numbers", wrt=[]),
    Case(
        "gradients_inside_two_loops",
        _gradients_inside_two_loops,
        [normal(2), normal(2, seed=1)],
        third_order=True,
        slow=True,
    ),
    Case(
        "derivatives_by_the_steps",
        _by_the_steps,
        [positive(2)],
        lambda x: [np.stack([x, x**2, x**4]), np.stack([4 * x**6, 2 * x**4, np.ones_like(x)])],
        third_order=True,
    ),
    Case(
        "case",
        lambda x: pb.case([(pb.reduce_sum(x) > 9.0, lambda: x * x)], default=lambda: pb.sin(x)),
        [positive(3)],
        np.sin,
    ),
]
