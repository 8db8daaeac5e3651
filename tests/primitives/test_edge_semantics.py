"""The page on edges: each row on both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytestmark = pytest.mark.usefixtures("optimized_programs")
ENGINES = ["numpy", "xla"]
ALL_ENGINES = [*ENGINES, "onnxruntime"]
NAN, INF = np.nan, np.inf
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def run(f: Callable[..., Any], arrays: list[np.ndarray], engine: str) -> Any:
    """The value of a function of arrays that are fed, so that XLA computes it."""
    xs = [pb.placeholder(a.dtype, a.shape) for a in arrays]
    return pb.Session(engine=engine).run(f(*xs), dict(zip(xs, arrays, strict=True)))


SAME: dict[str, tuple[Callable[..., Any], list[np.ndarray], Any]] = {
    "quotient": (lambda x, y: x // y, [i32(5, -5, -(2**31)), i32(0, 0, -1)], [0, 0, -(2**31)]),
    "remainder": (lambda x, y: x % y, [i32(5, -5), i32(0, 0)], [0, 0]),
    "truncated": (pb.truncatediv, [i32(5), i32(0)], [0]),
    "negative_power": (pb.pow, [i32(2, 1, -1, 0), i32(-1, -1, -3, -2)], [0, 1, -1, 0]),
    "overflow": (lambda x: x * x, [i32(2**16, 2**31 - 1)], [0, 1]),
    "to_int32": (
        lambda x: pb.cast(x, pb.int32),
        [f32(NAN, 3e9, -3e9, INF, 2.7, -2.7)],
        [0, 2**31 - 1, -(2**31), 2**31 - 1, 2, -2],
    ),
    "to_uint8": (lambda x: pb.cast(x, pb.uint8), [f32(-1, 300, NAN, 7.9)], [0, 255, 0, 7]),
    "to_int64": (lambda x: pb.cast(x, pb.int64), [np.array([1e30, -1e30, NAN])], [2**63 - 1, -(2**63), 0]),
    "to_bool": (lambda x: pb.cast(x, pb.bool), [f32(0, NAN, -0.0, 2)], [False, True, False, True]),
    "narrower": (lambda x: pb.cast(x, pb.int8), [i32(300, -129)], [44, 127]),
    "to_float16": (lambda x: pb.cast(x, pb.float16), [np.array([1e6])], [INF]),
    "float_quotient": (lambda x, y: x / y, [f32(0, 1, -1), f32(0, 0, 0)], [NAN, INF, -INF]),
    "float_remainder": (lambda x, y: x % y, [f32(-7, 7, 5, -5, 5), f32(3, -3, INF, INF, 0)], [2, -2, 5, INF, NAN]),
    "left_shift": (pb.bitwise.left_shift, [i32(1, 1), i32(32, 40)], [0, 0]),
    "right_shift": (pb.bitwise.right_shift, [i32(-8, 8), i32(40, 33)], [-1, 0]),
    "halves": (pb.round, [f32(0.5, 1.5, 2.5, -0.5)], [0, 2, 2, 0]),
    "maximum_nan": (pb.maximum, [f32(NAN, 1), f32(1, NAN)], [NAN, NAN]),
    "reduce_max_nan": (lambda x: pb.reduce_max(x, 1), [f32([1, NAN, 3], [NAN, 1, 2], [1, 3, NAN])], [NAN, NAN, NAN]),
    "reduce_min_nan": (lambda x: pb.reduce_min(x, 1), [f32([1, NAN, 3], [NAN, 1, 2], [1, 3, NAN])], [NAN, NAN, NAN]),
    "slope_of_reduce_max_nan": (lambda x: pb.gradients(pb.reduce_max(x), x)[0], [f32(1, NAN, 3)], [NAN, NAN, NAN]),
    "argmax_nan": (lambda x: pb.argmax(x, 1), [f32([1, NAN, NAN], [INF, 3, NAN], [1, INF, 3])], [1, 2, 1]),
    "argmin_nan": (lambda x: pb.argmin(x, 1), [f32([1, NAN, NAN], [-INF, 3, NAN], [1, -INF, 3])], [1, 2, 1]),
    "sort_nan": (pb.sort, [f32(3, NAN, 1, INF, -NAN, -INF)], [-INF, 1, 3, INF, NAN, NAN]),
    "argsort_nan": (pb.argsort, [f32(3, NAN, 1, INF, -NAN, -INF)], [5, 2, 0, 3, 1, 4]),
    "argsort_nan_down": (
        lambda x: pb.argsort(x, direction="DESCENDING"),
        [f32(3, NAN, 1, INF, -NAN, -INF)],
        [1, 4, 3, 0, 2, 5],
    ),
    "top_k_nan": (lambda x: pb.math.top_k(x, 4)[0], [f32(1, NAN, 3, INF, -NAN)], [NAN, NAN, INF, 3]),
    "top_k_zeros": (lambda x: pb.math.top_k(x, 3)[1], [f32(-0.0, 0.0, -0.0, -1)], [0, 1, 2]),
    "sign_of_top_k_zeros": (lambda x: 1.0 / pb.math.top_k(x, 2)[0], [f32(-0.0, 0.0)], [-INF, INF]),
    "atan2_nan": (pb.atan2, [f32(NAN, 0, NAN, 0), f32(0, NAN, 1, 0)], [NAN, NAN, NAN, 0]),
    "searchsorted_nan": (pb.searchsorted, [f32(1, 2, 3), f32(NAN, 2, INF)], [3, 1, 3]),
    "complex_to_int32": (
        lambda x, y: pb.cast(pb.complex(x, y), pb.int32),
        [f32(NAN, 3e9, -1.5), f32(1, 1, 1)],
        [0, 2**31 - 1, -1],
    ),
    "masked_nan": (lambda x, y: pb.cast(x > 0, pb.float32) * y, [f32(1, -1, -1), f32(NAN, NAN, INF)], [NAN, NAN, NAN]),
    "norm_of_scalar": (lambda x: pb.stack([pb.norm(x), pb.math.reduce_euclidean_norm(x)]), [np.float32(-2)], [2, 2]),
    "argsort_ties": (pb.argsort, [f32(2, 1, 2, 1)], [1, 3, 0, 2]),
    "segment": (lambda x, i: pb.math.unsorted_segment_sum(x, i, 2), [f32(1, 2, 3), i32(-1, 5, 0)], [3, 0]),
    "one_hot": (lambda i: pb.one_hot(i, 2), [i32(-1, 7)], [[0, 0], [0, 0]]),
    "label": (
        lambda x, i: pb.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x),
        [np.ones((1, 2)), i32(5)],
        [NAN],
    ),
    "slice": (lambda x: x[1:9], [f32(1, 2, 3)], [2, 3]),
    "det": (pb.linalg.det, [SINGULAR], 0),
    "slogdet": (lambda x: pb.linalg.slogdet(x)[1], [SINGULAR], -INF),
    "lower_triangle": (pb.linalg.cholesky, [np.array([[4.0, 9.0], [2.0, 5.0]])], [[2, 0], [1, 2]]),
    "inverse_of_nan": (pb.linalg.inv, [SINGULAR * NAN], [[NAN, NAN], [NAN, NAN]]),
    "mean_of_nothing": (pb.reduce_mean, [f32()], NAN),
    "mean_of_what_turns_out_to_be_nothing": (lambda x: pb.reduce_mean(pb.boolean_mask(x, x > 9)), [f32(1, 2)], NAN),
    "max_of_nothing": (pb.reduce_max, [f32()], -INF),
    "sum_of_float16": (pb.reduce_sum, [np.ones(3000, np.float16)], 3000),
}


@pytest.mark.parametrize("engine", ALL_ENGINES)
@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same_everywhere(name: str, engine: str) -> None:
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    f, arrays, expected = SAME[name]
    np.testing.assert_array_equal(run(f, arrays, engine), expected)


DIFFERENT: dict[str, tuple[Callable[..., Any], list[np.ndarray], str, Any]] = {
    "gather": (pb.gather, [f32(1, 2), i32(5)], r"indices\[0\] = 5 is not in", [NAN]),
    "gather_int": (pb.gather, [i32(1, 2), i32(-1)], r"indices\[0\] = -1 is not in", [-(2**31)]),
    "gather_nd": (pb.gather_nd, [f32(1, 2), i32(5)[None]], "does not index into shape", [NAN]),
    "scatter_nd": (
        lambda i, u: pb.scatter_nd(i, u, [3]),
        [i32(5, 0)[:, None], f32(1, 2)],
        "does not index into shape",
        [2, 0, 0],
    ),
    "inv": (pb.linalg.inv, [SINGULAR], "Singular matrix", [[-INF, INF], [INF, -INF]]),
    "cholesky": (
        lambda x: pb.linalg.cholesky(x)[1],
        [np.array([[1.0, 2.0], [2.0, 1.0]])],
        "not positive definite",
        [NAN, NAN],
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_numpy_refuses_and_xla_marks(name: str) -> None:
    f, arrays, said, marked = DIFFERENT[name]
    with pytest.raises(pb.errors.InvalidArgumentError, match=said):
        run(f, arrays, "numpy")
    np.testing.assert_array_equal(run(f, arrays, "xla"), marked)


def test_xla_flushes_small_numbers_on_a_cpu() -> None:
    f, small = (lambda x: x * 0.5), [f32(1.2e-38)]
    assert run(f, small, "numpy") > 0
    assert run(f, small, "xla") == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_argmax_of_nothing_is_an_error(engine: str) -> None:
    with pytest.raises(pb.errors.InvalidArgumentError, match="empty sequence"):
        run(lambda x: pb.argmax(x, 0), [np.zeros((0, 2), np.float32)], engine)


@pytest.mark.parametrize("engine", ALL_ENGINES)
@pytest.mark.parametrize("f", [pb.math.floordiv, pb.truncatediv])
def test_whole_quotients_by_a_number_are_those_of_the_rounded_quotient(f: Callable[..., Any], engine: str) -> None:
    random = np.random.default_rng(0)
    for divisor in random.uniform(0.1, 50, 5).astype(np.float32):
        x = (divisor * random.integers(-9, 9, 1000)).astype(np.float32)
        np.testing.assert_array_equal(run(f, [x, divisor], engine), run(f, [x, np.full_like(x, divisor)], "numpy"))


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_the_derivative_of_a_remainder_is_that_of_the_same_whole_quotient(engine: str) -> None:
    divisor = f32(0.1, 0.7, 14.385)[:, None]
    x = divisor * np.arange(-50, 50, dtype=np.float32)
    (slope,) = run(lambda a, b: pb.gradients(a % b, b), [x, divisor], engine)
    np.testing.assert_array_equal(slope, -np.floor(x / divisor).sum(1, keepdims=True))
