"""Polynomials by Horner's rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..creation.constant import convert_to_tensor
from ..creation.fill import zeros_like


@in_graph_of_inputs
def polyval(coeffs: Sequence[Any], x: TensorLike, name: str | None = None) -> Tensor:
    """The value at each element of `x` of the polynomial with `coeffs`, a list, that of the highest power first.

    Computed by Horner's scheme; derivatives go to the coefficients and to `x`.

    Shapes: coefficients that broadcast with `x`. Dtypes: any number, the same for all.

    Raises:
        ValueError: `coeffs` is no list.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.polyval([1.0, 0.0, 2.0], 3.0))
    np.float32(11.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"polyval: coeffs must be a list, not {coeffs!r}")
    at = convert_to_tensor(x)
    with at.graph.within(name or "polyval"):
        if not coeffs:
            return zeros_like(at)
        y, _ = operands(coeffs[0], at)
        for coefficient in coeffs[1:]:
            y = coefficient + y * at
        return y
