"""One vocabulary: a family has one name in every room of the house, and all its parts stand under that name."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from tools import reference

import pullback
from pullback.core.primitive import Primitive, primitive_class, primitive_classes
from pullback.primitives.families import FAMILIES

from .cases.table import families

SOURCE = Path(pullback.__file__).parent
ROOMS = {
    "primitives": {"base", "families"},
    "layers": set(),
    "engines/xla": {
        *(
            "coordinator",
            "devices",
            "engine",
            "export",
            "extrema",
            "fusion",
            "loops",
            "program",
            "registry",
            "segments",
            "trace",
            "turns",
            "windows",
        ),
        *("collectives", "headroom", "host_segments", "jax_internals", "lost_processes", "platform", "processes"),
        *(
            "array_namespace",
            "broadcast_factors",
            "column_major",
            "compiler_options",
            "derivatives",
            "fences",
            "inner_products",
            "interrupts",
            "known",
            "libraries",
            "linear_maps",
            "materialised",
            "reading_late",
            "movement",
            "product_times",
            "masked_rows",
            "ordering",
            "reassociation",
            "shared_factors",
            "trigonometric",
            "window_loops",
        ),
        *("exceptions", "settled", "stages", "survey", "transfers"),
    },
    "onnx/read": {
        *("dtypes", "lengths", "operands", "packed", "places", "sources", "states", "steps", "watching", "windows"),
        *(
            "attention",
            "categories",
            "cells",
            "dictionaries",
            "fused",
            "fused_attention",
            "fused_quantization",
            "scores",
            "sequence",
            "sequence_map",
        ),
        *("support_vectors", "tabular", "training", "trees"),
    },
    "onnx/write": {"layout", "shapes", "traced"},
    "graphdef/read": {"operands", "files", "optimizers"},
    "../../tests/cases": {"case", "table"},
}
"""Where families have files or folders; and what else stands there: what they share, and operators of ONNX alone."""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_holds_families_and_what_they_share(room: str) -> None:
    found = {path.stem for path in (SOURCE / room).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__"} - ROOMS[room] <= FAMILIES.keys()


def family_of(value: Any) -> str | None:
    """The family whose file or folder a class or function is written in; None where it belongs to none."""
    _, *parts = getattr(value, "__module__", value.__name__).split(".")
    return next((part for part in parts if part in FAMILIES), None)


def classes() -> list[type[Primitive]]:
    """All primitives that belong to a family."""
    primitive_class("")
    return [
        cls for cls in primitive_classes().values() if cls.__module__.split(".")[1] in ("primitives", "control_flow")
    ]


def test_every_primitive_belongs_to_a_family() -> None:
    assert [cls for cls in classes() if family_of(cls) is None] == []


def misplaced(function_of: Callable[[type[Primitive]], Any]) -> dict[str, str]:
    """The primitives whose function stands in the room of another family."""
    functions = {cls: function_of(cls) for cls in classes()}
    return {
        cls.__name__: f"{fn.__module__}, but the class in {cls.__module__}"
        for cls, fn in functions.items()
        if fn is not None and family_of(fn) not in (family_of(cls), None)
    }


def test_what_xla_computes_otherwise_stands_under_the_family_of_its_primitive() -> None:
    pytest.importorskip("jax")
    from pullback.engines.xla import engine
    from pullback.engines.xla.registry import xla_functional_of, xla_kernel_of

    del engine
    assert misplaced(lambda cls: xla_kernel_of(cls) or xla_functional_of(cls)) == {}


def test_what_writes_onnx_stands_under_the_family_of_its_primitive() -> None:
    pytest.importorskip("onnx")
    from pullback.onnx import registry

    registry._load_writers()
    assert misplaced(registry._writers.get) == {}


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "onnx/write").rglob("[a-z]*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_a_module_of_writers_names_primitives_of_its_family_only(path: Path) -> None:
    pytest.importorskip("onnx")
    module = importlib.import_module(".".join(("pullback", *path.relative_to(SOURCE).with_suffix("").parts)))
    calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
    written = [n for call in calls if ast.unparse(call.func) == "writer" for arg in call.args for n in ast.walk(arg)]
    values = [getattr(module, n.id, None) for n in written if isinstance(n, ast.Name)]
    named = [value for value in values if isinstance(value, type) and issubclass(value, Primitive)]
    assert {family_of(cls) for cls in named if cls in classes()} <= {family_of(module)}


def test_an_operation_of_the_reference_page_has_its_rows_under_its_family() -> None:
    names = reference.public_names()
    called: dict[CodeType, set[str]] = {}
    for family, cases in families().items():
        for case in cases:
            for code in reference.called_by(case):
                called.setdefault(code, set()).add(family)
    assert {
        names[function][0]: f"in {called[reference.code_of(function)]}, not in {family}"
        for family, functions in reference.listed(names).items()
        for function in functions
        if family not in called.get(reference.code_of(function), {family})
    } == {}


def test_a_module_begins_with_the_term_for_what_is_in_it() -> None:
    ours = {"What", "How", "Where", "When", "Which", "Whether", "Who", "From", "Things", "Some", "It"}
    firsts = {path: ast.get_docstring(ast.parse(path.read_bytes())) or "" for path in sorted(SOURCE.rglob("*.py"))}
    assert not [str(path) for path, text in firsts.items() if text.split(" ")[0] in {"", *ours}]
