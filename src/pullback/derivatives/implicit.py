"""Implicit differentiation: solutions of equations whose derivatives are linear solves, not those of iterations.

Where r(x, k) = 0 defines x, dx = -(dr/dx)⁻¹ dr/dk dk, so that the cotangent of k is -(dr/dk)ᵀ λ with (dr/dx)ᵀ λ = dy
(the implicit function theorem; Christianson, "Reverse accumulation and attractive fixed points", 1994). The rule reads
the solution and is made of operations with derivatives, so it holds to any order; how x was found does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autodiff.cotangent import dense
from ..autodiff.pullbacks import pullback_of
from ..autodiff.reverse import gradients, pull
from ..control_flow.call import Call
from ..control_flow.loop import Loop
from ..core import nest
from ..core.function import Function, Parameter, Traced, carried_parameter, inline, like_parameter, trace
from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive
from ..core.types import TensorType
from ..primitives.creation.constant import constant, convert_to_tensor
from ..primitives.creation.eye import eye
from ..primitives.creation.fill import ones_like, zeros_like
from ..primitives.elementwise.arithmetic import subtract
from ..primitives.elementwise.division import divide_no_nan
from ..primitives.elementwise.maximum import maximum
from ..primitives.elementwise.sign import absolute
from ..primitives.identity.identity import stop_gradient
from ..primitives.indexing.where import where
from ..primitives.linalg.inverses import solve
from ..primitives.logic.logical import logical_and
from ..primitives.reduction.reduce import reduce_max, reduce_sum
from ..primitives.shape.reshape import reshape, reshape_like
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from .rows import rows_of

Solver = Callable[[Callable[..., Any], Any], Any]


class ImplicitSolution(Primitive):
    """(x..., k...) -> x..., known to solve residual(x..., k...) = 0; differentiable by k through the residual only.

    `linear` says how the transposed linear system of the derivative is solved: "dense", "iterate" (the residual is
    f(x) - x of a contraction f) or "cg" (its Jacobian is symmetric and positive definite).
    """

    takes_wanted = True

    residual: Function
    count: int
    linear: str = "dense"

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        return types[: self.count]

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        del xp
        return arrays[0] if self.count == 1 else tuple(arrays[: self.count])

    def gradient(self, op: Operation, *dys: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        xs, ks = op.outputs, op.inputs[self.count :]
        multipliers = _transposed_solve(self, xs, ks, dys)
        by_k = (*[False] * self.count, *wanted[self.count :])
        pullback = pullback_of(self.residual, by_k, (True,) * self.count)
        results = Call(pullback.function).operation(*xs, *ks, *multipliers).outputs if pullback.function.results else ()
        terms = [pullback.term(self.count + i, results, k) for i, k in enumerate(ks)]
        return [*[None] * self.count, *[None if term is None else -term for term in terms]]


def _transposed_solve(primitive: ImplicitSolution, xs: Any, ks: Any, dys: Sequence[Tensor]) -> list[Tensor]:
    """λ with (dr/dx)ᵀ λ = dys."""
    if primitive.linear == "dense":
        return _dense_solve(primitive.residual, xs, ks, dys)
    by_x = (*[True] * len(xs), *[False] * len(ks))
    pullback = pullback_of(primitive.residual, by_x, (True,) * len(xs))

    def transposed(*multipliers: Tensor) -> list[Tensor]:
        results = Call(pullback.function).operation(*xs, *ks, *multipliers).outputs
        terms = [pullback.term(i, results, x) for i, x in enumerate(xs)]
        return [zeros_like(x) if term is None else dense(term) for term, x in zip(terms, xs, strict=True)]

    if primitive.linear == "cg":
        return _conjugate_gradients(transposed, dys)
    # (df/dx - 1)ᵀ λ = dy is the fixed point -λ = dy + (df/dx)ᵀ (-λ).
    found = fixed_point(
        lambda ms: [dy + t + m for dy, t, m in zip(dys, transposed(*ms), ms, strict=True)], [zeros_like(x) for x in xs]
    )
    return [-m for m in found]


def _dense_solve(residual: Function, xs: Any, ks: Any, dys: Sequence[Tensor]) -> list[Tensor]:
    """By the Jacobian as a matrix of all elements."""
    right = reshape(_joined(dys), [-1, 1])
    found = solve(_jacobian_matrix(residual, xs, ks), right, adjoint=True)
    return _parted(reshape(found, [-1]), dys)


def _jacobian_matrix(residual: Function, xs: Sequence[Tensor], ks: Sequence[Tensor]) -> Tensor:
    rs = inline(residual, [*xs, *ks])
    flat = _joined(rs)

    def row(unit: Tensor) -> list[Tensor | None]:
        terms = gradients(flat, list(xs), grad_ys=unit)
        parts = [zeros_like(x) if term is None else dense(term) for term, x in zip(terms, xs, strict=True)]
        return [_joined(parts)]

    (matrix,) = rows_of(flat, row, None)
    assert matrix is not None
    return matrix


def _joined(parts: Sequence[Tensor]) -> Tensor:
    flat = [reshape(x, [-1]) for x in parts]
    return flat[0] if len(flat) == 1 else concat(flat, 0)


def _parted(vector: Tensor, likes: Sequence[Tensor]) -> list[Tensor]:
    if len(likes) == 1:
        return [reshape_like(vector, likes[0])]
    parts, start = [], 0
    for like in likes:
        size = like.shape.num_elements()
        if size is None:
            raise ValueError(f"implicit derivative: {like} has no known shape, which several unknowns need")
        parts.append(reshape_like(vector[start : start + size], like))
        start += size
    return parts


def _conjugate_gradients(product: Callable[..., list[Tensor]], bs: Sequence[Tensor]) -> list[Tensor]:
    """x with A x = b for symmetric positive definite A (Hestenes and Stiefel, 1952); its derivative is such a solve."""
    types = [like_parameter(b) for b in bs]
    system = trace(lambda *given: _less(product(*given[: len(bs)]), given[len(bs) :]), [*types, *types], "system")
    tolerance = 1e-6 if any(b.dtype.itemsize < 8 for b in bs) else 1e-12
    size = sum(b.shape.num_elements() or 1000 for b in bs)

    def step(*carried: Tensor) -> list[Tensor]:
        n = len(bs)
        xs, rs, ps, rr = carried[:n], carried[n : 2 * n], carried[2 * n : 3 * n], carried[3 * n]
        aps = [a + b for a, b in zip(inline(system.function, [*ps, *bs, *system.captured]), bs, strict=True)]
        alpha = divide_no_nan(rr, _dot(ps, aps))
        rs_next = [r - alpha * ap for r, ap in zip(rs, aps, strict=True)]
        rr_next = _dot(rs_next, rs_next)
        beta = divide_no_nan(rr_next, rr)
        return [
            *[x + alpha * p for x, p in zip(xs, ps, strict=True)],
            *rs_next,
            *[r + beta * p for r, p in zip(rs_next, ps, strict=True)],
            rr_next,
        ]

    rr = _dot(bs, bs)
    floor = stop_gradient(rr) * tolerance**2
    start = [*[zeros_like(b) for b in bs], *bs, *bs, rr]
    found = _loop(step, lambda *carried: carried[-1] > floor, start, 10 * size)[: len(bs)]
    return _attached(system, [stop_gradient(x) for x in found], "cg", bs)


def _less(a: Sequence[Tensor], b: Sequence[Tensor]) -> list[Tensor]:
    return [subtract(x, y) for x, y in zip(a, b, strict=True)]


def _dot(a: Sequence[Tensor], b: Sequence[Tensor]) -> Tensor:
    total = reduce_sum(a[0] * b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + reduce_sum(x * y)
    return total


def _attached(residual: Traced, found: Sequence[Tensor], linear: str, extra: Sequence[Tensor] = ()) -> list[Tensor]:
    """`found`, with the derivatives that `residual` = 0 implies."""
    primitive = ImplicitSolution(residual.function, len(found), linear)
    return primitive.operation(*found, *extra, *residual.captured).outputs


def _loop(
    step: Callable[..., Sequence[Tensor]], proceed: Callable[..., Tensor], start: Sequence[Tensor], limit: int
) -> Sequence[Tensor]:
    """What is carried when `proceed` is false for it, or after `limit` steps."""
    types: list[Parameter] = [carried_parameter(x) for x in start]
    body = trace(step, types, "step")
    condition = trace(lambda *given: [proceed(*given)], types, "proceed", captures=body.captured)
    if len(condition.captured) > len(body.captured):
        body = trace(step, types, "step", captures=condition.captured)
    loop = Loop(body.function, condition.function, len(start), bound=limit)
    outputs = loop.operation(constant(limit), *start, *body.captured).outputs
    return outputs[1 : 1 + len(start)]


def fixed_point(
    f: Callable[..., Any],
    x0: Any,
    *,
    tolerance: float | None = None,
    maximum_iterations: int = 1000,
    solver: Solver | None = None,
    name: str = "fixed_point",
) -> Any:
    """x with f(x) = x, by iteration from `x0`; differentiable in all that `f` reads, to any order.

    `x0` is a tensor or a nested structure of tensors, as are `f`'s argument, its result, and what is returned.
    Iteration stops when no element changes by more than `tolerance` (relative to the largest; 1e-6, or 1e-12 for
    float64), or after `maximum_iterations`. The derivative by `x0` is None. The derivative iterates as well: its memory
    does not grow with the number of iterations. `solver(f, x0)` may find x in another way.

    Raises:
        TypeError, ValueError: the result of `f` has another structure, dtype or shape than `x0`.

    >>> import pullback as pb
    >>> a = pb.constant(2.0)
    >>> root = pb.implicit.fixed_point(lambda x: 0.5 * (x + a / x), pb.constant(1.0))
    >>> pb.Session().run([root, *pb.gradients(root, a)])
    [np.float32(1.4142135), np.float32(0.35355338)]
    """
    start = nest.map_structure(convert_to_tensor, x0)
    flat = nest.flatten(start)

    def mapped(*xs: Tensor) -> list[Tensor]:
        return _like_start(f(nest.pack_sequence_as(start, list(xs))), start, "fixed_point")

    graph = flat[0].graph.acting
    with graph.transaction(), graph.name_scope(name):
        residual = trace(lambda *xs: _less(mapped(*xs), xs), [like_parameter(x) for x in flat], "residual")
        if solver is None:
            found = _iterated(mapped, flat, _tolerance(tolerance, flat), maximum_iterations)
        else:
            found = _like_start(solver(f, start), start, "fixed_point: solver")
        return nest.pack_sequence_as(start, _attached(residual, [stop_gradient(x) for x in found], "iterate"))


def _iterated(f: Callable[..., list[Tensor]], start: Sequence[Tensor], tolerance: float, limit: int) -> list[Tensor]:
    n = len(start)

    def step(*carried: Tensor) -> list[Tensor]:
        xs = carried[:n]
        ys = f(*xs)
        return [*ys, _farthest(ys, xs)]

    changing = constant(1.0, start[0].dtype)
    ends = _loop(step, lambda *carried: carried[n] > tolerance, [*start, changing], limit)
    return list(ends[:n])


def _farthest(ys: Sequence[Tensor], xs: Sequence[Tensor]) -> Tensor:
    """The largest change from xs to ys, relative to the largest element where that is above 1."""
    changes = [reduce_max(absolute(y - x)) / maximum(reduce_max(absolute(y)), 1.0) for y, x in zip(ys, xs, strict=True)]
    largest = changes[0]
    for change in changes[1:]:
        largest = maximum(largest, change)
    return largest


def root(
    f: Callable[..., Any],
    x0: Any,
    *,
    tolerance: float | None = None,
    maximum_iterations: int = 100,
    solver: Solver | None = None,
    name: str = "root",
) -> Any:
    """x with f(x) = 0, by Newton's method from `x0`; differentiable in all that `f` reads, to any order.

    `x0` is a tensor or a nested structure of tensors, as are `f`'s argument, its result, and what is returned; together
    they have as many elements as the result. Newton's method stops when no element of f(x) is larger than `tolerance`
    (1e-5, or 1e-11 for float64), or after `maximum_iterations`. Each step, and the derivative, solves one linear system
    with the Jacobian as a matrix. `solver(f, x0)` may find x in another way.

    Raises:
        TypeError, ValueError: the result of `f` has another structure, dtype or shape than `x0`.

    >>> import pullback as pb
    >>> a = pb.constant(2.0, pb.float64)
    >>> x = pb.implicit.root(lambda x: x * x * x - a, pb.constant(1.0, pb.float64))
    >>> [float(v.round(4)) for v in pb.Session().run([x, *pb.gradients(x, a)])]
    [1.2599, 0.21]
    """
    start = nest.map_structure(convert_to_tensor, x0)
    flat = nest.flatten(start)

    def residuals(*xs: Tensor) -> list[Tensor]:
        return _like_start(f(nest.pack_sequence_as(start, list(xs))), start, "root")

    graph = flat[0].graph.acting
    with graph.transaction(), graph.name_scope(name):
        residual = trace(residuals, [like_parameter(x) for x in flat], "residual")
        if solver is None:
            found = _newton(residual, flat, 10 * _tolerance(tolerance, flat), maximum_iterations)
        else:
            found = _like_start(solver(f, start), start, "root: solver")
        return nest.pack_sequence_as(start, _attached(residual, [stop_gradient(x) for x in found], "dense"))


def _newton(residual: Traced, start: Sequence[Tensor], tolerance: float, limit: int) -> list[Tensor]:
    ks = [stop_gradient(k) for k in residual.captured]

    def step(*xs: Tensor) -> list[Tensor]:
        rs = inline(residual.function, [*xs, *ks])
        change = solve(_jacobian_matrix(residual.function, xs, ks), reshape(_joined(rs), [-1, 1]))
        return _less(xs, _parted(reshape(change, [-1]), xs))

    def proceed(*xs: Tensor) -> Tensor:
        return reduce_max(absolute(_joined(inline(residual.function, [*xs, *ks])))) > tolerance

    return list(_loop(step, proceed, start, limit))


def argmin(
    f: Callable[..., Any],
    x0: Any,
    *,
    tolerance: float | None = None,
    maximum_iterations: int = 100,
    solver: Solver | None = None,
    linear: str = "dense",
    name: str = "argmin",
) -> Any:
    """x where the scalar f(x) is smallest near `x0`; differentiable in all that `f` reads, to any order.

    `x0` is a tensor or a nested structure of tensors, as are `f`'s argument and what is returned. Newton steps, damped
    until f falls (Levenberg 1944, Marquardt 1963), stop when no element of the gradient is larger than `tolerance`
    (1e-5, or 1e-11 for float64), or after `maximum_iterations`. The derivative solves one system with the Hessian:
    "dense" as a matrix, "cg" by conjugate gradients and Hessian-vector products, which needs f convex near x.
    `solver(f, x0)` may find x in another way, as by an optimizer that takes many cheap steps.

    Raises:
        ValueError: `f` does not return a scalar, or `linear` is neither "dense" nor "cg".

    >>> import pullback as pb
    >>> a = pb.constant([1.0, 2.0], pb.float64)
    >>> x = pb.implicit.argmin(lambda x: pb.reduce_sum(pb.exp(x) - a * x), pb.zeros([2], pb.float64))
    >>> [v.round(4).tolist() for v in pb.Session().run([x, *pb.gradients(x[1], a)])]
    [[0.0, 0.6931], [0.0, 0.5]]
    """
    if linear not in ("dense", "cg"):
        raise ValueError(f"argmin: linear must be 'dense' or 'cg', not {linear!r}")
    start = nest.map_structure(convert_to_tensor, x0)
    flat = nest.flatten(start)
    types = [like_parameter(x) for x in flat]

    def value(*xs: Tensor) -> list[Tensor]:
        y = convert_to_tensor(f(nest.pack_sequence_as(start, list(xs))))
        if y.shape.rank not in (0, None):
            raise ValueError(f"argmin: f must return a scalar, not {y}")
        return [y]

    def slope(*xs: Tensor) -> list[Tensor]:
        (y,) = value(*xs)
        terms = pull([y], [ones_like(y)], xs)
        return [zeros_like(x) if term is None else dense(term) for term, x in zip(terms, xs, strict=True)]

    graph = flat[0].graph.acting
    with graph.transaction(), graph.name_scope(name):
        residual = trace(slope, types, "slope")
        if solver is None:
            objective = trace(value, types, "objective", captures=residual.captured)
            slope_too = trace(slope, types, "slope", captures=objective.captured)
            found = _damped_newton(objective, slope_too, flat, 10 * _tolerance(tolerance, flat), maximum_iterations)
        else:
            found = _like_start(solver(f, start), start, "argmin: solver")
        return nest.pack_sequence_as(start, _attached(residual, [stop_gradient(x) for x in found], linear))


def _damped_newton(
    objective: Traced, slope: Traced, start: Sequence[Tensor], tolerance: float, limit: int
) -> list[Tensor]:
    ks, n = [stop_gradient(k) for k in objective.captured], len(start)
    dtype = start[0].dtype

    def height(xs: Sequence[Tensor]) -> Tensor:
        return inline(objective.function, [*xs, *ks])[0]

    def step(*carried: Tensor) -> list[Tensor]:
        xs, y, damping = carried[:n], carried[n], carried[n + 1]
        matrix = _jacobian_matrix(slope.function, xs, ks)
        right = reshape(_joined(inline(slope.function, [*xs, *ks])), [-1, 1])
        size = matrix.shape.size(0) if matrix.shape.size(0) is not None else shape(matrix)[0]
        change = solve(matrix + damping * eye(size, dtype=dtype), right)
        trial = _less(xs, _parted(reshape(change, [-1]), xs))
        y_trial = height(trial)
        better = y_trial <= y
        kept = [where(better, new, old) for new, old in zip(trial, xs, strict=True)]
        return [*kept, where(better, y_trial, y), where(better, damping * 0.1, maximum(damping * 10.0, 1e-4))]

    def proceed(*carried: Tensor) -> Tensor:
        steep = reduce_max(absolute(_joined(inline(slope.function, [*carried[:n], *ks])))) > tolerance
        return logical_and(steep, carried[n + 1] < 1e10)

    ends = _loop(step, proceed, [*start, height(start), constant(0.0, dtype)], limit)
    return list(ends[:n])


def _tolerance(tolerance: float | None, xs: Sequence[Tensor]) -> float:
    if tolerance is not None:
        return tolerance
    return 1e-6 if any(x.dtype.itemsize < 8 for x in xs) else 1e-12


def _like_start(found: Any, start: Any, what: str) -> list[Tensor]:
    """`found` as a list, held to the structure, dtypes and shapes of `start`."""
    nest.assert_same_structure(start, found)
    flat = [convert_to_tensor(y) for y in nest.flatten(found)]
    for y, x in zip(flat, nest.flatten(start), strict=True):
        if y.dtype != x.dtype:
            raise TypeError(f"{what}: the result is {y}, but x0 is {x}; convert it with pb.cast")
        if not y.shape.is_compatible_with(x.shape):
            raise ValueError(f"{what}: the result is {y}, but x0 is {x}; their shapes must agree")
    return flat
