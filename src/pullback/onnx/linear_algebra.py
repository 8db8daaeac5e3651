"""Linear algebra in ONNX's operators, which have products and determinants only: what `numpy.linalg` has.

For matrices of known size, step by step, all matrices of a stack at once; the number of nodes grows with the size, for
eigenvalues and singular values with its square.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.errors import NotRecordedError
from .namespace import Namespace
from .pairs import repeated
from .tracing import as_traced, is_complex

LARGEST = 128
"""The largest matrices that are taken apart: the graphs become too large."""
_SWEEPS = {4: 7, 8: 10}
"""How often Jacobi's method turns all pairs, by the bytes of a real number."""


class Linalg:
    """The functions of `numpy.linalg` that kernels ask for."""

    def __init__(self, xp: Namespace) -> None:
        self.xp = xp

    def solve(self, a: Any, b: Any) -> Any:
        """Gauss and Jordan's elimination with partial pivoting."""
        xp = self.xp
        a, b = _one_stack(xp, a, b)
        n, k = a.shape[-1], b.shape[-1]
        _check_size(n)
        if not b.size or not n:
            return xp.zeros(b.shape, b.dtype)
        both = xp.concatenate([a, b], -1)
        numbers = np.arange(n)
        for j in range(n):
            column = both[..., j]
            both = _with_pivot(xp, both, column, j)
            row = both[..., j : j + 1, :]
            row = row / row[..., j : j + 1]
            factor = xp.where((numbers == j)[:, None], both[..., j : j + 1] - 1.0, both[..., j : j + 1])
            both = xp.where((numbers == j)[:, None], row, both - factor * row) if n > 1 else row
        return both[..., n : n + k]

    def inv(self, a: Any) -> Any:
        n = a.shape[-1]
        one = np.broadcast_to(np.eye(n, dtype=a.dtype), a.shape)
        return self.solve(a, one) if a.size else a

    def lu(self, x: Any) -> tuple[Any, Any, Any]:
        """Both factors in one matrix, the order of the rows, and 1 or -1 for an even or odd one."""
        xp, n = self.xp, x.shape[-1]
        _check_size(n)
        stack = x.shape[:-2]
        if not x.size:
            return x, np.zeros(x.shape[:-1], np.int64), np.ones(stack, np.float32)
        numbers = np.arange(n)
        order = xp.broadcast_to(xp.asarray(numbers.astype(np.int64)), (*stack, n))
        sign: Any = xp.ones(stack, np.float32)
        y = x
        for j in range(n):
            if j + 1 < n:
                pivot = _pivot(xp, y[..., j], j)
                places = _swapped(xp, pivot, j, n)
                y = xp.take_along_axis(y, places[..., None], -2)
                order = xp.take_along_axis(order, places, -1) if j else places
                sign = sign * xp.where(pivot == j, 1.0, -1.0).astype(np.float32)
            top = y[..., j : j + 1, j : j + 1]
            safe = xp.where(top == 0, xp.ones_like(top), top)
            below = (numbers > j)[:, None]
            factor = xp.where(below, y[..., j : j + 1] / safe, xp.zeros((), x.dtype))
            right = xp.where(numbers > j, y[..., j : j + 1, :], xp.zeros((), x.dtype))
            y = xp.where(below & (numbers == j), factor, y - factor * right)
        return y, order, sign

    def det(self, x: Any) -> Any:
        sign, pivots = self._pivots(x)
        return _product(self.xp, pivots) * sign.astype(x.dtype)

    def slogdet(self, x: Any) -> tuple[Any, Any]:
        xp = self.xp
        sign, pivots = self._pivots(x)
        size = xp.abs(pivots)
        directions = pivots / xp.where(size == 0, xp.ones_like(size), size).astype(x.dtype)
        return _product(xp, directions) * sign.astype(x.dtype), xp.sum(xp.log(size), axis=-1)

    def _pivots(self, x: Any) -> tuple[Any, Any]:
        xp = self.xp
        if not x.shape[-1]:
            return xp.ones(x.shape[:-2], np.float32), xp.ones((*x.shape[:-2], 1), x.dtype)
        both, _, sign = self.lu(x)
        return sign, xp.diagonal(both, axis1=-2, axis2=-1)

    def cholesky(self, x: Any) -> Any:
        """Column by column; reads the lower triangle. NaN where a matrix is not positive definite."""
        xp, n = self.xp, x.shape[-1]
        _check_size(n)
        columns = []
        rest = x
        for j in range(n):
            root = xp.sqrt(xp.real(rest[..., 0:1, 0:1])).astype(x.dtype)
            column = xp.concatenate([root, rest[..., 1:, 0:1] / root], -2) if j + 1 < n else root
            widths = [(0, 0)] * (x.ndim - 2) + [(j, 0), (0, 0)]
            columns.append(xp.pad(column, widths) if j else column)
            below = column[..., 1:, :]
            if j + 1 < n:
                rest = rest[..., 1:, 1:] - xp.matmul(below, adjoint(xp, below))
        return xp.concatenate(columns, -1) if n else x

    def triangular_solve(self, a: Any, b: Any, lower: bool) -> Any:
        """Row by row: each unknown is taken out of the rows that are left."""
        xp = self.xp
        a, b = _one_stack(xp, a, b)
        n = a.shape[-1]
        _check_size(n)
        if not b.size:
            return b
        found: list[Any] = [None] * n
        rest = b
        for step in range(n):
            j = step if lower else n - 1 - step
            at = 0 if lower else -1
            row = rest[..., 0:1, :] if lower else rest[..., n - 1 - step : n - step, :]
            found[j] = row / a[..., j : j + 1, j : j + 1]
            if step + 1 < n:
                others = rest[..., 1:, :] if lower else rest[..., : n - 1 - step, :]
                column = a[..., j + 1 :, j : j + 1] if lower else a[..., :j, j : j + 1]
                rest = others - column * found[j]
            del at
        return xp.concatenate(found, -2)

    def qr(self, x: Any, mode: str = "reduced") -> tuple[Any, Any]:
        """Householder's reflections, with LAPACK's signs."""
        xp = self.xp
        m, n = x.shape[-2:]
        _check_size(max(m, n))
        count = min(m, n)
        r, vectors = x, []
        for j in range(count):
            v, factor = self._reflection(r[..., j : j + 1], j)
            vectors.append((v, factor))
            inner = xp.matmul(adjoint(xp, v), r)
            r = r - v * (xp.conj(factor) * inner)
        width = m if mode == "complete" else count
        q: Any = xp.broadcast_to(xp.asarray(np.eye(m, width, dtype=x.dtype)), (*x.shape[:-2], m, width))
        for v, factor in reversed(vectors):
            q = q - v * (factor * xp.matmul(adjoint(xp, v), q))
        return q, xp.triu(r[..., :width, :])

    def _reflection(self, column: Any, j: int) -> tuple[Any, Any]:
        """A vector v and a factor t, so that 1 - t v v^H takes `column` below row `j` to zero."""
        xp = self.xp
        m = column.shape[-2]
        numbers = np.arange(m)[:, None]
        part = xp.where(numbers >= j, column, xp.zeros((), column.dtype))
        first = column[..., j : j + 1, :]
        size = xp.sqrt(xp.sum(xp.real(part * xp.conj(part)), axis=-2, keepdims=True))
        if j + 1 < m:
            tail = xp.where(numbers > j, column, xp.zeros((), column.dtype))
            none = xp.sum(xp.real(tail * xp.conj(tail)), axis=-2, keepdims=True) == 0
        else:
            none = xp.ones(size.shape, bool)
        if is_complex(column):
            none = none & (xp.imag(first) == 0)
        beta = xp.where(xp.real(first) < 0, size, -size)
        one = xp.ones_like(beta)
        beta = xp.where(none, one, beta).astype(column.dtype)
        factor = xp.where(none, xp.zeros((), column.dtype), (beta - first) / beta)
        scale = xp.where(none, one.astype(column.dtype), first - beta)
        v = xp.where(numbers == j, one.astype(column.dtype), part / scale)
        return v, factor

    def eigh(self, x: Any) -> tuple[Any, Any]:
        """Jacobi's method, as many pairs at a time as there are; reads the lower triangle."""
        xp, n = self.xp, x.shape[-1]
        _check_size(n)
        low = xp.tril(x, -1)
        a = low + adjoint(xp, low)
        diagonal = xp.real(xp.diagonal(x, axis1=-2, axis2=-1)).astype(x.dtype)
        a = a + diagonal[..., None] * xp.asarray(np.eye(n, dtype=x.dtype))
        v: Any = xp.broadcast_to(xp.asarray(np.eye(n, dtype=x.dtype)), x.shape)
        if n > 1:
            a, v = repeated(xp.w, _SWEEPS[_bytes(x)], _sweep, a, as_traced(xp.w, v))
        values = xp.real(xp.diagonal(a, axis1=-2, axis2=-1))
        values, order = xp._sorted(values, -1)
        return values, xp.take_along_axis(v, order[..., None, :], -1)

    def eigvalsh(self, x: Any) -> Any:
        return self.eigh(x)[0]

    def svd(self, x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
        """One-sided Jacobi: the columns are turned until they are orthogonal; their lengths are the singular values."""
        xp = self.xp
        m, n = x.shape[-2:]
        _check_size(max(m, n))
        if m < n:
            found = self.svd(adjoint(xp, x), full_matrices, compute_uv)
            return found if not compute_uv else (adjoint(xp, found[2]), found[1], adjoint(xp, found[0]))
        if not x.size:
            raise NotRecordedError("singular values of matrices without elements")
        a = x
        v: Any = xp.broadcast_to(xp.asarray(np.eye(n, dtype=x.dtype)), (*x.shape[:-2], n, n))
        if n > 1:
            a, v = repeated(xp.w, _SWEEPS[_bytes(x)], _one_sided_sweep, a, as_traced(xp.w, v))
        lengths = xp.sqrt(_squares(xp, a))
        s, order = xp._sorted(lengths, -1, largest=1)
        if not compute_uv:
            return s
        a, v = xp.take_along_axis(a, order[..., None, :], -1), xp.take_along_axis(v, order[..., None, :], -1)
        bound = xp.max(s, axis=-1, keepdims=True) * (max(m, n) * np.finfo(s.dtype).eps)
        real = s > bound
        columns = a / xp.where(real, s, xp.ones_like(s))[..., None, :].astype(x.dtype)
        columns = xp.where(real[..., None, :], columns, xp.zeros((), x.dtype))
        u, r = self.qr(columns, "complete" if full_matrices else "reduced")
        phases = xp.diagonal(r, axis1=-2, axis2=-1)
        phases = xp.where(real, phases, xp.ones((), x.dtype))
        if u.shape[-1] > n:
            phases = xp.concatenate([phases, xp.ones((*phases.shape[:-1], u.shape[-1] - n), x.dtype)], -1)
        return u * phases[..., None, :], s, adjoint(xp, v)

    def eig(self, x: Any) -> Any:
        del x
        raise NotRecordedError("the eigenvalues of matrices that are not Hermitian need steps that ONNX has none for")

    eigvals = eig


def _turn(xp: Namespace, pairs: Pairs, app: Any, aqq: Any, apq: Any) -> Any:
    """The unitary matrix that takes the elements `apq` of a Hermitian matrix to zero."""
    size = xp.abs(apq)
    tiny = np.finfo(size.dtype).tiny
    zero = size <= tiny
    safe = xp.where(zero, xp.ones_like(size), size)
    theta = (aqq - app) / (2.0 * safe)
    sign = xp.where(theta < 0, -1.0, 1.0).astype(size.dtype)
    bound = xp.minimum(xp.abs(theta), 1e15)
    t = sign / (bound + xp.sqrt(bound * bound + 1.0))
    t = xp.where(zero, xp.zeros_like(t), t)
    c = 1.0 / xp.sqrt(t * t + 1.0)
    s = (t * c).astype(apq.dtype)
    phase = xp.where(zero, xp.ones((), apq.dtype), apq / safe.astype(apq.dtype))
    upper, lower = s * phase, -(s * xp.conj(phase))
    one = xp.ones((*size.shape[:-1], 1), apq.dtype)
    none = xp.zeros((*size.shape[:-1], 1), apq.dtype)
    pieces = xp.concatenate([none, one, c.astype(apq.dtype), upper, lower], -1)
    return pieces[..., pairs.places]


def _sweep(xp: Namespace, a: Any, v: Any) -> tuple[Any, Any]:
    """All pairs turned once, of Hermitian matrices and what has turned them so far."""
    n = a.shape[-1]
    for pairs in rounds(n):
        p, q = pairs.first, pairs.second
        flat = a.reshape((*a.shape[:-2], n * n))
        turn = _turn(xp, pairs, xp.real(flat[..., p * n + p]), xp.real(flat[..., q * n + q]), flat[..., p * n + q])
        a = xp.matmul(adjoint(xp, turn), xp.matmul(a, turn))
        v = xp.matmul(v, turn)
    return a, v


def _one_sided_sweep(xp: Namespace, a: Any, v: Any) -> tuple[Any, Any]:
    """All pairs of columns turned once until they are orthogonal."""
    for pairs in rounds(a.shape[-1]):
        first, second = a[..., pairs.first], a[..., pairs.second]
        inner = xp.sum(xp.conj(first) * second, axis=-2)
        turn = _turn(xp, pairs, _squares(xp, first), _squares(xp, second), inner)
        a, v = xp.matmul(a, turn), xp.matmul(v, turn)
    return a, v


class Pairs(NamedTuple):
    """Pairs of columns without a common one, that are turned at the same time."""

    first: Any
    second: Any
    places: Any
    """For each element of the turn its number among 0, 1, the cosines, the sines above and those below."""


def rounds(n: int) -> list[Pairs]:
    """All pairs of `n` columns, in as few rounds as there are: a round-robin tournament."""
    players = list(range(n + n % 2))
    found = []
    for _ in range(len(players) - 1):
        half = len(players) // 2
        met = [sorted((players[i], players[-1 - i])) for i in range(half)]
        pairs = [(p, q) for p, q in met if q < n]
        first, second = np.array([p for p, _ in pairs]), np.array([q for _, q in pairs])
        places, count = np.zeros((n, n), np.int64), len(pairs)
        places[np.arange(n), np.arange(n)] = 1
        numbers = np.arange(count)
        places[first, first] = places[second, second] = 2 + numbers
        places[first, second], places[second, first] = 2 + count + numbers, 2 + 2 * count + numbers
        found.append(Pairs(first, second, places))
        players = [players[0], players[-1], *players[1:-1]]
    return found


def adjoint(xp: Any, x: Any) -> Any:
    """Each matrix of a stack, transposed and conjugated."""
    return xp.conj(xp.swapaxes(x, -1, -2))


def _check_size(n: int) -> None:
    if n > LARGEST:
        raise NotRecordedError(f"a decomposition of {n} rows or columns: it is unrolled, up to {LARGEST} of them")


def _bytes(x: Any) -> int:
    size: int = np.dtype(x.dtype).itemsize
    return size // 2 if is_complex(x) else size


def _squares(xp: Any, columns: Any) -> Any:
    return xp.sum(xp.real(columns * xp.conj(columns)), axis=-2)


def _product(xp: Any, x: Any) -> Any:
    total = x[..., 0]
    for i in range(1, x.shape[-1]):
        total = total * x[..., i]
    return total


def _one_stack(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The arrays with their leading axes broadcast."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return xp.broadcast_to(a, (*stack, *a.shape[-2:])), xp.broadcast_to(b, (*stack, *b.shape[-2:]))


def _pivot(xp: Any, column: Any, j: int) -> Any:
    """The row, from `j` on, of the largest element of a column."""
    return xp.argmax(xp.abs(column[..., j:]), axis=-1) + np.int64(j)


def _swapped(xp: Any, pivot: Any, j: int, n: int) -> Any:
    """The numbers of the rows with `j` and `pivot` exchanged."""
    numbers = np.arange(n)
    other = pivot[..., None]
    return xp.where(numbers == j, other, xp.where(other == numbers, np.int64(j), numbers))


def _with_pivot(xp: Any, x: Any, column: Any, j: int) -> Any:
    n = x.shape[-2]
    if j + 1 >= n:
        return x
    return xp.take_along_axis(x, _swapped(xp, _pivot(xp, column, j), j, n)[..., None], -2)
