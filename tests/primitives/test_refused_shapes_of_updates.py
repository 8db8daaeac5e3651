"""Updates at indices, and numbers of segments, that cannot fit are refused while the graph is built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

NONE = pb.zeros([0, 3])
ROW = [[1.0, 2.0, 3.0]]
SCATTERS = {
    "scatter_nd": lambda ids, updates: pb.scatter_nd(ids, updates, [0, 3]),
    "tensor_scatter_nd_add": lambda ids, updates: pb.tensor_scatter_nd_add(pb.zeros([0, 3]), ids, updates),
    "tensor_scatter_nd_update": lambda ids, updates: pb.tensor_scatter_nd_update(pb.zeros([0, 3]), ids, updates),
    "tensor_scatter_nd_max": lambda ids, updates: pb.tensor_scatter_nd_max(pb.zeros([0, 3]), ids, updates),
    "scatter_nd_update": lambda ids, updates: pb.scatter_nd_update(pb.Variable(np.zeros((0, 3), "f")), ids, updates),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_no_updates_of_what_has_no_elements(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: Indices and updates specified for empty output shape: int32"):
        SCATTERS[name]([[0]], ROW)
    SCATTERS[name](np.zeros((0, 1), np.int32), np.zeros((0, 3), np.float32))
    SCATTERS[name](pb.placeholder(pb.int32, [None, 1]), pb.placeholder(pb.float32, [None, 3]))


@pytest.mark.parametrize("scatter", [pb.scatter_nd_update, pb.scatter_nd_add])
def test_a_variable_has_the_axes_that_indices_point_at(scatter: Any) -> None:
    with pytest.raises(
        pb.errors.InvalidArgumentError,
        match=r": Output must be at least 1-D: the indices int32\[1,1\] point at 1 axes of the variable float32\[\]",
    ):
        scatter(pb.Variable(0.0), [[0]], [0.25])
    with pytest.raises(ValueError, match=r"point at 2 axes of the variable float32\[3\], which has 1"):
        scatter(pb.Variable([0.0, 1.0, 2.0]), [[0, 0]], [0.25])


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_segment_numbers_are_one_for_each_row(name: str) -> None:
    reduction = getattr(pb.math, f"segment_{name}")
    for shape in ([2], [2, 2], []):
        with pytest.raises(ValueError, match=f"^segment_{name}: segment_ids should be the same size as the first axis"):
            reduction(pb.ones([4, 4]), pb.zeros(shape, pb.int32))
    assert reduction(pb.placeholder(pb.float32), pb.placeholder(pb.int32)).shape.rank is None


def test_a_number_of_segments_is_not_negative() -> None:
    with pytest.raises(ValueError, match=r"^Cannot specify a negative value for num_segments, but it is -2$"):
        pb.sparse.segment_sum(pb.ones([4, 4]), [0, 1], [0, 1], num_segments=-2)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", ["segment_sum", "segment_mean", "segment_sqrt_n"])
def test_empty_lists_of_rows_are_lists_of_integers(name: str, engine: str) -> None:
    reduction = getattr(pb.sparse, name)
    none = [reduction(pb.ones([2, 3]), [], []), reduction(pb.ones([2, 3]), [], [], 2)]
    found = pb.Session(engine=engine).run(none)
    assert [x.tolist() for x in found] == [[], [[0.0] * 3] * 2]
