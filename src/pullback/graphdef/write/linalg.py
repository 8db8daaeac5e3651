"""GraphDef export of products, parts and inverses of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Operation
from ...primitives.linalg.einsum import Einsum
from ...primitives.linalg.inverses import MatrixInverse, MatrixSolve
from ...primitives.linalg.matmul import BatchMatMul, MatMul
from ...primitives.linalg.matrices import MatrixBandPart
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
    return body.main("Einsum", list(xs), equation=primitive.equation)
