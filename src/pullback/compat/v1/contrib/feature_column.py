"""Sequence feature columns of `tf.contrib.feature_column`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pullback as pb

from ..feature_column.sequences import concatenate_context_input as concatenate_context_input
from ..feature_column.sequences import sequence_categorical_column_with_hash_bucket as _hash_bucket
from ..feature_column.sequences import sequence_categorical_column_with_identity as _identity
from ..feature_column.sequences import sequence_categorical_column_with_vocabulary_file as _vocabulary_file
from ..feature_column.sequences import sequence_categorical_column_with_vocabulary_list as _vocabulary_list
from ..feature_column.sequences import sequence_columns
from ..feature_column.sequences import sequence_input as _sequence_input
from ..feature_column.sequences import sequence_numeric_column as sequence_numeric_column

sequence_categorical_column_with_hash_bucket = _hash_bucket
sequence_categorical_column_with_identity = _identity
sequence_categorical_column_with_vocabulary_file = _vocabulary_file
sequence_categorical_column_with_vocabulary_list = _vocabulary_list


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
) -> tuple[pb.Tensor, pb.Tensor]:
    """The numbers of the columns side by side, [examples, steps, any], and how many steps each example has.

    Raises:
        ValueError: a column is none of a sequence, or its feature is not there.

    >>> import pullback.compat.v1 as tf
    >>> ages = tf.contrib.feature_column.sequence_numeric_column("ages")
    >>> given = {"ages": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [7.0, 8.0, 30.0], [2, 2])}
    >>> y, lengths = tf.contrib.feature_column.sequence_input_layer(given, [ages])
    >>> tf.Session().run([y[..., 0], lengths])
    [array([[ 7.,  8.],
           [30.,  0.]], dtype=float32), array([2, 1])]
    """
    del weight_collections
    columns = sequence_columns(feature_columns)

    def scope(name: str) -> Any:
        return pb.variable_scope(None, name)

    with pb.variable_scope(None, "sequence_input_layer", values=list(features.values())):
        return _sequence_input(features, columns, scope, trainable)
