"""Tracer arrays: they write ONNX nodes for what is asked of them, so that a kernel, run on them, writes its graph.

Their shapes are static. They follow NumPy's protocols, so that functions of NumPy itself come here too; those of the
namespace that kernels are given are in `namespace.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..core.dtypes import bool as bool_
from .records import Value
from .writing import Writer


class AbstractTraced(NDArrayOperatorsMixin, ABC):
    """What real and complex arrays share: NumPy's operators, which come to `__array_ufunc__`, and its protocols."""

    __slots__ = ()
    __array_priority__ = 1000.0
    w: Writer

    @property
    @abstractmethod
    def dtype(self) -> Any: ...

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @abstractmethod
    def reshape(self, *shape: Any) -> Any: ...

    @abstractmethod
    def transpose(self, *axes: Any) -> Any: ...

    @abstractmethod
    def astype(self, dtype: Any, copy: bool = True) -> Any: ...

    @abstractmethod
    def __getitem__(self, index: Any) -> Any: ...

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        return self.transpose()

    def __len__(self) -> int:
        return self.shape[0]

    def _elementwise(self, name: str, *xs: Any) -> Any:
        return namespace(self.w).elementwise(name, *xs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        del options
        if method != "__call__":
            return NotImplemented
        if ufunc is np.matmul:
            return namespace(self.w).matmul(*inputs)
        return self._elementwise(ufunc.__name__, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        del types
        return getattr(namespace(self.w), function.__name__)(*args, **kwargs)

    def __bool__(self) -> bool:
        raise TypeError("the kernel asks for a value, which is only known at run time")

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(self.shape[0])])

    def copy(self) -> Any:
        return self

    def swapaxes(self, a: int, b: int) -> Any:
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(order)

    def sum(self, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        return namespace(self.w).sum(self, axis, keepdims=keepdims, dtype=dtype)

    def conj(self) -> Any:
        return self._elementwise("conjugate", self)

    @property
    def real(self) -> Any:
        return namespace(self.w).real(self)

    @property
    def imag(self) -> Any:
        return namespace(self.w).imag(self)


class Traced(AbstractTraced):
    """An array whose elements a graph that is being written will compute."""

    __slots__ = ("value", "w")

    def __init__(self, w: Writer, value: Value) -> None:
        self.w = w
        self.value = value

    @property
    def dtype(self) -> Any:
        return self.value.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.type.shape.known

    @property
    def at(self) -> _At:
        return _At(self)

    def __getitem__(self, index: Any) -> Any:
        return namespace(self.w).read_at(self, index)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        del copy
        wanted = np.dtype(dtype)
        if wanted.kind == "c":
            return as_traced(self.w, self, wanted)
        return self if wanted == self.dtype else Traced(self.w, self.w.cast(self.value, wanted))

    def reshape(self, *shape: Any) -> Any:
        dims = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        known = full_shape(self.size, dims)
        if known != self.shape and 0 in known:
            return as_traced(self.w, np.zeros(known, self.dtype))
        return self if known == self.shape else Traced(self.w, self.w.reshape(self.value, known))

    def transpose(self, *axes: Any) -> Traced:
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = [a % self.ndim for a in given] if given else list(reversed(range(self.ndim)))
        return self if order == list(range(self.ndim)) else Traced(self.w, self.w.transpose(self.value, order))

    def clip(self, min: Any = None, max: Any = None) -> Any:
        return namespace(self.w).clip(self, min, max)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        return namespace(self.w).max(self, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        return namespace(self.w).min(self, axis, keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        return namespace(self.w).all(self, axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        return namespace(self.w).any(self, axis, keepdims)


class TracedComplex(AbstractTraced):
    """An array of complex numbers: two arrays of real ones, for ONNX has no kernels for them."""

    __slots__ = ("im", "re", "w")

    def __init__(self, re: Traced, im: Traced) -> None:
        self.w = re.w
        self.re = re
        self.im = im

    @property
    def dtype(self) -> Any:
        return np.dtype(np.complex64 if self.re.dtype == np.float32 else np.complex128)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.re.shape

    def _both(self, f: Callable[[Traced], Any]) -> TracedComplex:
        return TracedComplex(f(self.re), f(self.im))

    @property
    def at(self) -> _At:
        return _At(self)

    def __getitem__(self, index: Any) -> TracedComplex:
        return self._both(lambda part: part[index])

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        del copy
        wanted = np.dtype(dtype)
        if wanted == bool_:
            return (self.re != 0) | (self.im != 0)
        if wanted.kind != "c":
            return self.re.astype(wanted)
        wide = np.float32 if wanted == np.complex64 else np.float64
        return self._both(lambda part: part.astype(wide))

    def reshape(self, *shape: Any) -> TracedComplex:
        return self._both(lambda part: part.reshape(*shape))

    def transpose(self, *axes: Any) -> TracedComplex:
        return self._both(lambda part: part.transpose(*axes))


def _writing(how: str) -> Callable[..., Any]:
    def write(self: _At, values: Any, mode: str | None = None, wrap_negative_indices: bool = False) -> Any:
        del wrap_negative_indices
        return namespace(self.x.w).write_at(self.x, self.index, values, how, mode)

    return write


class _At:
    """What `x.at` is, to write at an index as jax's arrays have it; with mode "drop" negative ones are outside."""

    def __init__(self, x: AbstractTraced, index: Any = None) -> None:
        self.x = x
        self.index = index

    def __getitem__(self, index: Any) -> _At:
        return _At(self.x, index)

    set, add, multiply, max, min = (_writing(how) for how in ("none", "add", "mul", "max", "min"))


def full_shape(size: int, dims: Any) -> tuple[int, ...]:
    """`dims` with the length that -1 stands for."""
    lengths = [int(n) for n in dims]
    if -1 in lengths:
        rest = math.prod([n for n in lengths if n != -1])
        lengths[lengths.index(-1)] = size // rest if rest else 0
    return tuple(lengths)


def as_traced(w: Writer, x: Any, dtype: Any = None) -> Any:
    """`x` as a traced array; a number takes `dtype`."""
    wanted = None if dtype is None else np.dtype(dtype)
    if isinstance(x, Traced) and wanted is not None and wanted.kind == "c":
        part = x.astype(np.float32 if wanted == np.complex64 else np.float64)
        return TracedComplex(part, _zeros_like(part))
    if isinstance(x, AbstractTraced):
        return x if wanted is None else x.astype(wanted)
    array = np.asarray(x, wanted) if wanted is not None else np.asarray(x)
    if array.dtype.kind == "c":
        parts = [Traced(w, w.constant(part.copy())) for part in (array.real, array.imag)]
        return TracedComplex(*parts)
    return Traced(w, w.constant(array))


def _zeros_like(x: Traced) -> Traced:
    w = x.w
    return Traced(w, w.expand(w.scalar(0, x.value), w.shape(x.value)))


def is_complex(x: Any) -> bool:
    """Whether `x` holds complex numbers."""
    return isinstance(x, TracedComplex | complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def part_of(x: Any, imaginary: bool) -> Any:
    """The real or the imaginary part of an array or a list of them."""
    if isinstance(x, list | tuple):
        return [part_of(y, imaginary) for y in x]
    if isinstance(x, TracedComplex):
        return x.im if imaginary else x.re
    if isinstance(x, Traced):
        return _zeros_like(x) if imaginary else x
    array = np.asarray(x)
    return np.ascontiguousarray(array.imag if imaginary else array.real).reshape(array.shape)


def common_dtype(*xs: Any) -> Any:
    """The dtype in which NumPy computes with them: Python's numbers adopt that of the others."""
    given = [x if isinstance(x, bool | int | float | complex) else x.dtype for x in xs]
    return np.result_type(*given)


def is_literal(x: Any) -> bool:
    return isinstance(x, bool | int | float | complex | np.generic | np.ndarray | list | tuple)


def shape_of(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, AbstractTraced) else np.shape(x)


def namespace(w: Writer) -> Any:
    """The functions of traced arrays of this writer; found when first used, for they are made of these arrays."""
    from .namespace import Namespace

    return Namespace(w)
