"""Linear algebra, under TensorFlow's names of `tf.linalg`."""

from .optimizers.clipping import global_norm
from .primitives.creation import eye
from .primitives.determinants import det, logdet, slogdet
from .primitives.eigen import eig, eigh, eigh_tridiagonal, eigvals, eigvalsh
from .primitives.einsum import einsum, tensordot
from .primitives.inverses import cross, inv, lstsq, pinv, solve
from .primitives.linalg import matmul, matvec
from .primitives.lu import lu, lu_matrix_inverse, lu_reconstruct, lu_solve
from .primitives.matrices import (
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
from .primitives.matrices import matrix_transpose as transpose
from .primitives.matrix_functions import expm, logm, sqrtm
from .primitives.matrix_norms import norm
from .primitives.normalisation import l2_normalize, normalize
from .primitives.qr import qr
from .primitives.svd import matrix_rank, svd
from .primitives.triangular import banded_triangular_solve, cholesky, cholesky_solve, triangular_solve
from .primitives.tridiagonal import tridiagonal_matmul, tridiagonal_solve

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
