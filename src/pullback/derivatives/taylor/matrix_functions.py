"""Taylor coefficients of functions of matrices: they stand in the function of a block Toeplitz matrix.

The first row of blocks of f([[x0, x1, x2], [0, x0, x1], [0, 0, x0]]) are coefficients 0, 1 and 2 of f along the curve
(Mathias, "A chain rule for matrix functions and applications", 1996).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from ...core.graph import Operation, Tensor
from ...core.primitive import Primitive
from ...primitives.creation.fill import zeros_like
from ...primitives.linalg.blocks_of_matrices import excess_of
from ...primitives.linalg.matrix_functions import MatrixExponential, MatrixLogarithm, MatrixSquareRoot
from ...primitives.shape.stacking import concat, split
from .registry import RegisterJet
from .series import Coefficient, Curve


@RegisterJet(MatrixExponential.type, MatrixLogarithm.type, MatrixSquareRoot.type)
def function_of_matrices(op: Operation, x: Curve) -> Iterator[Coefficient]:
    """The last block of the first row, for as many blocks as there are coefficients."""
    for k in count(1):
        known = [x[j] for j in range(1, k + 1)]
        yield None if all(c is None for c in known) else _last(op.primitive, op.inputs[0], known)


def _last(function: Primitive, first: Tensor, others: Sequence[Coefficient]) -> Tensor:
    """The last coefficient of the function. Coefficient j is made smaller by a number to the power of j before."""
    zero = zeros_like(first)
    blocks = [zero if x is None else x for x in others]
    excess, power, row = excess_of(concat(blocks, -1), first), None, [first]
    for block in blocks:
        power = excess if power is None else power * excess
        row.append(block / power)
    rows = [concat([*[zero] * i, *row[: len(row) - i]], -1) for i in range(len(row))]
    made = function(concat(rows, -2))
    return split(split(made, len(row), -1)[-1], len(row), -2)[0] * power
