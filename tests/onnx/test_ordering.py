"""What compares whole numbers gives on onnxruntime what it gives on NumPy, be they next to 2^31, 2^32 or 2^63."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("onnxruntime")
EDGES = [0, 1, 7, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 1, 2**32, 2**33 + 1, 2**53 + 1, 2**62 + 1, 2**63 - 1]


def numbers(dtype: Any) -> np.ndarray[Any, Any]:
    """Rows of numbers at the edges where a runtime may take them for others."""
    info = np.iinfo(dtype)
    edges = [n for e in EDGES for n in (e, -e, e + 2**63) if info.min <= n <= info.max] * 2
    random = np.random.default_rng(0)
    rows = [
        random.permutation(np.array(edges[first:] + edges[:first], object))[:9] for first in range(0, len(edges), 3)
    ]
    below = random.integers(0, min(2**32, info.max), (6, 9)).astype(dtype)
    return np.concatenate([np.array([[int(n) for n in row] for row in rows], dtype), below])


def segments(x: pb.Tensor, how: str) -> pb.Tensor:
    return getattr(pb, f"unsorted_segment_{how}")(x, [0, 1, 2] * (x.shape[0] // 3) + [0] * (x.shape[0] % 3), 3)


COMPARING = {
    "max": lambda x: pb.reduce_max(x, 1),
    "max_kept": lambda x: pb.reduce_max(x, 1, keepdims=True),
    "max_of_rows": lambda x: pb.reduce_max(x, 0),
    "max_of_all": pb.reduce_max,
    "min": lambda x: pb.reduce_min(x, -1),
    "min_of_all": lambda x: pb.reduce_min(x, [0, 1]),
    "maximum": lambda x: pb.maximum(x[:, :4], x[:, 4:8]),
    "minimum": lambda x: pb.minimum(x[:, :4], x[:, 4:8]),
    "clip": lambda x: pb.clip_by_value(x, pb.cast(3, x.dtype), pb.cast(2**31 + 3, x.dtype)),
    "relu": pb.nn.relu,
    "argmax": lambda x: pb.argmax(x, 1),
    "argmin": lambda x: pb.argmin(x, 1),
    "sort": pb.sort,
    "argsort": lambda x: pb.argsort(x, direction="DESCENDING"),
    "top_k": lambda x: pb.math.top_k(x, 3).values,
    "searchsorted": lambda x: pb.searchsorted(pb.sort(x), x),
    "less": lambda x: pb.less(x[:, :4], x[:, 4:8]),
    "unique": lambda x: pb.unique(pb.reshape(x, [-1])).idx,
    "segment_max": lambda x: segments(x, "max"),
    "segment_min": lambda x: segments(x, "min"),
    "scatter_max": lambda x: pb.tensor_scatter_nd_max(x, [[0], [0]], x[1:3]),
    "scatter_min": lambda x: pb.tensor_scatter_nd_min(x, [[0], [0]], x[1:3]),
    "pool": lambda x: pb.nn.max_pool(x[None, :, :, None], 2, 1, "SAME"),
    "sum": lambda x: pb.reduce_sum(x, 1),
    "add_n": lambda x: pb.add_n([x, x, x]),
    "blocks": lambda x: pb.nn.space_to_depth(x[None, :4, :4, None], 2),
}


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_whole_numbers_are_ordered_as_on_numpy(dtype: str) -> None:
    array = numbers(dtype)
    x = pb.placeholder(dtype, array.shape)
    made = {name: f(x) for name, f in COMPARING.items()}
    expected = pb.Session(engine="numpy").run(made, {x: array})
    with pb.Session(engine="onnxruntime") as session:
        for name, y in made.items():
            np.testing.assert_array_equal(session.run(y, {x: array}), expected[name], err_msg=name, strict=True)
