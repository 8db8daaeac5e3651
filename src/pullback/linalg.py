"""Linear algebra, under TensorFlow's names of `tf.linalg`."""

from .primitives.creation.eye import eye
from .primitives.linalg.cross import cross
from .primitives.linalg.determinants import det, logdet, slogdet
from .primitives.linalg.eigen import eig, eigh, eigh_tridiagonal, eigvals, eigvalsh
from .primitives.linalg.einsum import einsum, tensordot
from .primitives.linalg.inverses import inv, lstsq, pinv, solve
from .primitives.linalg.lu import lu, lu_matrix_inverse, lu_reconstruct, lu_solve
from .primitives.linalg.matmul import matmul, matvec
from .primitives.linalg.matrices import (
    adjoint,
    band_part,
    diag,
    diag_part,
    matrix_transpose,
    set_diag,
    tensor_diag,
    tensor_diag_part,
    trace,
)
from .primitives.linalg.matrices import matrix_transpose as transpose
from .primitives.linalg.matrix_functions import expm, logm, sqrtm
from .primitives.linalg.norm import norm
from .primitives.linalg.qr import qr
from .primitives.linalg.svd import matrix_rank, svd
from .primitives.linalg.triangular import banded_triangular_solve, cholesky, cholesky_solve, triangular_solve
from .primitives.linalg.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from .primitives.normalization.clipping import global_norm
from .primitives.normalization.normalization import l2_normalize, normalize

__all__ = [
    "adjoint",
    "band_part",
    "banded_triangular_solve",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
