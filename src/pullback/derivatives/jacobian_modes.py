"""Jacobian accumulation by rows, columns, coloured products or chains, and which of these takes the fewest products.

Forward and reverse products with a vector cost about the same; so the number of products is what is compared (Griewank
and Walther, Evaluating Derivatives, 2nd ed., chapters 7 and 8); for chains the operations of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..autodiff.cotangent import dense
from ..autodiff.reverse import gradients
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import constant
from ..primitives.indexing.scatter_nd import scatter_nd
from ..primitives.shape.reshape import reshape
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from ..primitives.shape.transpose import transpose
from .jacobian_chains import Chain, chain_of
from .products import is_complex, jvp, source_tensor, value_type, zeros_of
from .rows import rows_of
from .seeds import seeds_of

MODES = ("reverse", "forward", "coloured", "chained", "auto")
_FEW = 16
"""So many products are not worth looking for a pattern."""


def reverse(
    y: Tensor, sources: list[Any], batch_size: int | None, constants: Sequence[Tensor] = ()
) -> list[Tensor | None]:
    """The Jacobians of `y` by all inputs, a row for each of its elements; None where it does not depend on one.

    `constants` are held constant.
    """

    seeds = seeds_of(y, [source_tensor(x) for x in sources], constants)

    def pull(seed: Tensor) -> list[Tensor | None]:
        found = gradients(seeds.of, sources, grad_ys=seed, stop_gradients=constants)
        return [None if dx is None else dense(dx) for dx in found]

    found = rows_of(seeds.of, pull, batch_size, seeds.rows)
    return [None if rows is None else _unflatten(rows, y) for rows in found]


def _unflatten(rows: Tensor, y: Tensor) -> Tensor:
    """`rows` [size of y, ...] as [shape of y..., ...]."""
    if y.shape.is_fully_defined() and rows.shape[1:].is_fully_defined():
        return reshape(rows, [*y.shape.known, *rows.shape[1:].known])
    return reshape(rows, concat([shape(y), shape(rows)[1:]], 0))


def forward(y: Tensor, x: Any, batch_size: int | None) -> Tensor:
    """The Jacobian of `y`, of x's dtype, by one input, a column for each of its elements."""
    like = x if isinstance(x, Tensor) else zeros_of(x)
    (columns,) = rows_of(like, lambda unit: jvp(y, [x], [unit]), batch_size)
    assert columns is not None
    rank = columns.shape.rank
    if rank is None:
        flat = transpose(reshape(columns, concat([shape(columns)[:1], [-1]], 0)), [1, 0])
    else:
        flat = transpose(columns, [*range(1, rank), 0])
    return cast(_shaped(flat, y, like), like.dtype)


def pattern_of(y: Tensor, x: Any) -> Any:
    """Where the Jacobian of `y` by `x` may differ from zero; None where a run decides that."""
    if not (y.shape.is_fully_defined() and value_type(x).shape.is_fully_defined()):
        return None
    from .pattern import jacobian_pattern

    try:
        return jacobian_pattern(y, source_tensor(x))
    except InvalidArgumentError:
        return None


def coloured(y: Tensor, x: Any, places: Any) -> Tensor:
    """The Jacobian of `y` by `x`, which is zero but at `places`."""
    from .sparse import sparse_jacobian

    matrix = sparse_jacobian(y, x, pattern=places)
    numbers = constant(np.stack([matrix.rows, matrix.columns], axis=1).astype(np.int64))
    return reshape(scatter_nd(numbers, matrix.values, matrix.shape), [*y.shape.known, *value_type(x).shape.known])


def cheapest(y: Tensor, x: Any) -> tuple[str, Any]:
    """The mode that takes the fewest products, "reverse" where a run decides how many; the pattern or chain it uses."""
    rows, columns = y.shape.num_elements(), value_type(x).shape.num_elements()
    if rows is None or columns is None or is_complex(y, x):
        return "reverse", None
    if min(rows, columns) > _FEW:
        places = pattern_of(y, x) if find_spec("scipy") is not None else None
        if places is not None and 2 * _colours(places) < min(rows, columns):
            return "coloured", places
        chain = chain_of(y, x)
        if chain is not None and 2 * chain.cost < chain.direct:
            return "chained", chain
    return "forward" if columns < rows else "reverse", None


def chained(y: Tensor, x: Any, chain: Chain | None, batch_size: int | None) -> Tensor:
    """The Jacobian of `y` by `x` as a product of those between narrow tensors."""

    def direct(y: Tensor, x: Any) -> Tensor:
        is_wide = (y.shape.num_elements() or 0) <= (value_type(x).shape.num_elements() or 0)
        found = reverse(y, [x], batch_size)[0] if is_wide else forward(y, x, batch_size)
        assert found is not None
        return found

    if chain is None:
        return direct(y, x)
    return reshape(chain.accumulated(direct), [*y.shape.known, *value_type(x).shape.known])


def _colours(places: Any) -> int:
    """How many products with vectors give all entries at `places`."""
    from .colouring import colour_columns

    return min(int(colour_columns(p).max(initial=-1)) + 1 for p in (places, places.T))


def _shaped(flat: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """`flat` [..., size of x] as [shape of y..., shape of x...]."""
    if y.shape.is_fully_defined() and x.shape.is_fully_defined():
        return reshape(flat, [*y.shape.known, *x.shape.known])
    return reshape(flat, concat([shape(y), shape(x)], 0))
