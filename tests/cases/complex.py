"""Rows: complex numbers."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, cubed, distinct, normal

Z = normal(2, 3) + 1j * normal(2, 3, seed=1)

CASES = [
    Case("complex", pb.complex, [normal(2, 3), normal(3, seed=1)], lambda a, b: a + 1j * b),
    Case("complex_scalar", pb.complex, [normal(), normal(2, 1)], lambda a, b: a + 1j * b),
    Case(
        "complex_infinite",
        pb.complex,
        [np.array([0.0]), np.array([np.inf])],
        np.array([complex(0, np.inf)]),
        not_differentiable="infinite",
    ),
    Case("real", pb.math.real, [Z], np.real),
    Case("imag", pb.math.imag, [Z], np.imag),
    Case("real_of_real", pb.math.real, [normal(3)], np.real),
    Case("imag_of_real", pb.math.imag, [normal(3)], np.zeros(3)),
    Case("conj", pb.math.conj, [Z], np.conj),
    Case("conj_of_real", pb.math.conj, [normal(3)], np.conj),
    Case("angle", pb.math.angle, [Z], np.angle),
    Case("angle_of_real", pb.math.angle, [distinct(4)], np.angle),
    Case("abs", pb.abs, [Z], np.abs),
    Case("abs_squared", lambda z: pb.abs(z) * pb.abs(z), [Z], lambda z: np.abs(z) ** 2),
    Case("sign", pb.sign, [Z], lambda z: z / np.abs(z)),
    Case("empty", lambda z: [pb.abs(z), pb.math.angle(z), pb.math.real(z)], [np.zeros((0, 2), np.complex128)]),
    Case("parts_put_together", lambda z: pb.complex(pb.math.real(z), pb.math.imag(z)), [Z], lambda z: z),
    Case("abs_third_order", pb.abs, [Z], third_order=True),
    Case("cube_of_conj", cubed(pb.math.conj), [Z], third_order=True),
]
