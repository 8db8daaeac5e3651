"""Sums of products: matrix products with the identity, chains in the cheapest order, sums that are contractions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import prod
from string import ascii_letters
from typing import Any

import numpy as np

from ...core.dtypes import INEXACT
from ...core.graph import Tensor
from ...primitives.creation.constant import Const, constant
from ...primitives.creation.eye import Eye
from ...primitives.elementwise.arithmetic import Add, Mul, Sub
from ...primitives.linalg.einsum import Einsum
from ...primitives.linalg.matmul import BatchMatMul, MatMul
from ...primitives.reduction.abstract import AbstractReduction
from ...primitives.reduction.reduce import Max, Mean, Min
from ...primitives.reduction.sum import Sum
from ...primitives.shape.broadcast import BroadcastTo
from ...primitives.shape.reshape import Reshape, reshape_like
from ...primitives.shape.squeeze import ExpandDims, Squeeze
from ...primitives.shape.transpose import Transpose
from ..rule import rewrite, same_type

Sides = Generator[Any]


@rewrite("safe")
def product_with_a_unit_matrix(x: Tensor, product: MatMul, unit: Const) -> Sides:
    """x @ I is x, of finite numbers; so are infinite ones."""
    yield product(x, unit())
    if _is_unit(unit.value):
        yield Transpose((1, 0))(x) if product.transpose_a else x


@rewrite("safe")
def product_of_a_unit_matrix(x: Tensor, product: MatMul, unit: Const) -> Sides:
    """I @ x is x, of finite numbers; so are infinite ones."""
    yield product(unit(), x)
    if _is_unit(unit.value):
        yield Transpose((1, 0))(x) if product.transpose_b else x


@rewrite("safe")
def product_with_eye(x: Tensor, product: MatMul, unit: Eye) -> Sides:
    """x @ eye(n) is x, of finite numbers; so are infinite ones."""
    y = unit()
    yield product(x, y)
    if _is_square(y):
        yield Transpose((1, 0))(x) if product.transpose_a else x


@rewrite("safe")
def product_of_eye(x: Tensor, product: MatMul, unit: Eye) -> Sides:
    """eye(n) @ x is x, of finite numbers; so are infinite ones."""
    y = unit()
    yield product(y, x)
    if _is_square(y):
        yield Transpose((1, 0))(x) if product.transpose_b else x


@rewrite("safe")
def products_with_eye(x: Tensor, product: BatchMatMul, unit: Eye) -> Sides:
    """A stack of matrices times eye(n) is the stack, of finite numbers."""
    y = unit()
    yield product(x, y)
    if not product.adj_x and _is_square(y):
        yield x


@rewrite("safe")
def products_with_a_unit_matrix(x: Tensor, product: BatchMatMul, unit: Const) -> Sides:
    """A stack of matrices times I is the stack, of finite numbers."""
    yield product(x, unit())
    if not product.adj_x and _is_unit(unit.value):
        yield x


def _is_unit(value: Any) -> bool:
    return value.ndim == 2 and value.shape[0] == value.shape[1] and bool((value == np.eye(len(value))).all())


def _is_square(x: Tensor) -> bool:
    return x.shape.is_fully_defined() and len(set(x.shape.known)) == 1


@rewrite("fast")
def chain_to_the_right(a: Tensor, b: Tensor, c: Tensor, inner: MatMul, outer: MatMul) -> Sides:
    """(a @ b) @ c is a @ (b @ c), where that takes fewer products."""
    ab = inner(a, b)
    y = outer(ab, c)
    yield y
    if outer.transpose_a:
        bc, rest = MatMul(not inner.transpose_a, outer.transpose_b)(a, c), MatMul(not inner.transpose_b)
        first = b
    else:
        bc, rest = MatMul(inner.transpose_b, outer.transpose_b)(b, c), MatMul(inner.transpose_a)
        first = a
    if _products(a, b, ab) + _products(ab, c, y) > _products(b if first is a else a, c, bc) + _products(first, bc, y):
        yield rest(first, bc)


@rewrite("fast")
def chain_to_the_left(a: Tensor, b: Tensor, c: Tensor, inner: MatMul, outer: MatMul) -> Sides:
    """a @ (b @ c) is (a @ b) @ c, where that takes fewer products."""
    bc = inner(b, c)
    y = outer(a, bc)
    yield y
    if outer.transpose_b:
        ab, rest = MatMul(outer.transpose_a, not inner.transpose_b)(a, c), MatMul(False, not inner.transpose_a)
        last = b
    else:
        ab, rest = MatMul(outer.transpose_a, inner.transpose_a)(a, b), MatMul(False, inner.transpose_b)
        last = c
    if _products(b, c, bc) + _products(a, bc, y) > _products(a, c if last is b else b, ab) + _products(ab, last, y):
        yield rest(ab, last)


def _products(a: Tensor, b: Tensor, y: Tensor) -> float:
    """How many numbers are multiplied for the matrix product `y` of `a` and `b`; none where a length is not known."""
    sizes = [x.shape.num_elements() for x in (a, b, y)]
    return float(prod([n or 0 for n in sizes]) ** 0.5)


@rewrite("fast")
def common_right_factor(a: Tensor, b: Tensor, c: Tensor, plus: Add | Sub, product: MatMul | BatchMatMul) -> Sides:
    """a @ c + b @ c is (a + b) @ c."""
    yield plus(product(a, c), product(b, c))
    if same_type(a, b):
        yield product(plus(a, b), c)


@rewrite("fast")
def common_left_factor(a: Tensor, b: Tensor, c: Tensor, plus: Add | Sub, product: MatMul | BatchMatMul) -> Sides:
    """c @ a + c @ b is c @ (a + b)."""
    yield plus(product(c, a), product(c, b))
    if same_type(a, b):
        yield product(c, plus(a, b))


@rewrite("fast")
def sum_of_sums(x: Tensor, first: Sum, second: Sum) -> Sides:
    """A sum of sums is one sum."""
    yield second(first(x))
    axes = _axes_of_both(x, first, second)
    if axes is not None:
        yield Sum(axes, first.keepdims)(x)


@rewrite("exact")
def extreme_of_extremes(x: Tensor, first: Max | Min, second: Max | Min) -> Sides:
    """The largest of the largest is the largest of all."""
    yield second(first(x))
    axes = _axes_of_both(x, first, second)
    if axes is not None and type(first) is type(second):
        yield type(first)(axes, first.keepdims)(x)


def _axes_of_both(x: Tensor, first: AbstractReduction, second: AbstractReduction) -> tuple[int, ...] | None:
    """The axes that two reductions one after the other go over; None where that is not known."""
    if x.shape.rank is None or first.keepdims != second.keepdims:
        return None
    axes = range(x.shape.rank)
    gone = set(axes if first.axis is None else [a % len(axes) for a in first.axis])
    left = list(axes) if first.keepdims else [a for a in axes if a not in gone]
    also = left if second.axis is None else [left[a] for a in second.axis]
    return tuple(sorted({*gone, *also}))


@rewrite("fast")
def sum_of_moved_elements(x: Tensor, total: Sum | Mean, move: Reshape | ExpandDims | Squeeze | Transpose) -> Sides:
    """The sum of all elements is that of them in another order."""
    y = move(x)
    yield total(y)
    if not total.keepdims and len(_reduced(total, y.shape.rank)) == y.shape.rank:
        yield type(total)()(x)


@rewrite("exact")
def extreme_of_moved_elements(x: Tensor, extreme: Max | Min, move: Reshape | ExpandDims | Squeeze | Transpose) -> Sides:
    """The largest of all elements is that of them in another order."""
    y = move(x)
    yield extreme(y)
    if not extreme.keepdims and len(_reduced(extreme, y.shape.rank)) == y.shape.rank:
        yield type(extreme)()(x)


@rewrite("fast")
def sum_of_a_multiple(x: Tensor, factor: Tensor, total: Sum, times: Mul) -> Sides:
    """sum(x * c) is sum(x) * c where c is the same along the axes."""
    product = times(x, factor)
    yield total(product)
    if x.dtype in INEXACT and same_type(x, product) and _is_repeated(factor, total, product.shape.rank):
        yield times(total(x), factor)


def _is_repeated(factor: Tensor, total: Sum, rank: int | None) -> bool:
    """Whether a factor is the same along all axes that a sum goes over, and has these no more than its result has."""
    if factor.shape.rank == 0:
        return True
    if rank is None or factor.shape.lengths is None:
        return False
    lengths = [None] * (rank - len(factor.shape.lengths)) + [*factor.shape.lengths]
    axes = _reduced(total, rank)
    if total.keepdims:
        return all(lengths[a] in (None, 1) for a in axes) and None not in factor.shape.lengths
    return all(a < rank - len(factor.shape.lengths) for a in axes)


@rewrite("fast")
def sum_of_repeated_elements(x: Tensor, total: Sum, wide: BroadcastTo) -> Sides:
    """The sum of what is repeated n times is n times what it was."""
    repeated = wide(x)
    y = total(repeated)
    yield y
    if not (x.shape.is_fully_defined() and repeated.shape.is_fully_defined()):
        return
    known = repeated.shape.known
    axes = range(len(known)) if total.axis is None else [a % len(known) for a in total.axis]
    own = (1,) * (len(known) - len(x.shape.known)) + x.shape.known
    if x.dtype not in INEXACT:
        return
    if all(own[a] == 1 for a in axes) and prod(own) == prod(y.shape.known):
        yield reshape_like(x, y) * constant(float(prod([known[a] for a in axes])), x.dtype)
    elif len(axes) == len(known) and not total.keepdims:
        yield Sum()(x) * constant(prod(known) / prod(own), x.dtype)


@rewrite("fast")
def sum_of_products(x: Tensor, y: Tensor, total: Sum, times: Mul) -> Sides:
    """sum(x * y) along axes that both have is a contraction, which keeps no products."""
    product = times(x, y)
    z = total(product)
    yield z
    axes = _reduced(total, product.shape.rank)
    if x.dtype not in INEXACT or total.keepdims or x.shape.rank is None or y.shape.rank is None or not axes:
        return
    labels = ascii_letters[: product.shape.rank]
    of_x, of_y = labels[len(labels) - len(x.shape) :], labels[len(labels) - len(y.shape) :]
    if _are_alike(x, of_x, y, of_y) and all(labels[a] in of_x and labels[a] in of_y for a in axes):
        result = "".join([c for a, c in enumerate(labels) if a not in axes])
        yield Einsum(f"{of_x},{of_y}->{result}")(x, y)


@rewrite("fast")
def sum_of_outer_products(x: Tensor, y: Tensor, total: Sum, times: Mul, widen: ExpandDims, other: ExpandDims) -> Sides:
    """sum(x[:, None, :] * y[None, :, :]) is a product of matrices, which keeps no products of three axes."""
    a, b = widen(x), other(y)
    product = times(a, b)
    yield total(product)
    axes, rank = _reduced(total, product.shape.rank), product.shape.rank or 0
    if x.dtype not in INEXACT or total.keepdims or a.shape.rank != rank or b.shape.rank != rank or not axes:
        return
    labels = ascii_letters[:rank]
    of_x = [c for i, c in enumerate(labels) if i not in {n % rank for n in widen.axis}]
    of_y = [c for i, c in enumerate(labels) if i not in {n % rank for n in other.axis}]
    shared = all(labels[i] in of_x and labels[i] in of_y for i in axes)
    if shared and _are_alike(x, of_x, y, of_y) and {*of_x, *of_y} == set(labels):
        result = "".join([c for i, c in enumerate(labels) if i not in axes])
        yield Einsum(f"{''.join(of_x)},{''.join(of_y)}->{result}")(x, y)


def _are_alike(x: Tensor, of_x: Sequence[str], y: Tensor, of_y: Sequence[str]) -> bool:
    """Whether axes of one label are known to have one length: none is repeated along the other."""
    lengths = dict(zip(of_x, x.shape.lengths or (), strict=True))
    others = dict(zip(of_y, y.shape.lengths or (), strict=True))
    return all(lengths[c] is not None and lengths[c] == others[c] for c in lengths.keys() & others.keys())


def _reduced(total: AbstractReduction, rank: int | None) -> Sequence[int]:
    """The axes that a sum goes over; none where that is not known."""
    if rank is None or total.axis is None:
        return range(rank or 0)
    return [a % rank for a in total.axis]
