"""Array namespace for tracing kernels: functions named as NumPy's, of arrays of which some are traced."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core.dtypes import bool as bool_
from ..core.dtypes import int64
from ..core.errors import NotRecordedError
from .nans import orderly, with_nans
from .records import Value
from .traced_elementwise import elementwise, emit
from .traced_indexing import read_at, write_at
from .tracing import AbstractTraced, Traced, TracedComplex, as_traced, common_dtype, is_complex, part_of, shape_of
from .writing import Writer


def of_parts(*places: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For functions that treat the parts of complex arguments, those at `places`, one by one."""

    def wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(f)
        def either(self: Namespace, *args: Any, **options: Any) -> Any:
            given = [
                y
                for i in places
                if i < len(args)
                for y in (args[i] if isinstance(args[i], list | tuple) else [args[i]])
            ]
            if not any(map(is_complex, given)) or not any(isinstance(y, AbstractTraced) for y in given):
                return f(self, *args, **options)
            parts = []
            for imaginary in (False, True):
                mine = [part_of(a, imaginary) if i in places else a for i, a in enumerate(args)]
                parts.append(f(self, *mine, **options))
            if isinstance(parts[0], list):
                return [TracedComplex(a, b) for a, b in zip(*parts, strict=True)]
            re, im = [as_traced(self.w, part) for part in parts]
            return TracedComplex(re, im.astype(re.dtype))

        return either

    return wrapped


class Namespace:
    """Functions named as NumPy's, of arrays of which some are traced."""

    pi, inf, nan, newaxis = math.pi, math.inf, math.nan, None

    def __init__(self, w: Writer) -> None:
        self.w = w

    @property
    def linalg(self) -> Any:
        from .linear_algebra import Linalg

        return Linalg(self)

    @property
    def fft(self) -> Any:
        from .fourier import Fourier

        return Fourier(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(getattr(np, name, None), np.ufunc):
            return lambda *xs, **_: elementwise(self.w, name, *xs)
        found = getattr(np, name)

        def asked(*args: Any, **options: Any) -> Any:
            if any(isinstance(a, AbstractTraced) for a in [*args, *options.values()]):
                raise NotRecordedError(f"there is no {name} in ONNX")
            return found(*args, **options)

        return asked if callable(found) and not isinstance(found, type) else found

    def elementwise(self, name: str, *xs: Any) -> Any:
        """The function of NumPy's of that name, of each element."""
        return elementwise(self.w, name, *xs)

    def changed_if(self, condition: Any, change: Callable[[Any], Any], x: Any) -> Any:
        """`change` of `x`, which is `x` where a condition does not hold that a run computes."""
        del condition
        return change(x)

    def ldexp(self, x: Any, powers: Any) -> Any:
        """`x * 2**powers`, in the dtype of `x`."""
        return elementwise(self.w, "ldexp", x, powers.astype(x.dtype))

    def read_at(self, x: Any, index: Any) -> Any:
        """`x[index]`."""
        return read_at(x, index)

    def write_at(self, x: Any, index: Any, values: Any, how: str, mode: str | None) -> Any:
        """`x` with `values` written, added, ... at `index`."""
        return write_at(x, index, values, how, mode)

    def _make(self, value: Value) -> Traced:
        return Traced(self.w, value)

    def _all_known(self, *xs: Any) -> bool:
        return not any(isinstance(x, AbstractTraced) for x in xs)

    def abs(self, x: Any) -> Any:
        return elementwise(self.w, "absolute", x)

    def round(self, x: Any) -> Any:
        return elementwise(self.w, "rint", x)

    def shape(self, x: Any) -> tuple[int, ...]:
        return shape_of(x)

    def ndim(self, x: Any) -> int:
        return len(shape_of(x))

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if isinstance(x, AbstractTraced):
            return x if dtype is None else x.astype(dtype)
        if isinstance(x, list | tuple) and any(isinstance(y, AbstractTraced) for y in x):
            stacked = self.stack(list(x))
            return stacked if dtype is None else stacked.astype(dtype)
        return np.asarray(x, dtype) if dtype is not None else np.asarray(x)

    array = asarray

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._filled(np.zeros(shape, dtype))

    def ones(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._filled(np.ones(shape, dtype))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        if isinstance(value, AbstractTraced):
            return self.broadcast_to(value if dtype is None else value.astype(dtype), shape)
        return self._filled(np.full(shape, value, dtype))

    def _filled(self, array: Any) -> Any:
        """Numbers stay NumPy's; arrays are traced, so that they can be written to by `at`."""
        return as_traced(self.w, array) if array.ndim else array

    def zeros_like(self, x: Any, dtype: Any = None) -> Any:
        return self.full_like(x, 0, dtype)

    def ones_like(self, x: Any, dtype: Any = None) -> Any:
        return self.full_like(x, 1, dtype)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> Any:
        wanted = x.dtype if dtype is None else dtype
        if isinstance(x, Traced) and not x.value.type.shape.is_fully_defined():
            number = as_traced(self.w, np.asarray(value).astype(wanted))
            return self._make(self.w.expand(number.value, self.w.shape(x.value)))
        return self.full(shape_of(x), value, wanted)

    @of_parts(1, 2)
    def where(self, condition: Any, a: Any, b: Any) -> Any:
        if self._all_known(condition, a, b):
            return np.where(condition, a, b)
        dtype = common_dtype(a, b)
        x, y = as_traced(self.w, a, dtype), as_traced(self.w, b, dtype)
        return emit(self.w, "Where", as_traced(self.w, condition, bool_), x, y, dtype=dtype)

    @staticmethod
    def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
        """`x` cast."""
        return x.astype(dtype, copy=copy)

    def clip(self, x: Any, low: Any = None, high: Any = None) -> Any:
        raised = x if low is None else elementwise(self.w, "maximum", x, low)
        return raised if high is None else elementwise(self.w, "minimum", raised, high)

    def _reduced(self, op_type: str, x: Any, axis: Any, keepdims: bool, dtype: Any = None) -> Traced:
        traced: Traced = as_traced(self.w, x)
        axes = tuple(range(traced.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        axes = tuple(sorted(a % traced.ndim for a in axes))
        shape = tuple([1 if i in axes else n for i, n in enumerate(traced.shape) if keepdims or i not in axes])
        if not axes:
            return traced
        listed = self.w.constant(np.asarray(axes, int64))
        return Traced(self.w, self.w.node(op_type, traced.value, listed, shape=shape, keepdims=int(keepdims)))

    def _extremum(self, op_type: str, x: Any, axis: Any, keepdims: bool) -> Traced:
        traced: Traced = as_traced(self.w, x)
        y = self._reduced(op_type, traced, axis, keepdims)
        if y is traced:
            return y

        def total(nans: Value) -> Value:
            return self._reduced("ReduceSum", self._make(nans), axis, keepdims).value

        return self._make(with_nans(self.w, traced.value, y.value, total))

    @of_parts(0)
    def sum(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        traced = as_traced(self.w, x)
        adopted = dtype is None or np.dtype(dtype).kind == "c"
        wide = np.sum(np.zeros(1, traced.dtype)).dtype if adopted else np.dtype(dtype)
        return self._reduced("ReduceSum", traced.astype(wide), axis, keepdims)

    @of_parts(0)
    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduced("ReduceMean", x, axis, keepdims)

    def prod(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        traced = as_traced(self.w, x)
        if isinstance(traced, TracedComplex):
            return self._complex_prod(traced, axis, keepdims)
        return self._reduced("ReduceProd", traced if dtype is None else traced.astype(dtype), axis, keepdims)

    def _complex_prod(self, x: Any, axis: Any, keepdims: bool) -> Any:
        axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        for place in [a % x.ndim for a in axes]:
            lead = (slice(None),) * place
            parts = [x[(*lead, slice(i, i + 1))] for i in range(x.shape[place])]
            total = parts[0] if parts else self.ones([1 if i == place else n for i, n in enumerate(x.shape)], x.dtype)
            for part in parts[1:]:
                total = total * part
            x = total
        gone = {a % x.ndim for a in axes}
        return x if keepdims else x.reshape(tuple([n for i, n in enumerate(x.shape) if i not in gone]))

    def max(self, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        y = self._extremum("ReduceMax", x, axis, keepdims)
        return y if initial is None else self.maximum(y, initial)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        y = self._extremum("ReduceMin", x, axis, keepdims)
        return y if initial is None else self.minimum(y, initial)

    amax, amin = max, min

    def any(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduced("ReduceMax", x.astype(bool_).astype(np.int32), axis, keepdims) > 0

    def all(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduced("ReduceMin", x.astype(bool_).astype(np.int32), axis, keepdims) > 0

    def argmax(self, x: Any, axis: int = 0) -> Any:
        return self._argument("ArgMax", x, axis)

    def argmin(self, x: Any, axis: int = 0) -> Any:
        return self._argument("ArgMin", x, axis)

    def _argument(self, op_type: str, x: Any, axis: int) -> Traced:
        place = axis % x.ndim
        shape = x.shape[:place] + x.shape[place + 1 :]
        key = orderly(self.w, x.value, first=op_type == "ArgMin")
        return self._make(self.w.node(op_type, key, dtype=int64, shape=shape, axis=place, keepdims=0))

    @of_parts(0)
    def cumsum(self, x: Any, axis: int | None = None, dtype: Any = None) -> Any:
        if self._all_known(x):
            return np.cumsum(x, axis, dtype)
        flat, place = (x.reshape(-1), 0) if axis is None else (x, axis % x.ndim)
        wide = np.cumsum(np.zeros(1, x.dtype), dtype=dtype).dtype
        flat = flat.astype(wide)
        return self._make(self.w.node("CumSum", flat.value, self.w.constant(np.asarray(place, int64))))

    def cumprod(self, x: Any, axis: int = 0, dtype: Any = None) -> Any:
        """By doubling: each step multiplies with what stands 1, 2, 4, ... places before."""
        y = x if dtype is None else x.astype(dtype)
        place, step = axis % x.ndim, 1
        n = x.shape[place]
        while step < n:
            ones = np.ones([step if i == place else m for i, m in enumerate(x.shape)], y.dtype)
            kept = y[(slice(None),) * place + (slice(0, n - step),)]
            y = y * self.concatenate([ones, kept], place)
            step *= 2
        return y

    def argsort(self, x: Any, axis: int = -1, stable: bool = True, kind: Any = None) -> Any:
        del stable, kind
        return x if isinstance(x, np.ndarray) and x.size == 0 else self._sorted(x, axis)[1]

    def sort(self, x: Any, axis: int = -1) -> Any:
        return self._sorted(x, axis)[0]

    def _sorted(self, x: Any, axis: int, largest: int = 0, k: int | None = None) -> tuple[Traced, Traced]:
        place = axis % x.ndim
        count = x.shape[place] if k is None else k
        shape = tuple([count if i == place else n for i, n in enumerate(x.shape)])
        number = self.w.constant(np.asarray([count], int64))
        key = orderly(self.w, x.value)
        _, order = self.w.nodes(
            "TopK", key, number, dtypes=(key.type.dtype, int64), shapes=(shape, shape), axis=place, largest=largest
        )
        values = self.w.node("GatherElements", x.value, order, axis=place)
        return self._make(values), self._make(order)

    @of_parts(0)
    def take(self, x: Any, indices: Any, axis: int | None = None, mode: str | None = None) -> Any:
        del mode
        if self._all_known(x, indices):
            return np.take(x, indices, axis)
        source = as_traced(self.w, x)
        flat, place = (source.reshape(-1), 0) if axis is None else (source, axis % source.ndim)
        return self._make(self.w.gather(flat.value, as_traced(self.w, indices).value, place))

    @of_parts(0)
    def take_along_axis(self, x: Any, indices: Any, axis: int) -> Any:
        source, places = as_traced(self.w, x), as_traced(self.w, indices)
        place = axis % source.ndim
        beside = [1 if i == place else n for i, n in enumerate(source.shape)]
        shape = np.broadcast_shapes(tuple(beside), places.shape)
        full = [source.shape[place] if i == place else n for i, n in enumerate(shape)]
        source, places = self.broadcast_to(source, tuple(full)), self.broadcast_to(places, shape)
        made = self.w.node("GatherElements", source.value, places.value, axis=place)
        return self._make(made)

    @of_parts(0, 2)
    def put_along_axis(self, x: Any, indices: Any, values: Any, axis: int, inplace: bool = True) -> Any:
        del inplace
        target = as_traced(self.w, x)
        made = self.w.node(
            "ScatterElements", target.value, as_traced(self.w, indices).value,
            as_traced(self.w, values, target.dtype).value, axis=axis % target.ndim,
        )  # fmt: skip
        return self._make(made)

    @of_parts(0)
    def concatenate(self, xs: Any, axis: int = 0, dtype: Any = None) -> Any:
        if self._all_known(*xs):
            return np.concatenate(xs, axis, dtype=dtype)
        wanted = common_dtype(*xs) if dtype is None else dtype
        parts = [as_traced(self.w, x, wanted) for x in xs if 0 not in shape_of(x)]
        if not parts:
            return as_traced(self.w, np.concatenate([np.zeros(shape_of(x), wanted) for x in xs], axis))
        return (
            parts[0] if len(parts) == 1 else self._make(self.w.concat([p.value for p in parts], axis % parts[0].ndim))
        )

    @of_parts(0)
    def stack(self, xs: Any, axis: int = 0) -> Any:
        place = axis % (len(shape_of(xs[0])) + 1)
        return self.concatenate([self.expand_dims(x, place) for x in xs], place)

    @of_parts(0)
    def expand_dims(self, x: Any, axis: Any) -> Any:
        if self._all_known(x):
            return np.expand_dims(x, axis)
        return x.reshape(np.expand_dims(np.broadcast_to(np.int8(0), x.shape), axis).shape)

    @of_parts(0)
    def squeeze(self, x: Any, axis: Any = None) -> Any:
        return x.reshape(np.squeeze(np.broadcast_to(np.int8(0), x.shape), axis).shape)

    @of_parts(0)
    def reshape(self, x: Any, shape: Any) -> Any:
        return x.reshape(shape)

    @of_parts(0)
    def ravel(self, x: Any) -> Any:
        return x.reshape(-1)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return np.transpose(x, axes) if self._all_known(x) else x.transpose(*([axes] if axes is not None else []))

    def swapaxes(self, x: Any, a: int, b: int) -> Any:
        return x.swapaxes(a, b)

    def moveaxis(self, x: Any, source: Any, destination: Any) -> Any:
        if self._all_known(x):
            return np.moveaxis(x, source, destination)
        order = np.moveaxis(np.empty([i + 1 for i in range(x.ndim)], np.int8), source, destination).shape
        return x.transpose([n - 1 for n in order])

    @of_parts(0)
    def broadcast_to(self, x: Any, shape: Any) -> Any:
        if self._all_known(x):
            return np.broadcast_to(x, shape)
        dims = (shape,) if isinstance(shape, int) else tuple([int(n) for n in shape])
        return x if dims == x.shape else self._make(self.w.expand(x.value, dims))

    def broadcast_arrays(self, *xs: Any) -> list[Any]:
        shape = np.broadcast_shapes(*[shape_of(x) for x in xs])
        return [self.broadcast_to(as_traced(self.w, x), shape) for x in xs]

    @of_parts(0)
    def pad(self, x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
        traced = as_traced(self.w, x)
        pairs = np.broadcast_to(np.asarray(widths, int64), (traced.ndim, 2))
        around = self.w.constant(np.concatenate([pairs[:, 0], pairs[:, 1]]).astype(int64))
        fill = as_traced(self.w, constant_values, traced.dtype)
        names = {"constant": "constant", "symmetric": None, "reflect": "reflect", "edge": "edge"}
        if names[mode] is None:
            raise NotRecordedError(f"padding '{mode}'")
        inputs = [fill.reshape(()).value] if mode == "constant" else []
        return self._make(self.w.node("Pad", traced.value, around, *inputs, mode=names[mode]))

    def flip(self, x: Any, axis: Any = None) -> Any:
        axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        index = [slice(None)] * x.ndim
        for a in axes:
            index[a] = slice(None, None, -1)
        return x[tuple(index)]

    @of_parts(0)
    def roll(self, x: Any, shift: Any, axis: Any = None) -> Any:
        places = np.roll(np.arange(x.size).reshape(x.shape), shift, axis)
        return self.take(x.reshape(-1), places, 0)

    @of_parts(0)
    def tile(self, x: Any, times: Any) -> Any:
        repeats = np.asarray(times, int64).reshape(-1)
        repeats = np.concatenate([np.ones(max(x.ndim - repeats.size, 0), int64), repeats])
        wide = x.reshape((*[1] * (repeats.size - x.ndim), *x.shape))
        return self._make(self.w.node("Tile", wide.value, self.w.constant(repeats)))

    @of_parts(0)
    def repeat(self, x: Any, times: int, axis: int) -> Any:
        return self.take(x, np.repeat(np.arange(x.shape[axis]), times), axis)

    @of_parts(0)
    def tril(self, x: Any, k: int = 0) -> Any:
        return self.where(np.tri(x.shape[-2], x.shape[-1], k, dtype=bool), x, x.dtype.type(0))

    @of_parts(0)
    def triu(self, x: Any, k: int = 0) -> Any:
        return self.where(np.tri(x.shape[-2], x.shape[-1], k - 1, dtype=bool), x.dtype.type(0), x)

    @of_parts(0)
    def diagonal(self, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        places = np.diagonal(np.arange(x.size).reshape(x.shape), offset, axis1, axis2)
        return self.take(x.reshape(-1), places, 0)

    def eye(self, n: int, m: int | None = None, k: int = 0, dtype: Any = np.float64) -> Any:
        return as_traced(self.w, np.eye(n, m, k, dtype))

    def matmul(self, a: Any, b: Any) -> Any:
        if self._all_known(a, b):
            return np.matmul(a, b)
        if is_complex(a) or is_complex(b):
            return self._complex_matmul(a, b)
        dtype = common_dtype(a, b)
        x, y = as_traced(self.w, a, dtype), as_traced(self.w, b, dtype)
        return self._make(self.w.node("MatMul", x.value, y.value))

    def _complex_matmul(self, a: Any, b: Any) -> TracedComplex:
        dtype = common_dtype(a, b)
        x, y = as_traced(self.w, a, dtype), as_traced(self.w, b, dtype)
        re = self.matmul(x.re, y.re) - self.matmul(x.im, y.im)
        return TracedComplex(re, self.matmul(x.re, y.im) + self.matmul(x.im, y.re))

    def real(self, x: Any) -> Any:
        return part_of(x, False)

    def imag(self, x: Any) -> Any:
        return part_of(x, True)

    def angle(self, x: Any) -> Any:
        return elementwise(self.w, "angle", as_traced(self.w, x, common_dtype(x, 1j)))

    def dot(self, a: Any, b: Any) -> Any:
        if len(shape_of(b)) > 2:
            raise NotRecordedError("dot with more than two axes")
        return self.matmul(a, b)

    def vdot(self, a: Any, b: Any) -> Any:
        return self.sum(a.reshape(-1) * b.reshape(-1))

    def tensordot(self, a: Any, b: Any, axes: Any) -> Any:
        over_a, over_b = [[p] if isinstance(p, int) else list(p) for p in axes]
        over_a, over_b = [i % len(shape_of(a)) for i in over_a], [i % len(shape_of(b)) for i in over_b]
        x, y = as_traced(self.w, a), as_traced(self.w, b)
        left = [i for i in range(x.ndim) if i not in over_a]
        right = [i for i in range(y.ndim) if i not in over_b]
        inner = math.prod([x.shape[i] for i in over_a])
        rows, columns = [x.shape[i] for i in left], [y.shape[i] for i in right]
        p = x.transpose([*left, *over_a]).reshape((math.prod(rows), inner))
        q = y.transpose([*over_b, *right]).reshape((inner, math.prod(columns)))
        return self.matmul(p, q).reshape((*rows, *columns))

    def trace(self, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return self.sum(self.diagonal(x, offset, axis1, axis2), -1)

    def sinc(self, x: Any) -> Any:
        turned = x * math.pi
        zero = turned == 0
        safe = self.where(zero, 1.0, turned)
        return self.where(zero, 1.0, elementwise(self.w, "sin", safe) / safe).astype(x.dtype)
