"""`pullback migrate`: which names of TensorFlow programs use that are not there, and what to use instead."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..compat import install
from ..compat.names_used import Names, names_of
from ..core.text import printable
from .failure import CommandError


def run(args: argparse.Namespace) -> int:
    """Prints what is missing, file by file; 0 if nothing is."""
    path = Path(args.path)
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    if not files:
        raise CommandError(f"pullback migrate: there is no file of Python in {args.path}")
    install(v2_names=args.v2_names)
    using = unread = wanting = missing = 0
    for file in files:
        shown = file if path.is_file() else file.relative_to(path)
        try:
            found = names_of(file.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            unread += 1
            print(printable(f"{shown}\n  cannot be read as Python 3: {error}"))
            continue
        using += bool(found.total)
        wanting += bool(found.missing)
        missing += len(found.missing)
        _print_missing(str(shown), found)
    print(_summary(using, wanting, missing, unread))
    return 1 if missing or unread else 0


def _print_missing(file: str, found: Names) -> None:
    if not found.missing:
        return
    print(printable(f"{file}: {len(found.missing)} of {found.total} names"))
    for line, name, instead in found.missing:
        print(printable(f"  line {line}: {name}" + (f"; {instead}" if instead else "")))


def _summary(using: int, wanting: int, missing: int, unread: int) -> str:
    files = f"{using} {'file uses' if using == 1 else 'files use'} TensorFlow"
    lacking = f"{missing} names are missing in {wanting} of them" if missing else "every name is there"
    return f"{files}; {lacking}" + (f"; {unread} could not be read" if unread else "")
