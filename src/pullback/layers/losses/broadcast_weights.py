"""Broadcasting of weights: they repeat along axes of length one, and never add an axis to what they weigh."""

from __future__ import annotations

from ...core.operation import Tensor
from ...primitives.creation.fill import ones_like
from ...primitives.debugging.assertions import assert_
from ...primitives.identity.identity import identity
from ...primitives.logic.comparison import equal
from ...primitives.logic.logical import logical_and, logical_or
from ...primitives.reduction.reduce import reduce_all
from ...primitives.shape.broadcast import broadcast_like
from ...primitives.shape.size import shape, size
from ...primitives.shape.stacking import concat


def checked_weights(function: str, weights: Tensor, values: Tensor) -> Tensor:
    """`weights`, a scalar, or of the rank of `values` and of lengths equal or one; else ValueError.

    Where a rank or a length is not known it is the run that raises, an InvalidArgumentError.
    """
    small, large = weights.shape.sizes, values.shape.sizes
    if small == ():
        return weights
    if small is None or large is None:
        return _checked_in_run(function, weights, values)
    pairs = list(zip(small, large, strict=False))
    if len(small) != len(large) or any(m not in (1, None, n) and n is not None for m, n in pairs):
        raise ValueError(f"{function}: weights {weights.type} do not broadcast to {values.type}")
    known = all(m == 1 or (m == n and m is not None) for m, n in pairs)
    return weights if known else broadcast_like(weights, values)


def _checked_in_run(function: str, weights: Tensor, values: Tensor) -> Tensor:
    small, large = shape(weights), shape(values)
    several = concat([large, ones_like(small)], 0)[: size(small)]  # as many lengths as `small` has
    fit = logical_and(equal(size(small), size(large)), reduce_all(logical_or(equal(small, 1), equal(small, several))))
    said = f"{function}: weights do not broadcast to the values; the shapes of both are"
    guard = assert_(logical_or(equal(size(small), 0), fit), [said, small, large])
    with weights.graph.control_dependencies([guard]):
        return identity(weights)
