"""Lookup tables that change: keys are put in, found and taken out by runs, on the host; each session has its own.

>>> import pullback.compat.v1 as tf
>>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
>>> put = table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
>>> with tf.Session() as session:
...     session.run(put)
...     session.run(table.lookup(tf.constant(["b", "z"]))).tolist()
[2, -1]
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import pullback as pb

from ....control_flow.host_call import host_call
from ....core.dtypes import dtype_name
from ....core.seen import seen
from ....core.types import tensor_type
from ....core.typing import DTypeLike, TensorLike
from .contents import Array, of_dtype
from .tables import LookupInterface


class MutableHashTable(LookupInterface):
    """A table that begins empty; `default_value`, a scalar or a vector, for keys that are not there.

    A session's checkpoints do not have it: `export` gives its keys and values.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str | None = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        del shared_name, checkpoint
        self.name = pb.get_default_graph().unique_name(name or type(self).__name__)
        self.key_dtype, self.value_dtype = seen.dtype(pb.as_dtype(key_dtype)), seen.dtype(pb.as_dtype(value_dtype))
        self.default_value = pb.convert_to_tensor(default_value, self.value_dtype)
        self.initializer = pb.no_op(name=f"{self.name}_init")
        self._of: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> pb.Operation:
        """The operation that puts in `values[i]` for `keys[i]`, in place of what was there.

        Raises:
            TypeError: the keys are of another dtype than those of the table. ValueError: the shapes do not fit.
        """
        given, wanted = self._keys(keys), pb.convert_to_tensor(values, self.value_dtype)
        expected = given.shape.concatenate(self.default_value.shape)
        if not wanted.shape.is_compatible_with(expected):
            raise ValueError(f"insert: keys {given} have values of shape {expected}, not {wanted}")

        def put(session: Any, asked: Array, rows: Array) -> Sequence[Array]:
            flat = asked.ravel().tolist()
            with self._lock:
                self._contents(session).update(zip(flat, rows.reshape(len(flat), -1).tolist(), strict=True))
            return ()

        return host_call(put, [given, wanted], (), name or f"{self.name}_Insert")

    def remove(self, keys: TensorLike, name: str | None = None) -> pb.Operation:
        """The operation that takes `keys` out; those that are not there change nothing.

        Raises:
            TypeError: the keys are of another dtype than those of the table.
        """

        def take(session: Any, asked: Array) -> Sequence[Array]:
            with self._lock:
                for key in asked.ravel().tolist():
                    self._contents(session).pop(key, None)
            return ()

        return host_call(take, [self._keys(keys)], (), name or f"{self.name}_Remove")

    def values_of(self, keys: pb.Tensor, name: str | None) -> pb.Tensor:
        """The values of a tensor of keys."""
        type_ = pb.TensorType(self.default_value.type.dtype, keys.shape.concatenate(self.default_value.shape).static)

        def find(session: Any, asked: Array, default: Array) -> Sequence[Array]:
            nothing = default.ravel().tolist()
            with self._lock:
                known = self._contents(session)
                rows = [known.get(key, nothing) for key in asked.ravel().tolist()]
            return [self._array(rows, asked.shape + default.shape)]

        return host_call(find, [keys, self.default_value], [type_], name or f"{self.name}_Lookup").outputs[0]

    def size(self, name: str | None = None) -> pb.Tensor:
        """How many keys there are."""

        def count(session: Any) -> Sequence[Array]:
            with self._lock:
                return [np.array(len(self._contents(session)), np.int64)]

        return host_call(count, [], [tensor_type(pb.int64, [])], name or f"{self.name}_Size").outputs[0]

    def export(self, name: str | None = None) -> tuple[pb.Tensor, pb.Tensor]:
        """All keys, and their values, in one order."""
        types = [
            pb.TensorType(pb.as_dtype(dtype), pb.TensorShape([None]).concatenate(shape))
            for dtype, shape in ((self.key_dtype, []), (self.value_dtype, self.default_value.shape))
        ]

        def all_of(session: Any, default: Array) -> Sequence[Array]:
            with self._lock:
                known = dict(self._contents(session))
            rows = self._array(list(known.values()), (len(known), *default.shape))
            return [of_dtype(list(known), types[0].dtype), rows]

        keys, values = host_call(all_of, [self.default_value], types, name or f"{self.name}_export_values").outputs
        return keys, values

    def _contents(self, session: Any) -> dict[Any, Any]:
        """The values of each key that a session has, as lists of numbers; the lock is held."""
        return self._of.setdefault(session, {})

    def _array(self, rows: list[list[Any]], shape: tuple[int, ...]) -> Array:
        return of_dtype([x for row in rows for x in row], self.default_value.type.dtype).reshape(shape)

    def _keys(self, keys: TensorLike) -> pb.Tensor:
        found = pb.convert_to_tensor(keys)
        if found.dtype != self.key_dtype:
            name = dtype_name(pb.as_dtype(self.key_dtype))
            raise TypeError(f"{self.name}: keys of the table are {name}, not {found}; cast them")
        return found


class MutableDenseHashTable(MutableHashTable):
    """The same; `empty_key` and `deleted_key`, which no key may be, are the marks of TensorFlow's memory."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        shared_name: str | None = None,
        name: str | None = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        del empty_key, deleted_key, initial_num_buckets
        super().__init__(key_dtype, value_dtype, default_value, shared_name, name, checkpoint)
