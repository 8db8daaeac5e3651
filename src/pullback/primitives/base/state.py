"""Stateful operations: the one way in which an operation reads or changes what outlives a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from ...core.primitive import Primitive

ScatterKind = Literal["update", "add", "sub", "mul", "div", "min", "max"]


class AbstractStateful(Primitive):
    """A primitive that reads or writes state, which a session keeps from run to run.

    The state is that of the variable whose handle is the first input; with `owns_state` it is the operation's own
    (a random generator's counter), and there is no handle.

    - `kernel(xp, state, *arrays)`: the outputs. `state` is the value before the operation, `arrays` are the inputs
      without the handle. Not called where there are no outputs.
    - `update(xp, ex, state, *arrays)`: the value after the operation, where `writes_state`. An array of the dtype and
      shape of the variable; never changed in place but by `ex`, which may reuse the memory of `state`.

    Within one run, the operations on one variable act in the order in which they were made.
    """

    stateful = True
    reads_state: ClassVar[bool] = True
    """Whether the value before is needed; False: `state` may be None, and the variable need not be initialised."""
    writes_state: ClassVar[bool] = False
    owns_state: ClassVar[bool] = False

    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        """The value after the operation."""
        raise NotImplementedError(f"{type(self).__name__} writes state, but defines no update()")

    def initial_state(self) -> Any:
        """The NumPy array to begin with, where `owns_state`."""
        raise NotImplementedError(f"{type(self).__name__} owns state, but defines no initial_state()")


class AbstractUpdates(ABC):
    """What an engine offers to `update`: changes that reuse the memory of the state where that cannot be seen."""

    @abstractmethod
    def add(self, state: Any, value: Any) -> Any:
        """`state + value`, where `value` has the shape of `state`."""

    @abstractmethod
    def subtract(self, state: Any, value: Any) -> Any:
        """`state - value`, where `value` has the shape of `state`."""

    @abstractmethod
    def scatter(self, kind: ScatterKind, state: Any, indices: Any, updates: Any) -> Any:
        """`state` with its rows `indices` [...] changed by `updates` [..., row...] (or one that broadcasts to it).

        Equal indices all take effect, for "update" the last; an index that is out of range raises or is left out.
        """
