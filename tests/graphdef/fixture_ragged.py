"""A module of TensorFlow's operations on ragged tensors, their texts and an image file, for `make_fixtures.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from fixture_operations import values

PIXELS = np.arange(18, dtype=np.uint8).reshape(2, 3, 3) * 14


class Ragged(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(values(3, 2), name="w")
        self.variables_to_learn = [self.w]
        self.file = tf.io.encode_png(PIXELS).numpy()

    @tf.function
    def f(self, x: Any, n: Any) -> Any:
        rows = tf.RaggedTensor.from_row_lengths(x, n, validate=False)
        numbers = tf.ragged.range(n)
        pairs = tf.RaggedTensor.from_row_lengths(rows, [tf.size(n, tf.int64) - 1, 1], validate=False)
        dense = tf.concat([rows * 2.0, rows], axis=1).to_tensor(-1.0)
        deep = tf.gather(pairs, [1, 0, 1]).to_tensor(0.5, shape=[None, 2, None, 3])
        sparse = tf.sparse.to_dense(numbers.to_sparse())
        written = tf.ragged.map_flat_values(tf.strings.as_string, numbers)
        texts = tf.strings.reduce_join(written, axis=1, separator="+")
        image = tf.image.convert_image_dtype(tf.io.decode_png(tf.constant(self.file)), tf.float32)
        counts = tf.cast(sparse[:, 0] + tf.cast(tf.strings.length(texts), tf.int64), tf.float32)
        terms = [tf.sin(dense @ self.w), tf.cos(deep @ self.w), image @ self.w, counts]
        return {"y": tf.add_n([tf.reduce_sum(term) for term in terms])}
