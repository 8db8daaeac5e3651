"""NaN-safe cotangents (the "double where" trick, done by analysis): what a mask hides stays zero.

A mask makes elements of a cotangent exactly zero. On the way to an x they may be multiplied by what is infinite or NaN
where the mask hides it, and 0 * inf is NaN. While a derivative is built a `Guard` sees each operation before it is
made. Where an operand may hold such zeros and what it is multiplied with may be infinite, and only there, it takes a
form in which zeros win.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, FLOATING, DType
from ..core.dtypes import bool as bool_
from ..core.function import AbstractFunctional, Function, Parameter, origin_of
from ..core.graph import Graph, Operation, Tensor
from ..core.intervals import ANY, FINITE, ORIGIN, UNIT, Bounds, Interval
from ..core.needs import needed
from ..core.operation import index_of
from ..core.primitive import Primitive
from ..core.traits import CONSTANT, ELEMENTWISE, SINGULAR, ZEROS, reading
from ..primitives.creation.constant import constant
from ..primitives.elementwise.masking import MaskedMul, MaskUnseen, MulNoNan, mask_unseen
from .choices import Around, what_is_around


class Guard:
    """For an operation that is to be made, the primitive and the inputs with which zeros win where they must.

    The parameters of a function, cotangents among them, are what `around` says; what a body that is still traced has
    captured is what it is outside. Where derivatives are `forward`, every zero of a factor hides: it is one that the
    cotangent would have been multiplied by before it reached the pole.
    """

    def __init__(self, around: Around, *, forward: bool = False) -> None:
        self._around = around
        self._forward = forward
        self._intervals: dict[Tensor, Interval] = {}
        """What is known of the elements of a tensor."""
        self._zeros: set[Tensor] = set()
        """The tensors of those that may hold zeros that hide something."""
        self._flat: set[Tensor] = set()
        """The tensors that may be finite because what they were made of is infinite: slopes there are 0."""
        self._unseen: dict[Any, Tensor] = {}

    def __call__(self, primitive: Primitive, inputs: Sequence[Tensor]) -> tuple[Primitive, Sequence[Tensor]]:
        if len(inputs) < 2:
            return primitive, inputs
        read = reading(primitive.traits, len(inputs))
        weak = read.homogeneous
        xs = [self.interval(x) for x in inputs] if weak else []
        if SINGULAR not in primitive.traits and all(x.finite for x in xs):
            return primitive, inputs
        slope = [] if ZEROS in primitive.traits else _slope_of(primitive, inputs)
        if slope and not xs[weak[0]].finite and any(self._is_flat(x) for x in slope):
            return self._by_slope(primitive, inputs, weak[0])
        guarded = list(inputs)
        factors = self._forward and ELEMENTWISE in primitive.traits
        hiding = [i for i in weak if (factors and xs[i].has_zero) or inputs[i] in self._zeros]
        hiding = [i for i in hiding if _makes_nan(primitive, xs, i)]
        masked = primitive.masked() if hiding else None
        if masked == MaskedMul() and len({*hiding, *read.wins}) == 1 and xs[hiding[0]].bounded:
            return MulNoNan(), (inputs[1 - hiding[0]], inputs[hiding[0]])
        if masked is not None:
            return masked, inputs
        for i in hiding:
            if SINGULAR in primitive.traits:
                return self._masked_result(primitive, inputs, i)
            for j, x in enumerate(xs):
                if j != i and not x.finite:
                    guarded[j] = self._kept_where_seen(primitive, inputs, i, j, guarded[j])
        return primitive, guarded

    def _by_slope(self, primitive: Primitive, inputs: Sequence[Tensor], i: int) -> tuple[Primitive, Sequence[Tensor]]:
        """A product of input `i` with the slope that `primitive` multiplies it by, in which zeros of that win."""
        graph, dy = inputs[i].op.graph, inputs[i]
        with graph.entered(graph.scope._replace(guard=None)):
            slope = primitive(*inputs[:i], constant(1, dy.dtype), *inputs[i + 1 :])
        return MaskedMul(), (dy, slope)

    def _masked_result(
        self, primitive: Primitive, inputs: Sequence[Tensor], i: int
    ) -> tuple[Primitive, Sequence[Tensor]]:
        """What makes zeros of the results of `primitive` that are not finite and meet only zeros of input `i`.

        Zeros in the place of operands would not do: a matrix of zeros has no inverse.
        """
        graph = inputs[i].op.graph
        with graph.entered(graph.scope._replace(guard=None)):
            y = primitive(*inputs)
        links = primitive.links(i, *[x.type for x in inputs]) or ()
        meets = {link.output: link.input for link in links if link.pairs is None}
        rank = y.shape.rank
        along = None if rank is None else tuple([meets.get(axis) for axis in range(rank)])
        return MaskUnseen(along), (y, y, inputs[i])

    def _kept_where_seen(self, primitive: Primitive, inputs: Sequence[Tensor], i: int, j: int, x: Tensor) -> Tensor:
        """`x`, input `j` or what stands for it, with zeros where it is not finite and meets only zeros of input `i`."""
        meets = primitive.meets(i, j, *[x.type for x in inputs])
        rank = inputs[j].shape.rank
        along = None if rank is None else tuple([meets.get(axis) for axis in range(rank)])
        key = (inputs[i], inputs[j], along, x)
        if key not in self._unseen:
            self._unseen[key] = mask_unseen(x, inputs[j], inputs[i], along)
        return self._unseen[key]

    def interval(self, x: Tensor) -> Interval:
        """The numbers among which all elements of `x` are."""
        known = self._intervals
        if x not in known:
            before = [source.op for source in x.op.inputs if source not in known]
            if before:
                found = needed(before, lambda op: [source.op for source in op.inputs if source not in known])
                for op in sorted(found, key=index_of):
                    self._learn(op)
            self._learn(x.op)
        return known[x]

    def _learn(self, op: Operation) -> None:
        known = self._intervals
        if isinstance(op.primitive, Parameter) and (around := origin_of(op.outputs[0])) is not op.outputs[0]:
            known[op.outputs[0]] = self.interval(around)
            if around in self._zeros:
                self._zeros.add(op.outputs[0])
            return
        xs = [known[x] for x in op.inputs]
        found = self._of_results(op, xs)
        zeros, fades = self._hides(op), _fades(op.primitive, xs)
        for y in op.outputs:
            dtype = y.type.dtype
            own = found if isinstance(found, Interval) else found[y.value_index]
            known[y] = own = own if dtype in FLOATING else _of_dtype(dtype, own)
            if fades and own.finite:
                self._flat.add(y)
            if own.has_zero and (
                zeros or own == ORIGIN or dtype == bool_ or (fades and (0 in own[:2] or _is_share(op, xs)))
            ):
                self._zeros.add(y)

    def _of_results(self, op: Operation, xs: Sequence[Interval]) -> Bounds:
        if isinstance(op.primitive, Parameter):
            return ANY if self._around.poles else FINITE
        if isinstance(op.primitive, AbstractFunctional):
            return ANY if has_poles([op]) or not all(x.finite for x in xs) else FINITE
        return op.primitive.bounds(*xs)

    def _hides(self, op: Operation) -> bool:
        """Whether the results of `op` may hold zeros that hide something."""
        traits = op.primitive.traits
        if isinstance(op.primitive, Parameter):
            return self._around.zeros
        if CONSTANT in traits:
            return not np.all(op.primitive.attributes["value"])
        if ZEROS in traits or isinstance(op.primitive, AbstractFunctional):
            return True
        read = reading(traits, len(op.inputs))
        if any(x in self._zeros or self._is_flat(x) for x in _slope_of(op.primitive, op.inputs)):
            return True
        through = [op.inputs[i] in self._zeros for i in read.passes]
        return (all(through) and bool(through)) if read.together else True in through

    def _is_flat(self, x: Tensor) -> bool:
        """Whether a slope at `x` may be 0 because something is infinite."""
        return x in self._flat or not self.interval(x).finite

    def around(self, op: Operation, dys: Iterable[Any]) -> Around:
        """What reaches the functions of `op`, of which `dys` are the cotangents: beside slices there are zeros."""
        again = isinstance(op.primitive, AbstractFunctional) and op.primitive.repeats and has_poles([op])
        poles = [not self.interval(x).finite for x in op.inputs]
        given = [x for x in (*op.inputs, *dys) if x is not None]
        zeros = [not isinstance(x, Tensor) or (bool(self.interval(x)) and x in self._zeros) for x in given]
        return Around(again or True in zeros, again or True in poles)


def _of_dtype(dtype: DType, interval: Interval) -> Interval:
    """What `interval` means for a dtype that is not real and floating: complex numbers are in no order."""
    if dtype == bool_:
        return UNIT
    if dtype in COMPLEX:
        return interval if interval == ORIGIN else FINITE if interval.finite else ANY
    return interval if interval.finite else FINITE


def _slope_of(primitive: Primitive, inputs: Sequence[Tensor]) -> list[Tensor]:
    """What is read for the slope that `primitive` multiplies another input by; nothing where it is no such product."""
    weak = reading(primitive.traits, len(inputs)).homogeneous
    if len(weak) != 1 or ELEMENTWISE not in primitive.traits or SINGULAR in primitive.traits:
        return []
    return [x for i, x in enumerate(inputs) if i not in weak and x.type.dtype in FLOATING]


def _fades(primitive: Primitive, xs: Sequence[Interval]) -> bool:
    """Whether results may be 0 because an input is infinite: exponentials, softmax, what is divided by it."""
    passes = reading(primitive.traits, len(xs)).passes
    return any(not x.finite and i not in passes for i, x in enumerate(xs))


def _is_share(op: Operation, xs: Sequence[Interval]) -> bool:
    """Whether what is divided is not 0, so that a quotient is 0 only where the divisor is infinite."""
    weak = reading(op.primitive.traits, len(xs)).homogeneous
    return bool(weak) and not any(xs[i].has_zero for i in weak)


def _makes_nan(primitive: Primitive, intervals: list[Interval], i: int) -> bool:
    """Whether a zero of input `i` may become NaN."""
    bounds = primitive.bounds(*[ORIGIN if n == i else x for n, x in enumerate(intervals)])
    return bounds.nan if isinstance(bounds, Interval) else any(each.nan for each in bounds)


def has_poles(operations: Collection[Operation]) -> bool:
    """Whether one of `operations` may give what is not finite for finite numbers, itself or in a function inside."""
    classes = {type(op.primitive) for op in operations}
    if any(SINGULAR in cls.traits for cls in classes):
        return True
    if not any(issubclass(cls, AbstractFunctional) for cls in classes):
        return False
    return any(_has_poles(function) for op in operations for function in op.primitive.functions)


def _has_poles(function: Function) -> bool:
    known: bool | None = function.memo.get("has_poles")
    if known is None:
        known = function.memo["has_poles"] = has_poles(function.operations)
    return known


def guard_for(graph: Graph, *, forward: bool = False) -> Guard | None:
    """A guard for a derivative, or a `forward` one, that is added to `graph`; None where no pole is reachable."""
    around = what_is_around()
    reachable = around.poles or any(has_poles(level.operations) for level in graph.levels())
    return Guard(around, forward=forward) if reachable else None
