"""SciPy interface: a graph as the functions that its optimizers, root finders and Krylov methods take.

>>> import numpy as np, pullback as pb
>>> from scipy.optimize import minimize
>>> x = pb.placeholder(pb.float64, [2])
>>> loss = 100.0 * (x[1] - x[0] ** 2.0) ** 2.0 + (1.0 - x[0]) ** 2.0
>>> f = pb.scipy.Objective(loss, x)
>>> minimize(f.fun, np.zeros(2), jac=f.jac, hess=f.hess, method="trust-exact").x.round(6)
array([1., 1.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..autodiff.cotangent import dense
from ..autodiff.reverse import gradients
from ..core.graph import Tensor
from ..core.typing import TensorLike
from ..derivatives.hessian import hessians
from ..derivatives.jacobian import jacobian
from ..derivatives.products import hessian_vector_product, jvp
from ..derivatives.sparse import SparseMatrix, sparse_hessian, sparse_jacobian
from ..engines.session import Session
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.placeholders import placeholder
from ..primitives.shape.reshape import reshape
from ..primitives.shape.stacking import concat
from ..primitives.variables.variable import Variable

__all__ = ["Objective", "Residuals", "hessian_operator", "jacobian_operator"]

Array = np.ndarray[Any, Any]


class _Vector:
    """Tensors and variables of a graph as one vector; runs of the graph for values of it."""

    def __init__(self, xs: Any, feed_dict: Any, session: Session | None, engine: str | None) -> None:
        self.xs: list[Any] = list(xs) if isinstance(xs, list | tuple) else [xs]
        self.feeds = dict(feed_dict or {})
        for x in self.xs:
            if not isinstance(x, Tensor | Variable):
                raise TypeError(f"pb.scipy: {x!r} is neither a tensor nor a variable of a graph")
            if not x.shape.is_fully_defined():
                raise ValueError(f"pb.scipy: {x} has no known shape; a vector of known length is needed")
        self.shapes = [x.shape.known for x in self.xs]
        self.ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        self.session = session or Session(graph=self.xs[0].graph, engine=engine)
        self.tensors = [x for x in self.xs if not isinstance(x, Variable)]
        self._functions: dict[str, Callable[..., Any]] = {}

    def split(self, vector: Any) -> list[Array]:
        """The parts of a vector, each in the shape and dtype of its x."""
        array = np.asarray(vector)
        if array.shape != (self.ends[-1],):
            raise ValueError(f"pb.scipy: a vector of {self.ends[-1]} elements is needed, not an array {array.shape}")
        parts = np.split(array, self.ends[:-1])
        return [part.reshape(shape).astype(x.dtype) for part, shape, x in zip(parts, self.shapes, self.xs, strict=True)]

    def joined(self) -> Array:
        """The values that the variables have, and the tensors without a feed, as one vector."""
        return np.concatenate([np.reshape(v, -1) for v in self.session.run(self.xs, self.feeds)])

    def once(self, name: str, build: Callable[[], Any]) -> Callable[..., Any]:
        """The function of what `build` returns, which is called, and adds to the graph, the first time only."""
        known = self._functions.get(name)
        if known is None:
            with self.session.graph.as_default():
                known = self._functions[name] = self.function(build())
        return known

    def function(self, fetch: Any, extra: Sequence[Tensor] = ()) -> Callable[..., Any]:
        """From a vector, and arrays for `extra`, to the value of `fetch`."""
        run = self.session.make_callable(fetch, [*self.tensors, *extra, *self.feeds])
        fixed = list(self.feeds.values())

        def call(vector: Any, *values: Any) -> Any:
            fed: list[Any] = []
            for x, part in zip(self.xs, self.split(vector), strict=True):
                if isinstance(x, Variable):
                    self.session.write_variable(x.handle.op, part)
                else:
                    fed.append(part)
            return run(*fed, *values, *fixed)

        return call


def _flat(terms: Sequence[Tensor]) -> Tensor:
    """All elements of `terms` as one vector."""
    parts = [reshape(dense(t), [-1]) for t in terms]
    return parts[0] if len(parts) == 1 else concat(parts, 0)


def _tangents(vector: _Vector) -> list[Tensor]:
    return [placeholder(x.dtype, shape, name="tangent") for x, shape in zip(vector.xs, vector.shapes, strict=True)]


class Objective:
    """A scalar as a function of a vector, for scipy.optimize.minimize: `fun`, `jac`, `hess`, `hessp`.

    `loss` is a scalar tensor; `xs` is a tensor, a variable, or a list of them, of known shapes, whose elements make up
    the vector. `feed_dict` gives values for other tensors, once and for all. Each function adds to the graph what it
    needs when it is first called. With `sparse`, `hess` returns a scipy.sparse.csr_array.

    Raises:
        ValueError: a shape is not known; `loss` is not a scalar. TypeError: an x is no tensor.
    """

    def __init__(
        self,
        loss: Tensor,
        xs: TensorLike,
        feed_dict: Mapping[Any, Any] | None = None,
        *,
        sparse: bool = False,
        session: Session | None = None,
        engine: str | None = None,
    ) -> None:
        self._loss = convert_to_tensor(loss)
        if self._loss.shape.rank not in (0, None):
            raise ValueError(f"pb.scipy: {self._loss} is not a scalar; use Residuals, or add it up")
        self._vector = _Vector(xs, feed_dict, session, engine)
        self._sparse = sparse
        self._matrix: SparseMatrix | None = None
        self._hessp: Callable[..., Any] | None = None

    @property
    def x0(self) -> Array:
        """The vector of what the variables and constants are now: a point to start at."""
        return self._vector.joined()

    def split(self, x: Array) -> list[Array]:
        """The parts of the vector `x`: an array for each of `xs`."""
        return self._vector.split(x)

    def fun(self, x: Array) -> float:
        """The value."""
        return float(self._vector.once("fun", lambda: self._loss)(x))

    def jac(self, x: Array) -> Array:
        """The gradient [n]."""
        result: Array = self._vector.once("jac", self._gradient)(x)
        return result

    def fun_and_jac(self, x: Array) -> tuple[float, Array]:
        """Value and gradient, of one run: for `minimize(f.fun_and_jac, x0, jac=True)`."""
        value, slope = self._vector.once("fun_and_jac", lambda: [self._loss, self._gradient()])(x)
        return float(value), slope

    def hess(self, x: Array) -> Any:
        """The Hessian [n, n]."""
        result = self._vector.once("hess", self._sparse_values if self._sparse else self._hessian)(x)
        return result if self._matrix is None else self._matrix.to_csr(result)

    def hessp(self, x: Array, p: Array) -> Array:
        """The product of the Hessian with the vector `p`."""
        if self._hessp is None:
            with self._loss.graph.as_default():
                vs = _tangents(self._vector)
                product = _flat(hessian_vector_product(self._loss, self._vector.xs, vs))
            self._hessp = self._vector.function(product, vs)
        result: Array = self._hessp(x, *self._vector.split(p))
        return result

    def _gradient(self) -> Tensor:
        return _flat(gradients(self._loss, self._vector.xs, unconnected_gradients="zero"))

    def _hessian(self) -> Tensor:
        blocks = hessians(self._loss, self._vector.xs, blocks="all")
        n = [int(np.prod(shape)) for shape in self._vector.shapes]
        rows = [
            concat([reshape(block, [n[i], n[j]]) for j, block in enumerate(row)], 1) for i, row in enumerate(blocks)
        ]
        return concat(rows, 0)

    def _sparse_values(self) -> Tensor:
        if len(self._vector.xs) != 1:
            raise ValueError(f"pb.scipy: sparse Hessians are by one tensor, not {len(self._vector.xs)}: concatenate")
        self._matrix = sparse_hessian(self._loss, self._vector.xs[0], self._vector.feeds)
        return self._matrix.values


class Residuals:
    """Tensors as a function of a vector, for scipy.optimize.root and least_squares: `fun`, `jac`.

    `ys` is a tensor or a list of tensors, whose elements make up the result; `xs` and `feed_dict` as for `Objective`.
    With `sparse`, `jac` returns a scipy.sparse.csr_array.

    >>> import numpy as np, pullback as pb
    >>> from scipy.optimize import root
    >>> x = pb.placeholder(pb.float64, [2])
    >>> f = pb.scipy.Residuals(pb.stack([x[0] * x[0] - 2.0, x[0] * x[1] - 1.0]), x)
    >>> root(f.fun, np.ones(2), jac=f.jac).x.round(6)
    array([1.414214, 0.707107])
    """

    def __init__(
        self,
        ys: TensorLike,
        xs: TensorLike,
        feed_dict: Mapping[Any, Any] | None = None,
        *,
        sparse: bool = False,
        session: Session | None = None,
        engine: str | None = None,
    ) -> None:
        self._ys = [convert_to_tensor(y) for y in (ys if isinstance(ys, list | tuple) else [ys])]
        self._vector = _Vector(xs, feed_dict, session, engine)
        self._sparse = sparse
        self._matrix: SparseMatrix | None = None

    def fun(self, x: Array) -> Array:
        """The residuals [m]."""
        result: Array = self._vector.once("fun", lambda: _flat(self._ys))(x)
        return result

    def jac(self, x: Array) -> Any:
        """The Jacobian [m, n]."""
        result = self._vector.once("jac", self._sparse_values if self._sparse else self._jacobian)(x)
        return result if self._matrix is None else self._matrix.to_csr(result)

    def _jacobian(self) -> Tensor:
        y = _flat(self._ys)
        blocks = []
        for x, shape in zip(self._vector.xs, self._vector.shapes, strict=True):
            block = jacobian(y, x)
            if block is None:
                raise ValueError(f"pb.scipy: no residual depends on {x}")
            blocks.append(reshape(block, [-1, int(np.prod(shape))]))
        return concat(blocks, 1)

    def _sparse_values(self) -> Tensor:
        if len(self._vector.xs) != 1:
            raise ValueError(f"pb.scipy: sparse Jacobians are by one tensor, not {len(self._vector.xs)}: concatenate")
        self._matrix = sparse_jacobian(_flat(self._ys), self._vector.xs[0], self._vector.feeds)
        return self._matrix.values


def jacobian_operator(
    ys: TensorLike,
    xs: TensorLike,
    x: Array,
    feed_dict: Mapping[Any, Any] | None = None,
    *,
    session: Session | None = None,
    engine: str | None = None,
) -> LinearOperator:
    """The Jacobian of `ys` by `xs` at the vector `x`, as a scipy.sparse.linalg.LinearOperator [m, n].

    Products with it are forward derivatives, those with its transpose reverse ones; the matrix is never made.

    >>> import numpy as np, pullback as pb
    >>> x = pb.placeholder(pb.float64, [3])
    >>> J = pb.scipy.jacobian_operator(x[1:] * x[:-1], x, np.array([1.0, 2.0, 3.0]))
    >>> J @ np.ones(3), J.T @ np.ones(2)
    (array([3., 5.]), array([2., 4., 2.]))
    """
    targets = [convert_to_tensor(y) for y in (ys if isinstance(ys, list | tuple) else [ys])]
    vector = _Vector(xs, feed_dict, session, engine)
    with targets[0].graph.as_default():
        vs = _tangents(vector)
        us = [placeholder(y.dtype, y.shape, name="cotangent") for y in targets]
        push = vector.function(_flat(jvp(targets, vector.xs, vs)), vs)
        pull = vector.function(_flat(gradients(targets, vector.xs, us, unconnected_gradients="zero")), us)
        point = np.array(x)
    shapes = [y.shape.known if y.shape.is_fully_defined() else None for y in targets]
    if None in shapes:
        raise ValueError("pb.scipy: the shapes of all ys must be known")
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])  # type: ignore[arg-type]

    def rmatvec(u: Any) -> Any:
        parts = np.split(np.reshape(u, -1), ends[:-1])
        return pull(point, *[p.reshape(s) for p, s in zip(parts, shapes, strict=True)])

    def matvec(v: Any) -> Any:
        return push(point, *vector.split(np.reshape(v, -1)))

    shape = (int(ends[-1]), int(vector.ends[-1]))
    return LinearOperator(shape, matvec=matvec, rmatvec=rmatvec, dtype=targets[0].dtype)


def hessian_operator(
    loss: Tensor,
    xs: TensorLike,
    x: Array,
    feed_dict: Mapping[Any, Any] | None = None,
    *,
    session: Session | None = None,
    engine: str | None = None,
) -> LinearOperator:
    """The Hessian of the scalar `loss` by `xs` at the vector `x`, as a scipy.sparse.linalg.LinearOperator [n, n].

    >>> import numpy as np, pullback as pb
    >>> x = pb.placeholder(pb.float64, [2])
    >>> H = pb.scipy.hessian_operator(pb.reduce_sum(x * x * x), x, np.array([1.0, 2.0]))
    >>> H @ np.ones(2)
    array([ 6., 12.])
    """
    f = Objective(loss, xs, feed_dict, session=session, engine=engine)
    point = np.array(x)
    n = int(f._vector.ends[-1])

    def matvec(p: Any) -> Any:
        return f.hessp(point, np.reshape(p, -1))

    return LinearOperator((n, n), matvec=matvec, rmatvec=matvec, dtype=point.dtype)


def least_point(
    value_and_gradient: Callable[[Any], tuple[float, Any]], start: np.ndarray[Any, Any], **options: Any
) -> np.ndarray[Any, Any]:
    """Where `scipy.optimize.minimize` ends, from `start` on; it takes the other options.

    Raises:
        ImportError: SciPy is not installed.
    """
    from scipy.optimize import minimize

    found: np.ndarray[Any, Any] = minimize(value_and_gradient, start, jac=True, **options).x
    return found
