"""XLA lowering of slices, gathers and sorting, where XLA has a better way than the kernels shared with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dtypes import INEXACT
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...primitives.base.scattering import bounded, wide_enough
from ...primitives.indexing.gather import GatherV2
from ...primitives.indexing.scatter_nd import GatherNd
from ...primitives.indexing.slice import Slice, SliceGrad
from ...primitives.indexing.slicing import StridedSlice, StridedSliceGrad, Take, expand_ellipsis
from ...primitives.shape.reshape import numbers_to_use, shape_to_use
from .movement import by_bits
from .registry import xla_kernel

_WIDE = 1 << 31
"""Lengths from which on XLA, which looks at 32 bits of an index, cannot tell elements apart."""


@xla_kernel(Slice)
def _slice(primitive: Slice, x: Any, begin: Any = None, size: Any = None) -> Any:
    lengths = numbers_to_use(primitive.size, size)
    if begin is None or isinstance(begin, np.ndarray) or -1 in lengths:
        return primitive.kernel(jnp, x, begin, size)
    return by_bits(lambda y: lax.dynamic_slice(y, list(begin), lengths), x)


@xla_kernel(SliceGrad)
def _slice_grad(primitive: SliceGrad, dy: Any, begin: Any = None, lengths: Any = None) -> Any:
    dims = shape_to_use(primitive.shape, lengths)
    zero = jnp.zeros((), dy.dtype)
    if begin is None or isinstance(begin, np.ndarray):
        starts = numbers_to_use(primitive.begin, begin)
        widths = [(b, n - b - m, 0) for b, n, m in zip(starts, dims, dy.shape, strict=True)]
        return lax.pad(dy, zero, widths)
    return by_bits(lambda y: lax.dynamic_update_slice(jnp.zeros(dims, y.dtype), y, list(begin)), dy)


@xla_kernel(StridedSliceGrad)
def _strided_slice_grad(primitive: StridedSliceGrad, dy: Any, *rest: Any) -> Any:
    """Padding, with zeros between the elements for steps: it fuses with what reads it, which a scatter does not."""
    index, dims = primitive.index_and_shape(rest)
    widths: list[tuple[int, int, int]] = []
    turned: list[int] = []
    kept: list[int] = []
    for part, n in zip(_axis_parts(primitive, index, len(dims)), dims, strict=True):
        span = part if isinstance(part, range) else range(n)[part]
        if isinstance(span, int):
            span = range(span, span + 1)
        count, first, step = len(span), min(span, default=0), abs(span.step)
        if span.step < 0:
            turned.append(len(kept))
        last = first + (count - 1) * step if count else first - 1
        widths.append((first, n - 1 - last, step - 1))
        kept.append(count)
    block = dy.reshape(kept)
    return lax.pad(lax.rev(block, turned) if turned else block, jnp.zeros((), dy.dtype), widths)


@xla_kernel(Take)
def _take(primitive: Take, x: Any, positions: Any) -> Any:
    n = x.shape[primitive.axis]
    if not isinstance(positions, np.ndarray):
        positions = wide_enough(positions, n)
        positions = bounded(jnp, jnp.where(positions < 0, positions + n, positions), n)
    return _picked(primitive, x, positions)


@xla_kernel(GatherV2, GatherNd)
def _picked(primitive: Take | GatherV2 | GatherNd, x: Any, positions: Any) -> Any:
    """What is picked from nothing is out of range, which jax refuses to compile, even in a loop that makes no step."""
    if x.size and isinstance(primitive, GatherV2) and not primitive.batch_dims:
        inside = bounded(jnp, jnp.asarray(positions), x.shape[primitive.axis])
        return _slices(x, inside, primitive.axis % x.ndim, "fill")
    if x.size:
        return primitive.kernel(jnp, x, positions)
    (y,) = primitive.infer(*[TensorType(a.dtype, TensorShape(a.shape)) for a in (x, positions)])
    return out_of_range(y.shape.known, y.dtype)


def gather_within(
    primitive: Primitive, inputs: Sequence[int], constants: Mapping[int, np.ndarray[Any, Any]]
) -> Callable[..., Any] | None:
    """The kernel of a gather whose positions are a constant within the array; None elsewhere.

    What is out of range is masked by each loop that XLA makes of what reads the result.
    """
    if not isinstance(primitive, GatherV2) or primitive.batch_dims or inputs[1] not in constants:
        return None
    positions = constants[inputs[1]]

    def kernel(x: Any, given: Any) -> Any:
        n = x.shape[primitive.axis]
        known = isinstance(n, int) and positions.size and positions.min() >= 0 and positions.max() < n < _WIDE
        return (
            _slices(x, given, primitive.axis % x.ndim, "promise_in_bounds") if known else _picked(primitive, x, given)
        )

    return kernel


def _slices(x: Any, positions: Any, axis: int, mode: str) -> Any:
    """The slices of `x` at `positions` along `axis`; `jnp.take` would count negative ones from the end."""
    rank = positions.ndim
    offsets = [*range(axis), *range(axis + rank, x.ndim - 1 + rank)]
    numbers = lax.GatherDimensionNumbers(tuple(offsets), (axis,), (axis,))
    sizes = [1 if i == axis else n for i, n in enumerate(x.shape)]
    return by_bits(lambda y: lax.gather(y, positions[..., None], numbers, sizes, mode=mode), x)


def nothing_to_read(primitive: Primitive, arrays: Sequence[Any]) -> Any:
    """What an operation gives that reads elements of an array of length 0, where it need not run; None for others."""
    if isinstance(primitive, StridedSliceGrad):
        _, full = primitive.index_and_shape(arrays[1:])
        return jnp.zeros(full, arrays[0].dtype) if 0 in full else None
    if not isinstance(primitive, StridedSlice) or arrays[0].size:
        return None
    shape = TensorShape([n or None for n in arrays[0].shape])
    others = [TensorType(a.dtype, TensorShape(a.shape)) for a in arrays[1:]]
    (y,) = primitive.infer(TensorType(arrays[0].dtype, shape), *others)
    return out_of_range(y.shape.known, y.dtype) if y.shape.is_fully_defined() else None


def out_of_range(shape: tuple[int, ...], dtype: Any) -> Any:
    """What is read where there is nothing: NaN, or the smallest integer."""
    return jnp.zeros(1, dtype).at[jnp.ones(shape, np.int32)].get(mode="fill")


def _axis_parts(primitive: StridedSliceGrad, index: tuple[Any, ...], rank: int) -> list[Any]:
    """What is read of each axis of the full array: an integer or a slice."""
    given = iter([entry for entry in index if entry is not None and entry is not Ellipsis])
    entries = expand_ellipsis(primitive.spec, rank, "the array")
    place = primitive.spec.index("...") if "..." in primitive.spec else len(primitive.spec)
    missing = len(entries) - len([e for e in primitive.spec if e != "..."])
    parts: list[Any] = []
    for i, entry in enumerate(entries):
        if place <= i < place + missing:
            parts.append(slice(None))
        elif entry is not None:
            parts.append(next(given))
    return parts


def in_order(x: Any) -> Any:
    """`x` with one zero and one NaN: XLA takes -0 for smaller than 0, and a NaN with a sign for smaller than all."""
    if x.dtype not in INEXACT:
        return x
    return jnp.where(jnp.isnan(x), jnp.nan, jnp.where(x == 0, 0, x)).astype(x.dtype)
