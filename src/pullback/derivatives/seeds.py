"""Seeds of Jacobians: unit cotangents of the output, or the rows of the matrix by which the output is a product.

The Jacobian of y = A z by z is A. So its rows are pulled back from z, where unit cotangents of y would be multiplied
with A first: a matrix product with the unit matrix, half the work of the Hessian of a logistic regression.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import NamedTuple

from ..autodiff.paths import operations_between
from ..autodiff.registry import rule_of
from ..core.dtypes import COMPLEX
from ..core.graph import Operation, Tensor
from ..primitives.identity.identity import Identity
from ..primitives.linalg.einsum import Einsum
from ..primitives.linalg.matmul import BatchMatMul, MatMul
from ..primitives.shape.reshape import Reshape, reshape
from ..primitives.shape.transpose import transpose


class Seeds(NamedTuple):
    """The cotangents that a Jacobian is pulled back from."""

    of: Tensor
    rows: Tensor | None
    """One for each element of the output, stacked along a first axis; None: the unit cotangents of `of`."""


def seeds_of(y: Tensor, sources: Sequence[Tensor], constants: Collection[Tensor] = ()) -> Seeds:
    """What to pull back for the Jacobian of `y` by `sources`, where `constants` are held constant."""
    ends = {*sources, *constants}
    z = y
    while type(z.op.primitive) in (Identity, Reshape) and _may_pass(z, ends):
        z = z.op.inputs[0]
    if not isinstance(z.op.primitive, MatMul | BatchMatMul | Einsum) or len(z.op.inputs) != 2 or not _may_pass(z, ends):
        return Seeds(y, None)
    varying = [i for i, x in enumerate(z.op.inputs) if x in ends or operations_between([x], sources)]
    order = _order(z.op, varying[0]) if len(varying) == 1 else None
    if order is None:
        return Seeds(y, None)
    factor, of = z.op.inputs[1 - varying[0]], z.op.inputs[varying[0]]
    return Seeds(of, reshape(transpose(factor, order), [y.shape.num_elements(), *of.shape.known]))


def _may_pass(y: Tensor, ends: Collection[Tensor]) -> bool:
    """Whether `y`, of real numbers, is differentiated by its operation's own rule, and all shapes are known."""
    op = y.op
    known = all(x.shape.is_fully_defined() for x in (*op.inputs[:2], y))
    return y not in ends and known and y.dtype not in COMPLEX and rule_of(op) == op.primitive.gradient


def _order(op: Operation, varying: int) -> list[int] | None:
    """The axes of the other factor of a product, those of the result before those of the input `varying`.

    None where its elements are not the coefficients of that input: where the result has axes of both, or one is summed.
    """
    other = 1 - varying
    types = [x.type for x in op.inputs]
    factor, links = op.primitive.links(other, *types), op.primitive.links(varying, *types)
    if factor is None or links is None or any(link.pairs is not None for link in (*factor, *links)):
        return None
    of_result = {link.output: link.input for link in factor}
    meeting = op.primitive.meets(other, varying, *types)
    made = [axis for axis, n in enumerate(op.outputs[0].shape.known) if n != 1]
    met = [axis for axis, n in enumerate(op.inputs[varying].shape.known) if n != 1]
    if any(axis not in of_result for axis in made) or any(axis not in meeting for axis in met):
        return None
    order = [*[of_result[axis] for axis in made], *[meeting[axis] for axis in met]]
    lengths = op.inputs[other].shape.known
    rest = [axis for axis in range(len(lengths)) if axis not in order]
    count = prod(op.outputs[0].shape.known) * prod(op.inputs[varying].shape.known)
    return [*order, *rest] if len({*order}) == len(order) and prod(lengths) == count else None
