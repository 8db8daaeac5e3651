"""Gradient checking: the Jacobian that `gradients` builds beside the one by central differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..autodiff.arguments import UnconnectedGradients
from ..autodiff.reverse import gradients
from ..core.dtypes import INEXACT
from ..core.graph import Tensor, get_default_graph
from ..core.typing import ShapeLike, TensorLike
from ..engines.default_session import get_default_session
from ..engines.session import Session
from ..primitives.creation.constant import as_array, convert_to_tensor
from ..primitives.creation.placeholders import placeholder
from ..primitives.identity.identity import identity
from ..primitives.variables.variable import Variable

__all__ = ["compute_gradient", "compute_gradient_error", "compute_gradient_v1", "max_error"]

Array = np.ndarray[Any, Any]


def compute_gradient(
    f: Callable[..., Any], x: TensorLike, delta: float | None = None
) -> tuple[list[Array], list[Array]]:
    """The Jacobians of `f` at the list `x`, by `gradients` and by differences: two lists, one array for each argument.

    `f` is called once, in the default graph, and may use its tensors and variables; what it computes is run in the
    default session, or on NumPy where there is none. A tensor in `x` stands for the value that it has there.

    Shapes: each array is [size of y, size of x]; a complex element counts as two, its real and imaginary part.
    Dtypes: floats and complex numbers. `delta` is the step of the differences, 1/1024 where None.

    Raises:
        ValueError: `x` is not a list or tuple; a gradient has another shape than its x.
        TypeError: an element is not of a float or complex dtype.

    >>> import pullback as pb
    >>> exact, numeric = pb.test.compute_gradient(pb.tanh, [[0.5]])
    >>> pb.test.max_error(exact, numeric) < 1e-3
    True
    """
    if not isinstance(x, list | tuple):
        raise ValueError(f"x must be a list or tuple, one element for each argument of f, not {type(x).__name__}")
    graph, step = get_default_graph(), 1 / 1024 if delta is None else delta
    current = get_default_session()
    if current is not None and current.graph is graph:
        return _jacobians_of_function(current, f, x, step)
    with Session(graph=graph, engine="numpy") as session:
        return _jacobians_of_function(session, f, x, step)


def max_error(grads1: Sequence[Array], grads2: Sequence[Array]) -> float:
    """The largest absolute difference between two lists of arrays; 0 where they are empty.

    >>> import numpy as np
    >>> max_error([np.array([1.0])], [np.array([1.5])])
    0.5
    """
    return max((float(np.abs(a - b).max()) for a, b in zip(grads1, grads2, strict=True) if np.size(a)), default=0.0)


def compute_gradient_v1(
    x: TensorLike,
    x_shape: ShapeLike,
    y: Tensor,
    y_shape: ShapeLike,
    x_init_value: TensorLike | None = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> Any:
    """The Jacobians of the tensor `y` by the tensor or variable `x`, exact and numeric: [size of x, size of y].

    For a list of xs (with lists of shapes and values), a list of such pairs. Values not given are drawn from [0, 1).
    Runs in the default session, after the operations `init_targets`.

    Raises:
        ValueError: no default session; y does not depend on x; a gradient has another shape than its x.
        TypeError: x is not of a float or complex dtype.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float64, [2])
    >>> with pb.Session(engine="numpy"):
    ...     exact, numeric = pb.test.compute_gradient_v1(x, [2], pb.square(x), [2])
    >>> exact.shape, bool(abs(exact - numeric).max() < 1e-6)
    ((2, 2), True)
    """
    del y_shape
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient_v1: there is no default session; use `with pb.Session():`")
    if init_targets is not None:
        session.run(init_targets)
    many = isinstance(x, list | tuple)
    xs, shapes = _listed(x, many), _listed(x_shape, many)
    given = [None] * len(xs) if x_init_value is None else _listed(x_init_value, many)
    random = np.random.default_rng(0)
    arrays = [
        np.asarray(random.random(shape) if value is None else value).astype(t.dtype)
        for t, shape, value in zip(xs, shapes, given, strict=True)
    ]
    arrays = [_checked(a, f"x[{i}]") for i, a in enumerate(arrays)]
    none = UnconnectedGradients.NONE
    before = {v: session.run(v) for v in xs if isinstance(v, Variable) and session.has_variable(v.handle.op)}
    exact, numeric = _jacobians(session, y, xs, arrays, delta, extra_feed_dict or {}, none)
    for v, value in before.items():
        session.write_variable(v.handle.op, value)
    pairs = [(a.T, b.T) for a, b in zip(exact, numeric, strict=True)]
    return pairs if many else pairs[0]


def compute_gradient_error(
    x: TensorLike,
    x_shape: ShapeLike,
    y: Tensor,
    y_shape: ShapeLike,
    x_init_value: TensorLike | None = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Mapping[Any, Any] | None = None,
) -> float:
    """The largest absolute difference between the exact and the numeric Jacobian of `compute_gradient_v1`.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float64, [2])
    >>> with pb.Session(engine="numpy"):
    ...     error = pb.test.compute_gradient_error(x, [2], pb.square(x), [2])
    >>> error < 1e-6
    True
    """
    result = compute_gradient_v1(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = result if isinstance(result, list) else [result]
    return max_error([a for a, _ in pairs], [b for _, b in pairs])


def _jacobians_of_function(
    session: Session, f: Callable[..., Any], x: Sequence[Any], delta: float
) -> tuple[list[Array], list[Array]]:
    values = [session.run(value) if isinstance(value, Tensor | Variable) else as_array(value) for value in x]
    arrays = [_checked(np.asarray(value), f"x[{i}]") for i, value in enumerate(values)]
    inputs = [placeholder(a.dtype, a.shape) for a in arrays]
    y = convert_to_tensor(f(*inputs))
    return _jacobians(session, y, inputs, arrays, delta, {}, UnconnectedGradients.ZERO)


def _listed(value: Any, many: bool) -> list[Any]:
    return list(value) if many else [value]


def _checked(array: Array, what: str) -> Array:
    if array.dtype not in INEXACT:
        raise TypeError(
            f"compute_gradient: {what} has dtype {array.dtype.name}; only floats and complex numbers have gradients"
        )
    return array


def _jacobians(
    session: Session,
    y: Tensor,
    xs: Sequence[Tensor],
    arrays: Sequence[Array],
    delta: float,
    extra: Mapping[Any, Any],
    unconnected: UnconnectedGradients,
) -> tuple[list[Array], list[Array]]:
    feeds = {**extra, **dict(zip(xs, arrays, strict=True))}
    value = np.asarray(_run(session, y, feeds))
    with y.graph.as_default():
        seed = placeholder(y.dtype, value.shape)
        dxs = gradients(y, list(xs), grad_ys=identity(seed), unconnected_gradients=unconnected)
        for x, dx in zip(xs, dxs, strict=True):
            if dx is None:
                raise ValueError(f"compute_gradient: {y} does not depend on {x}; pass an x that it is computed from")
        dxs = [convert_to_tensor(dx) for dx in dxs]
    exact = [np.zeros((_parts(value).size, _parts(a).size), _parts(a).dtype) for a in arrays]
    for x, a, dx in zip(xs, arrays, _run(session, dxs, {**feeds, seed: np.zeros_like(value)}), strict=True):
        if np.shape(dx) != a.shape:
            empty = "" if np.size(dx) else "Empty "
            raise ValueError(
                f"compute_gradient: {empty}gradient has wrong shape: expected {a.shape}, got {np.shape(dx)}, by {x}"
            )
    for row in range(_parts(value).size):
        unit = np.zeros(value.shape, value.dtype)
        _parts(unit)[row] = 1
        for jacobian, dx in zip(exact, _run(session, dxs, {**feeds, seed: unit}), strict=True):
            jacobian[row] = _parts(np.asarray(dx))
    numeric = [_differences(session, y, x, a, delta, feeds) for x, a in zip(xs, arrays, strict=True)]
    return exact, numeric


def _run(session: Session, fetch: Any, values: Mapping[Any, Any]) -> Any:
    """The value of `fetch` where tensors are fed, and variables have been given, `values`."""
    feeds = {}
    for x, value in values.items():
        if isinstance(x, Variable):
            session.write_variable(x.handle.op, value)
        else:
            feeds[x] = value
    return session.run(fetch, feeds)


def _differences(session: Session, y: Tensor, x: Tensor, array: Array, delta: float, feeds: Mapping[Any, Any]) -> Array:
    """The Jacobian [size of y, size of x] by central differences."""
    columns = []
    for i in range(_parts(array).size):
        moved = []
        for step in (delta, -delta):
            shifted = array.copy(order="C")
            _parts(shifted)[i] += step
            moved.append(_parts(np.asarray(_run(session, y, {**feeds, x: shifted}))))
        columns.append((moved[0] - moved[1]) / (2 * delta))
    rows = _parts(np.asarray(_run(session, y, feeds))).size
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), array.dtype)


def _parts(array: Array) -> Array:
    """The elements as a vector, complex ones as real and imaginary parts in turn; a view where it can be."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
