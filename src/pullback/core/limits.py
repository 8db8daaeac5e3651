"""Resource limits of reading: how much a file from somebody else may cost before it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

from .errors import PullbackError, ResourceExhaustedError
from .lengths import Length


@dataclass(frozen=True)
class Limits:
    """How much reading a model, a graph or a checkpoint may take, inside a `with` block.

    Files come from others. What one of them asks for beyond a limit is a ResourceExhaustedError that names the limit.

    >>> import pullback as pb
    >>> data = pb.add(1.0, 2.0).graph.to_dict()
    >>> with pb.config.Limits(nodes=2):
    ...     pb.Graph.from_dict(data)
    Traceback (most recent call last):
        ...
    pullback.core.errors.ResourceExhaustedError: Graph.from_dict: this takes more than 2 nodes. If you trust who made
    it, read it inside 'with pb.config.Limits(nodes=...):'
    """

    nodes: int = 1_000_000
    """Operations, in bodies too, where functions are expanded and loops over sequences unrolled."""
    depth: int = 32
    """Bodies in bodies, calls in calls, lists in lists."""
    bytes: int = 2**30
    """What arrays take that a file only describes: sparse ones made dense, packed ones, tables for resizing."""
    seconds: float = 600.0
    """The time that reading takes, looked at between one node and the next."""

    def __enter__(self) -> Limits:
        _in_force.set((*_in_force.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _in_force.set(_in_force.get()[:-1])


class Reading:
    """What is being read, and what it has taken so far."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.limits = _in_force.get()[-1]
        self.symbols: dict[int, Length] = {}
        """Lengths of functions' own, by the number that they have in it."""
        self._nodes = 0
        self._depth = 0
        self._until = monotonic() + self.limits.seconds

    def takes_nodes(self, count: int = 1) -> None:
        """Note `count` more nodes; ResourceExhaustedError where there are too many, or the time is over."""
        self._nodes += count
        if self._nodes > self.limits.nodes:
            raise self._beyond("nodes", f"{self.limits.nodes:,} nodes")
        if monotonic() > self._until:
            raise self._beyond("seconds", f"{self.limits.seconds:g} seconds")

    def expects_nodes(self, count: int) -> None:
        """ResourceExhaustedError where `count` more nodes, noted one by one later, will be too many."""
        if self._nodes + count > self.limits.nodes:
            raise self._beyond("nodes", f"{self.limits.nodes:,} nodes")

    def takes_bytes(self, size: int) -> None:
        """ResourceExhaustedError where one array of so many bytes is too large."""
        if size > self.limits.bytes:
            raise self._beyond("bytes", f"{self.limits.bytes:,} bytes for one array")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """One level deeper within the block; ResourceExhaustedError where that is too deep."""
        self.takes_depth(self._depth + 1)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def takes_depth(self, depth: int) -> None:
        """ResourceExhaustedError where so many levels are too deep."""
        if depth > self.limits.depth:
            raise self._beyond("depth", f"{self.limits.depth} levels, one inside the other")

    def _beyond(self, limit: str, most: str) -> ResourceExhaustedError:
        return ResourceExhaustedError(
            f"{self.what}: this takes more than {most}. If you trust who made it, read it inside "
            f"'with pb.config.Limits({limit}=...):'"
        )


_in_force: ContextVar[tuple[Limits, ...]] = ContextVar("limits", default=(Limits(),))
_readings: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def limited(what: str) -> Iterator[Reading]:
    """A reading within the limits; `what` is the function that reads. Python's own limits are errors of ours too."""
    reading = Reading(what)
    token = _readings.set(reading)
    try:
        yield reading
    except PullbackError:
        raise
    except MemoryError as error:
        said = f": {error}" if str(error) else ""
        raise ResourceExhaustedError(f"{what}: this takes more memory than there is{said}") from error
    except RecursionError as error:
        raise ResourceExhaustedError(f"{what}: this is nested deeper than Python's stack: {error}") from error
    finally:
        _readings.reset(token)


def reading() -> Reading:
    """The reading that goes on in this thread, or one that has just begun."""
    return _readings.get() or Reading("reading")
