"""Structural zeros of linear operations, found by trying: coloured columns of an operation's matrix are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.dtypes import TRAINABLE
from ..core.graph import Operation, Tensor
from ..core.traits import CONSTANT, ELEMENTWISE, PARTLY, Links, is_linear
from .axis_patterns import along_axes
from .block_pattern import Pattern, identity
from .colouring import colour_columns
from .run_values import Values

_MOST_WORK = 20_000_000
"""So many elements of results are computed at most."""


def has_zeros(x: Tensor) -> bool:
    """Whether `x` is a constant with zeros among its elements."""
    return CONSTANT in x.op.primitive.traits and x.dtype in TRAINABLE and not np.all(constant_of(x))


class Trial:
    """Which elements of input `i`, of which `op` is an affine function, count for which of its result."""

    def __init__(self, op: Operation, i: int, links: Links, values: Values) -> None:
        self._op, self._i, self._links, self._values = op, i, links, values
        self._traits = op.primitive.traits

    @property
    def tells(self) -> bool:
        """Whether it may tell more than the links do, and holds whatever the numbers are that may differ."""
        traits, inputs = self._traits, self._op.inputs
        if len(self._op.outputs) > 1 or PARTLY in traits:
            return len(self._op.outputs) == 1
        shapes_only = {j for t in traits if t.name == "reads shape" for j in t.inputs}
        others = {j: x for j, x in enumerate(inputs) if j != self._i and j not in shapes_only}
        conditions = [x for x in others.values() if x.dtype not in TRAINABLE]
        deciding = [x for j, x in others.items() if x.dtype in TRAINABLE and not is_linear(traits, j)]
        if ELEMENTWISE in traits or deciding:
            known = all(self._values.if_known(x) is not None for x in (*conditions, *deciding))
            return known and bool(deciding if ELEMENTWISE not in traits else conditions)
        return any(has_zeros(x) for x in others.values())

    def pattern(self) -> Pattern | None:
        """What counts; None where that is all, or would be too much work."""
        i, shapes, shape = self._i, [self._values.shape(x) for x in self._op.inputs], self._shape
        mixed = along_axes(identity(int(np.prod(shapes[i]))), self._links, shapes[i], shape)
        colours = np.tile(colour_columns(mixed.block), mixed.count)
        count = int(colours.max(initial=-1)) + 1
        if (count + 1) * mixed.shape[0] > _MOST_WORK:
            return None
        random = np.random.default_rng(0)
        arrays = [self._array(j, given, random) for j, given in enumerate(shapes)]
        rows, columns = mixed.whole.nonzero()
        nothing = self._result([*arrays[:i], np.zeros(shapes[i]), *arrays[i + 1 :]])
        large = 1.0 + np.abs(nothing[np.isfinite(nothing)]).max(initial=0.0)
        met = ~np.isfinite(nothing)[rows]
        for colour in range(count):
            numbers = np.where(colours == colour, large * random.uniform(1.0, 2.0, len(colours)), 0.0)
            arrays[i] = numbers.reshape(shapes[i])
            met |= (colours[columns] == colour) & (self._result(arrays) != nothing)[rows]
        if met.all():
            return None
        return Pattern(sp.csr_array((np.ones(int(met.sum()), bool), (rows[met], columns[met])), shape=mixed.shape))

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._values.shape(self._op.outputs[0])

    def _result(self, arrays: Sequence[Any]) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return np.broadcast_to(self._op.primitive.kernel(np, *arrays), self._shape).reshape(-1)

    def _array(self, j: int, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray[Any, Any]:
        """The value of an input that is the same in every run and may decide; random numbers for others."""
        x = self._op.inputs[j]
        if x.dtype not in TRAINABLE:
            return np.asarray(self._values.value(x))
        if CONSTANT in x.op.primitive.traits:
            return constant_of(x)
        known = None if is_linear(self._traits, j) else self._values.if_known(x)
        return random.normal(size=shape) if known is None else known


def constant_of(x: Tensor) -> np.ndarray[Any, Any]:
    """The elements of a constant."""
    return np.asarray(x.op.primitive.attributes["value"])
