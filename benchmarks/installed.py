"""Which version of a package is installed, and how much it takes with all that it requires."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def version_of(package: str) -> str | None:
    """The version of `package`, or None where it is used without being installed."""
    found = _find(package)
    return found.version if found else None


def installed_bytes(package: str) -> int | None:
    """The size of the files of `package` and of its requirements, those of extras left out; None if not installed."""
    if _find(package) is None:
        return None
    waiting, seen, total = [package], set(), 0
    while waiting:
        found = _find(waiting.pop())
        if found is None or found.name in seen:
            continue
        seen.add(found.name)
        total += _size(found)
        waiting += [_NAME.match(line)[0] for line in found.requires or [] if "extra ==" not in line]
    return total


def _find(package: str) -> Distribution | None:
    try:
        return distribution(package)
    except PackageNotFoundError:
        return None


def _size(found: Distribution) -> int:
    files = {Path(file.locate()) for file in found.files or []}
    source = find_spec(found.name) if found.name == "pullback" else None
    if source and source.origin:  # an editable installation has its files in the working tree
        files |= set(Path(source.origin).parent.rglob("*.py"))
    return sum(file.stat().st_size for file in files if file.is_file())
