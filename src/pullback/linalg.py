"""Linear algebra, under TensorFlow's names of `tf.linalg`."""

from .primitives.creation import eye
from .primitives.einsum import einsum, tensordot
from .primitives.linalg import matmul, matvec
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
from .primitives.normalisation import l2_normalize, normalize
from .primitives.norms import norm

__all__ = [
    "adjoint",
    "band_part",
    "diag",
    "diag_part",
    "einsum",
    "eye",
    "l2_normalize",
    "matmul",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "set_diag",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
]
