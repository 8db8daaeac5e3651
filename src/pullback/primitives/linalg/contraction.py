"""Tensor contraction: products of two arrays with labelled axes, common to matrix products and einsum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import INEXACT, INTEGER, bfloat16, float16, float32
from ...core.types import TensorType


def check_numbers(what: str, *types: TensorType) -> None:
    """TypeError unless all are numbers of one dtype."""
    first = types[0].dtype
    for t in types:
        if t.dtype != first:
            raise TypeError(f"{what}: dtypes differ: {' and '.join(map(str, types))}; convert one with pb.cast")
    if first not in INEXACT and first not in INTEGER:
        raise TypeError(f"{what}: no such operation on {types[0]}; it takes numbers")


def matmul_kernel(xp: Any, a: Any, b: Any) -> Any:
    """The product of stacks of matrices; 16-bit floats are added up in float32."""
    if a.dtype in (float16, bfloat16):
        return matmul_kernel(xp, a.astype(float32), b.astype(float32)).astype(a.dtype)
    if b.ndim > 2:
        return xp.matmul(a, b)
    if a.ndim == 2:
        return xp.dot(a, b)
    rows = a.reshape((_size(a.shape[:-1]), a.shape[-1]))
    return xp.dot(rows, b).reshape((*a.shape[:-1], b.shape[-1]))


def finite_matrices(xp: Any, x: Any) -> Any:
    """Which matrices of a stack have neither infinities nor NaN, [..., 1, 1]: over others LAPACK gives up on all."""
    return xp.all(xp.isfinite(x), axis=(-2, -1), keepdims=True)


def finite_or_unit(xp: Any, x: Any) -> tuple[Any, Any]:
    """Which matrices of a stack are finite, and the stack with unit matrices in the place of others."""
    finite = finite_matrices(xp, x)
    if xp is np and finite.all():
        return finite, x
    return finite, xp.where(finite, x, xp.eye(x.shape[-1], dtype=x.dtype))


def or_nan(xp: Any, finite: Any, y: Any) -> Any:
    """`y` where the matrix that it is made of is finite, else NaN."""
    if xp is np and finite.all():
        return y
    return xp.where(finite, y, xp.asarray(xp.nan, y.dtype))


def svd_kernel(xp: Any, x: Any, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    """`u`, `s` and `vh` of the singular value decomposition; NaN for matrices that are not finite."""
    finite = finite_matrices(xp, x)
    u, s, vh = xp.linalg.svd(xp.where(finite, x, xp.zeros((), x.dtype)), full_matrices=full_matrices)
    return or_nan(xp, finite, u), or_nan(xp, finite[..., 0], s), or_nan(xp, finite, vh)


def adjoint(xp: Any, x: Any) -> Any:
    """Each matrix of a stack, transposed and conjugated."""
    y = xp.swapaxes(x, -1, -2)
    return xp.conj(y) if y.dtype.kind == "c" else y


class _Plan(NamedTuple):
    """How to write a product of two labelled arrays as one of stacks of matrices."""

    axes_a: tuple[int, ...]
    axes_b: tuple[int, ...]
    stack: int
    left: int
    inner: int
    axes: tuple[int, ...]


def contract(
    xp: Any, a: Any, b: Any, labels_a: str, labels_b: str, labels: str, multiply: Callable[..., Any] = matmul_kernel
) -> Any:
    """The product of `a` and `b` summed over the labels that are not in `labels`; labels of one array repeat nowhere.

    Every label is in two of the three at least. `multiply` is for stacks of matrices. The last axis of the result
    is one of the second factor where it can be: then the product needs no transpose, or one of whole rows.
    """
    if labels and labels[-1] not in labels_b:
        a, b, labels_a, labels_b = b, a, labels_b, labels_a
    plan = _plan(labels_a, labels_b, labels)
    x, y = _transposed(xp, a, plan.axes_a), _transposed(xp, b, plan.axes_b)
    stack, left = x.shape[: plan.stack], x.shape[plan.stack : plan.stack + plan.left]
    right = y.shape[plan.stack + plan.inner :]
    if not plan.inner:
        product = x.reshape((*stack, *left, *[1] * len(right))) * y.reshape((*stack, *[1] * len(left), *right))
    else:
        inner = _size(x.shape[plan.stack + plan.left :])
        x = x.reshape((*stack, _size(left), inner))
        y = y.reshape((*stack, inner, _size(right)))
        product = multiply(xp, x, y).reshape((*stack, *left, *right))
    return _transposed(xp, product, plan.axes)


@lru_cache(maxsize=4096)
def _plan(labels_a: str, labels_b: str, labels: str) -> _Plan:
    stack = [c for c in labels if c in labels_a and c in labels_b]
    left = [c for c in labels if c in labels_a and c not in labels_b]
    right = [c for c in labels if c in labels_b and c not in labels_a]
    inner = [c for c in labels_a if c in labels_b and c not in labels]
    axes_a = tuple([labels_a.index(c) for c in [*stack, *left, *inner]])
    axes_b = tuple([labels_b.index(c) for c in [*stack, *inner, *right]])
    made = [*stack, *left, *right]
    return _Plan(axes_a, axes_b, len(stack), len(left), len(inner), tuple([made.index(c) for c in labels]))


def _transposed(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    return x if axes == tuple(range(len(axes))) else xp.transpose(x, axes)


def _size(lengths: Sequence[int]) -> int:
    size = 1
    for n in lengths:
        size *= n
    return size
