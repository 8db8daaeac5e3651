"""Registries are filled by imports that are written out: a new module that registers something is named there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pullback

ROOT = Path(pullback.__file__).parent
REGISTRIES = [
    ("onnx/loading.py", "onnx/read/**/*.py", r"@reader\("),
    ("onnx/registry.py", "onnx/write/**/*.py", r"\bwriter\("),
    ("engines/xla/engine.py", "engines/xla/**/*.py", r"@xla_(kernel|functional)\("),
]


@pytest.mark.parametrize(("where", "modules", "registers"), REGISTRIES, ids=lambda x: x)
def test_every_module_that_registers_something_is_imported_by_name(where: str, modules: str, registers: str) -> None:
    named = {
        alias.name
        for node in ast.walk(ast.parse((ROOT / where).read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    found = {path.stem for path in ROOT.glob(modules) if re.search(registers, path.read_text())}
    assert found - {"registry"} <= named
