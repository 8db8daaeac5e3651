"""Row-sparse gradients: as results, seeds, xs and ys, joined and made dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def run(fetches: Any) -> Any:
    with pb.Session(graph=pb.get_default_graph(), engine="numpy") as session:
        return session.run(fetches)


def test_rows_that_were_gathered_have_a_gradient_of_these_rows_only() -> None:
    table = pb.constant(np.arange(12.0).reshape(4, 3))
    (dt,) = pb.gradients(pb.gather(table, [2, 0, 2]), table)
    assert isinstance(dt, pb.IndexedSlices)
    value = run(dt)
    np.testing.assert_array_equal(value.values, np.ones((3, 3)))
    np.testing.assert_array_equal(value.indices, [2, 0, 2])
    np.testing.assert_array_equal(value.dense_shape, [4, 3])
    np.testing.assert_array_equal(run(pb.convert_to_tensor(dt)), [[1] * 3, [0] * 3, [2] * 3, [0] * 3])


def test_a_gather_of_any_rank_gives_flat_indices() -> None:
    table = pb.constant(np.ones((4, 3)))
    (dt,) = pb.gradients(pb.gather(table, [[1, 2], [3, 0]]), table)
    assert dt.values.shape == [4, 3]
    assert dt.indices.shape == [4]


def test_slices_alone_are_joined_and_stay_slices() -> None:
    table = pb.constant(np.ones((4, 2)))
    y = [pb.gather(table, [0, 1]), pb.gather(table, pb.constant([3], pb.int64))]
    (dt,) = pb.gradients(y, table)
    assert isinstance(dt, pb.IndexedSlices)
    assert dt.indices.dtype == pb.int64
    assert sorted(run(dt).indices.tolist()) == [0, 1, 3]


def test_joining_keeps_int32_where_all_are_int32() -> None:
    table = pb.constant(np.ones((4, 2)))
    (dt,) = pb.gradients([pb.gather(table, [0]), pb.gather(table, [1])], table)
    assert dt.indices.dtype == pb.int32


def test_slices_and_tensors_together_become_a_tensor() -> None:
    table = pb.constant(np.ones((3, 2)))
    (dt,) = pb.gradients([pb.gather(table, [1]), table * 2.0], table)
    assert isinstance(dt, pb.Tensor)
    assert dt.op.type == "AddN"
    assert any(x.op.type == "UnsortedSegmentSum" for x in dt.op.inputs)
    np.testing.assert_array_equal(run(dt), [[2, 2], [3, 3], [2, 2]])


def test_slices_are_accepted_as_seeds() -> None:
    x = pb.constant(np.ones((3, 2)))
    seed = pb.IndexedSlices(pb.constant([[1.0, 2.0]], pb.float64), pb.constant([1]), pb.constant([3, 2]))
    (same,) = pb.gradients(x, x, grad_ys=seed)
    assert isinstance(same, pb.IndexedSlices)
    assert same.values.op.name == "gradients/grad_ys_0_values"
    (dx,) = pb.gradients(x * 3.0, x, grad_ys=seed)
    np.testing.assert_array_equal(run(dx), [[0, 0], [3, 6], [0, 0]])


def test_nested_slices_are_flattened() -> None:
    inner = pb.IndexedSlices(pb.constant([[5.0]]), pb.constant([1]), pb.constant([2, 1]))
    outer = pb.IndexedSlices(inner, pb.constant([7, 9]), pb.constant([10, 1]))
    x = pb.constant(np.ones((10, 1), np.float32))
    (dx,) = pb.gradients(x, x, grad_ys=outer)
    value = run(dx)
    np.testing.assert_array_equal(value.indices, [9])
    np.testing.assert_array_equal(value.values, [[5.0]])


def test_slices_as_y_and_as_x_stand_for_their_values() -> None:
    values = pb.constant([[1.0, 2.0]])
    slices = pb.IndexedSlices(values * 2.0, pb.constant([3]), pb.constant([5, 2]))
    np.testing.assert_array_equal(run(pb.gradients(slices, values)[0]), [[2.0, 2.0]])
    given = pb.IndexedSlices(values, pb.constant([3]), pb.constant([5, 2]))
    (dx,) = pb.gradients(values * 4.0, given)
    assert isinstance(dx, pb.IndexedSlices)
    np.testing.assert_array_equal(run(dx).values, [[4.0, 4.0]])


def test_negated_slices_stay_slices() -> None:
    slices = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([0]), pb.constant([2, 1]))
    assert isinstance(-slices, pb.IndexedSlices)
    assert run(-slices).values == [[-1.0]]
    assert isinstance(pb.negative(slices), pb.IndexedSlices)


def test_gates_hold_slices_by_their_values() -> None:
    table, x = pb.constant(np.ones((3, 2))), pb.constant(np.ones((2, 2)))

    @pb.RegisterGradient("RowsOfBoth")
    def rows(op: Any, dy: Any) -> Any:
        return pb.IndexedSlices(dy, pb.constant([0, 1]), pb.constant([3, 2])), dy

    with pb.get_default_graph().gradient_override_map({"AddV2": "RowsOfBoth"}):
        y = pb.add(pb.gather(table, [0, 1]), x)
    da, dx = pb.gradients(y, [y.op.inputs[0], x], gate_gradients=True)
    assert da.values.op.name.endswith("tuple/control_dependency")
    assert dx.op.name.endswith("tuple/control_dependency_1")


def test_slices_without_a_dense_shape_cannot_become_a_tensor() -> None:
    slices = pb.IndexedSlices(pb.constant([[1.0]], name="v"), pb.constant([0]))
    with pytest.raises(ValueError, match=r"Tensor conversion requested for IndexedSlices .* without dense_shape"):
        pb.convert_to_tensor(slices)


def test_a_gather_along_another_axis_has_a_dense_gradient() -> None:
    table = pb.constant(np.ones((2, 3)))
    (dt,) = pb.gradients(pb.gather(table, [0, 0, 2], axis=1), table)
    assert isinstance(dt, pb.Tensor)
    np.testing.assert_array_equal(run(dt), [[2, 0, 1], [2, 0, 1]])
