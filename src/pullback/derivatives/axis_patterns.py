"""Sparsity patterns along axes: what a result depends on whose axes go along axes of an input (`Primitive.links`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from math import gcd
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.traits import Link, Links
from .block_pattern import Matrix, Pattern, is_identity


def along_axes(pattern: Pattern, links: Links, x_shape: Sequence[int], y_shape: Sequence[int]) -> Pattern:
    """The pattern of a result of shape `y_shape`, from that of an input of shape `x_shape`.

    Elements are merged along the axes of the input without a link, and repeated along those of the result.
    """
    there = [link for link in links if _fits(link, x_shape, y_shape)]
    if x_shape == y_shape and _all_stay(there, x_shape):
        return pattern
    count = gcd(pattern.count, x_shape[0]) if _first_axes_alone(there) else 1
    if count > 1:
        x_shape, y_shape = [(shape[0] // count, *shape[1:]) for shape in (x_shape, y_shape)]
    return Pattern(_along_axes(pattern.of(count).block, there, x_shape, y_shape), count)


def _along_axes(matrix: Matrix, links: Sequence[Link], x_shape: Sequence[int], y_shape: Sequence[int]) -> Matrix:
    groups = _connected(links)
    inputs = list(dict.fromkeys(link.input for group in groups for link in group))
    outputs = list(dict.fromkeys(link.output for group in groups for link in group))
    others = [axis for axis in range(len(x_shape)) if axis not in inputs]
    count = math.prod([x_shape[axis] for axis in inputs])
    numbers = np.arange(matrix.shape[0]).reshape(x_shape).transpose(*inputs, *others)
    found = merged_rows(matrix, numbers.reshape(count, math.prod([x_shape[axis] for axis in others])))
    if any(len(group) > 1 or group[0].pairs for group in groups):
        relations = [_relation(group, x_shape, y_shape) for group in groups]
        found = _composed(reduce(_kronecker, relations), found)
    return _rows(found, _spread(outputs, y_shape))


def _kronecker(a: Matrix, b: Matrix) -> Matrix:
    return sp.kron(a, b, format="csr").astype(bool)


def _all_stay(links: Sequence[Link], shape: Sequence[int]) -> bool:
    """Whether every element depends on the one at its place alone."""
    staying = {link.input for link in links if link.input == link.output and link.pairs is None}
    return len(links) == len(staying) and all(n == 1 or axis in staying for axis, n in enumerate(shape))


def _first_axes_alone(links: Sequence[Link]) -> bool:
    """Whether the first axis of the result goes along the first one of the input, and neither along any other."""
    return [link for link in links if 0 in (link.input, link.output)] == [Link(0, 0)]


def _composed(outer: Matrix, inner: Matrix) -> Matrix:
    """The product of both; `outer` itself where `inner` is the identity."""
    return outer if is_identity(inner) else outer @ inner


def _rows(matrix: Matrix, numbers: np.ndarray[Any, Any]) -> Matrix:
    return matrix if np.array_equal(numbers, np.arange(matrix.shape[0])) else matrix[numbers]


def merged_rows(matrix: Matrix, lines: np.ndarray[Any, Any]) -> Matrix:
    """One row for each line of row numbers: where any of these rows of `matrix` is true."""
    count, width = lines.shape
    if width == 1:
        return _rows(matrix, lines.reshape(-1))
    pointers = np.arange(count + 1) * width
    selection = sp.csr_array((np.ones(lines.size, bool), lines.reshape(-1), pointers), shape=(count, matrix.shape[0]))
    return _composed(selection, matrix)


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


def _relation(group: Sequence[Link], x_shape: Sequence[int], y_shape: Sequence[int]) -> Matrix:
    """Which positions along all axes of the result meet which along all axes of the input: where every link says so."""
    if len(group) == 1:
        (link,) = group
        ours, theirs = _pairs(link, x_shape, y_shape)
        return _matrix(ours, theirs, (y_shape[link.output], x_shape[link.input]))
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
        matrices.append(_matrix(i.reshape(-1), j.reshape(-1), (rows.size, columns.size)))
    return reduce(lambda a, b: a.multiply(b).tocsr(), matrices)


def _matrix(i: np.ndarray[Any, Any], j: np.ndarray[Any, Any], shape: tuple[int, int]) -> Matrix:
    """The matrix that is true at (i, j)."""
    dtype = np.int32 if max(*shape, len(i)) < 2**31 else np.int64
    i, j, ones = i.astype(dtype, copy=False), j.astype(dtype, copy=False), np.ones(len(i), bool)
    if not (np.diff(i.astype(np.int64) * shape[1] + j) > 0).all():
        return sp.csr_array((ones, (i, j)), shape=shape, dtype=bool)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=shape[0]))])
    return sp.csr_array((ones, j, pointers.astype(dtype)), shape=shape)


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
