"""Static analysis of programs: which names of TensorFlow they use, and which of those are not there."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

_HINT = re.compile(r"has no attribute '[^']*'[:;] (?!module )(.*)$")


class Missing(NamedTuple):
    """A name that is not there, where it is first used, and what to use instead, or ""."""

    line: int
    name: str
    instead: str


class Names(NamedTuple):
    """How many names of TensorFlow a program uses, and those that are not there."""

    total: int
    missing: list[Missing]


def names_of(text: str) -> Names:
    """The names of TensorFlow in the program `text`, each once, looked up as `install` lets them be found.

    Raises:
        SyntaxError: it is no Python 3.

    >>> import pullback as pb
    >>> pb.compat.install()
    >>> names_of("import tensorflow as tf\\ntf.nn.relu(tf.nn.no_such_thing)")
    Names(total=3, missing=[Missing(line=2, name='tf.nn.no_such_thing', instead='')])
    >>> pb.compat.uninstall()
    """
    first: dict[str, tuple[int, str]] = {}
    for line, shown, full in sorted(_uses(ast.parse(text))):
        first.setdefault(full, (line, shown))
    missing: dict[str, Missing] = {}
    for full, (line, shown) in first.items():
        lacking = _lacking(full.split("."))
        if lacking is not None:
            count, instead = lacking
            prefix, name = [text.rsplit(".", count)[0] if count else text for text in (full, shown)]
            missing.setdefault(prefix, Missing(line, name if shown.count(".") >= count else prefix, instead))
    return Names(len(first), sorted(missing.values()))


def _uses(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """The line, the name as it stands there, and the name in full, of each use."""
    nodes = list(ast.walk(tree))
    known: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "tensorflow":
                    known[alias.asname or "tensorflow"] = alias.name if alias.asname else "tensorflow"
                    yield node.lineno, alias.name, alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "tensorflow":
            for alias in node.names:
                full = f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module)
                known[alias.asname or alias.name] = full
                yield node.lineno, full, full
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            path = _path(node)
            if path and path[0] in known:
                yield node.lineno, ".".join(path), ".".join([known[path[0]], *path[1:]])


def _path(node: ast.expr) -> list[str]:
    """The names of `a.b.c`, none for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _lacking(parts: list[str]) -> tuple[int, str] | None:
    """How many names stand behind the one that is not there, and what to use instead; None where all are there.

    Attributes of classes and of values are not looked for.
    """
    place: Any = importlib.import_module("tensorflow")
    for i in range(2, len(parts) + 1):
        if not isinstance(place, ModuleType):
            return None
        try:
            place = _below(place, parts[:i])
        except AttributeError as error:
            hint = _HINT.search(str(error))
            return len(parts) - i, hint[1] if hint else ""
        except ImportError as error:
            return len(parts) - i, str(error)
    return None


def _below(place: ModuleType, parts: list[str]) -> Any:
    """What has the last of the names in the module that has the others: an attribute, or a module below."""
    try:
        return getattr(place, parts[-1])
    except AttributeError:
        try:
            return importlib.import_module(".".join(parts))
        except ModuleNotFoundError:
            pass
        raise
