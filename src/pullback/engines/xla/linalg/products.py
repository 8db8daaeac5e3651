"""XLA lowering of matrix products.

Where both factors are summed over their first axis, as for the derivative by weights, and that axis is long, processors
are faster with a transpose of the first factor made before, if it has 32 columns and more. XLA makes it as soon as it
can: of what the forward part made, it would keep it beside that until the backward part is there (a transformer of six
blocks: 231 MB instead of 182, and 10 % more time). So the factor waits for the cotangent (`materialised`).

It also does where the second factor has few columns, as for the weights of a last layer: the transpose that the product
itself makes of its first factor costs more than the arithmetic then. 1000 rows of 64 and of 6 take 18 us, and 75 by the
straight way. Of a small factor the transpose is made all the same, of that which more such products read: those of
conjugate gradients then take two thirds of the time (1000 rows of 64 and of 64: 80 us, and 120).

Stacks of small matrices are multiplied as sums of products of columns with rows: 50,000 of 4 x 4 take 0.5 ms, and 8 to
50 by XLA's operation, which calls for each what is meant for a large matrix. The derivatives of a product of twenty
stacks of 128 take 0.17 ms, and 2.9. Each product is an array: worked into what reads them, in the derivatives of 1000,
they would take three times as long.
"""

from __future__ import annotations

from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ....core.dtypes import bfloat16, float16
from ....primitives.linalg.contraction import adjoint, contract, matmul_kernel
from ....primitives.linalg.einsum import Einsum, einsum_kernel
from ....primitives.linalg.formulations import (
    LONG,
    ByFirstAxes,
    has_few_columns,
    is_tiny,
    labels_by_first_axes,
    turns_first,
)
from ....primitives.linalg.matmul import BatchMatMul, MatMul
from ..fences import is_there
from ..materialised import materialised
from ..platform import on_processor
from ..registry import xla_kernel

_SMALL = 8
"""The rows and columns of a small matrix."""
_FEWEST = 8
"""The matrices from which on a stack of small ones is multiplied term by term."""


def made(x: Any) -> Any:
    """`x` as an array of its own, which XLA does not work into what reads it."""
    return lax.optimization_barrier(x)  # type: ignore[no-untyped-call]


@xla_kernel(MatMul)
def matrix_product(p: MatMul, a: Any, b: Any, second: bool = False) -> Any:
    """The product of two matrices; by the transpose of the `second` one where either would do."""
    a, b = _late_halves(a, b, p.transpose_a)
    if not p.transpose_a or p.transpose_b or not on_processor():
        return p.kernel(jnp, a, b)
    if not _is_long(a.shape[0]) and not _has_few_columns(a, b):
        return p.kernel(jnp, a, b)
    return by_first_axes(a, b, second)


def _is_long(n: Any) -> bool:
    """Whether a length is known to be: exported programs have some that only a call knows."""
    return isinstance(n, int) and n >= LONG


def _has_few_columns(a: Any, b: Any) -> bool:
    """Whether matrices that are summed over their first axis are faster multiplied the other way round."""
    (rows, m), n = a.shape, b.shape[1]
    return all(isinstance(length, int) for length in (rows, m, n)) and has_few_columns(rows, m, n)


def by_first_axes(a: Any, b: Any, second: bool = False) -> Any:
    """The product of two matrices, summed over the first axis of both."""
    if _has_few_columns(a, b):
        return made(matmul_kernel(jnp, b.T, a)).T
    (rows, m), n = a.shape, b.shape[1]
    turns = turns_first(rows, m, n)
    if turns and second and is_tiny(rows, n, m):
        return made(matmul_kernel(jnp, made(b.T), a)).T
    return matmul_kernel(jnp, made(a.T) if turns else a.T, b)


@xla_kernel(BatchMatMul)
def _batch_matmul(p: BatchMatMul, a: Any, b: Any) -> Any:
    a, b = _late_halves(a, b, p.adj_x)
    return _multiply_stacks(jnp, adjoint(jnp, a) if p.adj_x else a, adjoint(jnp, b) if p.adj_y else b)


def _late_halves(a: Any, b: Any, turned: bool) -> tuple[Any, Any]:
    """Factors, of which the second one waits for the first, or the first one that is transposed, where they are halves.

    Processors multiply them in float32. XLA would widen all that is given at the start, what a loop is given before it,
    and what the forward part makes once, and keep that for the derivative. A choice it widens before it is made, where
    that is of bfloat16.
    """
    if a.dtype not in (float16, bfloat16) or 0 in (*a.shape, *b.shape) or not on_processor():
        return a, b
    early, late = (b, a) if turned else (a, b)
    if late.dtype == bfloat16:
        late = materialised(late, early)
    else:
        late = jnp.where(is_there(early), late, jnp.zeros((), late.dtype))
    return (late, early) if turned else (early, late)


def _multiply_stacks(xp: Any, a: Any, b: Any) -> Any:
    """The product of stacks of matrices."""
    if not (_is_small_stack(a) and _is_small_stack(b) and on_processor()):
        return matmul_kernel(xp, a, b)
    return materialised(_term_by_term(a, b))


@jax.jit
def _term_by_term(a: Any, b: Any) -> Any:
    """The same in elementwise operations; jax traces it once for all products of the same types."""
    total = a[..., :, :1] * b[..., :1, :]
    for k in range(1, a.shape[-1]):
        total = total + a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return total


def _is_small_stack(x: Any) -> bool:
    """Whether `x` is a stack of small matrices, of numbers that are not widened for their sum."""
    if x.dtype.itemsize < 4 or not all(isinstance(n, int) for n in x.shape):
        return False
    *stack, rows, columns = x.shape
    return bool(0 < rows <= _SMALL and 0 < columns <= _SMALL and prod(stack) >= _FEWEST)


@xla_kernel(Einsum)
def _einsum(p: Einsum, *xs: Any) -> Any:
    return einsum_kernel(jnp, _contract, p.equation, *xs)


def _is_one_product(way: ByFirstAxes, a: Any, b: Any) -> bool:
    """Whether a contraction is better computed as one product of matrices: as they are, or of many rows."""
    in_order = way.matches and not way.swapped
    return way.is_direct(a.shape, b.shape) or (in_order and _is_long(prod(a.shape[: way.summed])))


def _contract(xp: Any, a: Any, b: Any, labels_a: str, labels_b: str, labels: str) -> Any:
    way = labels_by_first_axes(labels_a, labels_b, labels)
    known = all(isinstance(n, int) for x in (a, b) for n in x.shape)
    if way is None or not known or not on_processor() or not _is_one_product(way, a, b):
        return contract(xp, a, b, labels_a, labels_b, labels, _multiply_stacks)
    is_direct = way.is_direct(a.shape, b.shape)
    if way.swapped:
        a, b = b, a
    rows, left, right = prod(a.shape[: way.summed]), a.shape[way.summed :], b.shape[way.summed :]
    a, b = a.reshape(rows, prod(left)), b.reshape(rows, prod(right))
    direct = matmul_kernel(jnp, a.T, b) if is_direct and not _has_few_columns(a, b) else by_first_axes(a, b)
    return direct.reshape(*left, *right)
