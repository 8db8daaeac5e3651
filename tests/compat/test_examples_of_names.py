"""Examples where a user looks: names of TensorFlow 1 are shown in their docstrings, or in their modules'."""

from __future__ import annotations

import inspect
import re
import sys
from functools import reduce
from pathlib import Path
from typing import Any

from pullback.compat import v1

SIGNATURES = Path(__file__).parent / "signatures" / "v1.txt"
OWN = ("pullback.compat", "pullback.records", "pullback.primitives.strings")


def own_names() -> dict[str, Any]:
    """The functions and classes of TensorFlow's list that are defined for version 1."""
    found = {}
    for line in SIGNATURES.read_text().splitlines():
        name = line.split()[0]
        value = reduce(lambda place, part: getattr(place, part, None), name.split("."), v1)
        if (getattr(value, "__module__", None) or "").startswith(OWN):
            found[name] = value
    return found


def examples(value: Any) -> str:
    """The lines of examples in a docstring."""
    return "\n".join(line for line in (inspect.getdoc(value) or "").splitlines() if re.match(r"\s*(>>>|\.\.\.) ", line))


def is_shown(name: str, value: Any) -> bool:
    """Whether its docstring has an example, or one of its module has its name, or that of which it is another."""
    shown = examples(sys.modules[value.__module__])
    called = {name.rpartition(".")[2], getattr(value, "__name__", "")}
    return bool(examples(value)) or any(re.search(rf"\b{word}\b", shown) for word in called - {""})


def test_each_name_of_version_1_has_an_example() -> None:
    names = own_names()
    assert len(names) > 300
    assert [name for name, value in names.items() if not is_shown(name, value)] == []
