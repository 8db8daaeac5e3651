"""Function transformations: `grad`, `value_and_grad`, `vjp`, `jvp`, `hvp`, `jacobian`, `hessian`.

Called with arrays they run, compiled once for each signature, and return arrays. Called with tensors, as inside one
another, they build graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, partial, update_wrapper
from typing import Any

import numpy as np

from ..autodiff.reverse import gradients
from ..control_flow.signature import is_array
from ..core import nest
from ..core.dtypes import COMPLEX, FLOATING
from ..core.graph import AbstractTensorLike, Tensor, get_default_graph
from ..core.slices import IndexedSlices
from ..derivatives.jacobian import jacobian as _graph_jacobian
from ..derivatives.products import hessian_vector_product
from ..derivatives.products import jvp as _products_jvp
from ..primitives.creation.constant import as_array, convert_to_tensor
from ..primitives.creation.fill import zeros, zeros_like
from ..primitives.creation.given_numbers import read
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from .function import Function


class Transformed:
    """A function made from another: it runs on arrays, compiled once for each signature, and builds graph on tensors.

    `build` is called with tensors in the places of arrays, numbers and tensors; the other arguments stay as they are.
    """

    def __init__(self, build: Callable[..., Any], name: str, fun: Callable[..., Any] | None = None) -> None:
        self._build = build
        if fun is not None:
            update_wrapper(self, fun, updated=())
        self._function = Function(build, name=name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = (list(args), dict(kwargs))
        leaves = nest.flatten(inputs)
        if get_default_graph().outer is None and not any(map(_is_tensor, leaves)):
            args, kwargs = nest.pack_sequence_as(inputs, [_as_array(x) for x in leaves])
            return self._function(*args, **kwargs)
        args, kwargs = nest.pack_sequence_as(inputs, [_as_tensor(x) for x in leaves])
        return self._build(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The method of one object, which is its first argument."""
        return self if instance is None else partial(self, instance)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | AbstractTensorLike | IndexedSlices)


def _is_number(leaf: Any) -> bool:
    return is_array(leaf) or type(leaf) in (bool, int, float, complex)


def _as_array(leaf: Any) -> Any:
    return read(leaf, None) if is_array(leaf) else as_array(leaf) if _is_number(leaf) else leaf


def _as_tensor(leaf: Any) -> Any:
    return convert_to_tensor(leaf) if _is_tensor(leaf) or _is_number(leaf) else leaf


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Any:
    """A function of the same arguments that returns the derivative of `fun`, which returns a scalar.

    Shapes, dtypes: for one number in `argnums` a structure like that argument, for several a tuple of them. With
    `has_aux`, `fun` returns `(y, aux)` and the result is `(derivative, aux)`. An argument that y does not depend on
    gives zeros. Arguments may be nested; what is neither array nor number is handed to `fun` as it is.

    Raises:
        ValueError: `fun` returns no scalar. TypeError: an argument to differentiate by is not of floats.

    >>> import pullback as pb
    >>> pb.grad(lambda x: x * x * x)(2.0)
    np.float32(12.0)
    >>> pb.grad(pb.grad(lambda x: x * x * x))(2.0)
    np.float32(12.0)
    """
    return _cached(_grad, fun, _as_numbers(argnums), has_aux)


def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Any:
    """A function of the same arguments that returns `(y, derivative)`, both from one evaluation of `fun`.

    As for `grad`; with `has_aux` it returns `((y, aux), derivative)`.

    >>> import pullback as pb
    >>> pb.value_and_grad(lambda w: pb.reduce_sum(w["a"] * w["b"]))({"a": 2.0, "b": [3.0]})
    (np.float32(6.0), {'a': np.float32(3.0), 'b': [np.float32(2.0)]})
    """
    return _cached(_value_and_grad, fun, _as_numbers(argnums), has_aux)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """`(y, pull)`, where `y = fun(*primals)` and `pull(dy)` is the tuple of cotangents of the primals.

    Shapes, dtypes: `dy` is like y, cotangents are like the primals. With `has_aux`, `fun` returns `(y, aux)`, and the
    result is `(y, pull, aux)`. On arrays, a call of `pull` evaluates `fun` again, in one program with its derivative.

    >>> import pullback as pb
    >>> y, pull = pb.vjp(lambda x, a: a * x, [1.0, 2.0], 3.0)
    >>> y, pull([1.0, 1.0])
    (array([3., 6.], dtype=float32), ([np.float32(3.0), np.float32(3.0)], np.float32(3.0)))
    """
    if get_default_graph().outer is None and not any(map(_is_tensor, nest.flatten(list(primals)))):
        y, aux = _cached(_value, fun, has_aux)(*primals)
        pull = _cached(_pull, fun, has_aux)

        def on_arrays(dy: Any) -> Any:
            return pull(tuple(primals), _numbers_like(y, dy))

        return (y, on_arrays, aux) if has_aux else (y, on_arrays)
    inputs = nest.map_structure(_as_tensor, list(primals))
    y, aux = _evaluated(fun, inputs, {}, has_aux)

    def on_tensors(dy: Any) -> Any:
        return _pulled(y, tuple(inputs), dy)

    return (y, on_tensors, aux) if has_aux else (y, on_tensors)


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """`(y, dy)`, where `y = fun(*primals)` and dy is its change along `tangents`, one like each primal.

    Shapes, dtypes: dy is like y. With `has_aux`, `fun` returns `(y, aux)`, and the result is `(y, dy, aux)`.

    >>> import pullback as pb
    >>> pb.transforms.jvp(pb.sin, [0.0], [2.0])
    (np.float32(0.0), np.float32(2.0))
    """
    return _cached(_jvp, fun, has_aux)(list(primals), list(tangents))


def hvp(fun: Callable[..., Any], primals: Sequence[Any], vectors: Sequence[Any]) -> Any:
    """The product of the Hessian of `fun`, which returns a scalar, at `primals` with `vectors`, one like each primal.

    Shapes, dtypes: a tuple like `primals`; all blocks of the Hessian take part.

    Raises:
        ValueError: `fun` returns no scalar.

    >>> import pullback as pb
    >>> pb.hvp(lambda x, y: x * x * y, [1.0, 2.0], [1.0, 0.0])
    (np.float32(4.0), np.float32(2.0))
    """
    return _cached(_hvp, fun)(list(primals), list(vectors))


def jacobian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Any:
    """A function of the same arguments that returns the derivatives of all elements of what `fun` returns.

    Shapes: y.shape + x.shape; nested as y is, and within that as the argument (for several `argnums` a tuple of them).
    What y does not depend on gives zeros.

    >>> import pullback as pb
    >>> import numpy as np
    >>> pb.transforms.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _cached(_jacobian, fun, _as_numbers(argnums))


def hessian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Any:
    """A function of the same arguments that returns the second derivatives of `fun`, which returns a scalar.

    Shapes: x.shape + x.shape; nested as the argument is, and within that so again: all blocks.

    >>> import pullback as pb
    >>> import numpy as np
    >>> pb.transforms.hessian(lambda x: x[0] * x[0] * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return jacobian(grad(fun, argnums), argnums)


# What is built from tensors


def _grad(fun: Callable[..., Any], argnums: Any, has_aux: bool) -> Transformed:
    def build(*args: Any, **kwargs: Any) -> Any:
        _, aux, dxs = _differentiated("grad", fun, argnums, has_aux, args, kwargs)
        return (dxs, aux) if has_aux else dxs

    return Transformed(build, f"{_name(fun)}_grad", fun)


def _value_and_grad(fun: Callable[..., Any], argnums: Any, has_aux: bool) -> Transformed:
    def build(*args: Any, **kwargs: Any) -> Any:
        y, aux, dxs = _differentiated("value_and_grad", fun, argnums, has_aux, args, kwargs)
        return ((y, aux), dxs) if has_aux else (y, dxs)

    return Transformed(build, f"{_name(fun)}_value_and_grad", fun)


def _value(fun: Callable[..., Any], has_aux: bool) -> Transformed:
    def build(*args: Any) -> Any:
        return _evaluated(fun, args, {}, has_aux)

    return Transformed(build, _name(fun))


def _pull(fun: Callable[..., Any], has_aux: bool) -> Transformed:
    def build(primals: Any, dy: Any) -> Any:
        y, _ = _evaluated(fun, primals, {}, has_aux)
        return _pulled(y, primals, dy)

    return Transformed(build, f"{_name(fun)}_vjp")


def _numbers_like(y: Any, dy: Any) -> Any:
    """`dy`, in which Python numbers have become arrays of the dtypes of `y`, where its structure is that of `y`."""
    if not nest.is_nested(y):
        return np.asarray(dy, y.dtype) if isinstance(dy, int | float | complex | list | tuple) else dy
    ys, dys = nest.flatten(y), nest.flatten(dy)
    if len(ys) != len(dys):
        return dy
    return nest.pack_sequence_as(dy, [_numbers_like(a, b) for a, b in zip(ys, dys, strict=True)])


def _jvp(fun: Callable[..., Any], has_aux: bool) -> Transformed:
    def build(primals: Any, tangents: Any) -> Any:
        xs, vs = _paired("jvp: tangents", primals, tangents)
        y, aux = _evaluated(fun, primals, {}, has_aux)
        ys = nest.flatten(y)
        dys = nest.pack_sequence_as(y, _products_jvp(ys, xs, vs))
        return (y, dys, aux) if has_aux else (y, dys)

    return Transformed(build, f"{_name(fun)}_jvp")


def _hvp(fun: Callable[..., Any]) -> Transformed:
    def build(primals: Any, vectors: Any) -> Any:
        xs, vs = _paired("hvp: vectors", primals, vectors)
        y, _ = _evaluated(fun, primals, {}, False)
        _check_scalar("hvp", y)
        return nest.pack_sequence_as(tuple(primals), hessian_vector_product(y, xs, vs))

    return Transformed(build, f"{_name(fun)}_hvp")


def _jacobian(fun: Callable[..., Any], argnums: Any) -> Transformed:
    def build(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen("jacobian", argnums, args)
        y, _ = _evaluated(fun, args, kwargs, False)
        rows = [_rows_of(leaf, chosen) for leaf in nest.flatten(y)]
        return nest.pack_sequence_as(y, rows if isinstance(argnums, tuple) else [first for (first,) in rows])

    return Transformed(build, f"{_name(fun)}_jacobian", fun)


def _rows_of(y: Tensor, xs: tuple[Any, ...]) -> Any:
    """The Jacobians of one tensor, in the structure of `xs`; zeros where it does not depend on them."""
    leaves = nest.flatten(xs)
    found = _graph_jacobian(y, leaves)
    return nest.pack_sequence_as(
        xs, [_no_rows(y, x) if dx is None else dx for x, dx in zip(leaves, found, strict=True)]
    )


def _no_rows(y: Tensor, x: Tensor) -> Tensor:
    return zeros(concat([shape(y), shape(x)], 0), x.dtype)


def _differentiated(
    what: str, fun: Callable[..., Any], argnums: Any, has_aux: bool, args: Sequence[Any], kwargs: Any
) -> tuple[Any, Any, Any]:
    """y, what else `fun` returned, and the derivative of y by the chosen arguments."""
    chosen = _chosen(what, argnums, args)
    y, aux = _evaluated(fun, args, kwargs, has_aux)
    _check_scalar(what, y)
    dxs = _pulled(y, chosen, None)
    return y, aux, dxs if isinstance(argnums, tuple) else dxs[0]


def _chosen(what: str, argnums: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments to differentiate by."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise ValueError(f"{what}: argnums has {n}, but {len(args)} arguments were given by position")
    chosen = tuple([args[n] for n in numbers])
    for n, arg in zip(numbers, chosen, strict=True):
        for leaf in nest.flatten(arg):
            _check_float(what, n, leaf)
    return chosen


def _evaluated(fun: Callable[..., Any], args: Sequence[Any], kwargs: Any, has_aux: bool) -> tuple[Any, Any]:
    returned = fun(*args, **kwargs)
    if not has_aux:
        return nest.map_structure(convert_to_tensor, returned), None
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise TypeError(f"with has_aux, the function must return a pair (y, aux), not {returned!r}")
    y, aux = returned
    return nest.map_structure(convert_to_tensor, y), aux


def _pulled(y: Any, xs: tuple[Any, ...], dy: Any) -> Any:
    """The cotangents of `xs` for the cotangents `dy` of `y` (None: ones), in the structure of `xs`."""
    leaves = nest.flatten(xs)
    seeds = None
    if dy is not None:
        if nest.is_nested(y):
            nest.assert_same_structure(y, dy, check_types=False)
        seeds = nest.flatten(dy) if nest.is_nested(y) else [dy]
    dxs = gradients(nest.flatten(y), leaves, grad_ys=seeds)
    found = [zeros_like(x) if dx is None else convert_to_tensor(dx) for x, dx in zip(leaves, dxs, strict=True)]
    return nest.pack_sequence_as(xs, found)


def _paired(what: str, primals: Any, vectors: Any) -> tuple[list[Any], list[Any]]:
    nest.assert_same_structure(primals, vectors, check_types=False)
    xs, vs = nest.flatten(primals), nest.flatten(vectors)
    for x, v in zip(xs, vs, strict=True):
        if v.dtype != x.dtype or not v.shape.is_compatible_with(x.shape):
            raise ValueError(f"{what}: {v.type} was given for a primal of {x.type}")
    return xs, vs


def _check_float(what: str, n: int, leaf: Any) -> None:
    if not isinstance(leaf, Tensor) or leaf.dtype not in FLOATING | COMPLEX:
        found = leaf.type if isinstance(leaf, Tensor) else repr(leaf)
        raise TypeError(f"{what}: argument {n} is {found}; derivatives are by floats: choose others with argnums")


def _check_scalar(what: str, y: Any) -> None:
    if not isinstance(y, Tensor) or y.shape.rank not in (0, None):
        found = y.type if isinstance(y, Tensor) else repr(y)
        raise ValueError(f"{what}: the function must return a scalar, not {found}; sum it up, or use pb.vjp")


def _as_numbers(argnums: int | Sequence[int]) -> int | tuple[int, ...]:
    return argnums if isinstance(argnums, int) else tuple(argnums)


def _name(fun: Callable[..., Any]) -> str:
    name = str(getattr(fun, "__name__", type(fun).__name__))
    return "lambda" if name == "<lambda>" else name


@lru_cache(maxsize=256)
def _known(make: Callable[..., Transformed], fun: Callable[..., Any], *options: Any) -> Transformed:
    return make(fun, *options)


def _cached(make: Callable[..., Transformed], fun: Callable[..., Any], *options: Any) -> Transformed:
    """What `make` makes of `fun`: the same for the same function, so that it is traced and compiled once."""
    if not callable(fun):
        raise TypeError(f"{make.__name__.lstrip('_')}: the first argument must be a function, not {fun!r}")
    return _known(make, fun, *options) if isinstance(fun, Hashable) else make(fun, *options)
