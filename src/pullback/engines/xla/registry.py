"""Lowering registry: which primitives XLA computes by another function than their kernel. Does not import jax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ...core.primitive import Primitive

Kernel = Callable[..., Any]
F = TypeVar("F", bound=Kernel)

_kernels: dict[type[Primitive], Kernel] = {}
_functionals: dict[type[Primitive], Kernel] = {}


def xla_kernel(*classes: type[Primitive]) -> Callable[[F], F]:
    """A decorator: XLA computes the primitives `classes` by `fn(primitive, *arrays)`, an array or a tuple of them.

    For a primitive that reads state the first array is the state, as in its `kernel`. Write such functions in a file
    `engines/xla/<family>.py`, and import it in `engines/xla/engine.py`. Where all arrays are NumPy's and
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
    return _functionals.get(cls)
