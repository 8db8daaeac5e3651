"""Array namespace: `jax.numpy` for kernels, with sums as XLA adds them up soonest on a processor.

XLA takes reductions out of the loops that it makes of elementwise operations. So a sum of a few elements is additions:
the Jacobian of a bundle adjustment, which sums over axes of two and three, took 17.2 ms a step and takes 12.4; 100,000
sums of five or of eight elements take 0.1 ms, and 0.3 to 7 by XLA's; running sums of them take a quarter. A sum of
rows, few and far from each other, is a product with ones, which XLA does not work into what is added up. It would go
through each column by itself, once there are more than 16,384: 16 rows of 32,768 exponentials take 2.5 ms, and 0.3 so.
Of shorter rows only one stack gains.

Trigonometric functions of many floats, the places of the largest elements and sorting are in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.primitive import Primitive
from ...primitives.elementwise.cuts import parts_on_side
from . import ordering, trigonometric
from .extrema import place_of_largest
from .platform import compiles_quickly, on_processor
from .registry import xla_kernel_of

_MISSED = -0.43, -0.29
"""Where XLA's `log1p` misses."""
_SHORT = 8
_LARGE = 4096
"""The elements of a result from which on additions are worth it: small ones are slower."""
_FEW_ROWS = range(5, 129)
_MANY_COLUMNS, _MANY_COLUMNS_OF_STACKS = 4096, (1 << 14) + 1


def kernel_of(primitive: Primitive) -> Callable[..., Any]:
    """What computes a primitive on XLA: an array, or a tuple of them, of one array for each input."""
    registered = xla_kernel_of(type(primitive))
    return partial(primitive.kernel, NAMESPACE) if registered is None else partial(registered, primitive)


def _with_size(y: Any, excess: Any, imaginary: Any) -> Any:
    """`y`, the logarithm of `z`, with a right real part; `excess` is the square of that of `z`, less 1."""
    square = excess + imaginary * imaginary
    misses = (_MISSED[0] < square) & (square < _MISSED[1])
    return lax.complex(jnp.where(misses, jnp.log(1 + square) / 2, jnp.real(y)), jnp.imag(y))


def _on_side(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`function`, of complex numbers on the side of its cut that the argument is on; XLA goes to one for both."""

    def on_side(x: Any) -> Any:
        y = function(x)
        if y.dtype.kind != "c":
            return y
        parts = parts_on_side(jnp, name, (jnp.real(y), jnp.imag(y)), (jnp.real(x), jnp.imag(x)))
        return lax.complex(*parts)

    return on_side


class _Namespace:
    """All names of `jax.numpy`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)

    @staticmethod
    def power(a: Any, b: Any) -> Any:
        """`a` to the power of `b`; 0 to a complex power of positive real part is 0, where XLA has NaN."""
        y = jnp.power(a, b)
        if y.dtype.kind != "c":
            return y
        return jnp.where((a == 0) & (jnp.real(b) > 0), jnp.zeros((), y.dtype), y)

    @staticmethod
    def exp2(x: Any) -> Any:
        """2 to the power of `x`; exactly, for whole numbers, where XLA's differs in the last places."""
        whole = jnp.round(x)
        power = jnp.ldexp(jnp.ones((), x.dtype), whole.astype(np.int32))
        return jnp.where(x == whole, power, jnp.exp2(x))

    @staticmethod
    def log(x: Any) -> Any:
        """The logarithm of `x`, with that of its size as `log1p` has it."""
        y = jnp.log(x)
        return y if y.dtype != jnp.complex128 else _with_size(y, (jnp.real(x) - 1) * (jnp.real(x) + 1), jnp.imag(x))

    @staticmethod
    def log1p(x: Any) -> Any:
        """The logarithm of 1 + `x`; XLA's misses by 120 units in float64 where `x` is between -0.42 and -0.3."""
        y = jnp.log1p(x)
        if y.dtype == jnp.float64:
            return jnp.where(x < _MISSED[1], jnp.log(1 + x), y)
        if y.dtype != jnp.complex128:
            return y
        return _with_size(y, jnp.real(x) * (2 + jnp.real(x)), jnp.imag(x))

    @staticmethod
    def changed_if(condition: Any, change: Callable[[Any], Any], x: Any) -> Any:
        """`change` of `x`, which is `x` where a condition does not hold that a run computes."""
        return lax.cond(condition, change, lambda x: x, x)

    @staticmethod
    def sum_of(term: Callable[..., Any], *arrays: Any) -> Any:
        """The sum of `term` of the elements of vectors, one element of each after the other."""
        rows = [jnp.asarray(array) for array in arrays]
        start = jnp.zeros_like(term(*[row[0] for row in rows]))
        return lax.fori_loop(0, len(rows[0]), lambda i, total: total + term(*[row[i] for row in rows]), start)

    @staticmethod
    def sum(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """The sum along `axis`: a number, some, or None for all."""
        axes: Sequence[int] = _axes(x, axis) if on_processor() and dtype in (None, x.dtype) else ()
        if are_few(x.shape, axes):
            return added_up(x, axes[0], keepdims)
        dims = far_rows(x.shape, axes) if x.dtype.kind == "f" else None
        return jnp.sum(x, axis, dtype, keepdims=keepdims) if dims is None else _product(x, dims, axes, keepdims)

    @staticmethod
    def cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
        """The running sums along `axis`, of all elements in order for None."""
        axes: Sequence[int] = _axes(x, axis) if on_processor() and dtype in (None, x.dtype) else ()
        return _running_sums(x, axes[0]) if are_few(x.shape, axes) else jnp.cumsum(x, axis, dtype)

    @staticmethod
    def argmax(x: Any, axis: int) -> Any:
        """The place of the largest element along `axis`."""
        return place_of_largest(x, axis)

    @staticmethod
    def argmin(x: Any, axis: int) -> Any:
        """The place of the least element along `axis`."""
        return place_of_largest(x, axis, of_least=True)

    argsort = staticmethod(ordering.argsort)
    sort = staticmethod(ordering.sort)

    @staticmethod
    def arctan2(y: Any, x: Any) -> Any:
        """The angle of the points (x, y)."""
        return trigonometric.angle(y, x) if trigonometric.are_many(y, x) else jnp.arctan2(y, x)

    sin = staticmethod(trigonometric.of_many(trigonometric.sine, jnp.sin))
    cos = staticmethod(trigonometric.of_many(trigonometric.cosine, jnp.cos))
    tan = staticmethod(trigonometric.of_many(trigonometric.tangent, jnp.tan))
    arcsin = staticmethod(_on_side("arcsin", trigonometric.of_many(trigonometric.arc_sine, jnp.arcsin)))
    arccos = staticmethod(_on_side("arccos", trigonometric.of_many(trigonometric.arc_cosine, jnp.arccos)))
    arctan = staticmethod(_on_side("arctan", trigonometric.of_many(trigonometric.arc_tangent, jnp.arctan)))
    arcsinh = staticmethod(_on_side("arcsinh", jnp.arcsinh))
    arccosh = staticmethod(_on_side("arccosh", jnp.arccosh))
    sqrt = staticmethod(_on_side("sqrt", jnp.sqrt))


NAMESPACE = _Namespace()


def added_up(x: Any, axis: int, keepdims: bool = False) -> Any:
    """The sum along an axis of a few elements, as additions."""
    total = reduce(lax.add, lax.split(x, (1,) * x.shape[axis], axis))
    return total if keepdims else lax.squeeze(total, (axis,))


def _running_sums(x: Any, axis: int) -> Any:
    """The running sums along an axis of a few elements: each is added to those from its place on."""
    places = np.expand_dims(np.arange(x.shape[axis]), [i for i in range(x.ndim) if i != axis])
    totals = jnp.zeros_like(x)
    for i in range(x.shape[axis]):
        totals = totals + jnp.where(places >= i, lax.index_in_dim(x, i, axis), 0)
    return totals


def far_rows(dims: Sequence[int], axes: Sequence[int]) -> tuple[int, int, int] | None:
    """`dims` as three, the second for `axes`, where these are few elements with many after each; None elsewhere."""
    if not axes or list(axes) != list(range(axes[0], axes[-1] + 1)):
        return None
    lead, rows, rest = math.prod(dims[: axes[0]]), math.prod([dims[a] for a in axes]), math.prod(dims[axes[-1] + 1 :])
    many = _MANY_COLUMNS if lead == 1 else _MANY_COLUMNS_OF_STACKS
    return (lead, rows, rest) if rows in _FEW_ROWS and rest >= many else None


def are_few(dims: Sequence[int], axes: Sequence[int]) -> bool:
    """Whether sums along `axes` of an array of lengths `dims` had better be additions: they are many, each of a few."""
    if compiles_quickly():
        return False
    return len(axes) == 1 and 0 < dims[axes[0]] <= _SHORT and math.prod(dims) >= _LARGE * dims[axes[0]]


def _axes(x: Any, axis: Any) -> list[int]:
    """The axes of a sum, in order; none where lengths are not known, or where `x` is none of XLA's wider numbers."""
    known = isinstance(x, jax.Array) and all(isinstance(n, int) for n in x.shape) and x.dtype.itemsize >= 4
    if axis is None or not known:
        return []
    return sorted(n % x.ndim for n in (axis if isinstance(axis, tuple) else [axis]))


def _product(x: Any, dims: tuple[int, int, int], axes: Sequence[int], keepdims: bool) -> Any:
    total = jnp.matmul(jnp.ones((1, dims[1]), x.dtype), x.reshape(dims), precision=lax.Precision.HIGHEST)
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    return total.reshape(shape if keepdims else [n for i, n in enumerate(x.shape) if i not in axes])
