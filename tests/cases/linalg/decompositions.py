"""Rows: inverses, systems of equations, determinants, decompositions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pullback as pb

from ..case import Case, normal


def _complex(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1)


def regular(*shape: int, seed: int = 0) -> np.ndarray:
    """Matrices far from singular ones."""
    return normal(*shape, seed=seed) * 0.3 + 1.5 * np.eye(shape[-1])


def regular_complex(*shape: int, seed: int = 0) -> np.ndarray:
    return regular(*shape, seed=seed) + 0.3j * normal(*shape, seed=seed + 1)


def positive_definite(x: pb.Tensor) -> pb.Tensor:
    return pb.linalg.matmul(x, x, adjoint_b=True) + pb.linalg.eye(3, dtype=x.dtype)


def singular(rank: int, n: int = 3) -> np.ndarray:
    return normal(n, rank) @ normal(rank, n, seed=1)


_ROUNDING = "the derivative is zero: what is left is rounding"
_LOWER = np.tril(regular(4, 4))

INVERSES = [
    Case("inv", pb.linalg.inv, [regular(2, 3, 3)], expected=np.linalg.inv),
    Case("inv_complex", pb.linalg.inv, [regular_complex(3, 3)], expected=np.linalg.inv, third_order=True),
    Case("inv_adjoint", lambda x: pb.linalg.inv(x, adjoint=True), [regular_complex(3, 3)]),
    Case("inv_of_no_matrices", pb.linalg.inv, [regular(0, 3, 3)]),
    Case("inv_of_length_zero", pb.linalg.inv, [regular(0, 0)]),
    Case("solve", pb.linalg.solve, [regular(3, 3), normal(3, 2)], expected=np.linalg.solve),
    Case("solve_adjoint", lambda a, b: pb.linalg.solve(a, b, True), [regular_complex(2, 3, 3), _complex(2, 3, 2)]),
    Case("solve_complex", pb.linalg.solve, [regular_complex(3, 3), _complex(3, 1)], expected=np.linalg.solve),
    Case("solve_one_matrix_for_many", pb.linalg.solve, [regular(3, 3), normal(2, 3, 2)], expected=np.linalg.solve),
    Case("solve_many_for_one", pb.linalg.solve, [regular(2, 3, 3), normal(3, 2)], expected=np.linalg.solve),
    Case(
        "solve_with_itself",
        lambda x: pb.linalg.solve(x, x),
        [regular(3, 3)],
        expected=lambda x: np.eye(3),
        not_float32=_ROUNDING,
    ),
    Case("solve_no_columns", pb.linalg.solve, [regular(3, 3), normal(3, 0)]),
    Case("lstsq_tall", pb.linalg.lstsq, [normal(2, 5, 3), normal(2, 5, 2)]),
    Case("lstsq_wide", pb.linalg.lstsq, [normal(3, 5), normal(3, 2)], expected=lambda a, b: np.linalg.pinv(a) @ b),
    Case("lstsq_regularised", lambda a, b: pb.linalg.lstsq(a, b, 0.5), [_complex(3, 5), _complex(3, 2)]),
    Case("lstsq_regularised_tall", lambda a, b: pb.linalg.lstsq(a, b, 0.5), [normal(4, 2), normal(4, 2)]),
    Case(
        "lstsq_slow",
        lambda a, b: pb.linalg.lstsq(a, b, fast=False),
        [normal(2, 5, 3), normal(2, 5, 2)],
        expected=lambda a, b: np.linalg.pinv(a) @ b,
    ),
    Case("pinv_tall", pb.linalg.pinv, [normal(2, 4, 3)], expected=np.linalg.pinv),
    Case("pinv_wide_complex", pb.linalg.pinv, [_complex(2, 4)], expected=np.linalg.pinv),
    Case("pinv_of_equal_singular_values", pb.linalg.pinv, [np.eye(3)], expected=np.eye(3)),
    Case(
        "pinv_of_a_product_of_rank_two",
        lambda x, y: pb.linalg.pinv(pb.matmul(x, y), rcond=1e-4),
        [normal(3, 2), normal(2, 4)],
        float32_tolerance=1e-4,
    ),
    Case("cross", pb.linalg.cross, [normal(2, 3), normal(2, 3, seed=1)], expected=np.cross),
    Case("cross_complex", pb.linalg.cross, [_complex(3), _complex(3, seed=2)], expected=np.cross),
    Case("cross_integers", pb.linalg.cross, [np.array([1, 2, 3]), np.array([3, 4, 5])], expected=np.cross),
]

TRIANGULAR = [
    Case("triangular_solve", pb.linalg.triangular_solve, [regular(3, 3), normal(3, 2)]),
    Case(
        "triangular_solve_reads_one_triangle",
        pb.linalg.triangular_solve,
        [_LOWER + np.triu(normal(4, 4), 1), normal(4, 2)],
        expected=lambda a, b: np.linalg.solve(_LOWER, b),
    ),
    Case(
        "triangular_solve_upper_adjoint_complex",
        lambda a, b: pb.linalg.triangular_solve(a, b, lower=False, adjoint=True),
        [regular_complex(2, 3, 3), _complex(2, 3, 2)],
    ),
    Case(
        "triangular_solve_lower_adjoint_broadcast",
        lambda a, b: pb.linalg.triangular_solve(a, b, adjoint=True),
        [regular(3, 3), normal(2, 3, 2)],
    ),
    Case("triangular_solve_upper", lambda a, b: pb.linalg.triangular_solve(a, b, False), [regular(3, 3), normal(3, 1)]),
    Case(
        "triangular_solve_in_blocks",
        lambda a, b: pb.linalg.triangular_solve(a, b, False),
        [regular(70, 70) + 10 * np.eye(70), normal(70, 2)],
        expected=lambda a, b: np.linalg.solve(np.triu(a), b),
    ),
    Case(
        "triangular_solve_lower_in_blocks",
        pb.linalg.triangular_solve,
        [regular(70, 70) + 10 * np.eye(70), normal(70, 2)],
        expected=lambda a, b: np.linalg.solve(np.tril(a), b),
    ),
    Case(
        "banded_triangular_solve",
        pb.linalg.banded_triangular_solve,
        [normal(2, 3, 4) + 2.0, normal(2, 4, 2)],
        not_erased="the number of diagonals says how many there are",
    ),
    *[
        Case(
            f"banded_triangular_solve_{'lower' if lower else 'upper'}_of_more_bands_than_rows",
            lambda a, b, lower=lower: pb.linalg.banded_triangular_solve(a, b, lower),
            [normal(3, 2) + 2.0, normal(2, 2)],
            not_erased="the number of diagonals says how many there are",
        )
        for lower in (True, False)
    ],
    Case(
        "banded_triangular_solve_upper_adjoint",
        lambda a, b: pb.linalg.banded_triangular_solve(a, b, lower=False, adjoint=True),
        [normal(2, 4) + 2.0, normal(4, 2)],
        not_erased="the number of diagonals says how many there are",
    ),
    Case("cholesky", lambda x: pb.linalg.cholesky(positive_definite(x)), [normal(2, 3, 3)], third_order=True),
    Case("cholesky_complex", lambda x: pb.linalg.cholesky(positive_definite(x)), [_complex(3, 3)]),
    Case("cholesky_of_length_zero", pb.linalg.cholesky, [normal(0, 0)]),
    Case(
        "cholesky_solve",
        lambda x, b: pb.linalg.cholesky_solve(pb.linalg.cholesky(positive_definite(x)), b),
        [normal(3, 3), normal(3, 2)],
        expected=lambda x, b: np.linalg.solve(x @ x.T + np.eye(3), b),
    ),
]

DETERMINANTS = [
    Case("det", pb.linalg.det, [normal(2, 3, 3)], expected=np.linalg.det),
    Case("det_complex", pb.linalg.det, [_complex(2, 4, 4)], expected=np.linalg.det, third_order=True),
    Case("det_of_one", pb.linalg.det, [normal(1, 1)]),
    Case("det_of_length_zero", pb.linalg.det, [normal(2, 0, 0)], expected=np.ones(2)),
    Case("det_of_rank_one_less", pb.linalg.det, [singular(2)], float32_tolerance=1e-4),
    Case("det_of_rank_two_less", pb.linalg.det, [singular(1)], float32_tolerance=1e-4),
    Case(
        "det_of_rank_two_less_complex",
        pb.linalg.det,
        [singular(2, 4) * (1 + 1j)],
        third_order=True,
        not_float32=_ROUNDING,
    ),
    Case("det_of_zeros", pb.linalg.det, [np.zeros((3, 3))], third_order=True),
    Case("det_where_a_column_is_zero", pb.linalg.det, [np.array([[0.0, 1, 2], [0, 3, 4], [0, 5, 7]])]),
    Case("det_third_order", pb.linalg.det, [regular_complex(2, 3, 3)], third_order=True),
    Case("slogdet", pb.linalg.slogdet, [normal(2, 3, 3)], expected=np.linalg.slogdet),
    Case("slogdet_complex", pb.linalg.slogdet, [_complex(2, 3, 3)], expected=np.linalg.slogdet),
    Case(
        "slogdet_of_singular",
        pb.linalg.slogdet,
        [np.zeros((2, 2))],
        expected=[np.zeros(()), np.array(-np.inf)],
        not_differentiable="the logarithm is infinite there",
    ),
    Case("logdet", lambda x: pb.linalg.logdet(positive_definite(x)), [normal(3, 3)]),
    Case("logdet_complex", lambda x: pb.linalg.logdet(positive_definite(x)), [_complex(3, 3)]),
]


def _projector(q: pb.Tensor, first: int) -> pb.Tensor:
    """What tells the space that the columns from `first` on span, and nothing else."""
    columns = q[..., first:]
    return pb.linalg.matmul(columns, columns, adjoint_b=True)


def _symmetric(x: pb.Tensor) -> pb.Tensor:
    return x + pb.linalg.adjoint(x)


def _with_first_row_real(v: pb.Tensor) -> pb.Tensor:
    """Eigenvectors that no phase is left in."""
    return v / v[..., :1, :]


def _of_pair(v: pb.Tensor, w: pb.Tensor) -> list[pb.Tensor]:
    """What is left of pairs of vectors when their common phase is taken out."""
    return [pb.einsum("...ik,...jk->...ijk", v, pb.math.conj(w)), pb.einsum("...ik,...jk->...ijk", v, pb.math.conj(v))]


def _of_full(u: pb.Tensor, v: pb.Tensor) -> list[pb.Tensor]:
    """Pairs of the first two vectors, and the spaces of the others."""
    return [*_of_pair(u[..., :2], v[..., :2]), _projector(u, 2), _projector(v, 2)]


_SLICED = "slices with an ellipsis need the rank"
_SIGNS = "the signs of vectors are the library's choice"

QR = [
    Case("qr_tall", pb.linalg.qr, [normal(2, 4, 3)], expected=lambda x: np.linalg.qr(x)),
    Case("qr_square", pb.linalg.qr, [normal(3, 3)], expected=lambda x: np.linalg.qr(x)),
    Case("qr_wide", pb.linalg.qr, [normal(2, 2, 4)], expected=lambda x: np.linalg.qr(x)),
    Case("qr_square_complex", pb.linalg.qr, [_complex(3, 3)], expected=lambda x: np.linalg.qr(x)),
    Case("qr_tall_complex", pb.linalg.qr, [_complex(3, 2)]),
    Case("qr_wide_complex", pb.linalg.qr, [_complex(2, 4)], third_order=True),
    Case("qr_r_only", lambda x: pb.linalg.qr(x)[1], [normal(2, 4)]),
    Case("qr_q_only", lambda x: pb.linalg.qr(x)[0], [normal(4, 2)]),
    Case("qr_full_wide", lambda x: pb.linalg.qr(x, full_matrices=True), [normal(2, 4)]),
    Case(
        "qr_full_tall",
        lambda x: [_projector(pb.linalg.qr(x, full_matrices=True)[0], 2), pb.linalg.qr(x, True)[1]],
        [normal(2, 4, 2)],
        not_erased_rank=_SLICED,
    ),
    Case(
        "qr_full_tall_complex",
        lambda x: [_projector(pb.linalg.qr(x, full_matrices=True)[0], 1), pb.linalg.qr(x, True)[0][..., :1]],
        [_complex(3, 1)],
        not_erased_rank=_SLICED,
    ),
]

EIGEN = [
    Case("eigh", lambda x: pb.linalg.eigh(_symmetric(x)), [normal(2, 3, 3)], not_exact=_SIGNS),
    Case("eigh_values_only", lambda x: pb.linalg.eigh(_symmetric(x))[0], [normal(3, 3)], third_order=True),
    Case(
        "eigh_reads_one_triangle",
        pb.linalg.eigvalsh,
        [normal(3, 3)],
        expected=lambda x: np.linalg.eigvalsh(np.tril(x) + np.tril(x, -1).T),
    ),
    Case(
        "eigh_complex",
        lambda x: [pb.linalg.eigh(_symmetric(x))[0], *_of_pair(*[pb.linalg.eigh(_symmetric(x))[1]] * 2)],
        [_complex(3, 3)],
    ),
    Case("eigvalsh_complex", lambda x: pb.linalg.eigvalsh(_symmetric(x)), [_complex(2, 2, 2)]),
    Case(
        "eigh_sum_of_equal_eigenvalues",
        lambda x: pb.reduce_sum(pb.linalg.eigh(x)[0] + pb.reduce_sum(pb.linalg.eigh(x)[1] ** 2)),
        [np.eye(3)],
        expected=12.0,
        other_at_hard_points={"onnx": "large terms cancel in its second derivative"},
    ),
    Case(
        "eigh_tridiagonal",
        pb.linalg.eigh_tridiagonal,
        [normal(4), normal(3)],
        expected=lambda a, b: np.linalg.eigvalsh(np.diag(a) + np.diag(b, -1)),
        third_order=True,
    ),
    Case(
        "eigh_tridiagonal_vectors_by_number",
        lambda a, b: (lambda e, v: [e, *_of_pair(v, v)])(*pb.linalg.eigh_tridiagonal(a, b, False, "i", (1, 2))),
        [normal(4) + 0j, _complex(3)],
        wrt=[1],
        not_erased_rank=_SLICED,
    ),
    Case(
        "eigh_tridiagonal_by_value",
        lambda a, b: pb.linalg.eigh_tridiagonal(a, b, select="v", select_range=(-0.5, 5.0)),
        [np.array([0.0, 2.0, 4.0, 9.0]), normal(3)],
        not_compiled="how many there are depends on values",
        not_erased_rank="masks need known ranks",
    ),
    Case("eigh_tridiagonal_of_one", pb.linalg.eigh_tridiagonal, [normal(1), normal(0)], expected=lambda a, b: a),
    Case(
        "eig",
        lambda x: [pb.linalg.eig(x)[0], _with_first_row_real(pb.linalg.eig(x)[1])],
        [regular(3, 3) + np.diag([0.0, 1.0, 3.0])],
        not_erased_rank=_SLICED,
        float32_tolerance=1e-4,
    ),
    Case(
        "eig_complex",
        lambda x: [pb.linalg.eig(x)[0], abs(pb.linalg.eig(x)[1])],
        [_complex(2, 3, 3)],
        float32_tolerance=1e-4,
    ),
    Case("eigvals", pb.linalg.eigvals, [normal(3, 3)], float32_tolerance=1e-4),
    Case("eigvals_complex", pb.linalg.eigvals, [_complex(3, 3)], float32_tolerance=1e-4),
]

SVD = [
    Case("svd_values", lambda x: pb.linalg.svd(x, compute_uv=False), [normal(2, 4, 3)]),
    Case("svd_square", pb.linalg.svd, [normal(3, 3)], not_exact=_SIGNS, tolerance=1e-5),
    Case("svd_tall", pb.linalg.svd, [normal(2, 4, 3)], not_exact=_SIGNS),
    Case("svd_wide", pb.linalg.svd, [normal(2, 4)], not_exact=_SIGNS),
    Case("svd_complex", lambda x: _of_pair(*pb.linalg.svd(x)[1:]), [_complex(2, 3)], third_order=True),
    Case("svd_complex_tall", lambda x: _of_pair(*pb.linalg.svd(x)[1:]), [_complex(3, 2)]),
    Case(
        "svd_full_tall",
        lambda x: [
            *_of_pair(*[y[..., :2] for y in pb.linalg.svd(x, True)[1:]]),
            _projector(pb.linalg.svd(x, True)[1], 2),
        ],
        [normal(4, 2)],
        not_erased_rank=_SLICED,
    ),
    Case(
        "svd_full_wide_complex",
        lambda x: [
            *_of_pair(*[y[..., :2] for y in pb.linalg.svd(x, True)[1:]]),
            _projector(pb.linalg.svd(x, True)[2], 2),
        ],
        [_complex(2, 3)],
        not_erased_rank=_SLICED,
    ),
    Case(
        "svd_sum_of_equal_singular_values",
        lambda x: pb.reduce_sum(pb.linalg.svd(x, compute_uv=False)),
        [np.eye(3)],
        expected=3.0,
    ),
    Case(
        "norm_2_of_matrices",
        lambda x: pb.norm(x, 2, axis=(0, 2), keepdims=True),
        [normal(3, 2, 4)],
        expected=lambda x: np.linalg.norm(x, 2, axis=(0, 2), keepdims=True),
        not_erased_rank="the rank is needed to move the axes",
    ),
    Case("norm_2_of_stacks", lambda x: pb.norm(x, 2, axis=(-2, -1)), [normal(2, 3, 4)]),
    Case("matrix_rank", pb.linalg.matrix_rank, [singular(2)], expected=2, not_erased="the lengths decide the bound"),
    Case("matrix_rank_above", lambda x: pb.linalg.matrix_rank(x, 0.5), [np.diag([1.0, 0.4])], expected=1),
]


def _rotation_generator(x: pb.Tensor) -> pb.Tensor:
    return x - pb.linalg.matrix_transpose(x)


_NILPOTENT = np.triu(normal(3, 3), 1)

FUNCTIONS = [
    Case("expm", pb.linalg.expm, [normal(2, 3, 3)]),
    Case("expm_complex", pb.linalg.expm, [_complex(2, 2)], third_order=True),
    Case("expm_of_large", pb.linalg.expm, [20 * normal(3, 3)], float32_tolerance=1e-3, tolerance=1e-5),
    Case(
        "expm_of_nilpotent",
        pb.linalg.expm,
        [_NILPOTENT],
        expected=np.eye(3) + _NILPOTENT + _NILPOTENT @ _NILPOTENT / 2,
    ),
    Case("expm_of_skew", lambda x: pb.linalg.expm(_rotation_generator(x)), [normal(3, 3)]),
    Case("expm_of_length_zero", pb.linalg.expm, [normal(2, 0, 0)]),
    Case("expm_of_sizes_far_apart", pb.linalg.expm, [normal(2, 2, 2) * [[[1e-3]], [[5.0]]]], float32_tolerance=1e-4),
    Case("sqrtm", lambda x: pb.linalg.sqrtm(positive_definite(x)), [normal(2, 3, 3)]),
    Case(
        "sqrtm_of_square",
        lambda x: pb.linalg.sqrtm(pb.matmul(x, x)),
        [regular(2, 3, 3)],
        expected=lambda x: x,
    ),
    Case("sqrtm_complex", pb.linalg.sqrtm, [regular_complex(3, 3)]),
    Case("sqrtm_of_one", pb.linalg.sqrtm, [np.eye(3)], expected=np.eye(3)),
    Case("logm", pb.linalg.logm, [regular(2, 3, 3)]),
    Case("logm_complex", pb.linalg.logm, [regular_complex(3, 3)]),
    Case(
        "logm_of_expm",
        lambda x: pb.linalg.logm(pb.linalg.expm(x)),
        [normal(3, 3)],
        expected=lambda x: x,
        float32_tolerance=1e-3,
    ),
    Case("logm_of_one", pb.linalg.logm, [np.eye(2)], expected=np.zeros((2, 2))),
]

LU = [
    Case("lu", lambda x: pb.linalg.lu(x)[0], [normal(2, 3, 3)], third_order=True),
    Case("lu_complex", lambda x: pb.linalg.lu(x, pb.int64), [_complex(3, 3)]),
    Case("lu_of_length_zero", lambda x: pb.linalg.lu(x), [normal(2, 0, 0)]),
    Case(
        "lu_solve",
        lambda x, b: pb.linalg.lu_solve(*pb.linalg.lu(x), b),
        [normal(2, 3, 3), normal(2, 3, 2)],
        expected=np.linalg.solve,
    ),
    Case(
        "lu_matrix_inverse",
        lambda x: pb.linalg.lu_matrix_inverse(*pb.linalg.lu(x)),
        [normal(3, 3)],
        expected=np.linalg.inv,
    ),
    Case(
        "lu_reconstruct", lambda x: pb.linalg.lu_reconstruct(*pb.linalg.lu(x)), [_complex(3, 3)], expected=lambda x: x
    ),
]


def _dense(d: np.ndarray) -> np.ndarray:
    return np.diag(d[0, :-1], 1) + np.diag(d[1]) + np.diag(d[2, 1:], -1)


_RANKS = "the ranks say whether the right side is a vector"

TRIDIAGONAL = [
    Case(
        "tridiagonal_solve",
        pb.linalg.tridiagonal_solve,
        [normal(3, 6), normal(6, 2)],
        expected=lambda d, b: np.linalg.solve(_dense(d), b),
        float32_tolerance=1e-4,
    ),
    Case(
        "tridiagonal_solve_complex_stack_of_vectors",
        lambda d, b: pb.linalg.tridiagonal_solve(d, b, conjugate_rhs=True),
        [_complex(2, 3, 4), _complex(2, 4)],
        not_erased_rank=_RANKS,
        float32_tolerance=1e-4,
    ),
    Case(
        "tridiagonal_solve_of_matrix",
        lambda d, b: pb.linalg.tridiagonal_solve(d, b, "matrix", transpose_rhs=True),
        [regular(3, 3), normal(2, 3)],
        expected=lambda d, b: np.linalg.solve(np.triu(np.tril(d, 1), -1), b.T),
    ),
    Case(
        "tridiagonal_solve_of_sequence",
        lambda a, d, c, b: pb.linalg.tridiagonal_solve([a, d, c], b, "sequence"),
        [normal(3), normal(4) + 3, normal(3, seed=1), normal(4, 1)],
        not_erased_rank="of unknown rank the outer diagonals must be as long as the main one",
    ),
    Case("tridiagonal_solve_of_one", pb.linalg.tridiagonal_solve, [np.ones((3, 1)), normal(1, 2)]),
    Case(
        "tridiagonal_solve_that_needs_pivots",
        pb.linalg.tridiagonal_solve,
        [np.array([[1.0, 2, 1, 0], [0, 0, 1, 1], [0, 3, 1, 2]]), normal(4, 1)],
    ),
    Case(
        "tridiagonal_matmul",
        pb.linalg.tridiagonal_matmul,
        [normal(3, 4), normal(4, 2)],
        expected=lambda d, b: _dense(d) @ b,
    ),
    Case(
        "tridiagonal_matmul_complex",
        pb.linalg.tridiagonal_matmul,
        [_complex(2, 3, 4), _complex(2, 4, 1)],
        third_order=True,
    ),
    Case("tridiagonal_matmul_one_for_many", pb.linalg.tridiagonal_matmul, [normal(3, 4), normal(2, 4, 2)]),
]

CASES = [*FUNCTIONS, *LU, *TRIDIAGONAL, *INVERSES, *TRIANGULAR, *DETERMINANTS, *QR, *EIGEN, *SVD]

_NO_EIG = "eigenvalues of matrices that are not Hermitian are not written"
_NAMES_NO_EIG = {
    "eig",
    "eig_complex",
    "eigvals",
    "eigvals_complex",
}
CASES = [replace(case, not_onnx=_NO_EIG) if case.name in _NAMES_NO_EIG else case for case in CASES]
