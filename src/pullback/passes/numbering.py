"""Global value numbering by random interpretation (Gulwani and Necula 2004): equal values, however they are arranged.

Each tensor gets a value in a finite field, as identities of polynomials are tested by (Schwartz 1980, Zippel 1979), and
tensors of equal values become one: a * b * c and c * b * a, 2 x and x + x, (a + b) @ w and a @ w + b @ w. A tensor is
represented by a few places. Elementwise operations work place by place: by their coefficients where they are linear or
bilinear, else by a hash of what they are given. Other linear operations are random matrices, bilinear ones random
tensors. What two expressions have in common for these they have for all, save with a probability of 1e-18.

Values that cancel are not left out: two tensors are one only if they depend on the same ones, and on the same
exponentials, divisors and other functions that may be infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple

import numpy as np

from ..autodiff.choices import chosen_rules
from ..core.dtypes import COMPLEX, INEXACT
from ..core.function import AbstractFunctional
from ..core.graph import Operation, Tensor
from ..core.intervals import FINITE, ORIGIN, Interval
from ..core.primitive import no_gradient
from ..core.traits import ADDS, ELEMENTWISE, MOVES, PLACES, SINGULAR, SURROGATE, ZEROS, reading
from .view import Array, View

_PRIME = (1 << 61) - 1
_PLACES = 4
_SUPPORT = 127
Vector = tuple[int, ...]


class Number(NamedTuple):
    """What stands for a tensor's value, and, as bits, for the tensors that it depends on."""

    value: Vector
    support: int


def numbered(view: View) -> View:
    """The view with tensors of equal values made one, whatever the order of their sums and products."""
    numbering = _Numbering(view)
    for op in view.operations:
        numbering.visit(op)
    if not numbering.same:
        return view
    return replace(view, same={**view.same, **numbering.same}).settled().pruned()


class _Numbering:
    def __init__(self, view: View) -> None:
        self.view = view
        self.numbers: dict[Tensor, Number] = {}
        self.first: dict[Any, Tensor] = {}
        self.same: dict[Tensor, Tensor] = {}

    def visit(self, op: Operation) -> None:
        """Number the outputs of `op`, and let earlier tensors stand for those that are equal to them."""
        view, primitive = self.view, op.primitive
        if not op.outputs or op.outputs[0] in view.known:
            return
        if not _is_pure(op) or not view.given.isdisjoint(op.outputs):
            for y in op.outputs:
                self.numbers[y] = self._unique()
            return
        given = [self._number(x) for x in view.inputs(op)]
        support = 0
        for number in given:
            support |= number.support
        attrs = repr(sorted(op.attrs.items()))
        for i, y in enumerate(op.outputs):
            kind = _kind(y)
            about = (repr(primitive), attrs, kind, i)
            number = _filled(op) or Number(_value(op, about, [x.value for x in given]), support | _pole(op, given))
            self.numbers[y] = number
            if kind is None:  # Of two unknown lengths nobody knows whether they are the same.
                continue
            first = self.first.setdefault((number, kind, op.device, attrs), y)
            if first is not y and y not in view.keep and y not in view.apart:
                self.same[y] = first

    def _number(self, x: Tensor) -> Number:
        number = self.numbers.get(x)
        if number is None:
            known = self.view.known.get(x)
            number = self.numbers[x] = self._unique() if known is None else _constant(known)
        return number

    def _unique(self) -> Number:
        count = len(self.numbers)
        return Number(_hashed("tensor", count), 1 << count % _SUPPORT)


def _is_pure(op: Operation) -> bool:
    primitive = op.primitive
    acts = primitive.stateful or primitive.acts or primitive.recomputes or isinstance(primitive, AbstractFunctional)
    return not acts and not op.controls and op.name not in chosen_rules()


def _pole(op: Operation, given: Sequence[Number]) -> int:
    """A bit for what may be infinite or NaN of finite numbers: inf - inf is not 0."""
    if SINGULAR not in op.primitive.traits:
        return 0
    moving = _linear_inputs(op)
    held = [x.value for i, x in enumerate(given) if i not in moving]
    return 1 << _hashed("pole", repr(op.primitive), held)[0] % _SUPPORT


def _filled(op: Operation) -> Number | None:
    """The number in every place of the result, where there is one whatever is given."""
    bounds = op.primitive.bounds(*[FINITE] * len(op.inputs))
    if isinstance(bounds, Interval) and bounds.low == bounds.high and not bounds.nan:
        return Number((_of_number(bounds.low),) * _PLACES, 0)
    return None


def _constant(known: Array) -> Number:
    if known.size == 1 and known.dtype.kind in "iuf" and np.isfinite(known).all():
        return Number((_of_number(known.item()),) * _PLACES, 0)
    return Number(_hashed("constant", known.dtype, known.shape, blake2b(known.tobytes()).digest()), 0)


def _of_number(x: float) -> int:
    exact = Fraction(x)
    return exact.numerator * pow(exact.denominator, -1, _PRIME) % _PRIME


def _hashed(*what: Any) -> Vector:
    digest = blake2b(repr(what).encode(), digest_size=8 * _PLACES).digest()
    return tuple([int.from_bytes(digest[8 * k : 8 * k + 8], "big") % _PRIME for k in range(_PLACES)])


def _value(op: Operation, kind: Any, xs: Sequence[Vector]) -> Vector:
    """The value of one output of `op`; `kind` is all that the output depends on but for the values of the inputs."""
    traits, arranged = op.primitive.traits, ELEMENTWISE not in op.primitive.traits
    pair = next((t.inputs for t in traits if t.name == "bilinear" and max(t.inputs) < len(xs)), None)
    moving = _linear_inputs(op) if pair is None else pair
    if arranged:
        kind = (kind, [_kind(x) or value for x, value in zip(op.inputs, xs, strict=True)])
    if SURROGATE in traits or type(op.primitive).gradient is no_gradient or (arranged and not moving):
        return _hashed(kind, list(xs))
    held = [_held(op, i, x) for i, x in enumerate(xs) if i not in moving]
    moved = [xs[i] for i in moving]
    if not arranged and moving and _turns(op, moving, pair is not None):
        return _elementwise(_coefficients(op, kind, moving, held, pair is not None), moved, pair is not None)
    if not arranged:
        return tuple([_hashed(kind, at)[0] for at in zip(*xs, strict=True)])
    is_product = pair is not None
    return _mixed((kind, held), [a * b % _PRIME for a in moved[0] for b in moved[1]] if is_product else sum(moved, ()))


def _turns(op: Operation, moving: Sequence[int], is_product: bool) -> bool:
    """Whether i times the input, or a factor, gives i times the result: as of conj, real and imag it does not."""
    if all(x.dtype not in COMPLEX for x in op.inputs):
        return True
    xs = np.random.default_rng(0).normal(size=(len(op.inputs), 2)) @ [1, 1j]
    y = op.primitive.kernel(np, *xs)
    groups = [(i,) for i in moving] if is_product else [moving]
    turned = [[1j * x if i in group else x for i, x in enumerate(xs)] for group in groups]
    return all(np.allclose(op.primitive.kernel(np, *zs), 1j * y) for zs in turned)


def _held(op: Operation, i: int, value: Vector) -> Any:
    """What the result depends on of an input that is no factor: of what only moves, and sums, floats say the shape."""
    x, traits = op.inputs[i], op.primitive.traits
    is_shape = (MOVES in traits or ADDS in traits) and ELEMENTWISE not in traits and x.dtype in INEXACT
    return (_kind(x) if is_shape else None) or value


def _kind(x: Tensor) -> Any:
    """What is equal for tensors of one dtype and shape; None where the shape is not known."""
    lengths = x.shape.lengths
    if lengths is None or None in lengths:
        return None
    return x.dtype.name, tuple([n if isinstance(n, int) else id(n) for n in lengths])


def _linear_inputs(op: Operation) -> Sequence[int]:
    """The inputs of which the result of `op` is a linear function without a constant term, all others held."""
    primitive, inputs = op.primitive, tuple(range(len(op.inputs)))
    traits = primitive.traits
    groups = [t.inputs or inputs for t in traits if t.name == "linear"]
    if groups:
        return groups[0]
    if ELEMENTWISE in traits or PLACES in traits:  # Identities are there for another reason than their value.
        return ()
    moving = reading(traits, len(inputs)).passes
    return moving if moving and primitive.bounds(*[ORIGIN if i in moving else FINITE for i in inputs]) == ORIGIN else ()


def _coefficients(
    op: Operation, kind: Any, moving: Sequence[int], held: Sequence[Vector], is_product: bool
) -> list[Sequence[int]]:
    """For each place the numbers that inputs, or their product, are multiplied by."""
    count = 1 if is_product else len(moving)
    masks = ZEROS in op.primitive.traits or any(t.name == "zero wins" for t in op.primitive.traits)
    if not held and not masks and len(op.outputs) == 1:
        units = [[float(is_product or i == j) for j in range(len(moving))] for i in range(count)]
        found = [op.primitive.kernel(np, *map(np.float64, unit)) for unit in units]
        if not np.iscomplexobj(found):
            return [[_of_number(float(a)) for a in found]] * _PLACES
    return [[_hashed(kind, i, [x[k] for x in held])[0] for i in range(count)] for k in range(_PLACES)]


def _elementwise(factors: Sequence[Sequence[int]], xs: Sequence[Vector], is_product: bool) -> Vector:
    at = list(zip(*xs, strict=True))
    if is_product:
        return tuple([f[0] * a * b % _PRIME for f, (a, b) in zip(factors, at, strict=True)])
    return tuple(
        [sum([f * x for f, x in zip(fs, given, strict=True)]) % _PRIME for fs, given in zip(factors, at, strict=True)]
    )


def _mixed(key: Any, xs: Sequence[int]) -> Vector:
    """A random linear function of `xs`, the same for equal keys."""
    random = Random(repr(key))
    return tuple([sum([random.getrandbits(61) * x for x in xs]) % _PRIME for _ in range(_PLACES)])
