"""Taylor mode (`jet`): the derivatives of all orders along a curve, of any part of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

from ...autodiff.arguments import as_list, shaped_like
from ...autodiff.masked_zeros import guard_for
from ...autodiff.paths import operations_between
from ...core.graph import Tensor
from ...core.shape import same_shape
from ...core.typing import TensorLike
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import ones_like, zeros_like
from ..products import as_sources, check_lengths, source_tensor, value_type
from .propagation import Propagation
from .series import Curve, times


def jet(
    ys: TensorLike,
    xs: TensorLike,
    order: int,
    directions: TensorLike | Sequence[TensorLike] | None = None,
    *,
    series: Sequence[Any] | None = None,
    name: str = "jet",
) -> list[Any]:
    """The derivatives d^k y / dt^k for k = 1 ... `order` of y along a curve x(t), at t = 0: a list, first to last.

    They are derivatives, not Taylor coefficients: coefficient k is the k-th over k!. Of a list of `ys` the result is a
    list of such lists. All orders together cost about as much as `order`² evaluations, where `gradients` of `gradients`
    multiply with each order (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 13).

    Args:
        ys: a tensor or a list of them.
        xs: a tensor, a variable, or a list; anything of the graph.
        order: how many derivatives.
        directions: for each x the tensor v of a straight line x + t v, in its shape or repeated to have it; ones where
            nothing is given.
        series: in place of `directions`, for each x the list of the derivatives x', x'', ... of its curve at 0 (None:
            zeros, as are those that are left out), as `jax.experimental.jet` takes them.

    An operation follows its traits, a rule of `RegisterJet`, or its gradient, in functions, branches and loops too.

    Raises:
        LookupError: an operation between an x and a y has no gradient, or changes state in a function.
        ValueError: the order is below 1, `directions` and `series` are given, another number of them than of `xs`, or
            of another shape.

    >>> import pullback as pb
    >>> x = pb.constant(0.5)
    >>> print(*[f"{value:.4f}" for value in pb.Session().run(pb.jet(pb.sin(x), x, 4))])
    0.8776 -0.4794 -0.8776 0.4794
    """
    if order < 1:
        raise ValueError(f"jet: the order must be at least 1, not {order}")
    targets = [convert_to_tensor(y) for y in as_list(ys, "ys")]
    sources = as_sources(xs)
    given = _derivatives_of(xs, sources, directions, series)
    graph = targets[0].graph.acting
    with graph.transaction(), graph.name_scope(name):
        curves = {source_tensor(x): _curve(x, own, order) for x, own in zip(sources, given, strict=True)}
        starts = list(curves)
        between = [op for op in reversed(operations_between(targets, starts)) if op not in {x.op for x in starts}]
        propagation = Propagation(order, curves)
        with graph.entered(graph.scope._replace(guard=guard_for(graph, forward=True))):
            propagation.run(between)
        found = [_derivatives(y, propagation.curve(y), order) for y in targets]
    return found if isinstance(ys, list | tuple) else found[0]


def _derivatives_of(xs: Any, sources: Sequence[Any], directions: Any, series: Sequence[Any] | None) -> list[list[Any]]:
    """For each x the derivatives of its curve."""
    if directions is not None and series is not None:
        raise ValueError("jet: give directions or series, not both")
    several = isinstance(xs, list | tuple)
    if series is not None:
        found = [list(own) for own in (series if several else [series])]
        check_lengths(sources, found, "series", "jet")
        return found
    if directions is None:
        return [[ones_like(convert_to_tensor(x))] for x in sources]
    given = list(directions) if several else [directions]
    check_lengths(sources, given, "directions", "jet")
    return [[v] for v in given]


def _curve(x: Any, derivatives: Sequence[Any], order: int) -> Curve:
    """The curve of an x whose derivatives are those, then zeros."""
    curve, dtype = Curve(source_tensor(x)), value_type(x).dtype
    for k in range(1, order + 1):
        value = derivatives[k - 1] if k <= len(derivatives) else None
        curve.append(None if value is None else times(_like(x, convert_to_tensor(value, dtype)), 1.0 / factorial(k)))
    return curve


def _like(x: Any, value: Tensor) -> Tensor:
    """A derivative of the curve of an x in the shape of that."""
    shape = value_type(x).shape
    if same_shape(value.shape, shape):
        return value
    value = shaped_like(value, convert_to_tensor(x))
    if not value.shape.is_compatible_with(shape):
        raise ValueError(f"jet: a derivative of a curve is {value}, but x is {x}; their shapes must agree")
    return value


def _derivatives(y: Tensor, curve: Curve, order: int) -> list[Tensor]:
    found = [times(curve[k], factorial(k)) for k in range(1, order + 1)]
    return [zeros_like(y) if x is None else x for x in found]
