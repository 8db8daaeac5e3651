"""The house rules that a reader relies on: who may import whom, and that importing pullback is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pullback

ROOT = Path(pullback.__file__).parent
BELOW_ENGINES = {"core", "primitives", "autodiff", "control_flow", "drawing", "passes"}
MAY_IMPORT = {
    "core": {"core"},
    "primitives": {"core", "primitives"},
    "autodiff": {"core", "primitives", "autodiff"},
    "control_flow": {"core", "primitives", "autodiff", "control_flow"},
    "passes": BELOW_ENGINES,
    "engines": {*BELOW_ENGINES, "engines"},
    "derivatives": {*BELOW_ENGINES, "engines", "derivatives"},
    "drawing": {"core", "drawing"},
    "graphdef": {*BELOW_ENGINES, "engines", "layers", "checkpoints", "graphdef"},
    "onnx": {*BELOW_ENGINES, "derivatives", "engines", "optimizers", "onnx"},
    "layers": {*BELOW_ENGINES, "layers"},
    "optimizers": {"core", "primitives", "autodiff", "control_flow", "layers", "optimizers"},
    "functions": {*BELOW_ENGINES, "derivatives", "engines", "functions"},
    "interop": {*BELOW_ENGINES, "derivatives", "engines", "interop"},
    "records": {*BELOW_ENGINES, "checkpoints", "records"},
    "checkpoints": {*BELOW_ENGINES, "engines", "layers", "checkpoints", "graphdef"},
}
MAY_IMPORT["compat"] = MAY_IMPORT["root"] = {*MAY_IMPORT, "compat", "root"}
MAY_IMPORT["cli"] = {*MAY_IMPORT["root"], "cli"}
HEAVY = ("jax", "onnx", "scipy", "matplotlib", "sklearn", "rich", "tensorstore", "torch", "tensorflow")


def layer_of(path: Path) -> str:
    """The folder of pullback that a file is in; for the modules beside the folders "root"."""
    first, *rest = path.relative_to(ROOT).parts
    return first if rest else "root"


@cache
def imports_of(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The imports in a file, those in functions too."""
    text = path.read_text()
    return (
        [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)] if "import" in text else []
    )


def imported_layers(path: Path) -> set[str]:
    """The layers of pullback that a file imports from."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in imports_of(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            found |= {parts[0]} if parts[0] else {alias.name for alias in node.names}
        else:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found |= {(*name.split("."), "root")[1] for name in names if name.split(".")[0] == "pullback"}
    return {name if (ROOT / name).is_dir() else "root" for name in found - {"version"}}


def test_a_layer_imports_only_what_stands_below_it() -> None:
    for path in ROOT.rglob("*.py"):
        if path not in (ROOT / "__init__.py", ROOT / "__main__.py"):
            wrong = imported_layers(path) - MAY_IMPORT[layer_of(path)]
            assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


def test_every_folder_is_a_layer() -> None:
    assert {layer_of(path) for path in ROOT.rglob("*.py")} == set(MAY_IMPORT)


def test_the_package_imports_neither_its_commands_nor_its_older_names_when_it_is_imported() -> None:
    code = "import sys, pullback; print([m for m in sys.modules if m.startswith(('pullback.cli', 'pullback.compat'))])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_namespaces_of_the_root_need_no_version_1() -> None:
    code = "import sys, pullback as pb; pb.math, pb.image, pb.random; print('pullback.compat.v1' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


def test_a_border_library_is_imported_in_its_border_only() -> None:
    borders = {
        "jax": ("engines/xla", "interop/jax.py"),
        "onnx": ("onnx/",),
        "scipy": ("primitives/special/base.py", "derivatives/", "interop/scipy.py"),
    }
    for path in ROOT.rglob("*.py"):
        where = path.relative_to(ROOT).as_posix()
        modules = [a.name for node in imports_of(path) if isinstance(node, ast.Import) for a in node.names]
        modules += [n.module or "" for n in imports_of(path) if isinstance(n, ast.ImportFrom) and not n.level]
        for name in borders.keys() & {module.partition(".")[0] for module in modules}:
            assert where.startswith(borders[name]), f"{where} imports {name}"


def test_no_test_looks_at_a_clock() -> None:
    """Machines are busy: tests count operations, calls or bytes, and benchmarks measure seconds."""
    for path in Path(__file__).parent.rglob("*.py"):
        imports = imports_of(path) if "time" in path.read_text() else []
        names = {alias.name for n in imports if isinstance(n, ast.Import) for alias in n.names}
        names |= {n.module for n in imports if isinstance(n, ast.ImportFrom) and n.module}
        assert not names & {"time", "timeit"}, path


def test_every_public_name_is_listed_once() -> None:
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    names = [str(alias.asname) for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    names += [ast.unparse(node.targets[0]) for node in stub.body if isinstance(node, ast.Assign)]
    public = [name for name in names if not name.startswith("_") or name == "__version__"]
    assert sorted([*public, "newaxis"]) == pullback.__all__


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.py")), ids=lambda path: path.stem)
def test_the_root_holds_names_only(path: Path) -> None:
    defined = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert path.stem in ("__init__", "names") or not defined


@pytest.mark.parametrize("name", pullback.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(pullback, name) is not None or name == "newaxis"


def test_importing_pullback_loads_nothing_heavy() -> None:
    code = f"import sys, pullback; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


EXTRAS = {
    "pb.Session(engine='xla')": "Session: engine='xla' needs jax (no jax here): pip install 'pullback[xla]'",
    "pb.xla.to_jax([], [])": "xla.to_jax needs jax (no jax here): pip install 'pullback[xla]'",
    "pb.Session(engine='onnxruntime')": (
        "Session: engine='onnxruntime' needs onnx and onnxruntime: pip install 'pullback[onnxruntime]'"
    ),
    "pb.onnx": "pullback.onnx needs the package onnx; install it with: pip install 'pullback[onnx]'",
    "pb.import_graph_def(b'')": (
        "TensorFlow's graphs need tensorboard, which has their messages (no tensorboard here): "
        "pip install 'pullback[tensorflow]'"
    ),
    "pb.summary.FileWriter('.')": (
        "summary.FileWriter needs the package tensorboard: pip install 'pullback[tensorboard]'"
    ),
    "pb.train.Saver(allow_empty=True, sharded=True)": (
        "Saver: sharded=True needs tensorstore (no tensorstore here): pip install 'pullback[sharded]'"
    ),
    "__import__('pullback.checkpoints.messages', fromlist=['messages']).messages()": (
        "TensorFlow's checkpoints need tensorboard and google-crc32c (no google_crc32c here): "
        "pip install 'pullback[tensorflow]'"
    ),
    "list(__import__('pullback.records.files', fromlist=['read_records']).read_records(pb.__file__))": (
        "TensorFlow's files need google-crc32c (no google_crc32c here): pip install 'pullback[tensorflow]'"
    ),
    "pb.compat.v1.image.decode_png('')": (
        "DecodePng: images in files need Pillow (no PIL here): pip install 'pullback[tensorflow]'"
    ),
}
WITHOUT = ("jax", "jaxlib", "onnx", "onnxruntime", "tensorboard", "tensorstore", "google_crc32c", "PIL", "scipy")
WITHOUT_EXTRAS = """
import sys
from importlib.abc import MetaPathFinder

class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in WITHOUT:
            raise ModuleNotFoundError(f"no {name} here", name=name)

sys.meta_path.insert(0, Without())
import pullback as pb
"""


def test_without_an_extra_what_needs_it_says_how_to_install_it() -> None:
    tries = "".join(f"try:\n    {code}\nexcept ImportError as error:\n    print(error)\n" for code in EXTRAS)
    command = [sys.executable, "-c", f"WITHOUT = {WITHOUT}\n{WITHOUT_EXTRAS}{tries}"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == list(EXTRAS.values())


def test_a_namespace_that_takes_names_of_compat_can_be_the_first_that_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", "import pullback.math"], capture_output=True, text=True, check=False)
    assert not done.stderr
