"""Feature columns: what each is, and the batch of features by name that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import pullback as pb

from ....core.dtypes import INTEGER, dtype_name

Sparse = pb.SparseTensor


class IdWeightPair(NamedTuple):
    """The numbers of the buckets that each example is in, and how much each counts: alike if there are no weights."""

    id_tensor: Sparse
    weight_tensor: Sparse | None


class Features:
    """The features of a batch of examples by name, and what columns have made of them so far."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        self._given = features
        self._read: dict[str, pb.Tensor | Sparse] = {}
        self._made: dict[AbstractColumn, Any] = {}

    def of(self, column: AbstractColumn) -> Any:
        """What a column makes of the features, once."""
        if column not in self._made:
            self._made[column] = column.transformed(self)
        return self._made[column]

    def read(self, key: str) -> pb.Tensor | Sparse:
        """The feature of a name, with an axis behind that of the batch.

        Raises:
            ValueError: there is none of that name, or it is a scalar.
        """
        if key not in self._read:
            self._read[key] = self._with_two_axes(key)
        return self._read[key]

    def sparse(self, key: str, nothing: Any = None) -> Sparse:
        """The feature of a name as a sparse tensor; dense ones without "" and -1, or without `nothing`."""
        x = self.read(key)
        if isinstance(x, Sparse):
            return x
        missing = nothing if nothing is not None else "" if x.dtype == pb.string else -1
        places = pb.cast(pb.where(pb.not_equal(x, pb.constant(missing, x.dtype))), pb.int64)
        return Sparse(places, pb.gather_nd(x, places), pb.shape(x, out_type=pb.int64))

    def _with_two_axes(self, key: str) -> pb.Tensor | Sparse:
        if key not in self._given:
            raise ValueError(f"Feature {key} is not in features dictionary: it has {sorted(self._given)}")
        given = self._given[key]
        given = Sparse.from_value(given) if isinstance(given, pb.SparseTensorValue) else given
        if isinstance(given, Sparse):
            return pb.sparse.expand_dims(given, -1) if given.shape.rank == 1 else given
        x = pb.convert_to_tensor(given)
        if x.shape.rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {x}")
        if x.shape.rank is not None:
            return pb.expand_dims(x, -1) if x.shape.rank == 1 else x
        missing = pb.maximum(2 - pb.rank(x), 0)
        return pb.reshape(x, pb.concat([pb.shape(x), pb.ones([missing], pb.int32)], 0))


class AbstractColumn(ABC):
    """What reads one feature, or several."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What variables and operations are named after."""

    @property
    @abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of serialized examples that it reads, as `tf.parse_example` takes them."""

    @abstractmethod
    def transformed(self, features: Features) -> Any:
        """What `features` keep for it."""

    @property
    def scope_name(self) -> str:
        """The variable scope of its variables."""
        return self.name

    @property
    def of_steps(self) -> bool:
        """Whether it has something for each step of a sequence, not for each example."""
        return False


class AbstractDenseColumn(AbstractColumn):
    """A column of numbers: `input_layer` takes it."""

    @property
    @abstractmethod
    def variable_shape(self) -> pb.TensorShape:
        """The shape of its numbers for one example."""

    @abstractmethod
    def dense(self, features: Features, collections: list[str], trainable: bool) -> pb.Tensor:
        """Its numbers for each example."""


class AbstractCategoricalColumn(AbstractColumn):
    """A column of buckets: `linear_model` takes it, and columns of embeddings and indicators."""

    @property
    @abstractmethod
    def num_buckets(self) -> int:
        """How many buckets there are."""

    def ids(self, features: Features) -> IdWeightPair:
        """The buckets that each example is in."""
        return IdWeightPair(features.of(self), None)


def check_key(key: Any) -> None:
    """ValueError where the name of a feature is no text."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def is_integer(dtype: Any) -> bool:
    """Whether numbers of a dtype are integers."""
    return pb.as_dtype(dtype) in INTEGER


def check_words(dtype: Any, prefix: str) -> None:
    """ValueError where a dtype is neither string nor that of integers."""
    if pb.as_dtype(dtype) != pb.string and not is_integer(dtype):
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype_name(pb.as_dtype(dtype))}.")


def check_like(key: str, column: Any, x: Sparse) -> None:
    """ValueError where a feature is not of the kind of dtype, integers or texts, that its column has."""
    if is_integer(column) != is_integer(x.dtype):
        raise ValueError(
            f"Column dtype and SparseTensors dtype must be compatible. key: {key}, column dtype: "
            f"{dtype_name(pb.as_dtype(column))}, tensor dtype: {dtype_name(x.dtype)}"
        )
    check_words(x.dtype, f"column_name: {key} input_tensor")


def check_of_examples(column: Any) -> None:
    """ValueError where a column is one of a sequence."""
    if isinstance(column, AbstractColumn) and column.of_steps:
        raise ValueError(
            f"{column.name} is a column of a sequence, and categorical_column must not be of type "
            "SequenceCategoricalColumn here. Use categorical_column_with_* or numeric_column, or for sequences "
            f"tf.keras.experimental.SequenceFeatures. Given: {column}"
        )


def check_categorical(column: Any) -> None:
    """ValueError where a column has no buckets."""
    if not isinstance(column, AbstractCategoricalColumn):
        raise ValueError(f"Unsupported input type. Input must be a CategoricalColumn. Given: {column}")
