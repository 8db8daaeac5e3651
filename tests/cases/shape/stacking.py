"""Rows: stack, unstack, concat, split."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, cubed, normal

A, B = normal(2, 3), normal(2, 3, seed=1)


def _rows_of_two(a: object, b: object, ids: object) -> object:
    return pb.gather(pb.concat([a, b], 0), ids)


CASES = [
    Case("stack", lambda a, b: pb.stack([a, b]), [A, B], expected=lambda a, b: np.stack([a, b])),
    Case("stack_last", lambda a, b: pb.stack([a, b, a], -1), [A, B], expected=lambda a, b: np.stack([a, b, a], -1)),
    Case("stack_scalars", lambda a, b: pb.stack([a, b, 1.0]), [np.float64(1.0), np.float64(2.0)]),
    Case("unstack", lambda a: pb.unstack(a, 2), [A], expected=lambda a: list(a)),
    Case("unstack_one", lambda a: pb.unstack(a, 1), [normal(1, 2)], expected=lambda a: a[0]),
    Case("stack_one", lambda a: pb.square(pb.stack([a])), [A], expected=lambda a: a[None] ** 2),
    Case("split_one", lambda a: pb.split(a, 1) + pb.split(a, [2]), [A], expected=lambda a: [a, a]),
    Case("unstack_axis", lambda a: pb.unstack(a, 3, -1)[1:], [A], expected=lambda a: list(a.T)[1:]),
    Case("concat", lambda a, b: pb.concat([a, b], 0), [A, normal(1, 3)], expected=lambda a, b: np.concatenate([a, b])),
    Case(
        "concat_last",
        lambda a, b: pb.concat([a, b, a], -1),
        [A, normal(2, 1)],
        expected=lambda a, b: np.concatenate([a, b, a], -1),
    ),
    Case("concat_empty", lambda a, b: pb.concat([a, b], 0), [normal(0, 3), A], expected=lambda a, b: b),
    Case("concat_one", lambda a: pb.concat([a], 0, name="one"), [A], expected=lambda a: a),
    Case(
        "concat_int", lambda a, b: pb.concat([a, b], 0), [np.array([1]), np.array([2, 3])], expected=np.array([1, 2, 3])
    ),
    Case(
        "concat_of_unknown_lengths",
        lambda a, b: pb.concat([pb.placeholder_with_default(a, None), b], 0),
        [A, B],
        expected=lambda a, b: np.concatenate([a, b]),
    ),
    Case(
        "concat_of_tables_squared",
        lambda a, b, ids: pb.square(_rows_of_two(a, b, ids)),
        [A, normal(4, 3), np.array([0, 5, 1, 5, 2])],
    ),
    Case(
        "concat_of_tables",
        _rows_of_two,
        [A, normal(4, 3), np.array([0, 5, 1, 5, 2])],
        expected=lambda a, b, i: np.concatenate([a, b])[i],
    ),
    Case(
        "concat_of_columns",
        lambda a, b, i: pb.gather(pb.concat([a, b], 1), i),
        [A, normal(2, 1), np.array([1, 1])],
        expected=lambda a, b, i: np.concatenate([a, b], 1)[i],
    ),
    Case("split", lambda a: pb.split(a, 3, 1), [A], expected=lambda a: np.split(a, 3, 1)),
    Case("split_one_used", lambda a: pb.split(a, 2)[1], [normal(4)], expected=lambda a: a[2:]),
    Case(
        "split_lengths",
        lambda a: pb.split(a, [1, -1, 0], -1),
        [normal(2, 5)],
        expected=lambda a: [a[:, :1], a[:, 1:], a[:, 5:]],
    ),
    Case(
        "split_fed",
        lambda a, n: pb.split(a, n, num=2),
        [normal(5, 2), np.array([2, 3])],
        wrt=[0],
        expected=lambda a, n: [a[:2], a[2:]],
    ),
    Case("cube_of_concat", cubed(lambda a, b: pb.concat([a, pb.stack([b[0], b[1]]), a], 0)), [A, B], third_order=True),
]
