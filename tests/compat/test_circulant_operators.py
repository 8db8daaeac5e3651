"""Circulant linear operators beside the matrices that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

DRAWN = np.random.default_rng(0)
KERNELS: dict[int, Any] = {depth: DRAWN.standard_normal((2, 3, 4)[:depth]) for depth in (1, 2, 3)}
for kernel in KERNELS.values():
    kernel.flat[0] += 5.0


def matrix_of(kernel: Any) -> Any:
    """Each column convolves with a place further on."""
    places = list(np.ndindex(kernel.shape))
    return np.array([[kernel[tuple(np.subtract(p, q) % kernel.shape)] for q in places] for p in places])


def operator_of(depth: int, dtype: Any = tf.float64, **hints: Any) -> Any:
    kind = ("LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D")[depth - 1]
    return getattr(tf.linalg, kind)(np.fft.fftn(KERNELS[depth]), input_output_dtype=dtype, **hints)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_circulant_operator_is_its_matrix(depth: int, engine: str) -> None:
    operator, matrix = operator_of(depth), matrix_of(KERNELS[depth])
    n = len(matrix)
    x = DRAWN.standard_normal((2, n, 3))
    pairs = {
        "dense": (operator.to_dense(), matrix),
        "matmul": (operator.matmul(x), matrix @ x),
        "adjoint": (operator.matmul(x, adjoint=True), matrix.T @ x),
        "matvec": (operator.matvec(x[0, :, 0]), matrix @ x[0, :, 0]),
        "solve": (operator.solve(x), np.linalg.solve(matrix, x)),
        "solve adjoint": (operator.solve(x, adjoint=True), np.linalg.solve(matrix.T, x)),
        "inverse": (operator.inverse().to_dense(), np.linalg.inv(matrix)),
        "determinant": (operator.determinant(), np.linalg.det(matrix)),
        "logarithm": (operator.log_abs_determinant(), np.linalg.slogdet(matrix)[1]),
        "trace": (operator.trace(), np.trace(matrix)),
        "diagonal": (operator.diag_part(), np.diag(matrix)),
        "kernel": (operator.convolution_kernel(), KERNELS[depth]),
        "cond": (operator.cond(), np.linalg.cond(matrix)),
        "shape": (operator.shape_tensor(), [n, n]),
        "block": (operator.block_shape_tensor(), KERNELS[depth].shape),
    }
    found = tf.Session(engine=engine).run({name: y for name, (y, _) in pairs.items()})
    for name, (_, expected) in pairs.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)
    assert operator.shape.as_list() == [n, n]
    assert operator.matmul(x).shape.as_list() == [2, n, 3]


def test_stacks_of_spectra_and_complex_results() -> None:
    spectra = DRAWN.standard_normal((2, 4)) + 1j * DRAWN.standard_normal((2, 4))
    operator = tf.linalg.LinearOperatorCirculant(spectra, input_output_dtype=tf.complex128)
    matrices = np.stack([matrix_of(np.fft.ifft(spectrum)) for spectrum in spectra])
    x = DRAWN.standard_normal((4, 1)) + 0j
    dense, product, rank, batch = tf.Session(engine="numpy").run(
        [
            operator.to_dense(),
            operator.matmul(x, adjoint=True),
            operator.tensor_rank_tensor(),
            operator.batch_shape_tensor(),
        ]
    )
    np.testing.assert_allclose(dense, matrices)
    np.testing.assert_allclose(product, matrices.conj().transpose(0, 2, 1) @ x)
    assert (rank, batch.tolist()) == (3, [2])


def test_a_real_spectrum_is_that_of_a_matrix_that_is_its_own_adjoint() -> None:
    operator = tf.linalg.LinearOperatorCirculant([3.0, 1.0, 1.0], input_output_dtype=tf.float32)
    assert (operator.is_self_adjoint, operator.is_square, operator.dtype) == (True, True, tf.float32)
    with tf.Session(engine="numpy") as session:
        assert session.run(operator.eigvals()).tolist() == [3.0, 1.0, 1.0]
        session.run(operator.assert_hermitian_spectrum())
        other = tf.linalg.LinearOperatorCirculant([1.0, 2.0, 3.0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(other.assert_hermitian_spectrum())


def test_spectra_have_derivatives() -> None:
    spectrum, x = tf.constant([3.0, 1.0, 1.0], tf.float64), tf.constant(DRAWN.standard_normal((3, 2)))
    operator = tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float64)
    y = tf.reduce_sum(tf.square(operator.matmul(x))) + operator.log_abs_determinant()
    with tf.Session(engine="numpy"):
        assert tf.test.compute_gradient_error(spectrum, [3], y, [], delta=1e-6) < 1e-5


def test_a_spectrum_of_too_few_axes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^LinearOperatorCirculant2D: spectrum must have at least 2 axes, not "):
        tf.linalg.LinearOperatorCirculant2D([1.0])


IMAGES, FILTER = DRAWN.standard_normal((2, 7, 6, 3)), DRAWN.standard_normal((3, 3, 3, 2))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("rates", "padding"), [([2, 2], "SAME"), ([2, 1], "VALID"), ([1, 1], "SAME"), ([1, 2], "SAME")]
)
def test_a_dilated_convolution_is_one_of_batches(rates: list[int], padding: str, known: bool, engine: str) -> None:
    x = tf.placeholder_with_default(tf.constant(IMAGES), [2, 7, 6, 3] if known else [None, None, None, 3])
    y = tf.nn.with_space_to_batch(
        x, rates, padding, lambda x, axes, padding: tf.nn.conv2d(x, FILTER, [1, 1, 1, 1], padding), filter_shape=[3, 3]
    )
    expected = tf.nn.convolution(x, tf.constant(FILTER), padding, dilation_rate=rates)
    found, wanted, dy, dwanted = tf.Session(engine=engine).run(
        [y, expected, tf.gradients(y**2, x)[0], tf.gradients(expected**2, x)[0]]
    )
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(dy, dwanted, atol=1e-12)
    assert y.shape.is_compatible_with(expected.shape)


def test_a_dilated_window_along_one_axis() -> None:
    x = tf.constant([[[1.0], [2.0], [3.0], [4.0]]])[:, None]
    y = tf.nn.with_space_to_batch(
        x, [3], "SAME", lambda x, axes, padding: tf.nn.pool(x, [1, 2], "MAX", padding), [2], spatial_dims=[2]
    )
    assert tf.Session(engine="numpy").run(y).ravel().tolist() == [3.0, 4.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([2, 0], "VALID"), r"^with_space_to_batch: `dilation_rate` must be positive, not \[2, 0\]$"),
        (([2, 2], "ROUND"), r"^with_space_to_batch: `padding` must be one of 'SAME' or 'VALID', not 'ROUND'$"),
        (([2, 2], "SAME"), r"^with_space_to_batch: padding='SAME' needs `filter_shape`$"),
        (([2, 2], "VALID", None, None, [1]), r"^with_space_to_batch: `dilation_rate` \[2, 2\] needs as many"),
        (([2], "VALID", None, None, [4]), r"^with_space_to_batch: the axes \[4\] are not those of images in "),
    ],
)
def test_dilations_that_do_not_fit_are_refused(arguments: Any, message: str) -> None:
    rates, padding, *rest = arguments
    with pytest.raises(ValueError, match=message):
        tf.nn.with_space_to_batch(tf.constant(IMAGES), rates, padding, lambda x, axes, padding: x, *rest[1:])
