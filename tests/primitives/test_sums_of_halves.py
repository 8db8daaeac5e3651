"""Sums of many float16, which exceed the largest one on the way to a result that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

N = 70_000
IDS = np.zeros(3000, np.int32)


def row(x: Any) -> Any:
    return pb.reshape(x, [1, 1, 1, -1])


def bags(x: Any) -> Any:
    ids = pb.sparse.SparseTensor(np.stack([IDS, np.arange(3000)], 1).astype(np.int64), np.arange(3000), [1, 3000])
    return pb.nn.embedding_lookup_sparse(pb.reshape(x * 100, [3000, 1]), ids, None, combiner="mean")


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "mean": pb.reduce_mean,
    "variance": pb.math.reduce_variance,
    "moments": lambda x: pb.nn.moments(x, [0])[1],
    "weighted_moments": lambda x: pb.nn.weighted_moments(x, [0], pb.ones_like(x))[1],
    "l2_normalize": lambda x: pb.nn.l2_normalize(x, 0),
    "global_norm": lambda x: pb.linalg.global_norm([x]),
    "clip_by_norm": lambda x: pb.clip_by_norm(x, 5.0),
    "clip_by_norm, axes": lambda x: pb.clip_by_norm(x, 5.0, axes=[0]),
    "clip_by_global_norm": lambda x: pb.clip_by_global_norm([x, x], 5.0)[0][0],
    "clip_by_average_norm": lambda x: pb.compat.v1.clip_by_average_norm(x, 0.1),
    "local_response_normalization": lambda x: pb.nn.local_response_normalization(row(x), 1500),
    "segment_mean": lambda x: pb.math.segment_mean(x * 100, IDS),
    "unsorted_segment_mean": lambda x: pb.math.unsorted_segment_mean(x * 100, IDS, 1),
    "unsorted_segment_sqrt_n": lambda x: pb.math.unsorted_segment_sqrt_n(x * 100, IDS, 1),
    "sparse.segment_mean": lambda x: pb.sparse.segment_mean(x * 100, np.arange(3000), IDS),
    "embedding_lookup_sparse": bags,
}
OF_MANY = ("mean", "variance", "moments", "weighted_moments")


def values(name: str) -> Any:
    count = N if name in OF_MANY else 3000
    return np.random.default_rng(0).normal(3, 1 if name in OF_MANY else 20, count)


def value_and_gradient(name: str, x: Any, engine: str) -> list[Any]:
    with pb.Graph().as_default():
        given = pb.placeholder(pb.as_dtype(x.dtype), x.shape)
        y = FUNCTIONS[name](given)
        (dx,) = pb.gradients(
            y, given, pb.cast(np.cos(np.arange(y.shape.num_elements())).reshape(y.shape.known), y.dtype)
        )
        return [np.asarray(v, np.float64) for v in pb.Session(engine=engine).run([y, dx], {given: x})]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_sum_exceeds_on_its_way_is_no_matter(name: str, engine: str) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    x = values(name).astype(np.float16)
    for found, wanted in zip(
        value_and_gradient(name, x, engine), value_and_gradient(name, x.astype(np.float64), "numpy"), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=0.02 * np.abs(wanted).max() + 2.0**-23)
        assert np.abs(found).max() > 0


def test_the_gradient_of_a_mean_in_onnx() -> None:
    pytest.importorskip("onnxruntime")
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float16, [N], name="x")
        y = pb.reduce_mean(x)
        (dx,) = pb.Session(engine="onnxruntime").run(pb.gradients(y, x), {x: np.ones(N, np.float16)})
        np.testing.assert_allclose(dx, np.full(N, 1 / N), rtol=0.01)


def test_a_long_running_log_of_a_sum() -> None:
    x = np.random.default_rng(0).normal(size=300_000).astype(np.float32)
    with pb.Graph().as_default():
        y = pb.math.cumulative_logsumexp(x)
        found = pb.Session(engine="numpy").run(y)
    np.testing.assert_allclose(found, np.log(np.cumsum(np.exp(x.astype(np.float64)))), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
@pytest.mark.parametrize("last", [pb.reduce_logsumexp, lambda x: pb.math.cumulative_logsumexp(x)[-1]])
def test_derivatives_of_logs_of_sums_by_large_elements(engine: str, dtype: pb.DType, last: Any) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    raw = np.array([60.0, 61.5, 58.0, 61.0])
    shares = np.exp(raw - 60) / np.exp(raw - 60).sum()
    with pb.Graph().as_default():
        x = pb.constant(raw, dtype)
        found = pb.Session(engine=engine).run(pb.gradients(last(x), x)[0])
    np.testing.assert_allclose(found.astype(np.float64), shares, rtol=0.01)
