"""XLA lowering of matrix functions: loops that run as often as the matrices of a stack need."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ....primitives.linalg.matrix_functions import (
    MOST_ROOTS,
    MOST_STEPS,
    NODES,
    WEIGHTS,
    MatrixExponential,
    MatrixLogarithm,
    MatrixSquareRoot,
    approximant,
    far_from_one,
    first_of_root,
    last_of_root,
    log_term,
    next_of_root,
    unfinished,
)
from ..array_namespace import NAMESPACE
from ..registry import xla_kernel
from ..turns import in_turn


@xla_kernel(MatrixExponential)
@in_turn
def _exponential(p: MatrixExponential, x: Any) -> Any:
    del p
    if not x.size:
        return x
    y, halvings = approximant(NAMESPACE, x, lambda holds, computed, other: lax.cond(holds, computed, lambda: other))

    def square(i: Any, y: Any) -> Any:
        return jnp.where(i < halvings, jnp.matmul(y, y), y)

    return lax.fori_loop(0, jnp.max(halvings), square, y)


@xla_kernel(MatrixSquareRoot)
@in_turn
def _square_root(p: MatrixSquareRoot, x: Any) -> Any:
    del p
    return _root(x) if x.size else x


def _root(x: Any) -> Any:
    def goes_on(carry: Any) -> Any:
        return (carry[0] < MOST_STEPS) & unfinished(jnp, carry[1])

    def step(carry: Any) -> Any:
        return carry[0] + 1, next_of_root(jnp, carry[1])

    _, state = lax.while_loop(goes_on, step, (jnp.int32(0), first_of_root(jnp, jnp.asarray(x))))
    return last_of_root(jnp, state)


@xla_kernel(MatrixLogarithm)
@in_turn
def _logarithm(p: MatrixLogarithm, x: Any) -> Any:
    del p
    if not x.size:
        return x

    def goes_on(carry: Any) -> Any:
        return (carry[0] < MOST_ROOTS) & far_from_one(jnp, carry[1])

    def step(carry: Any) -> Any:
        return carry[0] + 1, _root(carry[1])

    roots, near = lax.while_loop(goes_on, step, (jnp.int32(0), jnp.asarray(x)))

    def add(i: Any, total: Any) -> Any:
        return total + log_term(jnp, near, jnp.asarray(NODES, x.dtype)[i], jnp.asarray(WEIGHTS, x.dtype)[i])

    power = NAMESPACE.exp2(roots.astype(x.real.dtype)).astype(x.dtype)
    return lax.fori_loop(0, len(NODES), add, jnp.zeros_like(near)) * power
