"""Lazy loading of public names, which stand in stubs beside their modules, where type checkers read them too."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\.[\w.]*) import \(?\s*(\w+) as (\w+)", re.MULTILINE)
_ALIAS = re.compile(r"^(\w+) = (\w+)(?:\.(\w+))?$", re.MULTILINE)
_ROOT = __name__.rpartition(".")[0]


def places(stub: str) -> dict[str, tuple[str, str]]:
    """For each public name in a stub of the root the module where it is defined, and its name there."""
    text = Path(__file__).with_name(stub).read_text(encoding="utf-8")
    found = {name: (module, defined) for module, defined, name in _IMPORT.findall(text)}
    for name, alias, defined in _ALIAS.findall(text):
        package, module = found[alias]
        found[name] = (f"{package.rstrip('.')}.{module}", defined) if defined else found[alias]
    return {name: place for name, place in found.items() if not name.startswith("_") or name == "__version__"}


def on_demand(module: str, stub: str = "") -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__`, `__dir__` of a module: the names of its stub, each imported when it is first used."""
    where = places(stub or f"{module.rpartition('.')[2]}.pyi")
    names = sorted(where)

    def load(name: str) -> Any:
        if name not in where:
            raise absent(module, name)
        place, defined = where[name]
        if place == ".":
            return import_module(f"{_ROOT}.{defined}")
        value = vars(sys.modules[module])[name] = getattr(import_module(place, _ROOT), defined)
        return value

    return names, load, lambda: names


ABSENT = {
    "Module": "any class may hold variables; pb.trainable_variables() lists them",
    "app": "use argparse",
    "contrib": "TensorFlow 2 removed tf.contrib; look for the function in pb.nn, pb.train or pb.linalg",
    "data": "feed arrays: session.run(fetches, {x: batch})",
    "distribute": "spread a batch with pb.sharding over the mesh of a session; pb.distributed joins processes",
    "estimator": "call the model function yourself, and run its train_op in a session",
    "flags": "use argparse",
    "gfile": "use pathlib",
    "hessian": "use pb.hessians(y, xs), or pb.transforms.hessian(function)",
    "jacfwd": "use pb.jacobian(y, xs), or pb.transforms.jacobian(function)",
    "jacrev": "use pb.jacobian(y, xs), or pb.transforms.jacobian(function)",
    "jit": "use pb.function",
    "keras": "make variables with pb.get_variable, and layers of the functions of pb.nn",
    "layers": "make variables with pb.get_variable, and layers of the functions of pb.nn",
    "learn": "call the model function yourself, and run its train_op in a session",
    "lite": "write an ONNX model with pb.onnx.export, or StableHLO with pb.xla.to_stablehlo",
    "logging": "use Python's own",
    "quantize": "quantize the ONNX model that pb.onnx.export writes, with onnxruntime's tools",
    "tensorrt": "write an ONNX model with pb.onnx.export, which TensorRT reads",
    "tpu": 'Session(engine="xla") runs a graph on the accelerators that jax finds',
    "vmap": "use pb.vectorized_map",
}
"""What to use in place of names of TensorFlow and jax that are not here."""


def absent(module: str, name: str) -> AttributeError:
    """The error for a name that `module` does not have: what to use instead, where that is known."""
    instead = f"; {ABSENT[name]}" if name in ABSENT else ""
    return AttributeError(f"module '{module}' has no attribute '{name}'{instead}")
