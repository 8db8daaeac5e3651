"""Structural zeros of linear operations, found by trying: coloured columns of an operation's matrix are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.dtypes import TRAINABLE
from ..core.graph import Operation, Tensor
from ..core.traits import CONSTANT, Links
from .axis_patterns import along_axes
from .block_pattern import Pattern, identity
from .colouring import colour_columns
from .run_values import Values

_MOST_WORK = 20_000_000
"""So many elements of results are computed at most."""


def has_zeros(x: Tensor) -> bool:
    """Whether `x` is a constant with zeros among its elements."""
    return CONSTANT in x.op.primitive.traits and x.dtype in TRAINABLE and not np.all(constant_of(x))


def counting(op: Operation, i: int, links: Links, shapes: Sequence[tuple[int, ...]], values: Values) -> Pattern | None:
    """Which elements of input `i`, in which `op` is linear, count for which of its only result.

    The other inputs are constants or random numbers. None where that would be too much work.
    """
    y_shape = values.shape(op.outputs[0])
    mixed = along_axes(identity(int(np.prod(shapes[i]))), links, shapes[i], y_shape)
    colours = np.tile(colour_columns(mixed.block), mixed.count)
    count = int(colours.max(initial=-1)) + 1
    if len(op.outputs) > 1 or count * mixed.shape[0] > _MOST_WORK:
        return None
    random = np.random.default_rng(0)
    arrays = [_array(x, shape, random, values) for x, shape in zip(op.inputs, shapes, strict=True)]
    rows, columns = mixed.whole.nonzero()
    met = np.zeros(len(rows), bool)
    for colour in range(count):
        arrays[i] = np.where(colours == colour, random.uniform(1.0, 2.0, len(colours)), 0.0).reshape(shapes[i])
        result = np.asarray(op.primitive.kernel(np, *arrays)).reshape(-1)
        met |= (colours[columns] == colour) & (result[rows] != 0)
    if met.all():
        return None
    return Pattern(sp.csr_array((np.ones(int(met.sum()), bool), (rows[met], columns[met])), shape=mixed.shape))


def _array(x: Tensor, shape: tuple[int, ...], random: np.random.Generator, values: Values) -> np.ndarray[Any, Any]:
    if x.dtype not in TRAINABLE:
        return np.asarray(values.value(x))
    return constant_of(x) if CONSTANT in x.op.primitive.traits else random.normal(size=shape)


def constant_of(x: Tensor) -> np.ndarray[Any, Any]:
    """The elements of a constant."""
    return np.asarray(x.op.primitive.attributes["value"])
