"""Error classes of TensorFlow 1: `tf.errors`; those of pullback, and the ones that only a program of its own raises."""

from __future__ import annotations

import pullback as pb

from ...core.errors import DataLossError as DataLossError
from ...core.errors import DeadlineExceededError as DeadlineExceededError
from ...core.errors import FailedPreconditionError as FailedPreconditionError
from ...core.errors import InvalidArgumentError as InvalidArgumentError
from ...core.errors import NotFoundError as NotFoundError
from ...core.errors import OutOfRangeError as OutOfRangeError
from ...core.errors import ResourceExhaustedError as ResourceExhaustedError
from ...core.errors import UnavailableError as UnavailableError
from ...core.errors import UnimplementedError as UnimplementedError

OpError = pb.errors.PullbackError
"""The base of them all."""

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class AbortedError(pb.errors.PullbackError):
    """An operation was given up for another one."""


class AlreadyExistsError(pb.errors.PullbackError):
    """What was to be made is there."""


class CancelledError(pb.errors.PullbackError):
    """An operation was cancelled: a queue was closed while somebody waited to put something in."""


class InternalError(pb.errors.PullbackError):
    """A defect."""


class PermissionDeniedError(pb.errors.PullbackError):
    """Not allowed."""


class UnauthenticatedError(pb.errors.PullbackError):
    """It is not known who asks."""


class UnknownError(pb.errors.PullbackError):
    """Something else."""


_KINDS: dict[int, type[pb.errors.PullbackError]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}


def exception_type_from_error_code(error_code: int) -> type[pb.errors.PullbackError]:
    """The class of errors of a code.

    Raises:
        KeyError: there is none.

    >>> import pullback.compat.v1 as tf
    >>> tf.errors.exception_type_from_error_code(tf.errors.OUT_OF_RANGE).__name__
    'OutOfRangeError'
    """
    return _KINDS[error_code]


def error_code_from_exception_type(cls: type[BaseException]) -> int:
    """The code of a class of errors; UNKNOWN of others.

    >>> import pullback.compat.v1 as tf
    >>> tf.errors.error_code_from_exception_type(tf.errors.NotFoundError)
    5
    """
    return next((code for code, kind in _KINDS.items() if kind is cls), UNKNOWN)
