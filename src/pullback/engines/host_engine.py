"""Host engines: what they share whose arrays are NumPy's, on the one device that there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..core.dtypes import string
from ..core.graph import Operation, Tensor
from .engine import AbstractEngine
from .foreign_arrays import host_array
from .plan import Plan
from .shards import Shards, Source, one_shard

Array = np.ndarray[Any, Any]


class Values(Protocol):
    """The values of variables under their handle operations: a dict, or what keeps a log of its changes."""

    def get(self, key: Operation, /) -> Array | None: ...

    def __contains__(self, key: Operation, /) -> bool: ...

    def __setitem__(self, key: Operation, value: Array, /) -> None: ...

    def pop(self, key: Operation, default: None, /) -> Array | None: ...

    def clear(self) -> None: ...


def copied(value: Any) -> Array:
    """A copy of an array, or of the one element that it came as."""
    return np.array(value, string) if isinstance(value, bytes) else np.array(value)


class AbstractHostEngine(AbstractEngine):
    """Keeps values as NumPy arrays; a subclass says how plans are run."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def as_feed(self, tensor: Tensor, value: Any) -> Any:
        """`value` as a NumPy array of the dtype of `tensor`."""
        return host_array(value, tensor.type.dtype)

    def put(self, tensor: Tensor, array: Any) -> Any:
        """A copy of `array`."""
        return np.array(array)

    def wait_for(self, arrays: Sequence[Any]) -> None:
        """Nothing: copies are there."""

    def has_state(self, key: Operation) -> bool:
        """Whether there is a state under `key`."""
        return key in self._values

    def read_state(self, key: Operation) -> Array | None:
        """A copy of the state kept under `key`, or None."""
        value = self._values.get(key)
        return None if value is None else value.copy()

    def write_state(self, key: Operation, value: Array) -> None:
        """Replace the state kept under `key` by a copy of `value`."""
        self._values[key] = copied(value)

    def shards_of(self, key: Operation) -> Shards | None:
        """The state kept under `key`, in one part."""
        value = self._values.get(key)
        return None if value is None else one_shard(value)

    def load(self, sources: Mapping[Operation, Source], initial: Callable[[], Plan]) -> None:
        """Replace the states kept under the keys of `sources`."""
        for key, value in [(key, source.whole()) for key, source in sources.items()]:
            self.write_state(key, value)

    def forget_state(self, key: Operation) -> None:
        """Leave no state under `key`."""
        self._values.pop(key, None)

    def compiled_communication(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """None: there is one device."""
        return {}

    def meet(self, what: str) -> None:
        """Nothing: this process is alone."""

    def close(self) -> None:
        """Let go of all values."""
        self._values.clear()
