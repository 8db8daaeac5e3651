"""Lowering registry: which primitives XLA computes by another function than their kernel. Does not import jax.

The modules of a family, or of a part of one, are imported when the first of its primitives is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from ...core.primitive import Primitive

Kernel = Callable[..., Any]
F = TypeVar("F", bound=Kernel)

_kernels: dict[type[Primitive], Kernel] = {}
_functionals: dict[type[Primitive], Kernel] = {}

MODULES = {
    "activations": ["activations"],
    "casting": ["casting"],
    "complex": ["complex"],
    "control_flow": [
        "control_flow.branches",
        "control_flow.callbacks",
        "control_flow.calls",
        "control_flow.rematerialisation",
        "loops.loop",
    ],
    "convolution": ["convolution.convolution", "convolution.morphology"],
    "cumulative": ["cumulative"],
    "debugging": ["debugging"],
    "elementwise": ["elementwise"],
    "identity": ["identity"],
    "image": ["image"],
    "indexing": ["indexing", "masked_rows"],
    "linalg": ["linalg.decompositions", "linalg.matrix_functions", "linalg.products"],
    "linalg.einsum": ["linalg.products"],
    "linalg.matmul": ["linalg.products"],
    "losses": ["losses"],
    "pooling": ["pooling.pooling"],
    "reduction": ["reduction"],
    "segment": ["segment"],
    "signal": ["signal"],
    "sorting": ["sorting"],
    "sparse": ["sparse"],
    "special": ["special.error_function", "special.special"],
    "tensor_array": ["tensor_array"],
    "variables": ["variables"],
}
"""For a family, or a module of it, the modules that register its kernels."""


def xla_kernel(*classes: type[Primitive]) -> Callable[[F], F]:
    """A decorator: XLA computes the primitives `classes` by `fn(primitive, *arrays)`, an array or a tuple of them.

    For a primitive that reads state the first array is the state, as in its `kernel`. Write such functions in a file
    `engines/xla/<family>.py`, and name it in `MODULES`. Where all arrays are NumPy's and
    the result is small or decides a shape, the primitive's own kernel is used with NumPy.
    """

    def register(fn: F) -> F:
        for cls in classes:
            if cls in _kernels:
                raise KeyError(f"there is an XLA kernel for {cls.__name__} already: {_kernels[cls].__qualname__}")
            _kernels[cls] = fn
        return fn

    return register


def xla_kernel_of(cls: type[Primitive]) -> Kernel | None:
    """The function registered for a primitive class, or None."""
    _load_kernels_of(cls.__module__)
    return _kernels.get(cls)


def xla_functional(*classes: type[Primitive]) -> Callable[[F], F]:
    """A decorator: XLA runs the primitives `classes`, which hold functions, by `fn(trace, step, arrays)`.

    `trace` is the `Trace` of the plan around; the result has a value for each output, None where nobody reads it.
    """

    def register(fn: F) -> F:
        _functionals.update(dict.fromkeys(classes, fn))
        return fn

    return register


def xla_functional_of(cls: type[Primitive]) -> Kernel | None:
    """The function registered for a primitive class that holds functions, or None."""
    _load_kernels_of(cls.__module__)
    return _functionals.get(cls)


def load_kernels(classes: Iterable[type[Primitive]]) -> None:
    """Import what registers kernels for `classes`, and notes beside them how they compute."""
    for cls in classes:
        _load_kernels_of(cls.__module__)


@cache
def _load_kernels_of(module: str) -> None:
    """Import what registers kernels for the primitives of `module`, where a class is from, or else of its family."""
    package, *rest = module.split(".")
    if package != __name__.partition(".")[0]:
        return
    path = rest[1:] if rest[0] == "primitives" else rest
    places = [".".join(path[:i]) for i in range(len(path), 0, -1)]
    for name in next((MODULES[place] for place in places if place in MODULES), []):
        import_module(f".{name}", __package__)
