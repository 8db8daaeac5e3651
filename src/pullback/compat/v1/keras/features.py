"""Feature columns as layers of Keras: `tf.keras.layers.DenseFeatures`, `tf.keras.experimental.SequenceFeatures`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pullback as pb

from ....layers.variables.scope import variable_scope
from ..feature_column.columns import AbstractDenseColumn, Features, check_of_examples
from ..feature_column.input_layer import check_batches, flat, sorted_columns, with_model
from ..feature_column.sequences import sequence_columns, sequence_input
from .base import Layer
from .plain import of_all, refuse_others


class DenseFeatures(Layer):
    """The numbers of feature columns side by side, in the order of their names; see `tf.feature_column.input_layer`.

    The tables of embeddings are variables of the layer.

    Raises:
        ValueError: a column is none of numbers.

    >>> import pullback.compat.v1 as tf
    >>> word = tf.feature_column.categorical_column_with_identity("word", 10)
    >>> layer = tf.keras.layers.DenseFeatures([tf.feature_column.embedding_column(word, 4)])
    >>> layer({"word": [[1, 2], [3, 4]]}).shape, layer.variables
    (TensorShape([2, 4]), [<Variable 'dense_features/word_embedding/embedding_weights:0' float32[10,4]>])
    """

    def __init__(
        self,
        feature_columns: AbstractDenseColumn | Iterable[AbstractDenseColumn],
        trainable: bool = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        refuse_others("DenseFeatures", options)
        super().__init__(trainable=trainable, name=name, **of_all(options))
        self._columns: list[AbstractDenseColumn] = sorted_columns(feature_columns)
        for column in self._columns:
            check_of_examples(column)
            if not isinstance(column, AbstractDenseColumn):
                raise ValueError(
                    f"Items of feature_columns must be a DenseColumn. Given: {column}. Wrap it with an "
                    "embedding_column or indicator_column"
                )

    def call(self, features: Mapping[str, Any]) -> Any:
        """The numbers for each example.

        Raises:
            ValueError: `features` is no dictionary.
        """
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features!r}")
        assert self._scope is not None
        batch, found = Features(features), []
        with variable_scope(self._scope, auxiliary_name_scope=False):
            for column in self._columns:
                with variable_scope(column.scope_name):
                    y = flat(column, column.dense(batch, with_model(None), self.trainable))
                found.append(y)
        check_batches(self._columns, found)
        return pb.concat(found, -1)


class SequenceFeatures(Layer):
    """The numbers of sequence columns side by side, [examples, steps, any], and how many steps each example has.

    Columns are in the order of their names. The tables of embeddings are variables of the layer.

    Raises:
        ValueError: a column is none of a sequence.

    >>> import pullback.compat.v1 as tf
    >>> words = tf.feature_column.sequence_categorical_column_with_identity("words", 10)
    >>> layer = tf.keras.experimental.SequenceFeatures([tf.feature_column.embedding_column(words, 4)])
    >>> y, lengths = layer({"words": tf.SparseTensor([[0, 0], [0, 1]], [3, 4], [2, 5])})
    >>> y.shape, layer.variables[0].op.name
    (TensorShape([2, 5, 4]), 'sequence_features/words_embedding/embedding_weights')
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **options: Any) -> None:
        refuse_others("SequenceFeatures", options)
        super().__init__(trainable=trainable, name=name, **of_all(options))
        self._columns = sequence_columns(feature_columns)

    def call(self, features: Mapping[str, Any]) -> Any:
        """The numbers for each step, and the lengths.

        Raises:
            ValueError: `features` is no dictionary.
        """
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features!r}")
        assert self._scope is not None
        with variable_scope(self._scope, auxiliary_name_scope=False):
            return sequence_input(features, self._columns, variable_scope, self.trainable)
