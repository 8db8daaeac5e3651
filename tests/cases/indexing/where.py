"""Rows: where."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, normal

DATA = "how many are true is not known when XLA compiles"
C = np.array([[True, False, True], [False, False, True]])

CASES = [
    Case("where", pb.where, [C, normal(2, 3), normal(2, 3, seed=1)], np.where),
    Case("where_condition_broadcasts", pb.where, [C[0], normal(2, 3), normal(2, 3, seed=1)], np.where),
    Case("where_x_broadcasts", pb.where, [C, normal(3), normal(2, 1)], np.where),
    Case("where_all_broadcast", pb.where, [C[:, :1], normal(3), normal()], np.where),
    Case("where_scalars", pb.where, [np.array(True), normal(), normal(seed=1)], np.where),
    Case("where_empty", pb.where, [np.zeros((0, 1), bool), normal(0, 2), normal(2)], np.where),
    Case("where_number", lambda c, x: pb.where(c, x, 0.0), [C, normal(2, 3)], lambda c, x: np.where(c, x, 0)),
    Case("where_same", lambda c, x: pb.where(c, x, x), [C, normal(2, 3)], lambda c, x: x),
    Case("where_int", pb.where, [C, np.arange(6).reshape(2, 3), np.array(-1)], np.where),
    Case("where_complex", pb.where, [C, normal(2, 3) + 1j, normal(2, 3) * 1j], np.where),
    Case(
        "where_both_sides",
        lambda c, x: pb.where(c, x * x, pb.sin(x)),
        [C, normal(2, 3)],
        lambda c, x: np.where(c, x * x, np.sin(x)),
    ),
    Case("places", pb.where, [C], lambda c: np.argwhere(c), not_compiled=DATA),
    Case("places_scalar", pb.where, [np.array(True)], np.zeros((1, 0)), not_compiled=DATA),
    Case("where_third_order", lambda c, x: pb.where(c, x * x * x, pb.sin(x)), [C, normal(2, 3)], third_order=True),
]
