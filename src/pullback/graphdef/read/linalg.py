"""GraphDef import of linear algebra."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.complex.complex import conj
from ...primitives.linalg import (
    determinants,
    eigen,
    inverses,
    lu,
    matrices,
    qr,
    svd,
    tensor_diagonals,
    triangular,
    tridiagonal,
)
from ...primitives.linalg.einsum import einsum
from ...primitives.linalg.matmul import BatchMatMul, MatMul
from ..nodes import Node, reader, same


@reader("MatMul", "SparseMatMul")
def matmul(node: Node, a: Tensor, b: Tensor) -> Any:
    a = conj(a) if node.attribute("adj_a", False) else a
    return node.make(MatMul(node.attribute("transpose_a", False), node.attribute("transpose_b", False)), a, b)


@reader("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(node: Node, a: Tensor, b: Tensor) -> Any:
    return node.make(BatchMatMul(node.attribute("adj_x", False), node.attribute("adj_y", False)), a, b)


@reader("Einsum")
def einsum_(node: Node, *xs: Tensor) -> Any:
    return einsum(node.text("equation"), *xs, name=node.exactly)


reader("Cross", "Cholesky", "MatrixDeterminant", "MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot")(same)


@reader("LogMatrixDeterminant", outputs=("sign", "log_abs_determinant"))
def log_determinant(node: Node, x: Tensor) -> Any:
    return tuple(determinants.slogdet(x, name=node.exactly))


@reader("MatrixInverse")
def inverse(node: Node, x: Tensor) -> Any:
    return inverses.inv(x, node.attribute("adjoint", False), name=node.exactly)


@reader("MatrixSolve")
def solve(node: Node, a: Tensor, b: Tensor) -> Any:
    return inverses.solve(a, b, node.attribute("adjoint", False), name=node.exactly)


@reader("MatrixSolveLs")
def least_squares(node: Node, a: Tensor, b: Tensor, regularizer: Tensor) -> Any:
    return inverses.lstsq(a, b, regularizer, node.attribute("fast", True), name=node.exactly)


@reader("MatrixTriangularSolve", "BandedTriangularSolve")
def triangular_solve(node: Node, a: Tensor, b: Tensor) -> Any:
    banded = node.op_type == "BandedTriangularSolve"
    found = triangular.banded_triangular_solve if banded else triangular.triangular_solve
    return found(a, b, node.attribute("lower", True), node.attribute("adjoint", False), name=node.exactly)


@reader("TridiagonalSolve")
def tridiagonal_solve(node: Node, diagonals: Tensor, rhs: Tensor) -> Any:
    return tridiagonal.tridiagonal_solve(diagonals, rhs, name=node.exactly)


@reader("TridiagonalMatMul")
def tridiagonal_matmul(node: Node, above: Tensor, on: Tensor, below: Tensor, rhs: Tensor) -> Any:
    rows = [x[..., 0, :] for x in (above, on, below)]
    return tridiagonal.tridiagonal_matmul(rows, rhs, diagonals_format="sequence", name=node.exactly)


@reader("Qr", outputs=("q", "r"))
def qr_(node: Node, x: Tensor) -> Any:
    return tuple(qr.qr(x, node.attribute("full_matrices", False), name=node.exactly))


@reader("SelfAdjointEigV2", outputs=("e", "v"))
def eigh(node: Node, x: Tensor) -> Any:
    return node.make(eigen.SelfAdjointEig(node.attribute("compute_v", True)), x)


@reader("Eig", outputs=("e", "v"))
def eig(node: Node, x: Tensor) -> Any:
    return node.make(eigen.Eig(node.attribute("compute_v", True)), x)


@reader("Svd", outputs=("s", "u", "v"))
def svd_(node: Node, x: Tensor) -> Any:
    compute_uv = node.attribute("compute_uv", True)
    return svd.svd(x, node.attribute("full_matrices", False), compute_uv, name=node.exactly)


@reader("Lu", outputs=("lu", "p"))
def lu_(node: Node, x: Tensor) -> Any:
    return tuple(lu.lu(x, node.attribute("output_idx_type", "int32"), name=node.exactly))


@reader("MatrixBandPart")
def band_part(node: Node, x: Tensor, lower: Tensor, upper: Tensor) -> Any:
    return matrices.band_part(x, lower, upper, name=node.exactly)


@reader("Diag")
def tensor_diag(node: Node, x: Tensor) -> Any:
    return tensor_diagonals.tensor_diag(x, name=node.exactly)


@reader("DiagPart")
def tensor_diag_part(node: Node, x: Tensor) -> Any:
    return tensor_diagonals.tensor_diag_part(x, name=node.exactly)


@reader("MatrixDiag")
def diag(node: Node, x: Tensor) -> Any:
    return matrices.diag(x, name=node.exactly)


@reader("MatrixDiagV2", "MatrixDiagV3")
def diag_v3(node: Node, x: Tensor, k: Tensor, rows: Tensor, columns: Tensor, padding: Tensor) -> Any:
    return matrices.diag(x, node.exactly, k, rows, columns, padding, _align(node))


@reader("MatrixDiagPart")
def diag_part(node: Node, x: Tensor) -> Any:
    return matrices.diag_part(x, name=node.exactly)


@reader("MatrixDiagPartV2", "MatrixDiagPartV3")
def diag_part_v3(node: Node, x: Tensor, k: Tensor, padding: Tensor) -> Any:
    return matrices.diag_part(x, node.exactly, k, padding, _align(node))


@reader("MatrixSetDiag")
def set_diag(node: Node, x: Tensor, diagonal: Tensor) -> Any:
    return matrices.set_diag(x, diagonal, name=node.exactly)


@reader("MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diag_v3(node: Node, x: Tensor, diagonal: Tensor, k: Tensor) -> Any:
    return matrices.set_diag(x, diagonal, node.exactly, k, _align(node))


def _align(node: Node) -> str:
    return node.text("align", "RIGHT_LEFT") if node.op_type.endswith("V3") else "LEFT_LEFT"
