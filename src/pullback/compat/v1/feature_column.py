"""Feature columns (`tf.feature_column`), which are not there: what they do is in `tf.io`, `tf.lookup` and `tf.nn`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'tensorflow.feature_column' has no attribute '{name}': parse with tf.io.parse_example, find words by "
        "tf.lookup tables or tf.string_to_hash_bucket_fast, and use tf.one_hot or tf.nn.embedding_lookup_sparse"
    )
