"""Embedding columns: rows of a table for the buckets of an example, combined; columns may share a table.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> word = columns.categorical_column_with_identity("word", 10)
>>> y = columns.input_layer({"word": [[1, 2], [3, -1]]}, columns.embedding_column(word, dimension=4))
>>> y.shape, tf.trainable_variables()
(TensorShape([2, 4]), [<Variable 'input_layer/word_embedding/embedding_weights:0' float32[10,4]>])
>>> pair = [columns.categorical_column_with_identity(key, 10) for key in ("asked", "found")]
>>> [column.name for column in columns.shared_embedding_columns(pair, 4)]
['asked_shared_embedding', 'found_shared_embedding']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pullback as pb

from ..train.checkpoints import init_from_checkpoint
from .categorical import WeightedCategoricalColumn
from .columns import AbstractCategoricalColumn, AbstractDenseColumn, Features, check_categorical

Initializer = Callable[..., Any]


def embedding_column(
    categorical_column: AbstractCategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """For each example the rows, of `dimension` numbers, of its buckets, combined as `embedding_lookup_sparse` does.

    The table is a variable of its own; `initializer` is a truncated normal one of deviation 1 / sqrt(dimension) if
    None. Its values may be those of a tensor in a checkpoint.

    Raises:
        ValueError: `dimension` is not positive, `initializer` is no function, one of the arguments for the checkpoint
            is missing, or the column has no buckets.
    """
    check_categorical(categorical_column)
    table = _table(
        dimension,
        combiner,
        initializer,
        (ckpt_to_load_from, tensor_name_in_ckpt),
        max_norm,
        trainable,
        f"Embedding of column_name: {categorical_column.name}",
    )
    del use_safe_embedding_lookup
    return EmbeddingColumn(categorical_column, dimension, table)


def shared_embedding_columns(
    categorical_columns: Sequence[AbstractCategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:
    """A column for each of `categorical_columns`, as `embedding_column`, all of one table in each graph.

    It is named `shared_embedding_collection_name`, after the columns if None.

    Raises:
        ValueError: as for `embedding_column`; the columns are of several kinds, or have not as many buckets.
    """
    if not categorical_columns:
        raise ValueError("shared_embedding_columns: categorical_columns must not be empty")
    _check_alike(categorical_columns)
    own = "_".join(sorted(column.name for column in categorical_columns)) + "_shared_embedding"
    name = shared_embedding_collection_name or own
    checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
    table = _table(dimension, combiner, initializer, checkpoint, max_norm, trainable, f"Shared embedding {name}")
    del use_safe_embedding_lookup
    return [SharedEmbeddingColumn(column, dimension, table, name) for column in categorical_columns]


@dataclass(frozen=True, eq=False)
class Table:
    """How the rows of an embedding begin, how they are combined, and whether they are trained.

    Compared by identity, for initializers have arrays.
    """

    combiner: Any
    initializer: Initializer
    checkpoint: tuple[str | None, str | None]
    max_norm: float | None
    trainable: bool

    def variable(self, shape: tuple[int, int], collections: list[str], trainable: bool) -> Any:
        """The variable of the scope that is open."""
        return pb.get_variable(
            "embedding_weights",
            shape,
            pb.float32,
            self.initializer,
            trainable=self.trainable and trainable,
            collections=collections,
        )

    def rows(self, weights: Any, column: AbstractCategoricalColumn, features: Features, name: str) -> pb.Tensor:
        """The combined rows of each example."""
        file, tensor = self.checkpoint
        if file is not None and tensor is not None:
            init_from_checkpoint(file, {tensor: weights})
        ids, counted = column.ids(features)
        return pb.nn.safe_embedding_lookup_sparse(
            weights, ids, counted, self.combiner, max_norm=self.max_norm, name=f"{name}_weights"
        )


@dataclass(frozen=True)
class EmbeddingColumn(AbstractDenseColumn):
    """See `embedding_column`."""

    categorical_column: AbstractCategoricalColumn
    dimension: int
    table: Table

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def of_steps(self) -> bool:
        return self.categorical_column.of_steps

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.dimension])

    def transformed(self, features: Features) -> Any:
        return features.of(self.categorical_column)

    def dense(self, features: Features, collections: list[str], trainable: bool) -> pb.Tensor:
        shape = self.categorical_column.num_buckets, self.dimension
        weights = self.table.variable(shape, collections, trainable)
        return self.table.rows(weights, self.categorical_column, features, self.name)


@dataclass(frozen=True)
class SharedEmbeddingColumn(AbstractDenseColumn):
    """See `shared_embedding_columns`."""

    categorical_column: AbstractCategoricalColumn
    dimension: int
    table: Table
    shared_embedding_collection_name: str

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def of_steps(self) -> bool:
        return self.categorical_column.of_steps

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.dimension])

    def transformed(self, features: Features) -> Any:
        return features.of(self.categorical_column)

    def dense(self, features: Features, collections: list[str], trainable: bool) -> pb.Tensor:
        weights = self._weights(collections, trainable)
        return self.table.rows(weights, self.categorical_column, features, self.name)

    def _weights(self, collections: list[str], trainable: bool) -> Any:
        """The table that the graph's collection of its name has, made by the first column that asks."""
        shape = self.categorical_column.num_buckets, self.dimension
        there = pb.get_collection(self.shared_embedding_collection_name)
        if not there:
            made = self.table.variable(shape, collections, trainable)
            pb.add_to_collection(self.shared_embedding_collection_name, made)
            return made
        if len(there) > 1:
            raise ValueError(
                f"Collection {self.shared_embedding_collection_name} can only contain one variable, and has {there}: "
                "give shared_embedding_collection_name another name"
            )
        if there[0].shape.as_list() != list(shape):
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains variable "
                f"{there[0].name} of shape {there[0].shape}, expected shape is {shape}"
            )
        return there[0]


def _table(
    dimension: int | None,
    combiner: str,
    initializer: Any,
    checkpoint: tuple[str | None, str | None],
    max_norm: float | None,
    trainable: bool,
    what: str,
) -> Table:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if checkpoint.count(None) == 1:
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. {what}")
    begins = initializer or pb.truncated_normal_initializer(0.0, 1.0 / math.sqrt(dimension))
    return Table(combiner, begins, checkpoint, max_norm, trainable)


def _check_alike(columns: Sequence[AbstractCategoricalColumn]) -> None:
    first = columns[0]
    for column in columns:
        check_categorical(column)
        if type(_inner(column)) is not type(_inner(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column of the same type. Given column: {first} of type: "
                f"{type(first).__name__} does not match given column: {column} of type: {type(column).__name__}"
            )
        if column.num_buckets != first.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                f"column: {first} with buckets: {first.num_buckets} does not match column: {column} with buckets: "
                f"{column.num_buckets}"
            )


def _inner(column: AbstractCategoricalColumn) -> AbstractCategoricalColumn:
    return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column
