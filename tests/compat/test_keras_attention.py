"""Attention layers of Keras, and later functions of its backend: sums of magnitudes are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

K, L = tf.keras.backend, tf.keras.layers
DRAWN = np.random.RandomState(0)
X = DRAWN.randn(2, 5, 6, 3).astype("f")
KERNEL, DEPTHS = DRAWN.randn(3, 3, 4, 3).astype("f"), DRAWN.randn(3, 3, 3, 2).astype("f")
POINTS = DRAWN.randn(1, 1, 6, 5).astype("f")
Q, V, KEYS = (DRAWN.randn(2, n, 4).astype("f") for n in (3, 5, 5))
OF_Q = np.array([[1, 1, 0], [1, 0, 0]], bool)
OF_V = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 1, 0]], bool)
FIRST = np.transpose(X, [0, 3, 1, 2])
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])

IMAGES: dict[str, tuple[Any, list[int], float]] = {
    "transposed": (lambda: K.conv2d_transpose(X, KERNEL, (2, 11, 13, 4), (2, 2)), [2, 11, 13, 4], 1969.15),
    "transposed same": (lambda: K.conv2d_transpose(X, KERNEL, (2, 5, 6, 4), padding="same"), [2, 5, 6, 4], 836.44),
    "transposed channels first": (
        lambda: K.conv2d_transpose(FIRST, KERNEL, (2, 4, 11, 13), (2, 2), data_format="channels_first"),
        [2, 4, 11, 13],
        1969.15,
    ),
    "depthwise": (lambda: K.depthwise_conv2d(X, DEPTHS, (2, 2), "same"), [2, 3, 3, 6], 223.53),
    "depthwise dilated": (lambda: K.depthwise_conv2d(X, DEPTHS, dilation_rate=(2, 2)), [2, 1, 2, 6], 66.82),
    "separable": (lambda: K.separable_conv2d(X, DEPTHS, POINTS), [2, 3, 4, 5], 473.22),
    "larger": (lambda: K.resize_images(X, 2, 3, "channels_last"), [2, 10, 18, 3], 900.45),
    "larger bilinear": (lambda: K.resize_images(X, 2, 3, "channels_last", "bilinear"), [2, 10, 18, 3], 681.44),
    "larger channels first": (lambda: K.resize_images(FIRST, 2, 1, "channels_first"), [2, 3, 10, 6], 300.15),
    "logsumexp": (lambda: K.logsumexp(X, 1), [2, 6, 3], 74.329),
}


def run(x: Any, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return session.run(x)


@pytest.mark.parametrize("name", IMAGES)
@BOTH
def test_functions_of_images(name: str, engine: str) -> None:
    make, shape, expected = IMAGES[name]
    y = make()
    assert y.shape.as_list() == shape
    assert abs(run(y, engine)).sum() == pytest.approx(expected, rel=5e-5)


def test_functions_of_tensors(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(K.in_top_k([[0.1, 0.9], [0.8, 0.2]], [1, 1], 1)).tolist() == [True, False]
    sparse = tf.SparseTensor([[1]], [2.0], [3])
    assert (K.is_sparse(sparse), K.is_sparse(tf.ones([2])), K.is_placeholder(K.placeholder([2]))) == (True, False, True)
    assert run(K.to_dense(sparse)).tolist() == [0.0, 2.0, 0.0]
    wide = [K.random_normal_variable((2, 3), 5.0, 0.1, seed=1), K.random_uniform_variable((2, 3), 5.0, 5.5)]
    assert all((x > 4).all() and x.shape == (2, 3) for x in run(wide))
    assert (K.get_uid("mine"), K.get_uid("mine")) == (1, 2)
    run(K.print_tensor(tf.constant([1.0, 2.0]), "x ="))
    out = capfd.readouterr()
    assert "x =" in out.out + out.err
    with pytest.raises(
        ValueError, match=r"^keras\.backend\.resize_images: interpolation is nearest or bilinear, not 'c"
    ):
        K.resize_images(X, 2, 2, "channels_last", "cubic")


ATTENTION: dict[str, tuple[Any, float]] = {
    "plain": (lambda: L.Attention()([Q, V]), 12.432),
    "keys": (lambda: L.Attention()([Q, V, KEYS]), 13.474),
    "masks": (lambda: L.Attention()([Q, V], mask=[OF_Q, OF_V]), 8.3176),
    "causal": (lambda: L.Attention(causal=True)([Q, V]), 19.213),
    "causal and masked": (lambda: L.Attention(causal=True)([Q, V], mask=[None, OF_V]), 19.135),
    "additive": (lambda: L.AdditiveAttention(use_scale=False)([Q, V], mask=[OF_Q, None]), 8.8669),
}


@pytest.mark.parametrize("name", ATTENTION)
@BOTH
def test_attention(name: str, engine: str) -> None:
    make, expected = ATTENTION[name]
    y = make()
    assert (y.shape.as_list(), abs(run(y, engine)).sum()) == ([2, 3, 4], pytest.approx(expected, rel=5e-5))


def test_attention_has_a_scale_and_reads_masks() -> None:
    layer, sums = L.Attention(use_scale=True, name="att"), L.AdditiveAttention()
    layer([Q, V])
    sums([Q, V])
    assert [(v.name, v.shape.as_list()) for v in (*layer.variables, *sums.variables)] == [
        ("att/scale:0", []),
        ("additive_attention/scale:0", [4]),
    ]
    words = tf.constant([[1, 2, 0], [3, 0, 0]])
    embedded = L.Embedding(5, 4, mask_zero=True)(words)
    y = L.Attention()([embedded, embedded])
    assert not run(y)[0, 2].any()
    with pytest.raises(ValueError, match=r"^keras Attention: takes \[query, value\] or \[query, value, key\], not "):
        L.Attention()([Q])


def test_activities_are_penalties_of_their_layer() -> None:
    layer = L.ActivityRegularization(0.1, 0.01)
    y = layer(tf.constant([[1.0, -2.0], [3.0, 4.0]]))
    found, (loss,) = run([y, layer.losses])
    assert found.tolist() == [[1.0, -2.0], [3.0, 4.0]]
    assert loss == pytest.approx((0.1 * 10 + 0.01 * 30) / 2)
