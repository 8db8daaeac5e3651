"""XLA lowering of window reductions and of their transposes, one axis after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...primitives.base.windows import Pads, offsets
from ...primitives.reduction.reduce import lowest
from .linalg.products import made

_MANY = 8
"""The places along an axis from which on they are not compiled one by one."""


def padded(x: Any, pads: Pads, value: Any = 0) -> Any:
    """`x` [batch, spatial..., channels] with `value` around its spatial axes."""
    if not any(map(any, pads)):
        return x
    widths = [(0, 0, 0), *[(before, after, 0) for before, after in pads], (0, 0, 0)]
    return lax.pad(x, np.asarray(value, x.dtype), widths)


def put_windows(
    piece: Callable[[int, tuple[int, ...], Sequence[Any]], Any],
    sources: Sequence[tuple[Any, Any]],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    lengths: Sequence[int],
    pads: Pads,
) -> Any:
    """The sum of what all windows give to each element of an input of spatial `lengths`; channels last.

    `sources` are arrays with one element for each window, and what stands for windows that do not exist.
    `piece(number, place, arrays)` is what windows give to their element at `place`, the arrays being parts of the
    sources. Elements that lie alike between the strides are worked out together, from contiguous parts: adding
    up padded pieces takes five times as long.
    """
    rows = [-(-(before + n + after) // s) for n, s, (before, after) in zip(lengths, strides, pads, strict=True)]
    reach = [(k - 1) * d // s for k, d, s in zip(windows, dilations, strides, strict=True)]
    arrays = []
    for array, nothing in sources:
        widths = [(j, max(t - m, 0)) for j, t, m in zip(reach, rows, array.shape[1:-1], strict=True)]
        arrays.append(made(padded(array, tuple(widths), nothing)))
    phases: dict[tuple[int, ...], Any] = {}
    for number, place in enumerate(offsets(windows)):
        steps = [divmod(o * d, s) for o, d, s in zip(place, dilations, strides, strict=True)]
        at = [slice(j - step, j - step + t) for (step, _), j, t in zip(steps, reach, rows, strict=True)]
        term = piece(number, place, [array[(slice(None), *at)] for array in arrays])
        phase = tuple([rest for _, rest in steps])
        phases[phase] = phases[phase] + term if phase in phases else term
    return _interleaved(phases, strides, rows, lengths, pads)


def put_sums(
    x: Any, windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int], lengths: Sequence[int], pads: Pads
) -> Any:
    """`put_windows` where all windows give all their elements the same: one axis after the other."""
    for i, (k, s, d, n, pad) in enumerate(zip(windows, strides, dilations, lengths, pads, strict=True)):
        reach = (k - 1) * d
        spread = [(0, 0, 0)] * x.ndim
        rest = sum(pad) + n - ((x.shape[i + 1] - 1) * s + 1 + reach)
        spread[i + 1] = (reach, reach + rest, s - 1)
        wide = lax.pad(x, np.zeros((), x.dtype), spread)
        counts = [*wide.shape[1 : i + 1], pad[0] + n + pad[1], *wide.shape[i + 2 : -1]]
        along, holes = ([length if j == i else 1 for j in range(len(windows))] for length in (k, d))
        whole = reduce_windows(jnp.add, wide, along, [1] * len(windows), holes, counts)
        x = lax.slice_in_dim(whole, pad[0], pad[0] + n, axis=i + 1)
    return x


def _reduced_along(combine: Callable[[Any, Any], Any], x: Any, axis: int, k: int, s: int, d: int) -> Any:
    """Windows along one axis combined, which XLA does by a reduction of its own: by sums, or by the largest."""
    sizes, steps, holes = ([1] * x.ndim for _ in range(3))
    sizes[axis], steps[axis], holes[axis] = k, s, d
    nothing = np.zeros((), x.dtype) if combine is jnp.add else np.asarray(lowest(x.dtype), x.dtype)
    function = lax.add if combine is jnp.add else lax.max
    return lax.reduce_window(x, nothing, function, sizes, steps, "VALID", window_dilation=holes)


def _interleaved(
    phases: dict[tuple[int, ...], Any], strides: Sequence[int], rows: Sequence[int], lengths: Sequence[int], pads: Pads
) -> Any:
    """The phases laid between each other, without the padding."""
    first = next(iter(phases.values()))
    nothing = jnp.zeros_like(first)
    if len(phases) == 1 and max(strides) == 1:
        total = first
    else:
        parts = [phases.get(phase, nothing) for phase in product(*[range(s) for s in strides])]
        count = len(strides)
        whole = jnp.stack(parts, 1).reshape(first.shape[0], *strides, *first.shape[1:])
        order = [0, *[axis for i in range(count) for axis in (1 + count + i, 1 + i)], 1 + 2 * count]
        joined = [t * s for t, s in zip(rows, strides, strict=True)]
        total = jnp.transpose(whole, order).reshape(first.shape[0], *joined, first.shape[-1])
    kept = [slice(before, before + n) for n, (before, _) in zip(lengths, pads, strict=True)]
    return total[(slice(None), *kept)]


def reduce_windows(
    combine: Callable[[Any, Any], Any],
    x: Any,
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    counts: Sequence[int],
) -> Any:
    """The elements of each window of a padded input combined, one axis after the other; channels last.

    XLA's own reduction, which is slower to run, is compiled in the same time for windows of any length.
    """
    for i, (k, s, d, m) in enumerate(zip(windows, strides, dilations, counts, strict=True)):
        if k > _MANY:
            x = made(_reduced_along(combine, x, i + 1, k, s, d))
            continue
        total = None
        for o in range(k):
            start = o * d
            part = lax.slice_in_dim(x, start, start + (m - 1) * s + 1, s, i + 1)
            total = part if total is None else combine(total, part)
        x = made(total)
    return x
