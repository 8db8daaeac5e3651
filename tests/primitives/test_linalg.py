"""Matrix products, einsum and diagonals: messages, names and static types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def message_of(error: type[Exception], build: Callable[[], Any]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value)


def zeros(*shape: int | None, dtype: Any = pb.float32) -> pb.Tensor:
    return pb.placeholder(dtype, shape)


def test_matmul_says_which_lengths_differ() -> None:
    text = message_of(ValueError, lambda: pb.matmul(zeros(3, 4), zeros(5, 2)))
    assert text.startswith("matmul: inner lengths differ: float32[3,4] @ float32[5,2] (4 and 5)")


def test_matmul_says_which_is_transposed() -> None:
    text = message_of(ValueError, lambda: pb.matmul(zeros(3, 4), zeros(2, 5), transpose_a=True, transpose_b=True))
    assert text.startswith("matmul: inner lengths differ: float32[3,4].T @ float32[2,5].T (3 and 5)")


def test_matmul_of_stacks_that_do_not_broadcast() -> None:
    text = message_of(ValueError, lambda: pb.matmul(zeros(2, 3, 4), zeros(3, 4, 5)))
    assert text.startswith("matmul: the stacks do not broadcast together: float32[2,3,4] @ float32[3,4,5]")


def test_matmul_of_two_dtypes() -> None:
    text = message_of(TypeError, lambda: pb.matmul(zeros(3, 4), zeros(4, 2, dtype=pb.float64)))
    assert text.startswith("matmul: dtypes differ: float32[3,4] and float64[4,2]; convert one with pb.cast")


def test_matmul_of_no_numbers() -> None:
    text = message_of(TypeError, lambda: pb.matmul(zeros(1, 1, dtype=pb.bool), zeros(1, 1, dtype=pb.bool)))
    assert text.startswith("matmul: no such operation on bool[1,1]; it takes numbers")


def test_matmul_of_a_vector() -> None:
    text = message_of(ValueError, lambda: pb.matmul(zeros(3, 4), zeros(4)))
    assert text.startswith(
        "matmul: both must be matrices or stacks of them: float32[3,4] @ float32[4]; "
        "for vectors use pb.linalg.matvec or pb.tensordot"
    )


def test_matmul_refuses_transpose_with_adjoint() -> None:
    text = message_of(ValueError, lambda: pb.matmul(zeros(3, 4), zeros(4, 2), transpose_b=True, adjoint_b=True))
    assert text == "matmul: only one of transpose_b and adjoint_b can be true"


def test_rank_two_is_MatMul_and_more_is_BatchMatMulV2() -> None:
    x, stack = zeros(3, 3), zeros(2, 3, 3)
    types = [
        y.op.type for y in (pb.matmul(x, x), pb.matmul(stack, x), pb.matmul(zeros(3, 3), pb.placeholder(pb.float32)))
    ]
    assert types == ["MatMul", "BatchMatMulV2", "BatchMatMulV2"]


def test_known_lengths_are_found_in_either_factor() -> None:
    assert pb.matmul(zeros(None, 4), zeros(None, 2)).shape == [None, 2]
    assert pb.matmul(zeros(None, 3, None), zeros(2, None, 5)).shape == [2, 3, 5]
    assert pb.matmul(pb.placeholder(pb.float32), zeros(4, 2)).shape.rank is None


@pytest.mark.parametrize("shape", [(5, 3), (2, 5, 3)])
@pytest.mark.parametrize("flags", [{"transpose_a": True}, {"transpose_b": True}])
def test_the_derivative_of_a_gram_matrix_is_one_product(shape: tuple[int, ...], flags: dict[str, bool]) -> None:
    x = pb.placeholder(pb.float32, shape)
    pb.gradients(pb.matmul(x, x, **flags), x)
    products = [op for op in x.graph.get_operations() if op.type in ("MatMul", "BatchMatMulV2")]
    assert len(products) == 2


def test_the_operator_multiplies_matrices() -> None:
    x = pb.constant([[1.0, 2.0]])
    np.testing.assert_array_equal(pb.Session().run(x @ [[3.0], [4.0]]), [[11.0]])


def test_einsum_says_which_lengths_differ() -> None:
    text = message_of(ValueError, lambda: pb.einsum("ij,jk->ik", zeros(3, 4), zeros(5, 2)))
    assert text.startswith("einsum: 'j' of 'ij,jk->ik' has lengths 4 and 5 in float32[3,4], float32[5,2]")


def test_einsum_of_another_rank() -> None:
    text = message_of(ValueError, lambda: pb.einsum("ijk->k", zeros(3, 4)))
    assert text.startswith("einsum: 'ijk' of 'ijk->k' does not fit float32[3,4]")


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("ij,jk", "einsum: 'ij,jk' has 2 inputs, but 1 are given"),
        ("i1->i", "einsum: 'i1->i' does not parse: 'i1' is not made of letters and one '...'"),
        ("ij->ik", "einsum: 'ij->ik' has 'k' in its result, but in no input"),
        ("...ij->ij", "einsum: '...ij->ij' has '...' in an input, so its result needs it too"),
    ],
)
def test_einsum_equations_that_do_not_parse(equation: str, expected: str) -> None:
    assert message_of(ValueError, lambda: pb.einsum(equation, zeros(3, 4))) == expected


def test_einsum_finds_unlike_lengths_in_a_run() -> None:
    x, y = zeros(None), zeros(None)
    z = pb.einsum("i,i->i", x, y)
    with pytest.raises(Exception, match="einsum: 'i' of 'i,i->i' has lengths 1 and 3"):
        pb.Session(engine="numpy").run(z, {x: np.ones(1, np.float32), y: np.ones(3, np.float32)})


def test_einsum_multiplies_cheap_pairs_first() -> None:
    y = pb.einsum("ij,jk,kl->il", zeros(1000, 2), zeros(2, 1000), zeros(1000, 2))
    pairs = [op.primitive.equation for op in y.graph.operations if op.type == "Einsum"]
    assert pairs == ["jk,kl->jl", "ij,jl->il"]


def test_einsum_sums_a_lone_label_before_it_multiplies() -> None:
    y = pb.einsum("ij,k->i", zeros(2, 3), zeros(4))
    assert [op.primitive.equation for op in y.graph.operations if op.type == "Einsum"] == ["ij->i", "k->", "i,->i"]


def test_tensordot_axes_that_do_not_exist() -> None:
    text = message_of(ValueError, lambda: pb.tensordot(zeros(2, 3), zeros(3, 4), [[2], [0]]))
    assert text == "tensordot: axes=[[2], [0]] has an axis that float32[2,3] 'Placeholder:0' has not"


def test_diagonals_that_do_not_exist() -> None:
    text = message_of(ValueError, lambda: pb.linalg.diag_part(zeros(2, 3), k=3))
    assert text.startswith("diag_part: matrices of 2 by 3 have diagonals -1 to 2, but not [3, 3]")


def test_diag_that_does_not_fill_its_diagonal() -> None:
    text = message_of(ValueError, lambda: pb.linalg.diag(zeros(2), num_rows=3, num_cols=3))
    assert text.startswith("diag: float32[2] does not fill the diagonals [0, 0] of a matrix of 3 by 3")


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_diagonal_tensors_of_a_rank_that_the_run_knows(engine: str, shape: tuple[int, ...]) -> None:
    x = pb.placeholder(pb.float32, None)
    y = pb.linalg.tensor_diag(x)
    diagonal = pb.linalg.tensor_diag_part(pb.sin(y))
    value = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    fetches = [y, diagonal, *pb.gradients(diagonal, x)]
    full, part, slopes = pb.Session(engine=engine).run(fetches, {x: value})
    np.testing.assert_array_equal(full, np.diag(value.reshape(-1)).reshape(shape * 2))
    np.testing.assert_allclose(part, np.sin(value), rtol=1e-6)
    np.testing.assert_allclose(slopes, np.cos(value), rtol=1e-6)


def test_the_diagonal_of_an_odd_number_of_axes() -> None:
    text = message_of(ValueError, lambda: pb.linalg.tensor_diag_part(zeros(2, 3, 2)))
    assert text == "tensor_diag_part: the rank of float32[2,3,2] 'Placeholder:0' must be even, and not 0"


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_determinant_overflows_only_where_it_does_itself(engine: str) -> None:
    diagonal = np.array([1e12, 1e-12] * 10, np.float32)[np.argsort(np.tile([0, 1], 10), kind="stable")]
    x = pb.placeholder(pb.float32, [20, 20])
    y = pb.linalg.det(x)
    (dx,) = pb.gradients(y, x)
    (ddx,) = pb.gradients(pb.linalg.trace(dx), x)
    with pb.Session(engine=engine) as session:
        value, first, second = session.run([y, dx, ddx], {x: np.diag(diagonal)})
    inverse = 1.0 / diagonal.astype(np.float64)
    assert value == pytest.approx(1.0, rel=1e-5)
    np.testing.assert_allclose(np.diag(first), inverse, rtol=1e-5)
    np.testing.assert_allclose(np.diag(second), inverse * (inverse.sum() - inverse), rtol=1e-5)


OF_MATRICES: dict[str, Callable[..., Any]] = {
    "inv": pb.linalg.inv,
    "solve": lambda x: pb.linalg.solve(x, pb.ones_like(x)),
    "triangular_solve": lambda x: pb.linalg.triangular_solve(x, pb.ones_like(x)),
    "cholesky": pb.linalg.cholesky,
    "cholesky_solve": lambda x: pb.linalg.cholesky_solve(x, pb.ones_like(x)),
    "eigh": lambda x: pb.linalg.eigh(x)[1],
    "eigvalsh": pb.linalg.eigvalsh,
    "eigvals": lambda x: pb.abs(pb.linalg.eigvals(x)),
    "svd": lambda x: pb.linalg.svd(x, compute_uv=False),
    "expm": pb.linalg.expm,
    "sqrtm": pb.linalg.sqrtm,
    "logm": pb.linalg.logm,
}


@pytest.mark.parametrize("f", OF_MATRICES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_spoils_its_own_results_only(f: str, bad: float) -> None:
    good = np.array([[2.0, 0.5], [0.5, 3.0]])
    x = pb.constant(np.stack([good, np.full([2, 2], bad), good]))
    found = pb.Session(engine="numpy").run(OF_MATRICES[f](x))
    assert np.isnan(found[1]).any()
    assert np.isfinite(found[[0, 2]]).all()
