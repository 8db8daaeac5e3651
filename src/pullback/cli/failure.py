"""Exit codes and messages of commands that cannot do their work."""

from __future__ import annotations

USAGE = 2


class CommandError(Exception):
    """A message for the person at the command line, and the exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
