"""Traced kernels: each function of NumPy's that one calls can be written, whichever derivative calls it first."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.primitive import Primitive, primitive_classes
from pullback.core.types import TensorType
from pullback.onnx.namespace import Namespace
from pullback.onnx.registry import writer, writer_of
from pullback.onnx.write.traced import traced

pytest.importorskip("onnxruntime")
OF_KNOWN_NUMBERS = {"arange"}
"""What kernels call with numbers that they know."""
NUMBERS = np.array([0.0, -0.0, 1.0, -1.5, 0.75, 3e38, -2e-39, 1e-45, np.inf, -np.inf, np.nan], "f")


def _functions(f: Any, found: dict[FunctionType, None]) -> None:
    """`f` and the functions of an array namespace that it calls."""
    f = inspect.unwrap(f)
    if isinstance(f, FunctionType) and f not in found and "xp" in inspect.signature(f).parameters:
        found[f] = None
        for name in f.__code__.co_names:
            _functions(f.__globals__.get(name), found)


def called() -> set[str]:
    """The names that traced kernels ask their namespace for."""
    functions: dict[FunctionType, None] = {}
    assert writer_of(Applied("exp")) is traced, "with the first writer all are loaded, and the classes that they write"
    for cls in primitive_classes().values():
        if writer_of(object.__new__(cls)) is traced:
            _functions(cls.kernel, functions)
    sources = [ast.parse(textwrap.dedent(inspect.getsource(f))) for f in functions]
    nodes = [node for source in sources for node in ast.walk(source) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "xp"}


@dataclass(frozen=True)
class Applied(Primitive):
    """A function of NumPy's of each element."""

    name: str

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        values = self.kernel(np, *[np.ones((), x.dtype) for x in xs])
        return tuple([TensorType(y.dtype, xs[0].shape) for y in (values if isinstance(values, tuple) else (values,))])

    def kernel(self, xp: Any, *xs: Any) -> Any:
        return getattr(xp, self.name)(*xs)


writer(Applied)(traced)


def inputs_of(f: np.ufunc) -> list[np.ndarray[Any, Any]]:
    """Edges of the first input of a function, and of the second one if it has that."""
    first = NUMBERS > 0 if f.__name__.startswith("logical") else NUMBERS
    second = np.flip(first) if f is not np.ldexp else np.arange(-150, 150, 28, np.int32)
    return [first, second][: f.nin]


def test_kernels_call_what_can_be_written() -> None:
    names = called()
    functions = {name: f for name in names if isinstance(f := getattr(np, name, None), np.ufunc) and not f.signature}
    assert not {name for name in names if not hasattr(Namespace, name)} - functions.keys() - OF_KNOWN_NUMBERS
    for name, f in functions.items():
        arrays = inputs_of(f)
        with pb.Graph().as_default() as graph, np.errstate(all="ignore"):
            xs = [pb.placeholder(x.dtype, x.shape) for x in arrays]
            ys = Applied(name).operation(*xs).outputs
            found, wanted = [
                pb.Session(engine=e, graph=graph).run(list(ys), dict(zip(xs, arrays, strict=True)))
                for e in ("onnxruntime", "numpy")
            ]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=name)
