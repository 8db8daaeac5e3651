"""GraphDef export of products, parts and inverses of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX
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
from ..exporting import with_attributes, writer

writer(MatrixInverse, MatrixSolve, MatrixTriangularSolve)(with_attributes)


@writer(MatMul)
def matmul(body: Body, p: Any, a: Ref, b: Ref) -> Any:
    if any(x.shape.rank != 2 for x in body.op.inputs):
        return body.refuse("the ranks of its inputs must be known")
    return body.main("MatMul", a, b, transpose_a=p.transpose_a, transpose_b=p.transpose_b)


@writer(BatchMatMul)
def batch_matmul(body: Body, p: Any, a: Ref, b: Ref) -> Any:
    return body.main("BatchMatMulV2", a, b, adj_x=p.adj_x, adj_y=p.adj_y)


@writer(MatrixBandPart)
def band(body: Body, p: Any, x: Ref) -> Any:
    lower, upper = (body.constant(n, np.int64) for n in (p.num_lower, p.num_upper))
    return body.main("MatrixBandPart", x, lower, upper)


@writer(Einsum)
def einsum(body: Body, p: Any, *xs: Ref) -> Any:
    if len(xs) > 2:
        return body.refuse("TensorFlow's takes two inputs")
    inputs, _, output = p.equation.partition("->")
    if "..." not in inputs or "..." in output:
        return body.main("Einsum", list(xs), equation=p.equation)
    counts = [_further_axes(term, x.shape.rank) for term, x in zip(inputs.split(","), body.op.inputs, strict=True)]
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
def decomposed(body: Body, p: Any, x: Ref) -> Any:
    """The attributes are TensorFlow's; without vectors there are none of them."""
    made = body.main(p.type, x, **p.attributes)
    return made[: len(body.op.outputs)]


@writer(MatrixDiag)
def diagonals_put(body: Body, p: Any, x: Ref, padding: Ref, *like: Ref) -> Any:
    rows, columns = body.integers(p.num_rows), body.integers(p.num_cols)
    if like:
        dims = body.op.inputs[2].shape.as_list()[-2:] if body.op.inputs[2].shape.rank else [None]
        if None in dims:
            return body.refuse("the lengths of its matrices must be known")
        rows, columns = (body.integers(n) for n in dims)
    return body.main("MatrixDiagV3", x, _band(body, p), rows, columns, padding, align=p.align)


@writer(MatrixDiagPart)
def diagonals(body: Body, p: Any, x: Ref, padding: Ref) -> Any:
    return body.main("MatrixDiagPartV3", x, _band(body, p), padding, align=p.align)


@writer(MatrixSetDiag)
def diagonals_set(body: Body, p: Any, x: Ref, diagonal: Ref) -> Any:
    return body.main("MatrixSetDiagV3", x, diagonal, _band(body, p), align=p.align)


def _band(body: Body, p: Any) -> Ref:
    return body.integers(p.band[0] if p.single else p.band)


@writer(LowerPart)
def lower_part(body: Body, p: Any, x: Ref) -> Any:
    """The part below the diagonal times a number, and the diagonal times another."""
    everything, nothing = (body.constant(n, np.int64) for n in (-1, 0))
    lower = body.node("MatrixBandPart", x, everything, nothing)
    middle = body.node("MatrixBandPart", x, nothing, nothing)
    below = body.node("Mul", body.node("Sub", lower, middle), body.constant(p.below, x.dtype))
    return body.main("AddV2", below, body.node("Mul", middle, body.constant(p.diagonal, x.dtype)))


@writer(HermitianPart)
def hermitian_part(body: Body, p: Any, x: Ref) -> Any:
    rank = body.known_rank(0)
    turned = body.node("Transpose", x, body.integers([*range(rank - 2), rank - 1, rank - 2]))
    turned = body.node("Conj", turned) if x.dtype in COMPLEX else turned
    return body.main("Mul", body.node("AddV2", x, turned), body.constant(0.5, x.dtype))


@writer(IdentityLike)
def identity_like(body: Body, p: Any, x: Ref) -> Any:
    axes = body.known_rank(0)
    ones = body.node("Slice", body.shape_of(x), body.integers([0]), body.integers([axes - 1]))
    row = body.node("Fill", ones, body.constant(1, x.dtype))
    size, zero = body.integers(-1), body.constant(0, x.dtype)
    return body.main("MatrixDiagV3", row, body.integers(0), size, size, zero, align="RIGHT_LEFT")
