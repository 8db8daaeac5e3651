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
from ..nodes import Node, calling, making, reader, same

reader("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")(making(BatchMatMul, adj_x=False, adj_y=False))
reader("Cross", "Cholesky", "MatrixDeterminant", "MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot")(same)
reader("MatrixInverse")(calling(inverses.inv, 1, adjoint=False))
reader("MatrixSolve")(calling(inverses.solve, 2, adjoint=False))
reader("MatrixSolveLs")(calling(inverses.lstsq, 3, fast=True))
reader("TridiagonalSolve")(calling(tridiagonal.tridiagonal_solve, 2))
reader("SelfAdjointEigV2", outputs=("e", "v"))(making(eigen.SelfAdjointEig, compute_v=True))
reader("Eig", outputs=("e", "v"))(making(eigen.Eig, compute_v=True))
reader("MatrixBandPart")(calling(matrices.band_part, 3))
reader("Diag")(calling(tensor_diagonals.tensor_diag, 1))
reader("DiagPart")(calling(tensor_diagonals.tensor_diag_part, 1))
reader("MatrixDiag")(calling(matrices.diag, 1))
reader("MatrixDiagPart")(calling(matrices.diag_part, 1))
reader("MatrixSetDiag")(calling(matrices.set_diag, 2))
reader("LogMatrixDeterminant", outputs=("sign", "log_abs_determinant"))(calling(determinants.slogdet, 1))
reader("Qr", outputs=("q", "r"))(calling(qr.qr, 1, full_matrices=False))
reader("Lu", outputs=("lu", "p"))(calling(lu.lu, 1, output_idx_type="int32"))


@reader("MatMul", "SparseMatMul")
def matmul(node: Node, a: Tensor, b: Tensor) -> Any:
    a = conj(a) if node.attribute("adj_a", False) else a
    return node.make(MatMul(node.attribute("transpose_a", False), node.attribute("transpose_b", False)), a, b)


@reader("Einsum")
def einsum_(node: Node, *xs: Tensor) -> Any:
    return einsum(node.text("equation"), *xs, name=node.exactly)


@reader("MatrixTriangularSolve", "BandedTriangularSolve")
def triangular_solve(node: Node, a: Tensor, b: Tensor) -> Any:
    banded = node.op_type == "BandedTriangularSolve"
    found = triangular.banded_triangular_solve if banded else triangular.triangular_solve
    return found(a, b, node.attribute("lower", True), node.attribute("adjoint", False), name=node.exactly)


@reader("TridiagonalMatMul")
def tridiagonal_matmul(node: Node, above: Tensor, on: Tensor, below: Tensor, rhs: Tensor) -> Any:
    rows = [x[..., 0, :] for x in (above, on, below)]
    return tridiagonal.tridiagonal_matmul(rows, rhs, diagonals_format="sequence", name=node.exactly)


@reader("Svd", outputs=("s", "u", "v"))
def svd_(node: Node, x: Tensor) -> Any:
    compute_uv = node.attribute("compute_uv", True)
    return svd.svd(x, node.attribute("full_matrices", False), compute_uv, name=node.exactly)


@reader("MatrixDiagV2", "MatrixDiagV3")
def diag_v3(node: Node, x: Tensor, k: Tensor, rows: Tensor, columns: Tensor, padding: Tensor) -> Any:
    return matrices.diag(x, node.exactly, k, rows, columns, padding, _align(node))


@reader("MatrixDiagPartV2", "MatrixDiagPartV3")
def diag_part_v3(node: Node, x: Tensor, k: Tensor, padding: Tensor) -> Any:
    return matrices.diag_part(x, node.exactly, k, padding, _align(node))


@reader("MatrixSetDiagV2", "MatrixSetDiagV3")
def set_diag_v3(node: Node, x: Tensor, diagonal: Tensor, k: Tensor) -> Any:
    return matrices.set_diag(x, diagonal, node.exactly, k, _align(node))


def _align(node: Node) -> str:
    return node.text("align", "RIGHT_LEFT") if node.op_type.endswith("V3") else "LEFT_LEFT"
