"""GraphDef export of products of matrices."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.linalg.einsum import Einsum
from ...primitives.linalg.matmul import BatchMatMul, MatMul
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


@writer(Einsum)
def einsum(body: Body, op: Operation, *xs: Ref) -> Any:
    primitive: Any = op.primitive
    if len(xs) > 2:
        return body.refuse("TensorFlow's takes two inputs")
    return body.main("Einsum", list(xs), equation=primitive.equation)
