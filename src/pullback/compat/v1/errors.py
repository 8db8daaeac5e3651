"""Error classes of TensorFlow 1: `tf.errors`; those of pullback, and the ones that only a program of its own raises."""

from __future__ import annotations

from ...core.errors import DataLossError as DataLossError
from ...core.errors import FailedPreconditionError as FailedPreconditionError
from ...core.errors import InvalidArgumentError as InvalidArgumentError
from ...core.errors import NotFoundError as NotFoundError
from ...core.errors import OutOfRangeError as OutOfRangeError
from ...core.errors import PullbackError
from ...core.errors import ResourceExhaustedError as ResourceExhaustedError
from ...core.errors import UnavailableError as UnavailableError
from ...core.errors import UnimplementedError as UnimplementedError

OpError = PullbackError
"""The base of them all."""


class AbortedError(PullbackError):
    """An operation was given up for another one."""


class AlreadyExistsError(PullbackError):
    """What was to be made is there."""


class CancelledError(PullbackError):
    """An operation was cancelled: a queue was closed while somebody waited to put something in."""


class DeadlineExceededError(PullbackError):
    """Something took too long."""


class InternalError(PullbackError):
    """A defect."""


class PermissionDeniedError(PullbackError):
    """Not allowed."""


class UnauthenticatedError(PullbackError):
    """It is not known who asks."""


class UnknownError(PullbackError):
    """Something else."""
