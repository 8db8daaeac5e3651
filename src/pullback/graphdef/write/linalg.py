"""GraphDef export of products, parts and inverses of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX
from ...core.graph import Operation
from ...primitives.linalg.eigen import SelfAdjointEig
from ...primitives.linalg.einsum import Einsum
from ...primitives.linalg.inverses import MatrixInverse, MatrixSolve
from ...primitives.linalg.matmul import BatchMatMul, MatMul
from ...primitives.linalg.matrices import MatrixBandPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag
from ...primitives.linalg.qr import Qr
from ...primitives.linalg.stacks import HermitianPart, IdentityLike, LowerPart
from ...primitives.linalg.svd import Svd
from ...primitives.linalg.triangular import MatrixTriangularSolve
from ..body import Body, Ref
from ..exporting import writer


@writer(MatMul)
def matmul(body: Body, op: Operation, a: Ref, b: Ref) -> Any:
    primitive: Any = op.primitive
    if any(x.shape.rank != 2 for x in op.inputs):
        return body.refuse("the ranks of its inputs must be known")
    return body.main("MatMul", a, b, transpose_a=primitive.transpose_a, transpose_b=primitive.transpose_b)


@writer(BatchMatMul)
def batch_matmul(body: Body, op: Operation, a: Ref, b: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("BatchMatMulV2", a, b, adj_x=primitive.adj_x, adj_y=primitive.adj_y)


@writer(MatrixBandPart)
def band(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    lower, upper = (body.constant(n, np.int64) for n in (primitive.num_lower, primitive.num_upper))
    return body.main("MatrixBandPart", x, lower, upper)


@writer(MatrixInverse, MatrixSolve, MatrixTriangularSolve)
def solved(body: Body, op: Operation, *xs: Ref) -> Any:
    """The attributes are TensorFlow's."""
    return body.main(op.type, *xs, **op.primitive.attributes)


@writer(Einsum)
def einsum(body: Body, op: Operation, *xs: Ref) -> Any:
    primitive: Any = op.primitive
    if len(xs) > 2:
        return body.refuse("TensorFlow's takes two inputs")
    inputs, _, output = primitive.equation.partition("->")
    if "..." not in inputs or "..." in output:
        return body.main("Einsum", list(xs), equation=primitive.equation)
    counts = [_further_axes(term, x.shape.rank) for term, x in zip(inputs.split(","), op.inputs, strict=True)]
    if None in counts:
        return body.refuse("the ranks of its inputs must be known")
    whole = body.node("Einsum", list(xs), equation=f"{inputs}->...{output}")
    return body.main("Sum", whole, body.integers(list(range(max(counts)))), keep_dims=False)


def _further_axes(term: str, rank: int | None) -> Any:
    """How many axes the dots of a term stand for; None where only a run knows."""
    if "..." not in term:
        return 0
    return None if rank is None else rank - len(term) + 3


@writer(Svd, Qr, SelfAdjointEig)
def decomposed(body: Body, op: Operation, x: Ref) -> Any:
    """The attributes are TensorFlow's; without vectors there are none of them."""
    made = body.main(op.type, x, **op.primitive.attributes)
    return made[: len(op.outputs)]


@writer(MatrixDiag)
def diagonals_put(body: Body, op: Operation, x: Ref, padding: Ref, *like: Ref) -> Any:
    primitive: Any = op.primitive
    rows, columns = body.integers(primitive.num_rows), body.integers(primitive.num_cols)
    if like:
        dims = op.inputs[2].shape.as_list()[-2:] if op.inputs[2].shape.rank else [None]
        if None in dims:
            return body.refuse("the lengths of its matrices must be known")
        rows, columns = (body.integers(n) for n in dims)
    return body.main("MatrixDiagV3", x, _band(body, primitive), rows, columns, padding, align=primitive.align)


@writer(MatrixDiagPart)
def diagonals(body: Body, op: Operation, x: Ref, padding: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("MatrixDiagPartV3", x, _band(body, primitive), padding, align=primitive.align)


@writer(MatrixSetDiag)
def diagonals_set(body: Body, op: Operation, x: Ref, diagonal: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("MatrixSetDiagV3", x, diagonal, _band(body, primitive), align=primitive.align)


def _band(body: Body, primitive: Any) -> Ref:
    return body.integers(primitive.band[0] if primitive.single else primitive.band)


@writer(LowerPart)
def lower_part(body: Body, op: Operation, x: Ref) -> Any:
    """The part below the diagonal times a number, and the diagonal times another."""
    primitive: Any = op.primitive
    everything, nothing = (body.constant(n, np.int64) for n in (-1, 0))
    lower = body.node("MatrixBandPart", x, everything, nothing)
    middle = body.node("MatrixBandPart", x, nothing, nothing)
    below = body.node("Mul", body.node("Sub", lower, middle), body.constant(primitive.below, x.dtype))
    return body.main("AddV2", below, body.node("Mul", middle, body.constant(primitive.diagonal, x.dtype)))


@writer(HermitianPart)
def hermitian_part(body: Body, op: Operation, x: Ref) -> Any:
    rank = op.inputs[0].shape.rank
    if rank is None:
        return body.refuse("the rank of its input must be known")
    turned = body.node("Transpose", x, body.integers([*range(rank - 2), rank - 1, rank - 2]))
    turned = body.node("Conj", turned) if x.dtype in COMPLEX else turned
    return body.main("Mul", body.node("AddV2", x, turned), body.constant(0.5, x.dtype))


@writer(IdentityLike)
def identity_like(body: Body, op: Operation, x: Ref) -> Any:
    axes = op.inputs[0].shape.rank
    if axes is None:
        return body.refuse("the rank of its input must be known")
    ones = body.node("Slice", body.shape_of(x), body.integers([0]), body.integers([axes - 1]))
    row = body.node("Fill", ones, body.constant(1, x.dtype))
    size, zero = body.integers(-1), body.constant(0, x.dtype)
    return body.main("MatrixDiagV3", row, body.integers(0), size, size, zero, align="RIGHT_LEFT")
