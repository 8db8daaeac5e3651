"""Rows: tensors spread over a mesh, which without one are what they were."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, cubed, normal

X = normal(2, 3)

CASES = [
    Case("sharding", lambda x: pb.sharding(pb.square(x), ["data", None]), [X], expected=np.square),
    Case("sharding_along_two_axes", lambda x: pb.sharding(x, [("data", "model")]), [X], expected=lambda x: x),
    Case("sharding_of_a_scalar", lambda x: pb.sharding(x, []) * x, [np.array(2.0)], expected=np.array(4.0)),
    Case("sharding_of_nothing", lambda x: pb.sharding(x, ["data"]), [np.zeros((0, 2))], expected=np.zeros((0, 2))),
    Case("sharding_of_integers", lambda x: pb.sharding(x, ["data"]), [np.array([1, 2])], expected=np.array([1, 2])),
    Case(
        "rows_of_a_sharded_table",
        lambda x: pb.gather(pb.sharding(x, [None, "model"]), [1, 1]),
        [X],
        expected=lambda x: x[[1, 1]],
    ),
    Case("cube_of_sharding", cubed(lambda x: pb.sharding(x, ["data"])), [X], third_order=True),
]
