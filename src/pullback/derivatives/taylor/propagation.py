"""Propagation of Taylor coefficients through a graph, operation by operation.

What is linear is applied to coefficients, products are convolutions, elementary functions have recurrences, functions
inside operations have jets of their own. Everything else follows from its gradient: y'(t) is an expression of x(t),
y(t) and x'(t), whose own coefficients up to k - 1 give coefficient k of y.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from ...autodiff.registry import rule_of
from ...autodiff.reverse import pull
from ...autodiff.rules import apply_rule
from ...core.dtypes import COMPLEX, TRAINABLE, TokenType
from ...core.function import AbstractFunctional
from ...core.graph import Operation, Tensor
from ...core.intervals import FINITE, ORIGIN
from ...core.needs import needed
from ...core.operation import index_of
from ...core.primitive import ZERO
from ...core.slices import IndexedSlices
from ...core.traits import ADDS, MOVES, reading
from ...primitives.base.broadcasting import AbstractElementwise
from ...primitives.base.densify import densify
from ...primitives.creation.fill import ones_like, zeros_like
from ...primitives.identity.identity import identity
from . import matrix_functions, recurrences
from .registry import registered
from .series import Coefficient, Curve, each, integral, times, total

del matrix_functions, recurrences  # Their rules are registered.
Coefficients = Iterator[Any]


class Step(NamedTuple):
    """An operation that varies along the curve: what gives its coefficients, and the curves of its outputs."""

    rule: Coefficients
    curves: Sequence[Curve]

    def advance(self) -> None:
        """Work out one coefficient more."""
        for curve, coefficient in zip(self.curves, each(next(self.rule)), strict=True):
            curve.append(coefficient)


class Propagation:
    """The curves of the tensors that vary, up to coefficient `order`."""

    def __init__(self, order: int, curves: dict[Tensor, Curve]) -> None:
        self.order = order
        self._curves = curves

    def curve(self, x: Tensor) -> Curve:
        """The curve of `x`."""
        return self._curves.get(x) or Curve(x, varies=False)

    def run(self, operations: Iterable[Operation]) -> None:
        """Work out all coefficients of the outputs of `operations`, which stand in the order of the graph."""
        for op in operations:
            step = self.step(op)
            if step is not None:
                for _ in range(self.order):
                    step.advance()

    def step(self, op: Operation) -> Step | None:
        """The step of `op`, none of whose coefficients are worked out yet; None where it does not vary."""
        varying = [i for i, x in enumerate(op.inputs) if x in self._curves]
        outputs = [y for y in op.outputs if y.dtype in TRAINABLE and y not in self._curves]
        if not varying or not outputs or not op.primitive.reads_values:
            return None
        rule = self._rule(op, varying)
        if rule is None:
            return None
        curves = [Curve(y) for y in op.outputs]
        self._curves.update([(y, curve) for y, curve in zip(op.outputs, curves, strict=True) if _carries(y)])
        return Step(rule, curves)

    def _rule(self, op: Operation, varying: Sequence[int]) -> Coefficients | None:
        xs = [self.curve(x) for x in op.inputs]
        special = registered(op)
        if special is not None and not _is_overridden(op):
            return special(op, *xs)
        gradient = rule_of(op)
        if gradient is None:
            return None
        if gradient != op.primitive.gradient:
            return self._by_gradient(op, xs, varying)
        if isinstance(op.primitive, AbstractFunctional):
            from .functions import functional

            return functional(self, op, xs)
        group = _linear_group(op)
        moves = group and MOVES in op.primitive.traits
        moving = [i for i in varying if i in group] if moves else varying
        if not moving:
            return None
        if set(moving) <= set(group):
            return _linear(op, xs, group)
        pair = _bilinear_pair(op, moving)
        if pair is not None:
            return _bilinear(op, xs, pair)
        if isinstance(op.primitive, AbstractElementwise) and op.outputs[0].dtype not in COMPLEX:
            return self._by_slopes(op, xs, moving)
        return self._by_gradient(op, xs, moving)

    def _by_slopes(self, op: Operation, xs: Sequence[Curve], varying: Sequence[int]) -> Coefficients:
        """An elementwise function: y' is the sum of its partial derivatives times the x'."""
        start = len(op.graph.acting.operations)
        (y,) = op.outputs
        primitive: Any = op.primitive
        entries = primitive.partials(ones_like(y), y, *op.inputs)
        found = {i: entries[i]() if callable(entries[i]) else entries[i] for i in varying}
        slopes = {i: s for i, s in found.items() if s is not None and s is not ZERO}
        steps = self._steps(slopes.values(), start)
        for k in count(1):
            yield total([integral(xs[i], self.curve(s), k) for i, s in slopes.items()])
            for step in steps:
                step.advance()

    def _by_gradient(self, op: Operation, xs: Sequence[Curve], varying: Sequence[int]) -> Coefficients:
        """Any function: y' is the derivative of its gradient by the cotangents, along x'."""
        start = len(op.graph.acting.operations)
        speeds = {i: identity(_or_zeros(xs[i][1], op.inputs[i])) for i in varying}
        curves = {i: Curve(x) for i, x in speeds.items()}
        self._curves.update((speeds[i], curves[i]) for i in varying)
        slopes = pushed(op, speeds)
        steps = self._steps([s for s in slopes if s is not None], start)
        for k in count(1):
            yield tuple([None if s is None else times(self.curve(s)[k - 1], 1.0 / k) for s in slopes])
            for i, curve in curves.items():
                curve.append(xs[i].speed(k + 1) if len(xs[i]) > k + 1 else None)
            for step in steps:
                step.advance()

    def _steps(self, ends: Iterable[Tensor], start: int) -> list[Step]:
        """The steps of the operations from number `start` on that `ends` need."""
        targets = [x.op for x in ends if x.op.index >= start]
        found = needed(targets, lambda op: [x.op for x in op.inputs if x.op.index >= start])
        steps = [self.step(op) for op in sorted(found, key=index_of) if op.outputs[0] not in self._curves]
        return [step for step in steps if step is not None]


def pushed(op: Operation, tangents: dict[int, Tensor]) -> list[Tensor | None]:
    """The derivative of each output of `op` along `tangents` of inputs; None where it is zero."""
    seeds = [ones_like(y) if _carries(y) else None for y in op.outputs]
    wanted = [i in tangents for i in range(len(op.inputs))]
    entries = apply_rule(op, seeds, wanted, lambda op: op.name)
    pairs = [(dx, tangents[i]) for i, dx in enumerate(entries) if dx is not None and dx is not ZERO]
    if not pairs:
        return [None] * len(seeds)
    dxs = [densify(dx) if isinstance(dx, IndexedSlices) else dx for dx, _ in pairs]
    known = [s for s in seeds if s is not None]
    found = iter(pull(dxs, [v for _, v in pairs], known))
    return [None if s is None else _dense(next(found)) for s in seeds]


def _is_overridden(op: Operation) -> bool:
    """Whether a rule other than its primitive's differentiates `op`."""
    try:
        return rule_of(op) != op.primitive.gradient
    except LookupError:
        return False


def _carries(y: Tensor) -> bool:
    return y.dtype in TRAINABLE and not isinstance(y.dtype, TokenType)


def _dense(x: Any) -> Tensor | None:
    return densify(x) if isinstance(x, IndexedSlices) else x


def _or_zeros(coefficient: Coefficient, x: Tensor) -> Tensor:
    return zeros_like(x) if coefficient is None else coefficient


def _linear_group(op: Operation) -> tuple[int, ...]:
    """The inputs in which `op` is linear together, without a constant term; () where it is not."""
    traits, n = op.primitive.traits, len(op.inputs)
    floats = tuple([i for i, x in enumerate(op.inputs) if x.dtype in TRAINABLE])
    if MOVES in traits:
        groups = [reading(traits, n).moved, floats]
    elif ADDS in traits:
        groups = [floats]
    else:
        groups = [tuple([i for i in t.inputs or range(n) if i < n]) for t in traits if t.name == "linear"]
    return next((group for group in groups if group and _is_homogeneous(op, group)), ())


def _is_homogeneous(op: Operation, group: Sequence[int]) -> bool:
    """Whether the results are 0 where all inputs of `group` are."""
    zero = [i in group or x.dtype not in TRAINABLE for i, x in enumerate(op.inputs)]
    return op.primitive.bounds(*[ORIGIN if z else FINITE for z in zero]) == ORIGIN


def _linear(op: Operation, xs: Sequence[Curve], group: Sequence[int]) -> Coefficients:
    """f(x): coefficients go through as they are."""
    several = len(op.outputs)
    for k in count(1):
        parts = {i: xs[i][k] for i in group}
        if all(part is None for part in parts.values()):
            yield None if several == 1 else (None,) * several
            continue
        inputs = [_or_zeros(parts[i], x) if i in parts else x for i, x in enumerate(op.inputs)]
        yield op.primitive(*inputs)


def _bilinear_pair(op: Operation, varying: Sequence[int]) -> tuple[int, int] | None:
    """The two inputs in each of which `op` is linear, where no other one varies."""
    pairs = [t.inputs for t in op.primitive.traits if t.name == "bilinear"]
    found = next((pair for pair in pairs if set(varying) <= set(pair)), None)
    return None if found is None or (max(found) >= len(op.inputs) and len(varying) > 1) else (found[0], found[1])


def _bilinear(op: Operation, xs: Sequence[Curve], pair: tuple[int, int]) -> Coefficients:
    """f(a, b): a convolution of coefficients."""
    a, b = pair
    alone = max(pair) >= len(op.inputs)
    for k in count(1):
        if alone:
            only = xs[a][k]
            yield None if only is None else op.primitive(only)
            continue
        terms = []
        for j in range(k + 1):
            left, right = xs[a][j], xs[b][k - j]
            if left is not None and right is not None:
                given = {a: left, b: right}
                terms.append(op.primitive(*[given.get(i, x) for i, x in enumerate(op.inputs)]))
        yield total(terms)
