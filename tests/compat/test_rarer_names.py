"""Names of TensorFlow 1 that few programs use."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
import pullback.compat.v1 as tf


def run(fetches: Any) -> Any:
    return tf.Session(engine="numpy").run(fetches)


def test_the_rewrite_in_mixed_precision_is_a_loss_scale() -> None:
    wrap = tf.mixed_precision.enable_mixed_precision_graph_rewrite
    assert tf.train.experimental.enable_mixed_precision_graph_rewrite is wrap
    x = tf.Variable(3.0)
    for scale in ("dynamic", 128.0, tf.train.experimental.FixedLossScale(8.0)):
        optimizer = wrap(tf.train.GradientDescentOptimizer(0.5), scale)
        step = optimizer.minimize(x * x, var_list=[x])
        with tf.Session(engine="numpy") as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            assert session.run(x) == 0.0
    with pytest.raises(ValueError, match="the optimizer has a loss scale already"):
        wrap(optimizer)
    with pytest.raises(ValueError, match="loss_scale must be 'dynamic', a number or a LossScale, not 'fixed'"):
        wrap(tf.train.GradientDescentOptimizer(0.5), "fixed")


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_seeds_are_made_of_seeds(dtype: Any) -> None:
    seed = tf.constant([1, 2], dtype)
    keys, again, other = run([tf.random.split(s, 4) for s in (seed, seed, seed + 1)])
    assert (keys == again).all()
    assert not (keys == other).any()
    assert keys.dtype == dtype.as_numpy_dtype
    assert len({tuple(key) for key in keys}) == 4
    folded = run([tf.random.experimental.stateless_fold_in(seed, i) for i in (0, 7, 7)])
    assert folded[0][0] == folded[1][0]
    assert [key[1] for key in folded] == [0, 7, 7]
    drawn = run([tf.random.stateless_normal([3], key) for key in tf.unstack(tf.random.split(seed))])
    assert not (drawn[0] == drawn[1]).any()


def test_losses_of_replicas_are_those_of_one() -> None:
    losses = tf.constant([1.0, 2.0, 3.0])
    found = [tf.nn.compute_average_loss(losses), tf.nn.compute_average_loss(losses, [2, 0, 0], 4)]
    assert run([*found, *tf.gradients(found[1], losses), tf.nn.scale_regularization_loss(losses)])[:2] == [2.0, 0.5]
    assert run(tf.gradients(found[1], losses)[0]).tolist() == [0.5, 0.0, 0.0]
    with pytest.raises(ValueError, match="per_example_loss must have one number for each example, not float32"):
        tf.nn.compute_average_loss(1.0)


def test_aliases() -> None:
    x = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    assert run(tf.sparse.matmul(x, tf.eye(2))).tolist() == [[0.0, 2.0], [0.0, 0.0]]
    assert run(tf.dtypes.as_string(7)) == b"7"
    assert pb.train.LossScaleOptimizer is tf.train.experimental.MixedPrecisionLossScaleOptimizer
