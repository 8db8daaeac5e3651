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
