"""Import hook that stands in for TensorFlow: programs that say `import tensorflow as tf` run as they are.

`tensorflow`, `tensorflow.compat.v1` and the namespaces below them are those of `pullback.compat.v1`. The modules of
`tensorflow.python`, whose names are spread over many files, find a name wherever version 1 has it.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import inspect
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import pullback

from . import v1
from .modes import disable_v2_behavior, enable_resource_variables, enable_v2_tensorshape
from .v1 import (
    generated_names,
    inner_names,
    messages,
    mnist,
    moving_averages,
    python_util,
    rnn_names,
    test_decorators,
    timeline,
)

_NAMESPACES = ("", "nn", "math", "train", "nn.rnn_cell", "linalg", "image", "random", "initializers", "summary", "test")
"""Where the modules of `tensorflow.python` look for a name, in order."""
_PACKAGES = [
    ["lib", "io"],
    ["training", "tracking"],
    ["training", "checkpointable"],
    *[["ops", name] for name in ("distributions", "linalg", "losses", "ragged", "signal")],
]
"""The packages of `tensorflow.python` that have packages in them."""
_KERAS = ["keras", "keras.layers"]
"""Where the modules of `tensorflow.python.keras` look for a name after their own."""
_NO_TENSORFLOW = "tensorboard.compat.notf"
"""The module that, where it is found, tells tensorboard to do without TensorFlow."""


def install(*, v2_names: bool = False) -> None:
    """Let `import tensorflow` give pullback under TensorFlow 1's names, in this process, from now on.

    Dtypes and lengths of tensors are then objects of TensorFlow 1, see `pb.disable_v2_behavior`.
    With `v2_names` the names and parameters of TensorFlow 2 are those of `tensorflow` itself; those of version 1 are in
    `tensorflow.compat.v1` either way.

    Raises:
        RuntimeError: TensorFlow itself is imported already.

    >>> import pullback as pb
    >>> pb.compat.install()
    >>> import tensorflow as tf
    >>> from tensorflow.python.ops import math_ops
    >>> x = tf.placeholder(tf.float32, [])
    >>> tf.Session().run(tf.gradients(math_ops.square(x), x), {x: 3.0})
    [np.float32(6.0)]
    >>> pb.compat.uninstall()
    """
    there = sys.modules.get("tensorflow")
    if there is not None and not isinstance(there, _Names):
        raise RuntimeError(
            "compat.install: TensorFlow itself is imported already; install before the program imports it"
        )
    uninstall()
    if not v2_names:
        disable_v2_behavior()
    sys.meta_path.insert(0, _Finder(v2_names))


def uninstall() -> None:
    """Let `import tensorflow` give what it gave before; what was imported stays with those who have it."""
    enable_v2_tensorshape()
    enable_resource_variables()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for name in [name for name, module in sys.modules.items() if isinstance(module, _Names)]:
        del sys.modules[name]


class _Names(ModuleType):
    """A module of TensorFlow's whose names are looked up in some namespaces, the first that has one."""

    def __init__(self, name: str, places: Sequence[Any]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__dict__["_places"] = places

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [shown for shown in dir(self) if not hasattr(builtins, shown)]
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        missing: object = f"'{name}' is a module of pullback"
        for place in self.__dict__["_places"]:
            try:
                found = getattr(place, name)
            except AttributeError as error:
                missing = error
                continue
            if place is not v1 or name in v1.NAMESPACES or not _is_inner(found):
                return found
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}' in pullback: {missing}")

    def __dir__(self) -> list[str]:
        return sorted({name for place in self.__dict__["_places"] for name in dir(place) if not name.startswith("_")})


def _is_inner(found: Any) -> bool:
    """Whether that is a module of version 1 itself, not a name in it."""
    return isinstance(found, ModuleType) and found.__name__.startswith(f"{v1.__name__}.")


class _Packages:
    """A package of TensorFlow's that has modules, and no names beside."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self._name}.{name}")


class _Functions:
    """The functions and classes of a namespace, without the namespaces below it."""

    def __init__(self, place: Any) -> None:
        self._place = place

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._place, name)
        if isinstance(found, ModuleType):
            raise AttributeError(name)
        return found


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and all modules below it."""

    def __init__(self, v2_names: bool) -> None:
        self._top = pullback if v2_names else v1

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """What says that this loads `fullname`, if it is a module of TensorFlow's that is there."""
        del path, target
        if fullname == _NO_TENSORFLOW:
            return ModuleSpec(fullname, self)
        parts = fullname.split(".")
        return ModuleSpec(fullname, self, is_package=True) if parts[0] == "tensorflow" and self._places(parts) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module of names."""
        if spec.name == _NO_TENSORFLOW:
            return _Names(spec.name, [])
        return _Names(spec.name, self._places(spec.name.split(".")))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: names are looked up when they are asked for."""
        del module

    def _places(self, parts: Sequence[str]) -> list[Any]:
        """The namespaces of a module, none where it is not there."""
        match parts[1:]:
            case ["python", "util", "tf_inspect"]:
                return [python_util, inspect]
            case ["python", "util", module]:
                return [*_found(v1, [module]), python_util]
            case ["python"]:
                return [_Packages("tensorflow.python")]
            case ["python", "tf2"]:
                return [SimpleNamespace(enabled=lambda: self._top is pullback)]
            case ["python", "keras"]:
                return [_Functions(v1.keras), _Packages("tensorflow.python.keras")]
            case ["python", package]:
                return [_Packages(f"tensorflow.python.{package}")]
            case ["python", "client", "timeline"]:
                return [timeline]
            case ["python", "framework", "test_util"]:
                return [test_decorators, *_python(["framework", "test_util"])]
            case ["python", *below]:
                return _python(below)
            case ["examples"] | ["examples", "tutorials"]:
                return [_Packages(".".join(parts))]
            case ["examples", "tutorials", "mnist", *_] | ["contrib", "learn", "python", "learn", "datasets", "mnist"]:
                return [mnist]
            case ["contrib", "slim", "python", "slim", "nets", *below]:
                return _found(v1, ["contrib", "slim", "nets", *below])
            case ["contrib", package, "python", *below] if len(below) < 3 or below[:2] == ["slim", "data"]:
                names = [*_found(v1, ["contrib", package, *below[-1:]]), *_found(v1, ["contrib", package])]
                return [*names, rnn_names] if names and package in ("rnn", "seq2seq") else names
            case ["core", _, file] if file.endswith("_pb2"):
                return _declared(file)
            case ["core", *_]:
                return [v1]
            case ["compat"]:
                return [v1.compat]
            case ["compat", "v1", *below]:
                return _found(v1, below)
            case ["compat", "v2", *below]:
                return _found(pullback, below)
            case below:
                return _found(self._top, below)


def _python(below: Sequence[str]) -> list[Any]:
    """Where a module of `tensorflow.python` finds names, those of its own name first: `ops.nn_impl` begins in `nn`.

    A module whose name ends in `_v2` has the functions of version 2. Modules that others import are found there too:
    `ops.rnn.rnn_cell_impl`.
    """
    if below[0] == "keras" and below[-1].islower():
        return [place for name in [".".join(below), *_KERAS] for place in _found(v1, name.split("."))]
    if len(below) > 2 and below[:2] not in _PACKAGES and not below[-1].endswith(("_impl", "_ops")):
        return []
    own = [part.removeprefix("tf_").removesuffix("_impl").removesuffix("_ops") for part in reversed(below)]
    named = [name for name in own if name in v1.NAMESPACES or name in [package for _, package in _PACKAGES]]
    top = pullback if below[-1].endswith("_v2") else v1
    found = [place for name in [*named, *_NAMESPACES] for place in _found(top, name.split(".") if name else [])]
    if below[-1].startswith("gen_"):
        found.insert(0, generated_names)
    return [*found, inner_names, rnn_names, python_util, moving_averages]


def _declared(file: str) -> list[ModuleType]:
    """The messages of a file, if the package tensorboard has it."""
    try:
        return [messages.declared(file)]
    except ModuleNotFoundError:
        return []


def _found(place: Any, names: Sequence[str]) -> list[Any]:
    """The namespace at the end of `names` below `place`, if all are there; a function or a class is none."""
    for name in names:
        place = getattr(place, name, None)
    return [] if place is None or callable(place) else [place]
