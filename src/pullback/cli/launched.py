"""Worker process of `pullback launch`: runs a program, and ends at once where that fails.

A process of several that ends in order waits for the others, which wait for what it has not computed.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from types import TracebackType


def main() -> None:
    """Run the program that the arguments name, with its own."""
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as error:
        if error.code in (None, 0):
            return
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        _end(error.code if isinstance(error.code, int) else 1)
    except BaseException as error:
        traceback.print_exception(error.with_traceback(_in_the_program(error.__traceback__)))
        _end(1)


def _in_the_program(frames: TracebackType | None) -> TracebackType | None:
    """The frames from the program's first one on; all of them where it was not reached."""
    found = frames
    while found is not None and found.tb_frame.f_code.co_filename != sys.argv[0]:
        found = found.tb_next
    return found or frames


def _end(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
