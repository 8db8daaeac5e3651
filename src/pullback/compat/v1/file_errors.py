"""Errors of files, TensorFlow's and Python's at once: programs catch `tf.errors.NotFoundError`, or an OSError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import UnsupportedOperation

from ...core.errors import MissingFileError
from .errors import AlreadyExistsError, FailedPreconditionError, PermissionDeniedError


class FileThereError(AlreadyExistsError, FileExistsError):
    """There is one, and it is not to be replaced."""


class WrongFileError(FailedPreconditionError, OSError):
    """It is a folder, or is none, or has something in it."""


class FileDeniedError(PermissionDeniedError, PermissionError):
    """Not allowed, or not what the file was opened for."""


@contextmanager
def file_errors() -> Iterator[None]:
    """A block whose errors of the system are of TensorFlow's classes too."""
    try:
        yield
    except (MissingFileError, FileThereError, WrongFileError, FileDeniedError):
        raise
    except FileNotFoundError as error:
        raise MissingFileError(str(error)) from error
    except FileExistsError as error:
        raise FileThereError(str(error)) from error
    except (PermissionError, UnsupportedOperation) as error:
        raise FileDeniedError(str(error)) from error
    except OSError as error:
        raise WrongFileError(str(error)) from error
