"""Lookup tables of TensorFlow 1: `tf.lookup`, from texts or integers to integers, texts or floats.

A table is two vectors, keys and values, of the graph or of a file. What finds a key in them is a function of arrays,
which runs on the host; a session keeps whether the initializer of a table has run, and each lookup asks that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ....core.dtypes import DType, dtype_name
from ....core.needs import needed
from ....core.typing import DTypeLike
from ....primitives.shape.size import size
from ....primitives.variables.operations import InitializedValue, VarIsInitializedOp
from .contents import Array, KeyValueTensorInitializer, TextFileInitializer, of_dtype


class LookupInterface:
    """What all tables can do."""

    key_dtype: DType
    value_dtype: DType
    initializer: pb.Operation

    @property
    def init(self) -> pb.Operation:
        """The initializer."""
        return self.initializer

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, a tensor or a SparseTensor.

        Raises:
            TypeError: the keys are of another dtype than those of the table.
        """
        if isinstance(keys, pb.SparseTensor):
            return pb.SparseTensor(keys.indices, self.lookup(keys.values, name), keys.dense_shape)
        found = pb.convert_to_tensor(keys)
        if found.dtype != self.key_dtype:
            raise TypeError(f"lookup: keys of the table are {dtype_name(self.key_dtype)}, not {found}; cast them")
        return self.values_of(found, name)

    def values_of(self, keys: pb.Tensor, name: str | None) -> pb.Tensor:
        """The values of a tensor of keys."""
        raise NotImplementedError(f"{type(self).__name__} defines no values_of(); a table needs it")

    def size(self, name: str | None = None) -> pb.Tensor:
        """How many keys there are."""
        raise NotImplementedError(f"{type(self).__name__} defines no size(); a table needs it")


class StaticHashTable(LookupInterface):
    """The table of what `initializer` says; `default_value` for keys that are not there.

    >>> import pullback.compat.v1 as tf
    >>> contents = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(contents, -1)
    >>> found = table.lookup(tf.constant(["b", "z"]))
    >>> with tf.Session() as session:
    ...     session.run(tf.tables_initializer())
    ...     session.run(found)
    array([ 2, -1], dtype=int32)
    """

    def __init__(
        self,
        initializer: KeyValueTensorInitializer | TextFileInitializer,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del experimental_is_anonymous
        self.name = name or "hash_table"
        self.key_dtype, self.value_dtype = initializer.key_dtype, initializer.value_dtype
        self._given = initializer.keys, initializer.values
        self.default_value = pb.convert_to_tensor(default_value, self.value_dtype)
        self._known: tuple[Array, Mapping[Any, Any]] | None = None
        graph = pb.get_default_graph()
        steps = [x.op for x in self._given]
        self._flag: pb.Variable | None = None
        self._kept: list[pb.Variable] = []
        if graph.outer is None:
            with pb.name_scope(self.name), pb.control_dependencies(None):
                steps = self._steps()
        self.initializer = pb.group(*steps, name=f"{self.name}_init")
        graph.add_to_collection(pb.GraphKeys.TABLE_INITIALIZERS, self.initializer)

    def _steps(self) -> list[pb.Operation]:
        """What the initializer does: it notes that it has run, and keeps contents that another run may not know.

        A table that has contents keeps them.
        """
        given = self._given
        if not all(_is_fixed(x) for x in given):
            self._kept = [_variable(x, name) for x, name in zip(given, ("keys", "values"), strict=True)]
        contents = [_value_or(v, x) for v, x in zip(self._kept, given, strict=True)] if self._kept else given
        self._flag = _variable(pb.constant(True), "initialized")
        filled = pb.numpy_function(self._fill, contents, pb.TensorSpec([], pb.bool), stateful=False, name="fill")
        with pb.control_dependencies([filled]):
            kept = [v.assign(contents[i], read_value=False) for i, v in enumerate(self._kept)]
        return [*kept, self._flag.assign(filled, read_value=False)]

    def _contents(self) -> list[pb.Tensor]:
        """The keys and the values, as the initializer kept them."""
        if not self._kept:
            return list(self._given)
        return [_value_or(v, pb.zeros([0], v.dtype)) for v in self._kept]

    def values_of(self, keys: pb.Tensor, name: str | None) -> pb.Tensor:
        """The values of a tensor of keys; a run before the initializer raises FailedPreconditionError."""
        inputs = [*self._contents(), self.default_value, keys, *self._asked()]
        spec = pb.TensorSpec(keys.shape, self.value_dtype)
        found: pb.Tensor = pb.numpy_function(
            self._find, inputs, spec, stateful=False, name=name or f"{self.name}_Lookup"
        )
        return found

    def size(self, name: str | None = None) -> pb.Tensor:
        """How many keys there are; 0 before the initializer has run."""
        asked, count = self._asked(), size(self._contents()[0], pb.int64)
        return pb.where(asked[0], count, pb.constant(0, pb.int64), name=name) if asked else count

    def export(self, name: str | None = None) -> tuple[pb.Tensor, pb.Tensor]:
        """The keys, and the values; none before the initializer has run, if they are no constants."""
        del name
        keys, values = self._contents()
        return keys, values

    def _fill(self, keys: Array, values: Array) -> Array:
        self._mapping(keys, values)
        return np.array(True)

    def _mapping(self, keys: Array, values: Array) -> Mapping[Any, Any]:
        if self._known is None or self._known[0] is not keys:
            self._known = keys, _mapping(keys, values)
        return self._known[1]

    def _asked(self) -> list[pb.Tensor]:
        """Whether the initializer has run, asked where the default graph is; a table made in a function has none."""
        return [] if self._flag is None else [VarIsInitializedOp()(self._flag.handle)]

    def _find(self, keys: Array, values: Array, default: Array, asked: Array, *ready: Array) -> Array:
        if not all(ready):
            raise pb.errors.FailedPreconditionError(
                f"Table not initialized: {self.name}. Run tf.tables_initializer() in this session first"
            )
        known, nothing = self._mapping(keys, values), default.item()
        return of_dtype([known.get(key, nothing) for key in asked.ravel().tolist()], self.value_dtype).reshape(
            asked.shape
        )


HashTable = StaticHashTable


def _is_fixed(x: pb.Tensor) -> bool:
    """Whether constants alone decide a value, so that all runs of all sessions know it."""
    before = needed([x.op], lambda op: [y.op for y in op.inputs])
    return not any(op.primitive.stateful for op in before)


def _variable(initial: pb.Tensor, name: str) -> pb.Variable:
    """A variable that is in no collection: the initializer of a table assigns it."""
    return pb.Variable(initial, trainable=False, name=name, collections=[], validate_shape=False)


def _value_or(variable: pb.Variable, x: pb.Tensor) -> pb.Tensor:
    """The value of a variable, or `x` where it has none."""
    return InitializedValue(variable.dtype, variable.shape)(variable.handle, x)


class FastHashSpec(NamedTuple):
    """Keys that a table has not are put into buckets by FarmHash."""

    hasher: str = "fasthash"


class StrongHashSpec(NamedTuple):
    """Keys that a table has not are put into buckets by SipHash."""

    key: Any


class IdTableWithHashBuckets(LookupInterface):
    """The numbers of `table`, and behind them a number of `num_oov_buckets` for each key that it has not."""

    def __init__(
        self,
        table: LookupInterface | None,
        num_oov_buckets: int,
        hasher_spec: Any = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ) -> None:
        self.name = name or "string_to_index"
        self._table, self._buckets, self._spec = table, num_oov_buckets, hasher_spec
        self.key_dtype = pb.as_dtype(key_dtype or (table.key_dtype if table is not None else pb.string))
        self.value_dtype = pb.int64
        self.initializer = pb.group() if table is None else table.initializer

    def values_of(self, keys: pb.Tensor, name: str | None) -> pb.Tensor:
        """The values of a tensor of keys."""
        if self._table is None:
            return self._bucket(keys, name)
        found = self._table.lookup(keys)
        if not self._buckets:
            return found  # type: ignore[no-any-return]
        return pb.where(pb.equal(found, self._missing()), self._bucket(keys, None) + self._table.size(), found, name)

    def size(self, name: str | None = None) -> pb.Tensor:
        """How many numbers there are, those of the buckets too."""
        there = pb.cast(0, pb.int64) if self._table is None else self._table.size()
        return pb.cast(there + self._buckets, pb.int64, name)

    def _missing(self) -> pb.Tensor:
        assert isinstance(self._table, StaticHashTable)
        return self._table.default_value

    def _bucket(self, keys: pb.Tensor, name: str | None) -> pb.Tensor:
        texts = keys if keys.dtype == pb.string else pb.as_string(keys)
        if isinstance(self._spec, StrongHashSpec):
            return pb.strings.to_hash_bucket_strong(texts, self._buckets, self._spec.key, name)
        return pb.strings.to_hash_bucket_fast(texts, self._buckets, name)


class StaticVocabularyTable(IdTableWithHashBuckets):
    """The same, of what `initializer` says."""

    def __init__(
        self,
        initializer: KeyValueTensorInitializer | TextFileInitializer,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del experimental_is_anonymous
        table = StaticHashTable(initializer, -1, name)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, lookup_key_dtype)


def _mapping(keys: Array, values: Array) -> Mapping[Any, Any]:
    """The value of each key; FailedPreconditionError where a key has two."""
    found: dict[Any, Any] = {}
    for key, value in zip(keys.ravel().tolist(), values.ravel().tolist(), strict=True):
        if found.setdefault(key, value) != value:
            raise pb.errors.FailedPreconditionError(
                f"HashTable has different value for same key. Key {key!r} has {found[key]!r} and trying to add value "
                f"{value!r}"
            )
    return found
