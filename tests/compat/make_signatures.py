"""Writes `signatures/*.txt`, what TensorFlow's functions take: run by hand where TensorFlow is installed.

    python tests/compat/make_signatures.py

A line is a name, and its parameters in order.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

NAMESPACES = """
    bitwise debugging distributions errors gfile graph_util image initializers linalg losses math metrics nest nn
    quantization random signal sparse special spectral strings summary train
"""


def lines(module: Any, prefix: str = "") -> Iterator[str]:
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, ModuleType) or name.startswith("_") or "keras" in getattr(value, "__module__", ""):
            continue
        try:
            parameters = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            continue
        if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters):
            yield " ".join([prefix + name, *[p.name for p in parameters]])


def main() -> None:
    import tensorflow as tf

    for file, root in (("today", tf), ("v1", tf.compat.v1)):
        found = list(lines(root))
        for name in NAMESPACES.split():
            if hasattr(root, name):
                found += lines(getattr(root, name), f"{name}.")
        path = Path(__file__).parent / "signatures" / f"{file}.txt"
        path.write_text("\n".join(found) + "\n")


if __name__ == "__main__":
    main()
