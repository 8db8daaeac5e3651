"""Registries are filled by imports that are written out: a new module that registers something is named there."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import pullback
from pullback.core.primitive import Primitive
from pullback.engines.xla import registry

ROOT = Path(pullback.__file__).parent
REGISTRIES = [
    ("onnx/loading.py", "onnx/read/**/*.py", r"@reader\("),
    ("onnx/registry.py", "onnx/write/**/*.py", r"\bwriter\("),
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


def test_every_module_that_registers_kernels_for_xla_is_named_in_its_family() -> None:
    folder = ROOT / "engines/xla"
    registering = [p for p in folder.glob("**/*.py") if re.search(r"@xla_(kernel|functional)\(", p.read_text())]
    found = {".".join(path.relative_to(folder).with_suffix("").parts) for path in registering}
    assert found - {"registry"} == {name for names in registry.MODULES.values() for name in names}


def test_a_kernel_for_xla_is_found_by_the_family_of_its_primitive(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    asked: list[str] = []
    known = {k: v for names in registry.MODULES.values() for name in names for k, v in _registered(name).items()}
    monkeypatch.setattr(registry, "import_module", lambda name, package: asked.append(f"{package}{name}"))
    for primitive, module in known.items():
        asked.clear()
        registry._load_kernels_of.__wrapped__(primitive.__module__)
        assert module in asked, primitive


def _registered(name: str) -> dict[type[Primitive], str]:
    """The primitives for which a module registers kernels."""
    module = f"pullback.engines.xla.{name}"
    import_module(module)
    registered = [*registry._kernels.items(), *registry._functionals.items()]
    return {cls: module for cls, fn in registered if fn.__module__ == module}
