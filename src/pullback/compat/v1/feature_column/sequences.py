"""Sequence feature columns: features that have a value for each step, as the input of recurrent networks.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> words = columns.sequence_categorical_column_with_identity("words", 3)
>>> given = {"words": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])}
>>> y, lengths = tf.keras.experimental.SequenceFeatures(columns.indicator_column(words))(given)
>>> found = tf.Session().run([y, lengths])
>>> found[0].tolist(), found[1].tolist()
([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]], [2, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pullback as pb

from ....core.dtypes import FLOATING, dtype_name
from ....core.typing import DTypeLike
from ....records.features import VarLenFeature
from .categorical import categorical_column_with_hash_bucket, categorical_column_with_identity
from .columns import (
    AbstractCategoricalColumn,
    AbstractColumn,
    Features,
    IdWeightPair,
    check_key,
    is_integer,
)
from .input_layer import sorted_columns, with_model
from .numeric import lengths_of
from .vocabularies import categorical_column_with_vocabulary_file, categorical_column_with_vocabulary_list


@dataclass(frozen=True)
class SequenceCategoricalColumn(AbstractCategoricalColumn):
    """The buckets of `categorical_column`, each a step of the sequence; for embeddings and indicators."""

    categorical_column: AbstractCategoricalColumn

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def of_steps(self) -> bool:
        return True

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transformed(self, features: Features) -> Any:
        return features.of(self.categorical_column)

    def ids(self, features: Features) -> IdWeightPair:
        """The buckets of each step, [examples, steps, any]."""
        ids, weights = self.categorical_column.ids(features)
        return IdWeightPair(_by_step(ids), None if weights is None else _by_step(weights))


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_identity`, of a sequence."""
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = pb.string
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_hash_bucket`, of a sequence."""
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = pb.string,
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_vocabulary_file`, of a sequence."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """As `categorical_column_with_vocabulary_list`, of a sequence."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


def sequence_numeric_column(
    key: str,
    shape: int | Iterable[int] = (1,),
    default_value: float = 0.0,
    dtype: DTypeLike = pb.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> SequenceNumericColumn:
    """The numbers of the sparse feature `key`, `shape` of them for each step, `default_value` where there are none.

    Raises:
        ValueError: a length is not positive, or `dtype` is not that of numbers.
        TypeError: a length is no integer, or `normalizer_fn`, of the sparse tensor, is no function.
    """
    check_key(key)
    kind = pb.as_dtype(dtype)
    if kind not in FLOATING and not is_integer(kind):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype_name(kind)}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, lengths_of(shape, key), default_value, kind, normalizer_fn)


@dataclass(frozen=True)
class SequenceNumericColumn(AbstractColumn):
    """See `sequence_numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: Any
    normalizer_fn: Callable[[Any], Any] | None

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def of_steps(self) -> bool:
        return True

    @property
    def variable_shape(self) -> pb.TensorShape:
        """The shape of its numbers for one step."""
        return pb.TensorShape(self.shape)

    def transformed(self, features: Features) -> pb.SparseTensor:
        x = features.read(self.key)
        if not isinstance(x, pb.SparseTensor):
            raise ValueError(f"Feature {self.key} of a sequence must be a SparseTensor, and not {x}")
        found: pb.SparseTensor = x if self.normalizer_fn is None else self.normalizer_fn(x)
        return found

    def steps(self, features: Features) -> tuple[pb.Tensor, pb.Tensor]:
        """Its numbers, [examples, steps, ...], and how many steps each example has."""
        x: pb.SparseTensor = features.of(self)
        dense = pb.sparse.to_dense(x, pb.constant(self.default_value, x.dtype))
        numbers = pb.reshape(dense, pb.concat([pb.shape(dense)[:1], [-1], self.shape], 0))
        each = int(pb.TensorShape(self.shape).num_elements() or 1) if x.shape.rank == 2 else 1
        return numbers, _lengths(x, each)


def sequence_input(
    features: Mapping[str, Any], columns: Sequence[Any], scope: Callable[[str], Any], trainable: bool
) -> tuple[pb.Tensor, pb.Tensor]:
    """The numbers of columns side by side, [examples, steps, any], and how many steps each example has.

    `scope` gives the variable scope of a name.
    """
    batch, found = Features(features), []
    for column in columns:
        with scope(column.scope_name):
            if isinstance(column, SequenceNumericColumn):
                y, lengths = column.steps(batch)
            else:
                y = column.dense(batch, with_model(None), trainable)
                lengths = _lengths(column.categorical_column.ids(batch).id_tensor, 1)
            count = column.variable_shape.num_elements()
            rows = pb.reshape(y, pb.concat([pb.shape(y)[:2], [count]], 0))
            rows.set_shape([None, None, count])
            found.append((pb.cast(rows, pb.float32), lengths))
    first = found[0][1]
    said = "the columns have sequences of different lengths"
    with pb.control_dependencies([pb.assert_equal(first, n, message=said) for _, n in found[1:]]):
        return pb.concat([y for y, _ in found], 2), pb.identity(first)


def sequence_columns(feature_columns: Any) -> list[Any]:
    """The columns in the order of their names; ValueError where one is none of a sequence."""
    columns = sorted_columns(feature_columns)
    for column in columns:
        if not column.of_steps or isinstance(column, AbstractCategoricalColumn):
            raise ValueError(
                "All feature_columns must be of type SequenceDenseColumn. You can wrap a sequence_categorical_column "
                f"with an embedding_column or indicator_column. Given (type {type(column)}): {column}"
            )
    return columns


def concatenate_context_input(context_input: Any, sequence_input: Any) -> pb.Tensor:
    """The numbers [examples, any] behind those of each step, [examples, steps, any].

    Raises:
        ValueError: the numbers of axes are others.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.feature_column.concatenate_context_input(tf.ones([2, 3]), tf.ones([2, 5, 4])).shape
    TensorShape([2, 5, 7])
    """
    context, steps = pb.convert_to_tensor(context_input), pb.convert_to_tensor(sequence_input)
    for x, what, rank in ((steps, "sequence_input", 3), (context, "context_input", 2)):
        if x.shape.rank not in (None, rank) or x.dtype != pb.float32:
            raise ValueError(f"{what} must be float32 of rank {rank}, and not {x}")
    return pb.concat([steps, pb.repeat(pb.expand_dims(context, 1), pb.shape(steps)[1], 1)], 2)


def _by_step(x: pb.SparseTensor) -> pb.SparseTensor:
    """[examples, steps, any], of which the last axis is 1 where there is one bucket for each step."""
    if x.shape.rank == 2:
        return pb.sparse.expand_dims(x, -1)
    return pb.sparse.reshape(x, pb.stack([x.dense_shape[0], x.dense_shape[1], -1]))


def _lengths(x: pb.SparseTensor, each: int) -> pb.Tensor:
    """How many steps of `each` numbers each example has: up to the last that is there."""
    rows, last = x.indices[:, 0], x.indices[:, 1] + 1
    ends = pb.math.unsorted_segment_max(last, rows, pb.cast(x.dense_shape[0], pb.int32))
    return (pb.maximum(ends, 0) + each - 1) // each
