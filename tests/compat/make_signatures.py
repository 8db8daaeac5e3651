"""Writes `signatures/*.txt`, what TensorFlow's functions take: run by hand where TensorFlow is installed.

    python tests/compat/make_signatures.py
    python tests/compat/make_signatures.py tensorflow_core/contrib

A line is a name, and its parameters in order. The second form reads the files of `tf.contrib` in TensorFlow 1.15.
"""

from __future__ import annotations

import ast
import inspect
import sys
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


CONTRIB = "crf cudnn_rnn framework layers legacy_seq2seq losses metrics opt rnn seq2seq training"


def contrib_lines(root: Path) -> Iterator[str]:
    for package in CONTRIB.split():
        found: dict[str, list[str]] = {}
        for path in sorted((root / package).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                function = made_by(node)
                if function is not None and not (function.args.vararg or function.args.kwarg):
                    found.setdefault(getattr(node, "name", ""), [a.arg for a in function.args.args if a.arg != "self"])
        public = [item for item in sorted(found.items()) if not item[0].startswith("_")]
        yield from (" ".join([f"contrib.{package}.{name}", *parameters]) for name, parameters in public)


def made_by(node: ast.stmt) -> ast.FunctionDef | None:
    """What is called where the name that a statement declares is called."""
    if isinstance(node, ast.ClassDef):
        return next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
    return node if isinstance(node, ast.FunctionDef) else None


def main() -> None:
    folder = Path(__file__).parent / "signatures"
    if len(sys.argv) > 1:
        (folder / "contrib.txt").write_text("\n".join(contrib_lines(Path(sys.argv[1]))) + "\n")
        return
    import tensorflow as tf

    for file, root in (("today", tf), ("v1", tf.compat.v1)):
        found = list(lines(root))
        for name in NAMESPACES.split():
            if hasattr(root, name):
                found += lines(getattr(root, name), f"{name}.")
        (folder / f"{file}.txt").write_text("\n".join(found) + "\n")


if __name__ == "__main__":
    main()
