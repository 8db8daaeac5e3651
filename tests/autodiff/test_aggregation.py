"""The terms of a cotangent, added up by a function of the user."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def last(terms: list[Any], op: Any) -> Any:
    """The last of `terms`: what shows that the function is asked."""
    del op
    return terms[-1]


def test_a_function_is_given_the_terms_and_their_operation() -> None:
    seen = []

    def clipped(terms: list[Any], op: Any) -> Any:
        seen.append((len(terms), op.name))
        return pb.add_n([pb.clip_by_value(term, -1.0, 1.0) for term in terms])

    x = pb.constant([2.0], name="aggregated_x")
    (dx,) = pb.gradients(3.0 * x + 0.5 * x - 4.0 * x, x, aggregation_method=clipped)
    assert pb.Session().run(dx) == [0.5]
    assert seen == [(3, "aggregated_x")]


def test_one_term_is_no_sum() -> None:
    x = pb.constant(2.0)
    (dx,) = pb.gradients(3.0 * x, x, aggregation_method=lambda terms, op: pb.zeros_like(terms[0]))
    assert pb.Session().run(dx) == 3


def test_slices_are_handed_on() -> None:
    table = pb.constant(np.zeros((4, 2), np.float32))
    y = pb.gather(table, [1]) + 2.0 * pb.gather(table, [3])
    (dx,) = pb.gradients(y, table, aggregation_method=last)
    assert isinstance(dx, pb.IndexedSlices)
    assert pb.Session().run(dx.indices) in ([1], [3])


@pytest.mark.parametrize("where", ["call", "branch", "loop"])
def test_it_holds_inside_functions(where: str) -> None:
    def f(x: Any) -> Any:
        return x * 2.0 + x * 3.0

    x = pb.constant(1.0)
    y = {
        "call": lambda: pb.function(f)(x),
        "branch": lambda: pb.cond(x > 0.0, lambda: f(x), lambda: x),
        "loop": lambda: pb.while_loop(lambda i, x: i < 1, lambda i, x: [i + 1, f(x)], [0, x])[1],
    }[where]()
    chosen, usual = pb.gradients(y, x, aggregation_method=last), pb.gradients(y, x)
    values = pb.Session().run([*chosen, *usual])
    assert values[0] in (2, 3)
    assert values[1] == 5


def test_what_cannot_stand_for_the_sum_is_refused() -> None:
    x = pb.constant([1.0, 2.0], name="refused_x")
    with pytest.raises(TypeError, match=r"aggregation_method returned 7 for 'refused_x' \(op type: Const, made at "):
        pb.gradients(x + x, x, aggregation_method=lambda terms, op: 7)
    with pytest.raises(
        ValueError, match=r"aggregation_method returned float32\[\] '.*' for 'refused_x' .*, whose terms are "
    ):
        pb.gradients(x + x, x, aggregation_method=lambda terms, op: pb.reduce_sum(terms[0]))
