"""Feature columns as a layer of Keras."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf

fc = tf.feature_column
DenseFeatures = tf.keras.layers.DenseFeatures
FEATURES = {"a": [1, 2], "b": [3, 4], "x": [[5.0], [6.0]]}


def columns() -> list[Any]:
    pair = [fc.categorical_column_with_identity(key, 6) for key in ("a", "b")]
    word = fc.categorical_column_with_hash_bucket("w", 10)
    shared = fc.shared_embedding_columns(pair, 2, initializer=tf.ones_initializer())
    return [fc.numeric_column("x"), *shared, fc.embedding_column(word, 3, initializer=tf.zeros_initializer())]


def features() -> dict[str, Any]:
    return {**FEATURES, "w": tf.SparseTensor([[0, 0], [0, 1]], ["q", "r"], [2, 2])}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_numbers_stand_side_by_side(engine: str) -> None:
    layer = DenseFeatures(columns())
    y = layer(features())
    slopes = tf.gradients(tf.reduce_sum(y), layer.trainable_variables)
    assert all(isinstance(dy, tf.IndexedSlices) for dy in slopes)
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y).tolist() == [[1, 1, 1, 1, 0, 0, 0, 5], [1, 1, 1, 1, 0, 0, 0, 6]]
        counted = session.run(tf.convert_to_tensor(slopes[0]))
        assert counted[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 0.0]


def test_calls_share_variables_and_layers_do_not() -> None:
    layer = DenseFeatures(columns()[3])
    layer(features())
    DenseFeatures(columns()[3])(features())
    layer(features())
    assert [v.op.name for v in tf.trainable_variables()] == [
        "dense_features/w_embedding/embedding_weights",
        "dense_features_1/w_embedding/embedding_weights",
    ]
    assert layer.variables == tf.trainable_variables()[:1]
    DenseFeatures(columns()[3], trainable=False, name="still")(features())
    assert len(tf.trainable_variables()) == 2


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^Items of feature_columns must be a DenseColumn\. Given: Identity"):
        DenseFeatures(fc.categorical_column_with_identity("a", 6))
    with pytest.raises(ValueError, match=r"^We expected a dictionary here\. Instead we got: "):
        DenseFeatures(columns()[0])(tf.ones([2]))
