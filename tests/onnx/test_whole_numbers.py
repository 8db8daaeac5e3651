"""Integers in exported models are exact, and wrap around as NumPy's do, where onnxruntime itself uses float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.primitives.reduction.sum import SumLike

pytest.importorskip("onnxruntime")

DTYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
POWERS = np.array([3, 5, 2, 40, 63, 0, 31, 0])
TABLE = np.array([[-(2**63), 2**63 - 1, 0, 1], [2**53 + 1, 3, 2**40 + 1, -7]])

OF_AXES = {
    "sum": lambda x: [pb.reduce_sum(x), pb.reduce_sum(x, 0), pb.reduce_sum(x, -1, keepdims=True)],
    "mean": lambda x: [pb.reduce_mean(x), pb.reduce_mean(x, 1)],
    "prod": lambda x: [pb.reduce_prod(x // 7 + 3), pb.reduce_prod(x, 0, keepdims=True), pb.reduce_prod(x, [])],
}


def compare(build: Callable[..., Any], arrays: list[Any], shapes: list[Any]) -> None:
    """The results in onnxruntime are those of NumPy, in value and dtype."""
    with pb.Graph().as_default() as graph, np.errstate(all="ignore"):
        xs = [pb.placeholder(a.dtype, shape) for a, shape in zip(arrays, shapes, strict=True)]
        ys, feeds = build(*xs), dict(zip(xs, arrays, strict=True))
        sessions = [pb.Session(graph=graph, engine=engine) for engine in ("onnxruntime", "numpy")]
        for a, b in zip(*[session.run(ys, feeds) for session in sessions], strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_products_powers_and_signs_of_every_dtype_wrap_around(dtype: Any) -> None:
    ends = np.iinfo(dtype)
    x = np.array([ends.min, ends.max, ends.max // 2 + 3, 3, 1, 0, 7, 9], dtype)

    def build(x: Any, p: Any) -> list[Any]:
        powers = [pb.pow(x, p), x**2, x**5, pb.pow(x, pb.expand_dims(p, 1))]
        return [pb.reduce_sum(x), pb.reduce_prod(x[:5]), pb.sign(x), *powers]

    compare(build, [x, POWERS.astype(dtype)], [[8], [8]])


@pytest.mark.parametrize("shape", [[2, 4], [None, None]])
@pytest.mark.parametrize("name", OF_AXES)
def test_reductions_of_large_integers_along_axes_are_exact(name: str, shape: list[int | None]) -> None:
    compare(OF_AXES[name], [TABLE], [shape])


def test_the_sum_of_what_was_broadcast_is_exact() -> None:
    compare(lambda x, like: [SumLike()(x, like)], [TABLE, np.zeros((1, 4))], [[2, 4], [None, 4]])


def test_lengths_are_still_multiplied_by_one_node() -> None:
    x = pb.placeholder(pb.float32, [None, None])
    model = pb.onnx.export(pb.reduce_prod(pb.shape(x, out_type=pb.int64)))
    assert [node.op_type for node in model.graph.node] == ["Shape", "ReduceProd"]


def test_small_integers_are_still_added_up_by_one_node() -> None:
    x = pb.placeholder(pb.float32, [8])
    model = pb.onnx.export(pb.reduce_sum(pb.cast(x > 0, pb.int64)))
    assert [node.op_type for node in model.graph.node] == ["Greater", "Cast", "ReduceSum"]
