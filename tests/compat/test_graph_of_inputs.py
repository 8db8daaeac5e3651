"""Functions of version 1 on tensors of a graph that is not the default one: what they make is in theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "losses": lambda x, i: tf.losses.mean_squared_error(np.zeros((3, 3), "f"), x),
    "losses_of_classes": lambda x, i: tf.losses.sparse_softmax_cross_entropy([0, 1, 2], x),
    "ctc_loss": lambda x, i: tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], i[:1], [1, 1]), x[:, None], [3]),
    "sequence_loss": lambda x, i: tf.contrib.seq2seq.sequence_loss(x[None], i[None], np.ones((1, 3), "f")),
    "crf": lambda x, i: tf.contrib.crf.crf_log_likelihood(x[None], i[None], [3], np.zeros((3, 3), "f"))[0],
    "assert_rank": lambda x, i: tf.debugging.assert_rank(x, 2),
    "assert_equal": lambda x, i: tf.assert_equal(i, [0, 1, 2]),
    "join": lambda x, i: tf.strings.join([tf.as_string(i), "a"]),
    "segment_join": lambda x, i: tf.strings.unsorted_segment_join(tf.as_string(i), [0, 1, 0], 2),
    "normal": lambda x, i: tf.distributions.Normal(x[0], 1.0).log_prob([0.0, 1.0, 2.0]),
    "gamma": lambda x, i: tf.distributions.Gamma(1.0, tf.abs(x[0]) + 1.0).sample([2]),
    "where": lambda x, i: tf.where(x[0] > 0, [1.0, 2.0, 3.0], x[0]),
    "decay": lambda x, i: tf.train.exponential_decay(0.1, i[0], 100, 0.9),
    "piecewise": lambda x, i: tf.train.piecewise_constant(i[0], [1, 2], [0.1, 0.2, 0.3]),
    "resize": lambda x, i: tf.image.resize_images(x[:, :, None], [6, 6]),
    "keras": lambda x, i: tf.keras.losses.mean_squared_error(np.zeros((3, 3), "f"), x),
    "ragged": lambda x, i: tf.squeeze(tf.RaggedTensor.from_uniform_row_length(x, 1), 1),
    "rows": lambda x, i: tf.map_fn(tf.range, i, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)).values,
    "confusion": lambda x, i: tf.confusion_matrix(i, [0, 1, 2]),
    "summary": lambda x, i: tf.summary.scalar("a", x[0, 0]),
    "accuracy": lambda x, i: tf.metrics.accuracy([0, 1, 2], i)[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_in_the_graph_of_what_they_are_given(name: str) -> None:
    graph, other = tf.Graph(), tf.Graph()
    with graph.as_default():
        x, i = tf.constant(np.eye(3, dtype="f")), tf.constant([0, 1, 2])
    with other.as_default():
        y = FUNCTIONS[name](x, i)
    assert not other.get_operations()
    with tf.Session(graph=graph, engine="numpy") as session:
        with graph.as_default():
            session.run(tf.local_variables_initializer())
        session.run(y)
