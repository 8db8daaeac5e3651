"""Rows: operations that hand on what they get, sums of many, placeholders."""

from __future__ import annotations

import pullback as pb
from pullback.primitives.identity.identity import EnsureShapeLike

from ..case import Case, normal

X = normal(2, 3)

CASES = [
    Case("identity", pb.identity, [X], expected=lambda x: x),
    Case("identity_n", lambda x, y: pb.identity_n([x, y]), [X, normal(2)], expected=lambda x, y: [x, y]),
    Case("identity_n_of_one", lambda x: pb.identity_n([x]), [X], expected=lambda x: x),
    Case("identity_of_slices", lambda x: pb.gather(pb.identity(x), [1, 1]), [X], expected=lambda x: x[[1, 1]]),
    Case(
        "stop_gradient",
        lambda x: x * pb.stop_gradient(x),
        [X],
        expected=lambda x: x * x,
        not_differentiable="it is a constant to the derivative, not to differences",
    ),
    Case("ensure_shape_like", lambda x, y: EnsureShapeLike()(x, y), [X, X], expected=lambda x, y: x, wrt=[0]),
    Case("ensure_shape", lambda x: pb.ensure_shape(x, [None, 3]), [X], expected=lambda x: x),
]
