"""Rows: random numbers, drawn anew or functions of a seed; dropout. With a seed, each new session draws the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pullback as pb

from .case import DRAWN_THERE, Case, cubed, normal

SEED = np.array([3, 4])
NEW = "each session draws other numbers"
SHAPES = np.array([0.3, 1.0, 2.5, 30.0])
IMPLICIT = "the derivative is that at a fixed value of the distribution function, not at fixed words"
DTYPES = "the two dtypes draw different numbers"
LARGER = np.array([[0.1, 0.2, 30.0], [40.0, 0.0, 0.0]])

CASES = [
    Case("uniform", lambda: pb.random.uniform([2, 3], seed=1)),
    Case("uniform_float64", lambda: pb.random.uniform([2, 3], dtype=pb.float64, seed=1)),
    Case("uniform_float16", lambda: pb.random.uniform([2, 3], dtype=pb.float16, seed=1)),
    Case("uniform_bfloat16", lambda: pb.random.uniform([2, 3], dtype=pb.bfloat16, seed=1)),
    Case("uniform_none", lambda: pb.random.uniform([0, 3], seed=1), expected=np.zeros((0, 3))),
    Case("uniform_scalar", lambda: pb.random.uniform([], seed=1)),
    Case("uniform_unseeded", lambda: pb.random.uniform([2]), not_exact=NEW),
    Case(
        "uniform_bounds",
        lambda a, b: pb.random.uniform([2, 3], a, b, dtype=a.dtype, seed=1),
        [normal(3), normal(2, 1)],
        not_float32="the two dtypes draw different numbers",
    ),
    Case("uniform_like", lambda x: x * pb.random.uniform(pb.shape(x), dtype=x.dtype, seed=1), [normal(2, 3)]),
    Case("uniform_int32", lambda: pb.random.uniform([9], -3, 4, dtype=pb.int32, seed=1)),
    Case("uniform_int64", lambda: pb.random.uniform([9], 10**11, 10**12, dtype=pb.int64, seed=1)),
    Case("uniform_int_like", lambda x: pb.random.uniform(pb.shape(x), 0, 9, pb.int32, seed=1), [np.arange(3)]),
    Case("normal", lambda: pb.random.normal([50], seed=1)),
    Case("normal_float64", lambda: pb.random.normal([50], dtype=pb.float64, seed=1)),
    Case("normal_moments", lambda m, s: pb.random.normal([2, 3], m, s, m.dtype, seed=1), [normal(3), normal()]),
    Case("truncated_normal", lambda: pb.random.truncated_normal([50], seed=1)),
    Case("truncated_normal_float64", lambda: pb.random.truncated_normal([50], dtype=pb.float64, seed=1)),
    Case("categorical", lambda x: pb.random.categorical(x, 5, seed=1), [LARGER], np.array([[2] * 5, [0] * 5])),
    Case("shuffle", lambda x: pb.random.shuffle(x, seed=1), [normal(5, 2)]),
    Case("shuffle_int", lambda x: pb.random.shuffle(x, seed=1), [np.arange(5)]),
    Case("dropout", lambda x: pb.nn.dropout(x, 0.5, seed=1), [normal(4, 5)]),
    Case("dropout_rows", lambda x: pb.nn.dropout(x, 0.5, noise_shape=[None, 1], seed=1), [normal(4, 5)]),
    Case("dropout_same", lambda x: (lambda y: y * y)(pb.nn.dropout(x, 0.5, seed=1)), [normal(4, 5)]),
    Case("dropout_rate_tensor", lambda x: pb.nn.dropout(x, pb.constant(0.5), seed=1), [normal(4, 5)]),
    Case("dropout_zero", lambda x: pb.nn.dropout(x, 0) * 1.0, [normal(4)], lambda x: x),
    Case("stateless_uniform", lambda s: pb.random.stateless_uniform([2, 3], s), [SEED]),
    Case("stateless_uniform_float64", lambda s: pb.random.stateless_uniform([2, 3], s, dtype=pb.float64), [SEED]),
    Case("stateless_uniform_bounds", lambda a: pb.random.stateless_uniform([2], [1, 2], a, 9.0, a.dtype), [normal(2)]),
    Case("stateless_uniform_int", lambda s: pb.random.stateless_uniform([9], s, 0, 7, dtype=pb.int32), [SEED]),
    Case("stateless_uniform_like", lambda x, s: pb.random.stateless_uniform(pb.shape(x), s), [normal(2, 3), SEED]),
    Case("stateless_normal", lambda s: pb.random.stateless_normal([50], s), [SEED]),
    Case("stateless_truncated_normal", lambda s: pb.random.stateless_truncated_normal([50], s), [SEED]),
    Case("stateless_negative_seed", lambda: pb.random.stateless_uniform([3], [-1, -(2**40)])),
    Case(
        "stateless_categorical",
        lambda x, s: pb.random.stateless_categorical(x, 4, s),
        [LARGER, SEED],
        np.array([[2] * 4, [0] * 4]),
    ),
    Case(
        "gamma",
        lambda a: pb.random.gamma([2], a, dtype=a.dtype, seed=1),
        [SHAPES],
        not_differentiable=IMPLICIT,
        not_float32=DTYPES,
    ),
    Case(
        "gamma_rate",
        lambda b: pb.random.gamma([2], 2.5, b, dtype=b.dtype, seed=1),
        [np.array([0.5, 4.0])],
        not_float32=DTYPES,
    ),
    Case("gamma_none", lambda: pb.random.gamma([0, 3], 2.0, seed=1), expected=np.zeros((0, 3))),
    Case(
        "stateless_gamma",
        lambda a, b, s: pb.random.stateless_gamma([2, 4], s, a, b, dtype=a.dtype),
        [SHAPES, np.array(2.0), SEED],
        wrt=[0],
        not_differentiable=IMPLICIT,
        not_float32=DTYPES,
    ),
    Case("poisson", lambda m: pb.random.poisson([3], m, seed=1), [np.array([0.0, 3.0, 400.0])], wrt=[]),
    Case("poisson_int", lambda m: pb.random.poisson([3], m, pb.int32, seed=1), [np.array([0.0, 3.0, 400.0])], wrt=[]),
    Case("stateless_poisson", lambda s: pb.random.stateless_poisson([2, 2], s, [1.0, 30.0]), [SEED]),
    Case(
        "bounded_normal",
        lambda m, s, a, b: pb.random.stateless_parameterized_truncated_normal([3, 2], [1, 2], m, s, a, b),
        [np.array([0.0, 0.5]), np.array(1.5), np.array([-1.0, 3.0]), np.array([[4.0], [5.0], [9.0]])],
    ),
    Case("cube_of_dropout", cubed(lambda x: pb.nn.dropout(x, 0.5, seed=1)), [normal(4)], third_order=True),
    Case(
        "truncated_moments",
        lambda m, s: pb.random.truncated_normal([2, 3], m, s, m.dtype, seed=1),
        [normal(3), normal()],
        not_float32=DTYPES,
    ),
    Case(
        "stateless_normal_moments",
        lambda m, s: pb.random.stateless_normal([2, 3], SEED, m, s, m.dtype),
        [normal(3), normal()],
        not_float32=DTYPES,
    ),
    Case(
        "stateless_truncated_moments",
        lambda m, s: pb.random.stateless_truncated_normal([2, 3], SEED, m, s, m.dtype),
        [normal(3), normal()],
        not_float32=DTYPES,
    ),
]

_NAMES_DRAWN = {
    "cube_of_dropout",
    "dropout",
    "dropout_rate_tensor",
    "dropout_rows",
    "dropout_same",
    "gamma",
    "gamma_rate",
    "normal",
    "normal_float64",
    "normal_moments",
    "poisson",
    "poisson_int",
    "shuffle",
    "shuffle_int",
    "truncated_moments",
    "truncated_normal",
    "truncated_normal_float64",
    "uniform",
    "uniform_bfloat16",
    "uniform_bounds",
    "uniform_float16",
    "uniform_float64",
    "uniform_int32",
    "uniform_int64",
    "uniform_int_like",
    "uniform_like",
    "uniform_scalar",
}
CASES = [replace(case, not_onnx=DRAWN_THERE) if case.name in _NAMES_DRAWN else case for case in CASES]
