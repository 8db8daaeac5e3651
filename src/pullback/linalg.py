"""Linear algebra, under TensorFlow's names of `tf.linalg`."""

from .primitives.creation.eye import eye as eye
from .primitives.linalg.cross import cross as cross
from .primitives.linalg.determinants import det as det
from .primitives.linalg.determinants import logdet as logdet
from .primitives.linalg.determinants import slogdet as slogdet
from .primitives.linalg.eigen import eig as eig
from .primitives.linalg.eigen import eigh as eigh
from .primitives.linalg.eigen import eigh_tridiagonal as eigh_tridiagonal
from .primitives.linalg.eigen import eigvals as eigvals
from .primitives.linalg.eigen import eigvalsh as eigvalsh
from .primitives.linalg.einsum import einsum as einsum
from .primitives.linalg.inverses import inv as inv
from .primitives.linalg.inverses import lstsq as lstsq
from .primitives.linalg.inverses import pinv as pinv
from .primitives.linalg.inverses import solve as solve
from .primitives.linalg.lu import lu as lu
from .primitives.linalg.lu import lu_matrix_inverse as lu_matrix_inverse
from .primitives.linalg.lu import lu_reconstruct as lu_reconstruct
from .primitives.linalg.lu import lu_solve as lu_solve
from .primitives.linalg.matmul import matmul as matmul
from .primitives.linalg.matmul import matvec as matvec
from .primitives.linalg.matrices import adjoint as adjoint
from .primitives.linalg.matrices import band_part as band_part
from .primitives.linalg.matrices import diag as diag
from .primitives.linalg.matrices import diag_part as diag_part
from .primitives.linalg.matrices import matrix_transpose as matrix_transpose
from .primitives.linalg.matrices import set_diag as set_diag
from .primitives.linalg.matrices import trace as trace
from .primitives.linalg.matrix_functions import expm as expm
from .primitives.linalg.matrix_functions import logm as logm
from .primitives.linalg.matrix_functions import matrix_square_root as _matrix_square_root
from .primitives.linalg.norm import norm as norm
from .primitives.linalg.qr import qr as qr
from .primitives.linalg.svd import matrix_rank as matrix_rank
from .primitives.linalg.svd import svd as svd
from .primitives.linalg.tensor_diagonals import tensor_diag as tensor_diag
from .primitives.linalg.tensor_diagonals import tensor_diag_part as tensor_diag_part
from .primitives.linalg.tensordot import tensordot as tensordot
from .primitives.linalg.triangular import banded_triangular_solve as banded_triangular_solve
from .primitives.linalg.triangular import cholesky as cholesky
from .primitives.linalg.triangular import cholesky_solve as cholesky_solve
from .primitives.linalg.triangular import triangular_solve as triangular_solve
from .primitives.linalg.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from .primitives.linalg.tridiagonal import tridiagonal_solve as tridiagonal_solve
from .primitives.normalization.clipping import global_norm as global_norm
from .primitives.normalization.normalization import l2_normalize as l2_normalize
from .primitives.normalization.normalization import normalize as normalize

sqrtm = _matrix_square_root
transpose = matrix_transpose
