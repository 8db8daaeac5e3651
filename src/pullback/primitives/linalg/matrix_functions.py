"""Matrix functions: exponential, logarithm and square root.

The derivative of each at `x` is the function itself, of a matrix of two by two blocks: any order follows.
Kernels: scaling and squaring with a Padé approximant (Al-Mohy and Higham 2009), inverse scaling and squaring with
Gauss-Legendre quadrature (Higham 2008, chapter 11), and Newton's iteration by increments (Iannazzo 2003), which loses
no digits of badly conditioned matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import SINGULAR, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..elementwise.masking import mask_unseen
from .blocks_of_matrices import excess_of, upper_block_matrix, upper_right
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
DEGREE = len(PADE) - 1
PADE_RADIUS = 5.371920351148152
LOG_OF_NEXT = -math.log2(math.comb(2 * DEGREE, DEGREE) * math.factorial(2 * DEGREE + 1))
"""Of the first term of the series that the approximant has not, the logarithm of its coefficient."""
LOG_OF_ROUNDING = -53
_LOG_OF_ZERO = -1e5
_ROOM = 80
"""By how many powers of two numbers may grow when the approximant is computed."""
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
        y, halvings = approximant(xp, x, lambda holds, computed, other: computed() if holds else other)
        for i in range(int(halvings.max(initial=0))):
            y = xp.where(i < halvings, xp.matmul(y, y), y)
        return or_nan(xp, finite, y)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: _change(MatrixExponential(), op, dy),)


When = Callable[[Any, Callable[[], Any], Any], Any]
"""What is computed where a condition holds; else what is there."""


def approximant(xp: Any, x: Any, when: When) -> tuple[Any, Any]:
    """The exponential of `x / 2**halvings`, by a Padé approximant, and the halvings of each matrix, [..., 1, 1]."""
    size, largest = _norm(xp, x), np.finfo(x.dtype).maxexp - _ROOM
    is_large = xp.any(xp.logical_not(size <= PADE_RADIUS))
    halvings = when(is_large, lambda: _halvings(xp, x, largest, when), xp.zeros_like(size))
    return _pade(xp, x * xp.exp2(-halvings).astype(x.dtype)), halvings.astype(np.int32)


def _halvings(xp: Any, x: Any, largest: int, when: When) -> Any:
    """How often each matrix is halved before the approximant holds: as often as its powers need, not its size.

    Each time that is not needed loses digits (Al-Mohy and Higham, "A new scaling and squaring algorithm for the matrix
    exponential", 2009). What is left is 2 to the power of `largest` at most.
    """
    one, exponent = _apart(xp, x)
    two, second = _apart(xp, xp.matmul(one, one))
    four, fourth = _apart(xp, xp.matmul(two, two))
    sizes = _log2(xp, _norm(xp, four)), _log2(xp, _norm(xp, xp.matmul(four, two)))
    root = xp.maximum((sizes[0] + 2 * second + fourth) / 4, (sizes[1] + 3 * second + fourth) / 6)
    least = xp.ceil(root + exponent - math.log2(PADE_RADIUS))
    needed = xp.maximum(xp.maximum(least, exponent - largest), xp.zeros_like(least))
    bound = 2 * DEGREE * (exponent - needed) + LOG_OF_NEXT - LOG_OF_ROUNDING
    growth = when(xp.any(bound > 0), lambda: _growth(xp, xp.abs(one)), xp.zeros_like(bound))
    needed = needed + xp.maximum(xp.ceil((growth + bound) / (2 * DEGREE)), xp.zeros_like(bound))
    return xp.where(xp.isfinite(needed), needed, xp.zeros_like(needed))


def _apart(xp: Any, x: Any) -> tuple[Any, Any]:
    """Matrices whose sizes are between 1/2 and 1, and the powers of two, [..., 1, 1], that make `x` of them."""
    size = _norm(xp, x)
    exponent = xp.ceil(_log2(xp, xp.where(xp.isfinite(size) & (size > 0), size, xp.ones_like(size))))
    return x * xp.exp2(-exponent).astype(x.dtype), exponent


def _growth(xp: Any, x: Any) -> Any:
    """The logarithm of the size of power 27 of matrices without signs, whose own size is 1 at most."""
    two = xp.matmul(x, x)
    four = xp.matmul(two, two)
    sums, total = xp.sum(x, axis=-2, keepdims=True), 0.0
    for factor in (*[four] * 6, two):
        sums = xp.matmul(sums, factor)
        largest = xp.max(sums, axis=-1, keepdims=True, initial=0)
        total = total + _log2(xp, largest)
        sums = sums / xp.where(largest > 0, largest, xp.ones_like(largest))
    return total


def _norm(xp: Any, x: Any) -> Any:
    """The largest sum of a column, [..., 1, 1]."""
    return xp.max(xp.sum(xp.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True, initial=0)


def _log2(xp: Any, x: Any) -> Any:
    """The logarithm; of 0 a number below all others."""
    return xp.where(x > 0, xp.log2(xp.where(x > 0, x, xp.ones_like(x))), xp.full_like(x, _LOG_OF_ZERO))


def _pade(xp: Any, x: Any) -> Any:
    """The approximant of the exponential of `x`."""
    one = xp.eye(x.shape[-1], dtype=x.dtype)
    b = [xp.asarray(c, x.dtype) for c in PADE]
    x2 = xp.matmul(x, x)
    x4 = xp.matmul(x2, x2)
    x6 = xp.matmul(x4, x2)
    odd = xp.matmul(x6, b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one
    even = xp.matmul(x6, b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    u = xp.matmul(x, odd)
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
    """The derivative of a function of matrices in the direction `dy`, 0 of what is not finite where that is 0.

    It is linear in `dy`, which is made no larger than the matrix: else its size would decide how that is computed.
    """
    x = adjoint_of(op.inputs[0])
    excess = excess_of(dy, x)
    y = upper_right(function(upper_block_matrix(x, dy / excess))) * excess
    rank = y.shape.rank
    return mask_unseen(y, y, dy, None if rank is None else (*range(rank - 2), None, None))
