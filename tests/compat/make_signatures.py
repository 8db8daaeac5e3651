"""Writes `signatures/*.txt`, what TensorFlow's functions take: run by hand where TensorFlow is installed.

    python tests/compat/make_signatures.py
    python tests/compat/make_signatures.py tensorflow_core/contrib

A line is a name, and its parameters in order; in `defaults.txt`, which has methods and deeper namespaces of version 1
too, with defaults that are numbers, texts, truth values or None. The second form reads the files of `tf.contrib` in
TensorFlow 1.15.
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


NOT_FOLLOWED = {"compat", "v1", "v2", "keras", "lite", "raw_ops", "test", "tpu", "xla"}
LITERALS = (bool, int, float, str, type(None))


def lines_with_defaults(root: ModuleType) -> Iterator[str]:
    """Of functions, classes and methods in all namespaces below `root`, each once."""
    modules, seen = [(root, "")], set()
    while modules:
        module, prefix = modules.pop(0)
        for name in dir(module):
            value = member(module, name)
            if isinstance(value, ModuleType) and name not in NOT_FOLLOWED and value.__name__.startswith("tensorflow"):
                modules.append((value, f"{prefix}{name}."))
            if isinstance(value, ModuleType) or not callable(value) or id(value) in seen:
                continue
            seen.add(id(value))
            yield from shown(prefix + name, value)
            for method in vars(value) if inspect.isclass(value) else ():
                yield from shown(f"{prefix}{name}.{method}", member(value, method))


def member(owner: Any, name: str) -> Any:
    """The public attribute of that name, or None; parts of Keras raise where they are asked for."""
    try:
        value = None if name.startswith("_") else getattr(owner, name)
        place = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        return None if "keras" in (place or "") else value
    except Exception:
        return None


def shown(name: str, value: Any) -> Iterator[str]:
    try:
        parameters = list(inspect.signature(value).parameters.values()) if callable(value) else []
    except (TypeError, ValueError):
        return
    if parameters and all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters):
        given = [f"{p.name}={p.default!r}" if type(p.default) in LITERALS else p.name for p in parameters]
        yield " ".join([name, *[p.partition("=")[0] if " " in p else p for p in given if p != "self"]])


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
    (folder / "defaults.txt").write_text("\n".join(lines_with_defaults(tf.compat.v1)) + "\n")


if __name__ == "__main__":
    main()
