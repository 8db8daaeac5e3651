"""Constraints for pip that take the oldest versions that `pyproject.toml` allows, of what pullback computes with.

Run `python tools/oldest.py > pins`, then `pip install -c pins '.[all]'`; `make test-oldest` does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PINNED = ("numpy", "ml_dtypes", "jax", "jaxlib", "onnx", "onnxruntime", "tensorstore")
PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def oldest(requirements: Iterable[str]) -> Iterator[str]:
    """`name==version` for each requirement `name>=version,...` of something pinned."""
    for requirement in requirements:
        match = re.match(r"([\w-]+)>=([\w.]+)", requirement)
        if match is not None and match[1] in PINNED:
            yield f"{match[1]}=={match[2]}"


def requirements() -> list[str]:
    """What pullback needs, with all its extras."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    return [*project["dependencies"], *[x for extra in project["optional-dependencies"].values() for x in extra]]


if __name__ == "__main__":
    print("\n".join(oldest(requirements())))
