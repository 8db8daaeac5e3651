"""Exceptions that have no builtin of the right meaning; each is also the nearest builtin."""

from __future__ import annotations

from .text import printable


class PullbackError(Exception):
    """The base of every exception class that pullback defines.

    Its text has no control characters: names in it may come from a file that somebody else wrote.
    """

    @property
    def message(self) -> str:
        """The text; errors that a program of TensorFlow raises have a node and an operation before it."""
        return str(self.args[2]) if len(self.args) == 3 else super().__str__()

    def __str__(self) -> str:
        return printable(self.message)


class InvalidArgumentError(PullbackError, ValueError):
    """A run was given, or met, a value it cannot use: a feed of another shape, a wrong fetch, NaN where checked."""


class WrongKindError(InvalidArgumentError, TypeError):
    """What is no tensor and names none was asked for or given: a number as a fetch, a tensor as a feed, uneven rows."""


class FailedPreconditionError(PullbackError, RuntimeError):
    """The state is not ready for what was asked: a variable read before it was initialised."""


class ResourceExhaustedError(PullbackError, MemoryError):
    """A run needs more memory than there is, or a budget allows, or a file more than `pb.config.Limits` allows."""


class DeadlineExceededError(PullbackError, TimeoutError):
    """A run took longer than it was given."""


class UnavailableError(PullbackError, ConnectionError):
    """Another process that runs the program together with this one was lost."""


class NestingError(PullbackError, RecursionError):
    """Branches, loops or calls lie so deep in each other that Python's limit, or that of a file format, is reached."""


class InaccessibleTensorError(PullbackError, ValueError):
    """A tensor was used where its value cannot exist: another graph, or the inside of a loop, branch or function."""


class DataLossError(PullbackError, ValueError):
    """A file is torn, changed, or was not written by pullback."""


class NotFoundError(PullbackError, LookupError):
    """A name asked for is not there: a variable in a checkpoint, an operation in a graph."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """There is no such file or folder."""


class NoCheckpointError(NotFoundError, ValueError):
    """There is no checkpoint where one is to be restored from."""


class OutOfRangeError(PullbackError, IndexError):
    """There is no more: a queue or an iterator is at its end."""


class UnimplementedError(PullbackError, NotImplementedError):
    """A model asks for what pullback does not have."""


class NotRecordedError(NotImplementedError):
    """Nothing in a file can stand for an operation: what writers and kernels that are traced tell their callers."""
