"""User-defined rewrite rules (`rewrite`): made of a function that yields both sides, and tried on numbers at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from .rule import Equation, Rule, as_list
from .rule import rewrite as unchecked
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
        on: for names of parameters the arrays, or the primitives, to try it on; arrays of shape [4, 4] in float64, of
            numbers between 0 and 1 and then of either sign, and primitives without attributes, unless given. Where
            the left side is NaN, the right one may be anything.

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
        if not trial.is_found(left):
            raise ValueError(f"{what} is never used: the right side takes more operations than the left one has")
        names = [*["values" for _ in left], *[f"derivatives by {x.op.name}" for x in trial.floats]]
        for arrays in (trial.given, trial.of_either_sign()):
            values = [trial.values(side, arrays) for side in (left, right)]
            for name, a, b in zip(names, *values, strict=True):
                _compare(f"{what}: the {name} of its sides", a, b, rule.level == "exact" and name == "values")


def _compare(what: str, a: Any, b: Any, exact: bool) -> None:
    """ValueError where the left side `a` is a number and `b` is another one."""
    same = (a != a) | ((a == b) if exact else np.isclose(a, b, _TOLERANCE, _TOLERANCE))
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
        sides.close()
        return left, [] if right is None else as_list(right)

    def is_found(self, left: Sequence[Tensor]) -> bool:
        """Whether the rule rewrites its own left side."""
        view = view_of(left, [], frozenset(self.given))
        return bool(simplified(view, lambda cls, kinds: [self.rule], Graph(), _as_it_is)[1])

    def of_either_sign(self) -> dict[Tensor, Any]:
        """Other values for the tensors, but for those that were given with `on`."""
        return {x: array if x.op.name in self.on else 8.0 * array - 4.0 for x, array in self.given.items()}

    def values(self, side: Sequence[Tensor], arrays: Mapping[Tensor, Any]) -> list[Any]:
        """The values of a side, and its derivatives, where the tensors are `arrays`."""
        ys = [y for y in side if y.dtype in FLOATING]
        dxs = gradients(ys, self.floats, unconnected_gradients="zero")
        fetches = [*side, *[convert_to_tensor(dx) for dx in dxs]]
        values = dict(arrays)
        with np.errstate(all="ignore"):
            for op in view_of(fetches, [], frozenset(self.given)).operations:
                result = op.primitive.kernel(np, *[values[x] for x in op.inputs])
                values.update(zip(op.outputs, result if isinstance(result, tuple) else (result,), strict=True))
        return [values[y] for y in fetches]

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


def _as_it_is(function: Function) -> Function:
    return function
