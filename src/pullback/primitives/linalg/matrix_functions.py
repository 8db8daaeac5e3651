"""Matrix functions: exponential, logarithm and square root.

The derivative of each at `x` is the function itself, of a matrix of two by two blocks: any order follows.
Kernels: scaling and squaring with a Padé approximant (Higham 2005), inverse scaling and squaring with Gauss-Legendre
quadrature (Higham 2008, chapter 11), and Newton's iteration by increments (Iannazzo 2003), which loses no digits of
badly conditioned matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import SINGULAR, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..elementwise.masking import mask_unseen
from .blocks_of_matrices import upper_block_matrix, upper_right
from .contraction import finite_or_unit, or_nan
from .stacks import adjoint_of, check_matrices, matrices

PADE = (
    64764752532480000,
    32382376266240000,
    7771770303897600,
    1187353796428800,
    129060195264000,
    10559470521600,
    670442572800,
    33522128640,
    1323241920,
    40840800,
    960960,
    16380,
    182,
    1,
)
"""The coefficients of the numerator of the approximant of degree 13."""
PADE_RADIUS = 5.371920351148152
NODES, WEIGHTS = [part / 2 for part in np.polynomial.legendre.leggauss(8)]
NODES = NODES + 0.5
LOG_RADIUS = 0.25
MOST_ROOTS = 60
MOST_STEPS = 60


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponential of each matrix: `1 + x + x @ x / 2 + ...`.

    Shapes: [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = the upper right block of expm([[x^T, dy], [0, x^T]]).

    Raises:
        ValueError: not square. TypeError: another dtype.

    Higham 2005, "The scaling and squaring method for the matrix exponential revisited".

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.expm([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return MatrixExponential()(matrices("expm", input, square=True), name=name or "expm")


class MatrixExponential(Primitive):
    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("expm", x)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        """For NumPy: as many squarings as the largest matrix needs."""
        finite, x = finite_or_unit(xp, x)
        halvings = halvings_of(xp, x)
        y = pade(xp, x, halvings)
        for i in range(int(halvings.max(initial=0))):
            y = xp.where(i < halvings, xp.matmul(y, y), y)
        return or_nan(xp, finite, y)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: _change(MatrixExponential(), op, dy),)


def halvings_of(xp: Any, x: Any) -> Any:
    """How often each matrix is halved before the approximant holds, [..., 1, 1]."""
    norm = xp.max(xp.sum(xp.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True, initial=0)
    bound = xp.asarray(PADE_RADIUS, norm.dtype)
    halvings = xp.ceil(xp.log2(xp.maximum(norm / bound, xp.ones_like(norm))))
    return xp.where(xp.isfinite(halvings), halvings, xp.zeros_like(halvings)).astype(np.int32)


def pade(xp: Any, x: Any, halvings: Any) -> Any:
    """The approximant of the exponential of `x / 2**halvings`."""
    small = x * xp.exp2(-halvings.astype(np.float32)).astype(x.dtype)
    one = xp.eye(x.shape[-1], dtype=x.dtype)
    b = [xp.asarray(c, x.dtype) for c in PADE]
    x2 = xp.matmul(small, small)
    x4 = xp.matmul(x2, x2)
    x6 = xp.matmul(x4, x2)
    odd = xp.matmul(x6, b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one
    even = xp.matmul(x6, b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    u = xp.matmul(small, odd)
    return xp.linalg.solve(even - u, even + u)


def matrix_square_root(input: TensorLike, name: str | None = None) -> Tensor:
    """The square root of each matrix: `y @ y` is `input`, and no eigenvalue of `y` has a negative real part.

    Matrices with eigenvalues that are 0 or negative have none here: where real ones have complex roots, convert first.

    Shapes: [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx solves y^T dx + dx y^T = dy, a Sylvester equation.

    Raises:
        ValueError: not square. TypeError: another dtype. InvalidArgumentError in a run on NumPy: a matrix has no
        such root; XLA gives NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])).round(3)
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return MatrixSquareRoot()(matrices("sqrtm", input, square=True), name=name or "sqrtm")


class MatrixSquareRoot(Primitive):
    traits = (SINGULAR,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("sqrtm", x)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        """For NumPy: steps until the largest change is rounding."""
        finite, x = finite_or_unit(xp, x)
        return or_nan(xp, finite, root_of(xp, x))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: _change(MatrixSquareRoot(), op, dy),)


def root_of(xp: Any, x: Any) -> Any:
    """The square roots; LinAlgError where there are none."""
    state, steps = first_of_root(xp, x), 0
    while steps < MOST_STEPS and x.size and unfinished(xp, state):
        state, steps = next_of_root(xp, state), steps + 1
    if x.size and unfinished(xp, state):
        raise np.linalg.LinAlgError("a matrix has no square root: an eigenvalue is 0 or negative")
    return last_of_root(xp, state)


def first_of_root(xp: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """Before the first step: an approximation, what is to be added to it, how much that is of it, and the scale."""
    largest = xp.max(xp.sum(xp.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True, initial=0)
    size = xp.where(largest > 0, largest, xp.ones_like(largest)).astype(x.dtype)
    y = x / size
    far = xp.full(x.shape[:-2], np.inf, xp.abs(x).dtype)
    return y, xp.asarray(0.5, x.dtype) * (xp.eye(x.shape[-1], dtype=x.dtype) - y), far, xp.sqrt(size)


def unfinished(xp: Any, state: tuple[Any, Any, Any, Any]) -> Any:
    """Whether a matrix is still so far from its root that the square of what is missing is more than rounding."""
    return xp.any(state[2] > _near(state[0]))


def _near(y: Any) -> float:
    return math.sqrt(np.finfo(y.dtype).eps)


def next_of_root(xp: Any, state: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """A step; a matrix that is near its root stays as it is."""
    y, missing, far, scale = state
    following = y + missing
    relative = xp.linalg.solve(following, missing)
    correction = xp.asarray(-0.5, y.dtype) * xp.matmul(missing, relative)
    done = (far <= _near(y))[..., None, None]
    distance = xp.where(done[..., 0, 0], far, xp.max(xp.abs(relative), axis=(-2, -1)))
    return xp.where(done, y, following), xp.where(done, missing, correction), distance, scale


def last_of_root(xp: Any, state: tuple[Any, Any, Any, Any]) -> Any:
    """The roots after the last step; NaN where there are none."""
    y, missing, far, scale = state
    found = (far <= _near(y))[..., None, None]
    return xp.where(found, (y + missing) * scale, xp.full_like(y, np.nan))


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithm of each matrix: `expm(y)` is `input`.

    Real matrices are taken too, unlike by TensorFlow; those with eigenvalues that are 0 or negative have no real
    logarithm: convert them to complex numbers first.

    Shapes: [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = the upper right block of logm([[x^T, dy], [0, x^T]]).

    Raises:
        ValueError: not square. TypeError: another dtype. InvalidArgumentError in a run on NumPy: a matrix has no
        such logarithm; XLA gives NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.logm([[1.0, 0.0], [0.0, 1.0]]))
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return MatrixLogarithm()(matrices("logm", input, square=True), name=name or "logm")


class MatrixLogarithm(Primitive):
    traits = (SINGULAR,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("logm", x)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        """For NumPy: as many roots as the matrix farthest from 1 needs."""
        finite, x = finite_or_unit(xp, x)
        roots = 0
        while roots < MOST_ROOTS and x.size and far_from_one(xp, x):
            x, roots = root_of(xp, x), roots + 1
        return or_nan(xp, finite, log_near_one(xp, x) * xp.asarray(2.0**roots, x.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: _change(MatrixLogarithm(), op, dy),)


def far_from_one(xp: Any, x: Any) -> Any:
    """Whether a matrix is too far from the unit matrix for `log_near_one`."""
    sums = xp.sum(xp.abs(x - xp.eye(x.shape[-1], dtype=x.dtype)), axis=-2)
    return xp.any(sums > LOG_RADIUS)


def log_near_one(xp: Any, x: Any) -> Any:
    """The logarithm: the integral over t from 0 to 1 of `z @ inv(1 + t * z)`, where `z` is `x - 1`."""
    total = xp.zeros_like(x)
    for node, weight in zip(NODES.astype(x.dtype), WEIGHTS.astype(x.dtype), strict=True):
        total = total + log_term(xp, x, node, weight)
    return total


def log_term(xp: Any, x: Any, node: Any, weight: Any) -> Any:
    """What one node adds to the integral."""
    one = xp.eye(x.shape[-1], dtype=x.dtype)
    return weight * xp.linalg.solve(one + node * (x - one), x - one)


def _infer(what: str, x: TensorType) -> tuple[TensorType, ...]:
    check_matrices(what, x, square=True)
    return (x,)


def _change(function: Primitive, op: Operation, dy: Tensor) -> Tensor:
    """The derivative of a function of matrices in the direction `dy`, 0 of what is not finite where that is 0."""
    y = upper_right(function(upper_block_matrix(adjoint_of(op.inputs[0]), dy)))
    rank = y.shape.rank
    return mask_unseen(y, y, dy, None if rank is None else (*range(rank - 2), None, None))
