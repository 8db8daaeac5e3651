"""Argument checking of `gradients`: every refusal names the argument and what was found."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, FLOATING, INTEGER, resource, variant
from ..core.graph import AbstractTensorLike, Graph, Operation, Tensor, get_default_graph, site_of
from ..core.shape import TensorShape
from ..core.slices import IndexedSlices
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.shape.broadcast import broadcast_like
from ..primitives.shape.reshape import reshape_like
from ..primitives.variables.variable import Variable
from .cotangent import METHODS


class UnconnectedGradients(enum.Enum):
    """What `gradients` returns for an x that no y depends on: None, or zeros of its shape and dtype.

    >>> import pullback as pb
    >>> x, other = pb.constant(2.0), pb.constant([1, 2])
    >>> pb.gradients(x * x, other)
    [None]
    >>> pb.Session().run(pb.gradients(x * x, other, unconnected_gradients=pb.UnconnectedGradients.ZERO))
    [array([0, 0], dtype=int32)]
    """

    NONE = "none"
    ZERO = "zero"


def as_list(value: Any, what: str) -> list[Any]:
    """`value` as the list that it is, or in a list of its own."""
    if isinstance(value, dict):
        raise TypeError(
            f"gradients: {what} is a dictionary; pass a tensor or a list of them, such as list({what}.values())"
        )
    return list(value) if isinstance(value, list | tuple) else [value]


def check_element(value: Any, what: str) -> None:
    """TypeError for what can never be differentiated: None, names, operations."""
    if value is None:
        raise TypeError(f"gradients: {what} is None; pass a tensor, a variable, or leave it out")
    if isinstance(value, str | bytes):
        raise TypeError(
            f"gradients: {what} is the string {value!r}; pass the tensor, as graph.get_tensor_by_name({value!r})"
        )
    if isinstance(value, Operation):
        raise TypeError(f"gradients: {what} is {value!r}; pass one of its outputs, such as op.outputs[0]")


def common_graph(values: Sequence[Any]) -> Graph:
    """The one graph of all tensors among `values`; the default graph where there are none.

    Where the default graph is a body that is open, they may belong to it and to graphs around it.

    Raises:
        ValueError: they belong to different graphs.
    """
    tensors = [v for v in values if isinstance(v, Tensor)]
    tensors += [v.handle for v in values if isinstance(v, Variable)]
    tensors += [v.values for v in values if isinstance(v, IndexedSlices) and isinstance(v.values, Tensor)]
    body = get_default_graph()
    if body.outer is not None and tensors and all(t.graph is body or body.lies_in(t.graph) for t in tensors):
        return body
    for t in tensors:
        if t.graph is not tensors[0].graph:
            raise ValueError(
                f"gradients: {t} (made at {site_of(t)}) must be from the same graph as "
                f"{tensors[0]} (made at {site_of(tensors[0])})." + _remedy(t, tensors[0])
            )
    return tensors[0].graph if tensors else get_default_graph()


def _remedy(*tensors: Tensor) -> str:
    """What to do where one of `tensors` belongs to a body."""
    inside = next((t for t in tensors if t.graph.outer is not None), None)
    if inside is None:
        return ""
    return (
        f" {inside} is inside the body '{inside.graph.name}'; call gradients there, or return it from the body. "
        "pb.history gives what a loop variable is in each step."
    )


def as_target(value: Any, name: str, graph: Graph) -> Tensor | IndexedSlices:
    """A y: a variable is read, numbers become constants, slices stay slices.

    Raises:
        ValueError: it is made of tensors, but none itself. TypeError: it holds something else than numbers.
    """
    if isinstance(value, IndexedSlices):
        return value
    try:
        return convert_to_tensor(value, name=name, graph=graph)
    except TypeError:
        if isinstance(value, list | tuple | np.ndarray):
            raise
        raise ValueError(
            f"Type {type(value).__name__} is not supported as a gradient source or gradient target; "
            "pass the tensors that it is made of."
        ) from None


def as_source(value: Any, name: str, graph: Graph) -> Tensor | IndexedSlices:
    """An x: a variable stands for its handle, so that all of its reads count."""
    if isinstance(value, Variable):
        return value.handle
    return as_target(value, name, graph)


def as_mode(value: Any) -> UnconnectedGradients:
    """The member that `unconnected_gradients` is or names."""
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}; use 'none' or 'zero'") from None


def as_method(value: Any) -> int:
    """The aggregation method; None is the default one, as for a function that is used in its place."""
    if value is None or callable(value):
        return METHODS[0]
    if value not in METHODS:
        raise ValueError(
            f"Invalid `aggregation_method` specified {value!r}; use a member of pb.AggregationMethod, or a function of "
            "the terms and the operation"
        )
    return int(value)


def as_seed(value: Any, y: Tensor, i: int, graph: Graph) -> Tensor | IndexedSlices:
    """The cotangent given for `y`, checked against its dtype, in its shape; numbers adopt y's dtype.

    Raises:
        TypeError, ValueError: the dtype or the shape is not y's.
    """
    check_element(value, f"grad_ys[{i}]")
    if isinstance(value, IndexedSlices):
        seed: Tensor | IndexedSlices = value
    elif isinstance(value, Tensor | AbstractTensorLike):
        seed = convert_to_tensor(value)
    else:
        hint = None if y.dtype in (resource, variant) else y.dtype
        seed = convert_to_tensor(value, hint, name=f"grad_y_{i}", graph=graph)
    _check_seed_dtype(seed, y, i)
    seed = shaped_like(seed, y) if isinstance(seed, Tensor) else seed
    if not seed.shape.is_compatible_with(y.shape) and y.dtype != resource:
        raise ValueError(f"gradients: grad_ys[{i}] is {_text(seed)}, but ys[{i}] is {y}; their shapes must agree")
    return seed


def shaped_like(x: Tensor, y: Tensor) -> Tensor:
    """`x` in the shape of `y`, where it is that with first axes of length 1, or is repeated to have it."""
    if _has_axes_of_one_more(x.shape, y.shape):
        x = reshape_like(x, y)
    return broadcast_like(x, y) if _repeats(x.shape, y.shape) else x


def _has_axes_of_one_more(shape: TensorShape, wanted: TensorShape) -> bool:
    """Whether `shape` has more axes than is wanted, all first and of length 1, which TensorFlow takes for none."""
    more = (shape.rank or 0) - (wanted.rank or 0)
    if shape.rank is None or wanted.rank is None or more <= 0:
        return False
    return (shape.sizes or ())[:more] == (1,) * more and shape[more:].is_compatible_with(wanted)


def _repeats(shape: TensorShape, wanted: TensorShape) -> bool:
    """Whether an array of `shape` is repeated to have the shape wanted: a scalar, a row, an axis of length 1."""
    missing = (wanted.rank or 0) - (shape.rank or 0)
    if shape.sizes is None or wanted.sizes is None or missing < 0:
        return False
    pairs = list(zip(shape.sizes, wanted.sizes[missing:], strict=True))
    fits = all(n == 1 or n is None or m is None or n == m for n, m in pairs)
    return fits and (missing > 0 or any(n == 1 != m for n, m in pairs))


def _check_seed_dtype(seed: Tensor | IndexedSlices, y: Tensor, i: int) -> None:
    real = FLOATING | INTEGER
    if y.dtype == seed.dtype and (y.dtype in real or y.dtype in COMPLEX or y.dtype == variant):
        return
    if y.dtype == resource:
        if seed.dtype != resource:
            return
        raise TypeError(
            f"Gradient type resource generated for {y} should not be a resource; pass a numeric grad_ys[{i}]"
        )
    found = f"Gradient type {seed.dtype.name} generated for"
    if y.dtype in COMPLEX and seed.dtype not in COMPLEX:
        raise TypeError(f"{found} complex-valued tensor {y} must be complex; cast grad_ys[{i}] with pb.cast")
    if y.dtype in real and seed.dtype not in real:
        raise TypeError(
            f"{found} real or integer-valued tensor {y} must be real or integer; cast grad_ys[{i}] with pb.cast"
        )
    if y.dtype == variant:
        raise TypeError(f"{found} variant tensor {y} must be variant")
    if y.dtype not in real and y.dtype not in COMPLEX:
        raise TypeError(f"Tensor {y} must be numeric to obtain a default gradient, and to take one in grad_ys[{i}]")
    raise TypeError(f"{found} {y} must have its dtype, {y.dtype.name}; cast grad_ys[{i}] with pb.cast")


def _text(seed: Tensor | IndexedSlices) -> str:
    return str(seed) if isinstance(seed, Tensor) else f"IndexedSlices of {seed.values}"
