"""Rows: matrix products, einsum, tensordot."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, normal


def _complex(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1)


FLAGS = [(False, False), (True, False), (False, True), (True, True)]


def _matmul(name: str, a: np.ndarray, b: np.ndarray, ta: bool, tb: bool, adjoint: bool = False) -> Case:
    swap = (lambda x: np.conj(np.swapaxes(x, -1, -2))) if adjoint else (lambda x: np.swapaxes(x, -1, -2))
    flags = {"adjoint_a": ta, "adjoint_b": tb} if adjoint else {"transpose_a": ta, "transpose_b": tb}
    x, y = swap(a) if ta else a, swap(b) if tb else b
    return Case(
        f"{name}_{'t' if ta else 'n'}{'t' if tb else 'n'}",
        lambda a, b: pb.linalg.matmul(a, b, **flags),
        [a, b],
        expected=lambda *_: x @ y,
    )


def _flagged() -> list[Case]:
    cases = []
    for ta, tb in FLAGS:
        a, b = normal(*((4, 3) if ta else (3, 4))), normal(*((5, 4) if tb else (4, 5)), seed=1)
        ca, cb = _complex(*a.shape), _complex(*b.shape, seed=3)
        one = normal(1, *a.shape)
        stack = normal(2, *b.shape, seed=2)
        cases += [
            _matmul("matmul", a, b, ta, tb),
            _matmul("matmul_complex", ca, cb, ta, tb),
            _matmul("matmul_complex_adjoint", ca, cb, ta, tb, adjoint=True),
            _matmul("matmul_stacks", normal(2, *a.shape), stack, ta, tb),
            _matmul("matmul_stacks_broadcast", one, stack, ta, tb),
            _matmul("matmul_matrix_with_stack", a, stack, ta, tb),
            _matmul("matmul_stack_with_matrix", normal(2, 3, *a.shape), b, ta, tb),
            _matmul("matmul_stacks_complex", _complex(2, *a.shape), cb, ta, tb),
            _matmul("matmul_matrix_with_stack_adjoint", ca, _complex(2, *b.shape), ta, tb, adjoint=True),
            _matmul("matmul_stacks_adjoint", _complex(2, *a.shape), _complex(2, *b.shape), ta, tb, adjoint=True),
            _matmul("matmul_stack_with_matrix_adjoint", _complex(2, *a.shape), cb, ta, tb, adjoint=True),
        ]
    return cases


def _einsum(equation: str, *shapes: tuple[int, ...]) -> Case:
    inputs = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
    return Case(
        f"einsum_{equation.replace(' ', '')}",
        lambda *xs: pb.einsum(equation, *xs),
        inputs,
        expected=lambda *xs: np.einsum(equation, *xs),
    )


CASES = [
    *_flagged(),
    Case("matmul_of_nothing", pb.matmul, [normal(3, 0), normal(0, 2)], expected=np.zeros((3, 2))),
    Case("matmul_stacks_of_nothing", pb.matmul, [normal(1, 3, 0), normal(2, 0, 5)], expected=np.zeros((2, 3, 5))),
    Case("matmul_stacks_of_no_rows", pb.matmul, [normal(1, 0, 3), normal(2, 3, 5)], expected=np.zeros((2, 0, 5))),
    Case("matmul_with_itself", lambda x: pb.matmul(x, x), [normal(3, 3)]),
    Case("matmul_with_own_transpose", lambda x: pb.matmul(x, x, transpose_a=True), [normal(4, 3)]),
    Case("matmul_with_own_transpose_complex", lambda x: pb.matmul(x, x, transpose_b=True), [_complex(3, 4)]),
    Case("matmul_stacks_with_own_adjoint", lambda x: pb.matmul(x, x, adjoint_a=True), [_complex(2, 3, 2)]),
    Case("matmul_stacks_with_own_transpose", lambda x: pb.matmul(x, x, transpose_b=True), [normal(2, 2, 3)]),
    Case("matmul_no_rows", pb.matmul, [normal(0, 3), normal(3, 2)], expected=np.zeros((0, 2))),
    Case("matmul_no_inner_length", pb.matmul, [normal(2, 0), normal(0, 3)], expected=np.zeros((2, 3))),
    Case("matmul_no_stack", pb.matmul, [normal(0, 2, 3), normal(3, 2)], expected=np.zeros((0, 2, 2))),
    Case("matmul_integers", pb.matmul, [np.array([[1, 2]]), np.array([[3], [4]])], expected=np.array([[11]])),
    Case(
        "matmul_output_type",
        lambda a, b: pb.matmul(a, b, output_type=pb.int32),
        [np.array([[100, 100]], np.int8), np.array([[100], [100]], np.int8)],
        expected=np.array([[20000]]),
    ),
    Case(
        "matmul_bfloat16",
        lambda a, b: pb.matmul(pb.cast(a, pb.bfloat16), pb.cast(b, pb.bfloat16)),
        [np.full((2, 300), 1.0), np.full((300, 2), 1.0)],
        not_differentiable="differences are lost in bfloat16",
    ),
    Case(
        "matmul_stacks_float16",
        lambda a, b: pb.matmul(pb.cast(a, pb.float16), pb.cast(b, pb.float16)),
        [np.full((2, 2, 300), 0.1), np.full((2, 300, 2), 0.1)],
        not_differentiable="differences are lost in float16",
        float32_tolerance=1e-3,
    ),
    _matmul("matmul_long", normal(1100, 2), normal(1100, 3, seed=1), True, False),
    Case("matmul_matrix_with_long_stack", pb.matmul, [normal(10, 110, 2), normal(2, 3, seed=1)]),
    Case("matvec", pb.linalg.matvec, [normal(3, 4), normal(4)]),
    Case("matvec_transposed", lambda a, b: pb.linalg.matvec(a, b, transpose_a=True), [normal(4, 3), normal(4)]),
    Case("matvec_adjoint", lambda a, b: pb.linalg.matvec(a, b, adjoint_a=True), [_complex(4, 3), _complex(4)]),
    Case("matvec_stack", pb.linalg.matvec, [normal(2, 3, 4), normal(4)]),
    _einsum("ij,jk->ik", (2, 3), (3, 4)),
    _einsum("ij,jk->ki", (2, 3), (3, 4)),
    _einsum("bthd,bshd->bhts", (2, 3, 2, 4), (2, 5, 2, 4)),
    _einsum("bhts,bshd->bthd", (2, 2, 3, 5), (2, 5, 2, 4)),
    _einsum("btd,dhk->bthk", (2, 3, 4), (4, 2, 3)),
    _einsum("i,j->ij", (2,), (3,)),
    _einsum("ij,ij->ij", (2, 3), (2, 3)),
    _einsum("ij,ij->", (2, 3), (2, 3)),
    _einsum("ij, j", (2, 3), (3,)),
    _einsum("ji", (2, 3)),
    _einsum("ij->ij", (2, 3)),
    _einsum("ij->j", (2, 3)),
    _einsum("ii->", (3, 3)),
    _einsum("ii->i", (3, 3)),
    _einsum("iij->ji", (3, 3, 2)),
    _einsum("iji,ik->jk", (3, 2, 3), (3, 2)),
    _einsum("iik,kj->j", (3, 3, 2), (2, 4)),
    _einsum("ijk,l->il", (2, 3, 2), (2,)),
    _einsum("...ii->...", (2, 3, 3)),
    _einsum("...ij,...jk->...ik", (2, 3, 4), (4, 2)),
    _einsum("...ij,...jk->...ik", (1, 2, 3), (2, 3, 4)),
    _einsum("i...,i...->...", (3, 2), (3, 1)),
    _einsum("i...,j...->ij...", (3, 2, 2), (4, 2)),
    _einsum("...,...->...", (3, 2), (2,)),
    _einsum("ij,...jk->...ik", (2, 3), (2, 3, 4)),
    _einsum("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    _einsum("bi,bj,bk->ijk", (2, 3), (2, 2), (2, 2)),
    _einsum("ij,jk,kl,lm->", (2, 3), (3, 4), (4, 2), (2, 2)),
    _einsum(",ij->ij", (), (2, 3)),
    _einsum("ij,jk->ik", (0, 3), (3, 2)),
    _einsum("ij,jk->ik", (2, 0), (0, 2)),
    Case("einsum_on_diagonal", lambda x: pb.einsum("i->ii", x), [normal(3)], expected=np.diag),
    Case("einsum_on_diagonals", lambda x: pb.einsum("ij->jiij", x), [normal(2, 3)]),
    Case("einsum_diagonal_of_product", lambda a, b: pb.einsum("ij,j->ijj", a, b), [normal(2, 3), normal(3)]),
    Case("einsum_same_twice", lambda x: pb.einsum("ij,jk->ik", x, x), [normal(3, 3)]),
    Case("einsum_complex", lambda a, b: pb.einsum("ij,kj->ik", a, b), [_complex(2, 3), _complex(4, 3)]),
    Case(
        "einsum_integers",
        lambda a, b: pb.einsum("i,i->", a, b),
        [np.array([1, 2], np.int8), np.array([3, 4], np.int8)],
        expected=11,
    ),
    Case(
        "einsum_bfloat16",
        lambda a, b: pb.einsum("i,i->", pb.cast(a, pb.bfloat16), pb.cast(b, pb.bfloat16)),
        [np.full(300, 1.0), np.full(300, 1.0)],
        not_differentiable="differences are lost in bfloat16",
    ),
    Case(
        "tensordot_outer",
        lambda a, b: pb.tensordot(a, b, 0),
        [normal(2), normal(3)],
        expected=np.outer,
        not_erased_rank="the ranks say which axes are summed over",
    ),
    Case(
        "tensordot_last",
        lambda a, b: pb.tensordot(a, b, 1),
        [normal(2, 3), normal(3, 4)],
        expected=np.matmul,
        not_erased_rank="the ranks say which axes are summed over",
    ),
    Case(
        "tensordot_pairs",
        lambda a, b: pb.tensordot(a, b, [[1, -1], [1, 0]]),
        [normal(2, 3, 4), normal(4, 3, 5)],
        expected=lambda a, b: np.tensordot(a, b, [[1, 2], [1, 0]]),
        not_erased_rank="the ranks say which axes are summed over",
    ),
    Case(
        "matmul_third_order", lambda a, b: pb.matmul(pb.matmul(a, b), a), [normal(2, 3), normal(3, 2)], third_order=True
    ),
    Case(
        "einsum_third_order",
        lambda *xs: pb.einsum("bi,bj,bk->ijk", *xs),
        [normal(2, 3), normal(2, 2), normal(2, 1)],
        third_order=True,
    ),
    Case(
        "xw_plus_b",
        pb.nn.xw_plus_b,
        [normal(2, 3), normal(3, 4, seed=1), normal(4, seed=2)],
        expected=lambda x, w, b: x @ w + b,
    ),
    Case(
        "relu_layer",
        pb.nn.relu_layer,
        [normal(2, 3), normal(3, 4, seed=1), normal(4, seed=2)],
        expected=lambda x, w, b: np.maximum(x @ w + b, 0),
    ),
]
