"""User-defined rewrite rules (`rewrite`): made of a function that yields both sides, and tried on numbers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from inspect import Parameter
from typing import Any

import numpy as np

from ..autodiff.reverse import gradients
from ..core.dtypes import FLOATING
from ..core.function import Function
from ..core.graph import Graph, Tensor
from ..core.primitive import Primitive
from ..primitives.creation.constant import Const, convert_to_tensor
from ..primitives.creation.placeholders import placeholder
from .normal_forms import forms_by_rank
from .rule import Equation, Rewriting, Rule, as_list
from .rule import rewrite as unchecked
from .ruleset import EXACT
from .simplify import simplified
from .view import view_of

_TOLERANCE = 1e-6


def rewrite(
    level: str = "safe", *, stabilises: bool = False, check: bool = True, on: Mapping[str, Any] | None = None
) -> Callable[[Equation], Rule]:
    """A decorator that makes a rewrite rule of a generator function: it yields what is computed, then what to compute.

    Its parameters are what may stand there: a tensor each, or, where one is annotated with types of operations
    (`total: "Sum"`, `f: "Sin | Cos"`) or with classes of `Primitive`, an operation of that type, called to use it,
    whose attributes can be read after the first yield. `*xs` is all that an operation reads. `c: "Const"` is any known
    value: `c()`, and then `c.value`. Numbers are compared by value; a parameter that stands twice is the same twice.

    Between the two yields the function may look at types and attributes, and return where the equation does not hold.
    A result that would have another dtype or shape is never used, nor one of more operations than it saves.

    Give the rule to `pb.Rules`, and that to `pb.optimize`.

    Args:
        level: "exact" where every bit stays the same, "safe" where results are at least as accurate, "fast" where
            only rounding differs.
        stabilises: whether to use it even where it takes more operations, for the sake of accuracy.
        check: try it now: the pattern on its own left side, values and derivatives of both sides beside each other.
        on: for names of parameters the arrays, or the primitives, to try it on. Unless given, these are arrays of shape
            [4, 4] in float64, of numbers between 0 and 1, of either sign, large ones, zeros and equal ones, the last
            two for values only; and primitives of each class, along all axes and the first one, with either truth
            value of what they are told so. Where the left side is NaN, the right one may be anything.

    Raises:
        ValueError: another level; the sides differ, or cannot be tried; an annotation is no type of operation.
        TypeError: what yields nothing.

    >>> import pullback as pb
    >>> @pb.rewrite("fast")
    ... def logarithms_of_products(x, y):
    ...     '''log(x) + log(y) is the logarithm of one product.'''
    ...     yield pb.log(x) + pb.log(y)
    ...     yield pb.log(x * y)
    >>> x, y = pb.placeholder(pb.float32, [3]), pb.placeholder(pb.float32, [3])
    >>> z, report = pb.optimize(pb.log(x) + pb.log(y), pb.Rules("fast", logarithms_of_products))
    >>> z.op.type, z.op.inputs[0].op.type
    ('Log', 'Mul')
    """

    plain = unchecked(level, stabilises=stabilises)

    def make(equation: Equation) -> Rule:
        rule = plain(equation)
        if check:
            check_rule(rule, on or {})
        return rule

    return make


def check_rule(rule: Rule, on: Mapping[str, Any]) -> None:
    """Try `rule` on numbers; ValueError where it does not hold, or does not find its own left side."""
    what = f"rewrite: the rule '{rule.name}'"
    with Graph().as_default():
        trial = _Trial(rule, on)
        left, right = trial.sides()
        if not right:
            raise ValueError(f"{what} does not hold for its example; give another with on=, or check=False")
        types = [", ".join([str(y.type) for y in side]) for side in (left, right)]
        if types[0] != types[1]:
            raise ValueError(f"{what} has {types[0]} on the left and {types[1]} on the right")
        if not trial.is_found(left, rule):
            if trial.is_found(left, replace(rule, stabilises=True)):
                raise ValueError(f"{what} is never used: the right side takes more operations than the left one has")
            raise ValueError(
                f"{what} does not find its left side; let a parameter stand for the operation, by its type"
            )
        trial.compare(left, right)
    for name, primitive in _others(rule, on):
        with Graph().as_default():
            trial = _Trial(rule, {**on, name: primitive})
            try:
                left, right = trial.sides()
            except (TypeError, ValueError):  # It is no operation for these types, or none that the rule is written for.
                continue
            if [y.type for y in left] == [y.type for y in right]:
                trial.compare(left, right, f" for {name}={primitive}")


def _others(rule: Rule, on: Mapping[str, Any]) -> Iterator[tuple[str, Primitive]]:
    """For parameters that stand for primitives others than the first: other numbers, classes and attributes."""
    for name in rule.parameters:
        classes = rule.classes(name)
        if name in on or not classes:
            continue
        if classes[0] is Const:
            yield from [(name, Const(np.array(value))) for value in (-1.5, [-1.5, 0.5, 2.0, 3.0])]
        for cls in classes:
            try:
                yield from [(name, cls(**attributes)) for attributes in _attributes(cls())]
            except TypeError:  # It takes attributes that nobody can guess.
                continue


def _attributes(plain: Primitive) -> Iterator[Mapping[str, Any]]:
    """None, and one that is not what it is by default: the other truth value, the first axis."""
    yield {}
    for name, value in plain.attributes.items():
        if isinstance(value, bool):
            yield {name: not value}
        elif name == "axis" and (value is None or isinstance(value, int)):
            yield {name: (0,) if value is None else 0}


def _compare(what: str, a: Any, b: Any, exact: bool, rounding: Any = 0.0) -> None:
    """ValueError where the left side `a` is a number, and `b` is another one by more than `rounding`."""
    with np.errstate(invalid="ignore"):
        near = np.isclose(a, b, _TOLERANCE, _TOLERANCE) | (np.abs(a * 1.0 - b * 1.0) <= rounding)
    same = (a != a) | ((a == b) if exact else near)
    if not np.all(same):
        x, y = (np.asarray(side)[~np.asarray(same)][0] for side in (a, b))
        raise ValueError(f"{what} differ: {x:.6g} and {y:.6g}")


class _Trial:
    """An example of a rule: tensors with their values, and primitives, for its parameters."""

    def __init__(self, rule: Rule, on: Mapping[str, Any]) -> None:
        self.rule, self.on = rule, on
        self.given: dict[Tensor, Any] = {}
        self.arguments = {name: self._argument(name) for name in rule.parameters}

    @property
    def floats(self) -> list[Tensor]:
        """The tensors by which the sides are differentiated."""
        return [x for x in self.given if x.dtype in FLOATING]

    def sides(self) -> tuple[list[Tensor], list[Tensor]]:
        """Both sides; nothing for the right one where the equation does not hold."""
        sides = self.rule.sides(self.arguments)
        left, right = as_list(next(sides)), next(sides, None)
        if next(sides, None) is not None:
            raise ValueError(f"rewrite: the rule '{self.rule.name}' yields more than two sides")
        return left, [] if right is None else as_list(right)

    def is_found(self, left: Sequence[Tensor], rule: Rule) -> bool:
        """Whether `rule`, which is this one or another with its sides, rewrites the left side."""
        view = view_of(left, [], frozenset(self.given))
        forms: list[Rewriting] = [rule, *forms_by_rank(rule)]
        return bool(simplified(view, lambda cls, kinds: forms, Graph(), _as_it_is)[1])

    def compare(self, left: Sequence[Tensor], right: Sequence[Tensor], where: str = "") -> None:
        """ValueError where both sides differ: values and derivatives at random numbers, values at others."""
        what, exact = f"rewrite: the rule '{self.rule.name}'{where}: the", self.rule.level == EXACT
        names = [*["values" for _ in left], *[f"derivatives by {x.op.name}" for x in self.floats]]
        ours = [[*side, *self.derivatives(side)] for side in (left, right)]
        for arrays in (self.given, self.others(lambda x: 8.0 * x - 4.0)):
            for name, a, b in zip(names, *[self.values(ys, arrays) for ys in ours], strict=True):
                _compare(f"{what} {name} of its sides", a, b, exact and name == "values")
        for arrays in (self.others(_landmarks), self.others(lambda x: 125.0 * x - 62.5)):
            found = [self.values(side, arrays) for side in (left, right)]
            for a, b in zip(*found, strict=True):
                _compare(f"{what} values of its sides", a, b, exact, self.rounding(left, arrays, a))

    def others(self, change: Callable[[Any], Any]) -> dict[Tensor, Any]:
        """Other values for the tensors, but for those that were given with `on`."""
        return {x: array if x.op.name in self.on else change(array) for x, array in self.given.items()}

    def derivatives(self, side: Sequence[Tensor]) -> list[Tensor]:
        """Those of a side by all floats."""
        dxs = gradients([y for y in side if y.dtype in FLOATING], self.floats, unconnected_gradients="zero")
        return [convert_to_tensor(dx) for dx in dxs]

    def values(self, fetches: Sequence[Tensor], arrays: Mapping[Tensor, Any]) -> list[Any]:
        """Values where the tensors are `arrays`."""
        values = self._run(fetches, arrays)
        return [values[y] for y in fetches]

    def rounding(self, fetches: Sequence[Tensor], arrays: Mapping[Tensor, Any], y: Any) -> Any:
        """How far the values `y` may be from others of large numbers that cancel on the way to them."""
        sizes = [np.abs(x * 1.0) for x in self._run(fetches, arrays).values() if np.size(x)]
        return 1e-12 * reduce(np.fmax, [x if x.shape == np.shape(y) else x.max() for x in sizes])

    def _run(self, fetches: Sequence[Tensor], arrays: Mapping[Tensor, Any]) -> dict[Tensor, Any]:
        values = dict(arrays)
        with np.errstate(all="ignore"):
            for op in view_of(fetches, [], frozenset(self.given)).operations:
                result = op.primitive.kernel(np, *[values[x] for x in op.inputs])
                values.update(zip(op.outputs, result if isinstance(result, tuple) else (result,), strict=True))
        return values

    def _argument(self, name: str) -> Any:
        classes = self.rule.classes(name)
        if not classes:
            array = np.asarray(self.on[name]) if name in self.on else _numbers(len(self.given))
            x = placeholder(array.dtype, array.shape, name)
            self.given[x] = array
            return (x,) if self.rule.parameters[name].kind is Parameter.VAR_POSITIONAL else x
        if name in self.on:
            return self.on[name]
        return Const(np.array(2.5)) if classes[0] is Const else self._without_attributes(name, classes[0])

    def _without_attributes(self, name: str, cls: type[Primitive]) -> Primitive:
        try:
            return cls()
        except TypeError:
            raise ValueError(
                f"rewrite: the rule '{self.rule.name}': {cls.__name__} takes attributes; give on={{'{name}': ...}}, or "
                "check=False"
            ) from None


def _numbers(seed: int) -> Any:
    return np.random.default_rng(seed).uniform(0.1, 0.9, [4, 4])


def _landmarks(x: Any) -> Any:
    """Zeros, ones, halves and equal numbers, in an order that `x` says."""
    return np.array([0, 0, 0, 1, 1, -1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, -1.5, 2.5])[np.argsort(x.ravel())].reshape(
        x.shape
    )


def _as_it_is(function: Function) -> Function:
    return function
