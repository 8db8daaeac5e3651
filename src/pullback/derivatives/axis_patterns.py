"""Sparsity patterns along axes: what a result depends on whose axes go along axes of an input (`Primitive.links`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.traits import Link, Links

Pattern = Any
"""A scipy.sparse.csr_array of truth values: a row for each element of a tensor, a column for each of the source's."""


def along_axes(pattern: Pattern, links: Links, x_shape: Sequence[int], y_shape: Sequence[int]) -> Pattern:
    """The pattern of a result of shape `y_shape`, from that of an input of shape `x_shape`.

    Elements are merged along the axes of the input without a link, and repeated along those of the result.
    """
    groups = _connected([link for link in links if _fits(link, x_shape, y_shape)])
    inputs = list(dict.fromkeys(link.input for group in groups for link in group))
    outputs = list(dict.fromkeys(link.output for group in groups for link in group))
    others = [axis for axis in range(len(x_shape)) if axis not in inputs]
    count = math.prod([x_shape[axis] for axis in inputs])
    numbers = np.arange(pattern.shape[0]).reshape(x_shape).transpose(*inputs, *others)
    found = merged_rows(pattern, numbers.reshape(count, math.prod([x_shape[axis] for axis in others])))
    if any(len(group) > 1 or group[0].pairs for group in groups):
        relations = [_relation(group, x_shape, y_shape) for group in groups]
        found = _composed(reduce(partial(sp.kron, format="csr"), relations).astype(bool), found)
    return rows_at(found, _spread(outputs, y_shape))


def union(a: Pattern, b: Pattern) -> Pattern:
    """Where `a` or `b` is true; `a` or `b` itself where it holds the other."""
    if a is b or (np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)):
        return a
    both = a + b
    return next((part for part in (a, b) if part.nnz == both.nnz), both)


def _composed(outer: Pattern, inner: Pattern) -> Pattern:
    """The product of both; `outer` itself where `inner` is the identity."""
    numbers = np.arange(inner.shape[0] + 1)
    is_identity = np.array_equal(inner.indptr, numbers) and np.array_equal(inner.indices, numbers[:-1])
    return outer if is_identity and inner.shape[0] == inner.shape[1] else outer @ inner


def rows_at(pattern: Pattern, numbers: np.ndarray[Any, Any]) -> Pattern:
    """The rows of these numbers; `pattern` itself where that is all of them in their order."""
    return pattern if np.array_equal(numbers, np.arange(pattern.shape[0])) else pattern[numbers]


def merged_rows(pattern: Pattern, lines: np.ndarray[Any, Any]) -> Pattern:
    """One row for each line of row numbers: where any of these rows of `pattern` is true."""
    count, width = lines.shape
    if width == 1:
        return rows_at(pattern, lines.reshape(-1))
    pointers = np.arange(count + 1) * width
    selection = sp.csr_array((np.ones(lines.size, bool), lines.reshape(-1), pointers), shape=(count, pattern.shape[0]))
    return selection @ pattern


def _fits(link: Link, x_shape: Sequence[int], y_shape: Sequence[int]) -> bool:
    """Whether a result has the axis: of several results, one may lack it. An axis of one element tells nothing."""
    inside = link.output < len(y_shape)
    return inside and (link.pairs is not None or 1 < x_shape[link.input] == y_shape[link.output])


def _connected(links: Sequence[Link]) -> list[list[Link]]:
    """The links in groups that share no axis."""
    groups: list[list[Link]] = []
    for link in links:
        touching = [g for g in groups if any(o.output == link.output or o.input == link.input for o in g)]
        groups = [g for g in groups if g not in touching]
        groups.append([*[other for group in touching for other in group], link])
    return groups


def _relation(group: Sequence[Link], x_shape: Sequence[int], y_shape: Sequence[int]) -> Pattern:
    """Which positions along all axes of the result meet which along all axes of the input: where every link says so."""
    inputs = list(dict.fromkeys(link.input for link in group))
    outputs = list(dict.fromkeys(link.output for link in group))
    rows = np.arange(math.prod([y_shape[a] for a in outputs])).reshape([y_shape[a] for a in outputs])
    columns = np.arange(math.prod([x_shape[a] for a in inputs])).reshape([x_shape[a] for a in inputs])
    matrices = []
    for link in group:
        ours, theirs = _pairs(link, x_shape, y_shape)
        i = _lines(rows, outputs.index(link.output))[ours]
        j = _lines(columns, inputs.index(link.input))[theirs]
        i, j = np.broadcast_arrays(i[:, :, None], j[:, None, :])
        entries = (np.ones(i.size, bool), (i.reshape(-1), j.reshape(-1)))
        matrices.append(sp.csr_array(entries, shape=(rows.size, columns.size), dtype=bool))
    return reduce(lambda a, b: a.multiply(b).tocsr(), matrices)


def _lines(numbers: Any, axis: int) -> Any:
    """The numbers at each position along an axis, as a row."""
    lines = np.moveaxis(numbers, axis, 0)
    return lines.reshape(len(lines), math.prod(lines.shape[1:]))


def _pairs(link: Link, x_shape: Sequence[int], y_shape: Sequence[int]) -> Any:
    if link.pairs is None:
        return (np.arange(x_shape[link.input]),) * 2
    return link.pairs(y_shape[link.output], x_shape[link.input])


def _spread(outputs: Sequence[int], y_shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """For each element of the result its number among those along the axes `outputs` alone."""
    lengths = [y_shape[axis] for axis in outputs]
    numbers = np.arange(math.prod(lengths)).reshape(lengths).transpose(np.argsort(outputs))
    aligned = numbers.reshape([n if axis in outputs else 1 for axis, n in enumerate(y_shape)])
    return np.broadcast_to(aligned, y_shape).reshape(-1)
