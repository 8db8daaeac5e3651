"""Raw operations: those that differ from the functions of the same name, and derivatives that have names inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1 import generated_names, segment_slopes

LOGITS = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]], np.float32)


@pytest.mark.usefixtures("installed")
def test_generated_modules_have_raw_operations_and_others_functions() -> None:
    from tensorflow.python.ops import gen_nn_ops, math_ops, nn_ops

    loss, slope = gen_nn_ops.softmax_cross_entropy_with_logits(LOGITS, [[0.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.5, 0.0]])
    found = tf.Session().run([loss, slope])
    np.testing.assert_allclose(found[0], [1.3862, 1.9401], atol=1e-4)
    np.testing.assert_allclose(found[1][1], [0.0321, -0.4129, -0.2632, 0.6439], atol=1e-4)
    assert nn_ops.softmax_cross_entropy_with_logits is tf.nn.softmax_cross_entropy_with_logits
    assert math_ops.sparse_segment_mean_grad is segment_slopes.sparse_segment_mean_grad


def test_losses_repeat_rows_and_columns() -> None:
    loss, slope = generated_names.softmax_cross_entropy_with_logits(LOGITS, [[0.0], [2.0]])
    found = tf.Session().run([loss, slope])
    np.testing.assert_allclose(found[0][0], 0)
    np.testing.assert_allclose(found[1][0], 0.25)
    _, slope = generated_names.sparse_softmax_cross_entropy_with_logits(LOGITS, [0, 3])
    assert tf.Session().run(slope)[0].tolist() == [-0.75, 0.25, 0.25, 0.25]


def test_losses_of_no_matrices_are_refused() -> None:
    with pytest.raises(ValueError, match="Shape must be rank 2, but is rank 3"):
        generated_names.softmax_cross_entropy_with_logits(LOGITS[None], LOGITS[None])


SLOPES = {
    segment_slopes.sparse_segment_sum_grad: tf.sparse.segment_sum,
    segment_slopes.sparse_segment_mean_grad: tf.sparse.segment_mean,
    segment_slopes.sparse_segment_sqrt_n_grad: tf.sparse.segment_sqrt_n,
}


@pytest.mark.parametrize("slope", SLOPES, ids=lambda slope: slope.__name__)
def test_slopes_are_those_of_gradients(slope: Callable[..., Any]) -> None:
    data, dy = tf.placeholder(tf.float32, [6, 2, 1]), np.arange(6, dtype=np.float32).reshape(3, 2, 1)
    indices, ids = [5, 0, 0, 2, 5], [0, 0, 0, 2, 2]
    (slices,) = tf.gradients(SLOPES[slope](data, indices, ids), data, dy)
    wanted = tf.convert_to_tensor(slices)
    found, right = tf.Session().run([slope(dy, indices, ids, 6), wanted], {data: np.zeros((6, 2, 1))})
    np.testing.assert_allclose(found, right, rtol=1e-6)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("indices", "ids", "text"),
    [
        ([8, 10], [0, 1], "Index 10 out of range [0, 10)"),
        ([8, -1], [0, 1], "Index -1 out of range [0, 10)"),
        ([8, 3], [-1, 1], "Segment id -1 out of range [0, 2)"),
        ([8, 3], [0, 4], "Invalid number of segments: 2 for the last segment id 4"),
    ],
)
def test_numbers_out_of_range_are_refused_in_the_run(
    indices: list[int], ids: list[int], text: str, engine: str
) -> None:
    slope = segment_slopes.sparse_segment_mean_grad(np.ones((2, 3), np.float32), indices, ids, 10)
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.Session(engine=engine).run(slope)
    assert (text if engine == "numpy" else text.split()[0]) in str(caught.value)


def test_concat_offsets_say_which_shape_differs() -> None:
    from pullback.compat.v1.inner_names import concat_offset

    said = (
        "All dimensions except 1 must match. Input 2 has shape [2 7 10] and doesn't match input 0 with shape [2 3 5]."
    )
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.Session(engine="numpy").run(concat_offset(1, [[2, 3, 5], [2, 9, 5], [2, 7, 10]]))
    assert said in str(caught.value)
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"Concat dim is out of range: 4 vs\. 3"):
        pb.Session(engine="numpy").run(concat_offset(4, [[2, 3, 5], [2, 3, 5]]))
