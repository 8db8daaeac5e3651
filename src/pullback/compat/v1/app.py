"""Entry point of TensorFlow 1's programs: `tf.app.run()` reads the flags and calls `main`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import flags as flags


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Read the flags of `argv` (the process's arguments where None), call `main` with the rest, and exit.

    `main` is that of the program where None.

    Raises:
        SystemExit: always, with what `main` returns.
    """
    rest = flags.FLAGS(sys.argv if argv is None else argv)
    sys.exit((main or sys.modules["__main__"].main)(rest))
