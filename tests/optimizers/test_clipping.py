"""Clipping: what is more than a row of the case table."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


def test_slices_stay_slices_and_keep_their_rows(engine: str) -> None:
    slices = pb.IndexedSlices(pb.constant([[3.0], [1.0]]), pb.constant([2, 2]), pb.constant([3, 1]))
    clipped, norm = pb.clip_by_global_norm([slices, None], 1.0)
    assert clipped[1] is None
    (values, indices, _), length = pb.Session(engine=engine).run([clipped[0], norm])
    assert length == 4.0
    assert indices.tolist() == [2, 2]
    np.testing.assert_allclose(values, [[0.75], [0.25]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_norm_that_is_not_finite_gives_nan_everywhere(bad: float, engine: str) -> None:
    clipped, _ = pb.clip_by_global_norm([pb.constant([1.0, bad]), pb.constant([2.0])], 1.0)
    for value in pb.Session(engine=engine).run(clipped):
        assert np.isnan(value).all()


def test_the_derivative_exists_at_norm_zero(engine: str) -> None:
    x = pb.zeros([3])
    (dx,) = pb.gradients(pb.clip_by_norm(x, 2.0), x)
    assert pb.Session(engine=engine).run(dx).tolist() == [1.0, 1.0, 1.0]


def test_clipped_row_gradients_go_on_to_a_row_update() -> None:
    table = pb.Variable(pb.ones([4, 1]))
    optimizer = pb.train.GradientDescentOptimizer(1.0)
    ((dy, _),) = optimizer.compute_gradients(pb.reduce_sum(table.sparse_read([1, 1, 3]) * 10.0))
    (clipped,), _ = pb.clip_by_global_norm([dy], np.sqrt(5.0))
    assert isinstance(clipped, pb.IndexedSlices)
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    session.run(optimizer.apply_gradients([(clipped, table)]))
    np.testing.assert_allclose(session.run(table), [[1.0], [-1.0], [1.0], [0.0]], atol=1e-6)


def test_integers_have_no_norm() -> None:
    with pytest.raises(TypeError, match=r"^clip_by_norm: a norm is taken of floats, not of int32\[1\] 'Const:0'$"):
        pb.clip_by_norm([1], 1.0)


def test_a_tensor_is_not_a_list_of_them() -> None:
    with pytest.raises(TypeError, match="t_list should be a sequence of tensors"):
        pb.global_norm(pb.constant([1.0]))


@pytest.mark.parametrize("axes", [[0], [1], [-1], [0, 1]])
def test_slices_clipped_along_axes_are_the_clipped_dense_array(axes: list[int], engine: str) -> None:
    values = pb.constant([[3.0, 1.0], [0.0, 0.5], [0.0, 3.0]])
    slices = pb.IndexedSlices(values, pb.constant([0, 2, 0]), pb.constant([3, 2]))
    clipped = pb.clip_by_norm(slices, 1.0, axes=axes)
    dense = pb.clip_by_norm(pb.convert_to_tensor(slices), 1.0, axes=axes)
    assert isinstance(clipped, pb.IndexedSlices)
    found, wanted = pb.Session(engine=engine).run([pb.convert_to_tensor(clipped), dense])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_a_global_norm_of_several_dtypes_leaves_each_its_own(dtype: str, engine: str) -> None:
    wide = "float64" if dtype == "float64" else "float32"
    terms = [pb.constant([3.0], dtype), pb.constant([4.0], "float32")]
    clipped, norm = pb.clip_by_global_norm(terms, 1.0)
    assert [t.dtype.name for t in clipped] == [dtype, "float32"]
    assert norm.dtype.name == pb.global_norm(terms).dtype.name == wide
    first, second, length = pb.Session(engine=engine).run([*clipped, norm])
    assert length == 5.0
    np.testing.assert_allclose([float(first[0]), second[0]], [0.6, 0.8], rtol=4e-3)


def test_slices_and_tensors_of_several_dtypes_are_clipped_together(engine: str) -> None:
    slices = pb.IndexedSlices(pb.constant([[1.0], [2.0]], "float16"), pb.constant([2, 2]), pb.constant([3, 1]))
    (rows, dense), norm = pb.clip_by_global_norm([slices, pb.constant([4.0])], 2.5)
    values, second, length = pb.Session(engine=engine).run([rows.values, dense, norm])
    assert (rows.dtype.name, length) == ("float16", 5.0)
    assert (values.tolist(), second.tolist()) == ([[0.5], [1.0]], [2.0])


def test_a_norm_that_is_given_may_have_another_dtype_than_what_it_clips(engine: str) -> None:
    (clipped,), norm = pb.clip_by_global_norm([pb.constant([3.0], "float16")], 1.0, use_norm=pb.constant(4.0))
    assert (clipped.dtype.name, norm.dtype.name) == ("float16", "float32")
    assert pb.Session(engine=engine).run(clipped).tolist() == [0.75]


def test_a_norm_that_would_make_what_it_clips_larger_is_refused() -> None:
    x = pb.ones([2, 3, 1], name="x")
    assert pb.clip_by_norm(x, [[[1.0]], [[2.0]]]).shape == x.shape
    for clip in (pb.clip_by_norm, pb.clip_by_average_norm):
        with pytest.raises(ValueError, match=r"clip_norm of shape \(2,\) would make .*x:0' one of shape \(2, 3, 2\)"):
            clip(x, [1.0, 2.0])
