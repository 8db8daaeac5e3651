"""Engine interface: what a session asks of the thing that computes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.graph import Operation, Tensor
from ..core.matmul_precision import HIGHEST
from .plan import Plan
from .shards import Shards, Source

if TYPE_CHECKING:
    from .step_stats import Recorder

Run = Callable[[Sequence[Any]], list[Any]]
"""From one array for each feed of a plan to one array for each of its fetches."""


traced_run: ContextVar[tuple[AbstractEngine, Recorder] | None] = ContextVar("traced_run", default=None)
"""The engine whose run is traced, in this thread, and what takes it down."""


class EngineOptions(NamedTuple):
    """What a session passes on; see `Session`."""

    check_numerics: bool = False
    cache_dir: str | None = None
    compile_effort: str = "full"
    soft_placement: bool = True
    mesh: Any = None
    matmul_precision: str = HIGHEST


class AbstractEngine(ABC):
    """Computes plans, and keeps the values of variables under their handle operations."""

    takes_arrays: bool = True
    """Whether a NumPy array of the right dtype is a feed as it is, without `as_feed`."""
    leads: bool = True
    """Whether this process acts for all: that is the first one where a mesh spans several."""

    @property
    def recorder(self) -> Recorder | None:
        """What takes down which operations the run of this engine runs that this thread is in, if it is traced."""
        traced = traced_run.get()
        return None if traced is None or traced[0] is not self else traced[1]

    @abstractmethod
    def prepare(self, plan: Plan, to_host: bool = True) -> Run:
        """The function that runs `plan`.

        With `to_host`, what it returns are NumPy arrays and scalars, and share no memory with anything. Without, they
        are arrays as the engine has them, on their devices, and it may return before they are computed.
        """

    @abstractmethod
    def as_feed(self, tensor: Tensor, value: Any) -> Any:
        """`value` as an array of the dtype of `tensor`; TypeError or ValueError where that cannot be."""

    @abstractmethod
    def put(self, tensor: Tensor, array: Any) -> Any:
        """A copy of what `as_feed` gave, where programs read it; it may be under way until `wait_for` returns."""

    @abstractmethod
    def wait_for(self, arrays: Sequence[Any]) -> None:
        """Return when what `put` gave is there."""

    @abstractmethod
    def has_state(self, key: Operation) -> bool:
        """Whether there is a state under `key`."""

    @abstractmethod
    def read_state(self, key: Operation) -> np.ndarray[Any, Any] | None:
        """A copy of the state kept under `key`, or None."""

    @abstractmethod
    def write_state(self, key: Operation, value: np.ndarray[Any, Any]) -> None:
        """Replace the state kept under `key` by a copy of `value`."""

    @abstractmethod
    def shards_of(self, key: Operation) -> Shards | None:
        """The parts of the state kept under `key` that this process saves, or None; to be read before the next run."""

    @abstractmethod
    def load(self, sources: Mapping[Operation, Source], initial: Callable[[], Plan]) -> None:
        """Replace the states kept under the keys of `sources`, all or none, each read where it is to lie.

        That is where the state is that there was; else where the run `initial` would put it.
        """

    @abstractmethod
    def forget_state(self, key: Operation) -> None:
        """Leave no state under `key`."""

    @abstractmethod
    def compiled_memory(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program of `plan` needs."""

    @abstractmethod
    def compiled_communication(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program of `plan` sends each device, by kind of collective."""

    @abstractmethod
    def meet(self, what: str) -> None:
        """Return when all processes that a mesh spans have come here, with the same words."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all values."""


def as_arrays(run: Run) -> Run:
    """`run`, which gives arrays of no dimensions in place of NumPy scalars, for those do not speak DLPack."""

    def arrays(feeds: Sequence[Any]) -> list[Any]:
        return [np.asarray(y) for y in run(feeds)]

    return update_wrapper(arrays, run, updated=())


EngineClass = Callable[[EngineOptions], AbstractEngine]
