"""Rows: parts of matrices."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, cubed, normal

RANK_IS_NEEDED = "the rank says how many labels there are"
BANDS = [("main", 0), ("above", 1), ("below", -2), ("band", (-1, 2)), ("band_below", (-2, -1)), ("whole", (-2, 3))]


def _diagonals() -> list[Case]:
    cases = []
    for name, k in BANDS:
        for align in ("RIGHT_LEFT", "LEFT_RIGHT"):
            options = {"k": k, "align": align}
            with pb.Graph().as_default():
                shape = pb.linalg.diag_part(pb.zeros([2, 3, 4]), **options).shape.known
            cases += [
                Case(
                    f"diag_part_{name}_{align.lower()}",
                    lambda x, options=options: pb.linalg.diag_part(x, **options),
                    [normal(2, 3, 4)],
                ),
                Case(
                    f"diag_{name}_{align.lower()}",
                    lambda x, options=options: pb.linalg.diag(x, num_rows=3, num_cols=4, **options),
                    [normal(*shape)],
                ),
                Case(
                    f"set_diag_{name}_{align.lower()}",
                    lambda x, d, options=options: pb.linalg.set_diag(x, d, **options),
                    [normal(2, 3, 4), normal(*shape, seed=1)],
                ),
            ]
    return cases


CASES = [
    *_diagonals(),
    Case(
        "matrix_transpose",
        pb.linalg.matrix_transpose,
        [normal(2, 3, 4)],
        expected=lambda x: np.swapaxes(x, 1, 2),
    ),
    Case("adjoint", pb.linalg.adjoint, [normal(2, 3) + 1j * normal(2, 3, seed=1)], expected=lambda x: x.conj().T),
    Case("trace", pb.linalg.trace, [normal(2, 3, 3)], expected=lambda x: np.trace(x, axis1=1, axis2=2)),
    Case("trace_not_square", pb.linalg.trace, [normal(3, 4)], expected=np.trace),
    Case("diag_part_numpy", pb.linalg.diag_part, [normal(3, 4)], expected=np.diag),
    Case("diag_square", pb.linalg.diag, [normal(2, 3)]),
    Case("diag_numpy", lambda x: pb.linalg.diag(x, k=-1), [normal(3)], expected=lambda x: np.diag(x, -1)),
    Case(
        "diag_part_padding",
        lambda x: pb.linalg.diag_part(x, k=(0, 1), padding_value=7.0),
        [np.arange(9.0).reshape(3, 3)],
        expected=np.array([[7.0, 1.0, 5.0], [0.0, 4.0, 8.0]]),
    ),
    Case("band_part_lower", lambda x: pb.linalg.band_part(x, -1, 0), [normal(2, 3, 4)], expected=np.tril),
    Case("band_part", lambda x: pb.linalg.band_part(x, 1, 2), [normal(4, 5)]),
    Case(
        "band_part_fed",
        lambda x, lower, upper: pb.linalg.band_part(x, lower, upper),
        [normal(2, 4, 5), np.array(1), np.array(-1)],
        expected=lambda x, lower, upper: np.triu(x, -lower),
    ),
    Case("band_part_no_rows", lambda x: pb.linalg.band_part(x, 1, 2), [normal(0, 5)]),
    Case("tensor_diag", pb.linalg.tensor_diag, [normal(2, 3)], not_erased_rank=RANK_IS_NEEDED),
    Case("tensor_diag_part", pb.linalg.tensor_diag_part, [normal(2, 3, 2, 3)], not_erased_rank=RANK_IS_NEEDED),
    Case("cube_of_set_diag", cubed(pb.linalg.set_diag), [normal(2, 2, 3), normal(2, 2)], third_order=True),
]
