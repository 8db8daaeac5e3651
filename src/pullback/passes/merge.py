"""Common subexpression elimination: equal operations on equal inputs become one.

Equal are primitives with equal attributes, on one device, with the same control inputs; constants by value where they
are small, else by identity; calls, branches and loops whose functions are the same operation by operation. What has an
effect, draws random numbers or is there to compute again is never merged. Of loops that differ only in how much they
hand out, as those do that a derivative makes to keep what steps compute, the one is left that hands out most.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from ..control_flow.loop import Loop
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive
from ..primitives.creation.constant import Const
from .rebuilding import rebuilt
from .view import Array, View

_LARGEST_COMPARED = 4096
"""Constants of more bytes are equal where they are one array."""


def merge(function: Function, keep: Collection[Tensor] = ()) -> Function:
    """`function` with equal operations made one; the names of the tensors `keep` stay.

    >>> import pullback as pb
    >>> from pullback.core.function import trace
    >>> f = trace(lambda x: [pb.tanh(x) * pb.tanh(x)], [pb.constant(1.0).type], "f", ["x"]).function
    >>> print(merge(f))
    f(x: float32[]) -> (mul)
      Tanh: float32[] = Tanh(x)
      mul: float32[] = Mul(Tanh, Tanh)
    """
    return rebuilt(function, merged, keep)


def merged(view: View) -> View:
    """The view with equal operations made one."""
    merging = _Merging(view)
    operations = [op for op in view.operations if not merging.is_known(op)]
    made = replace(view, operations=merging.with_longest(operations), same=merging.same)
    return made.settled() if view.same else made


@dataclass(eq=False)
class _Kind:
    """Operations that hold functions and differ at most in how much they hand out."""

    first: Operation
    longest: Operation
    outputs: list[Tensor]
    """What stands for their outputs while the operations are gone through."""


class _Merging:
    def __init__(self, view: View) -> None:
        self.same: dict[Tensor, Tensor] = dict(view.same)
        self.view = replace(view, same=self.same)
        self.first: dict[Any, Operation] = {}
        """The first of equal operations."""
        self.kinds: dict[Any, list[_Kind]] = {}
        """The operations that hold functions, by all but these."""

    def is_known(self, op: Operation) -> bool:
        """Whether an earlier operation stands for `op`."""
        primitive, outputs, view = op.primitive, op.outputs, self.view
        if not outputs or not view.given.isdisjoint(outputs) or not view.apart.isdisjoint(outputs):
            return False
        if isinstance(primitive, AbstractFunctional):
            return self._is_known_holder(op)
        if primitive.stateful or primitive.acts or primitive.recomputes:
            return False
        is_value = outputs[0] in view.known
        key = (op.device, *[_key(view.known[y]) for y in outputs]) if is_value else (primitive, *self._around(op))
        first = self.first.setdefault(key, op)
        if first is op or not view.keep.isdisjoint(outputs) or not (is_value or is_same(first.primitive, primitive)):
            return False
        self.same.update(zip(outputs, first.outputs, strict=True))
        return True

    def _around(self, op: Operation) -> tuple[Any, ...]:
        """All but the primitive that equal operations have in common."""
        inputs = tuple(self.view.inputs(op))
        if not op.controls and not op.device and not op.attrs:
            return (inputs,)
        return inputs, tuple(self.view.controls(op)), op.device, repr(sorted(op.attrs.items()))

    def _is_known_holder(self, op: Operation) -> bool:
        alike = self.kinds.setdefault((type(op.primitive), *self._around(op)), [])
        for kind in alike:
            longest, keep = kind.longest, self.view.keep
            if _is_part(op.primitive, longest.primitive) and keep.isdisjoint(op.outputs):
                break
            if _is_part(longest.primitive, op.primitive) and keep.isdisjoint(longest.outputs):
                kind.longest = op
                break
        else:
            alike.append(_Kind(op, op, op.outputs))
            return False
        self.same.update(zip(op.outputs, kind.outputs, strict=False))
        kind.outputs.extend(op.outputs[len(kind.outputs) :])
        return True

    def with_longest(self, operations: list[Operation]) -> list[Operation]:
        """`operations`, with those that hand out most in the places of the first of their kinds."""
        kinds = [kind for alike in self.kinds.values() for kind in alike if kind.longest is not kind.first]
        if not kinds:
            return operations
        turned = {x: y for kind in kinds for x, y in zip(kind.outputs, kind.longest.outputs, strict=True)}
        found = {**turned, **{x: turned.get(y, y) for x, y in self.same.items()}}
        self.same = {x: y for x, y in found.items() if x is not y}
        places = {kind.first: kind.longest for kind in kinds}
        return [places.get(op, op) for op in operations]


def _key(value: Array) -> Any:
    """What is equal for equal values, of which large ones are told by identity."""
    return id(value) if value.nbytes > _LARGEST_COMPARED else (value.dtype, value.shape, value.tobytes())


def _is_part(a: Primitive, b: Primitive) -> bool:
    """Whether `b`, of the type of `a`, gives all that `a` gives, as its first outputs."""
    if isinstance(a, Loop) and isinstance(b, Loop) and a.body.graph is b.body.graph:
        results = b.body.results[: len(a.body.results)]
        return a.body.results == results and replace(b, body=a.body) == a and a.body.parameters == b.body.parameters
    return not (a.stateful or a.recomputes or any(f.effects for f in a.functions)) and is_same(a, b)


def is_same(a: Any, b: Any) -> bool:
    """Whether two primitives or attributes are equal, functions operation by operation."""
    if isinstance(a, Function):
        return isinstance(b, Function) and _is_same_function(a, b)
    if isinstance(a, AbstractFunctional) and type(a) is type(b):
        a, b = tuple(a.attributes.values()), tuple(b.attributes.values())
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(is_same(x, y) for x, y in zip(a, b, strict=True))
    # Attributes may be equal and not the same: 0.0 and -0.0.
    return a is b or (a == b and (isinstance(a, Const) or repr(a) == repr(b)))


def _is_same_function(a: Function, b: Function) -> bool:
    """Whether two functions are the same operations on parameters of the same types."""
    if a is b:
        return True
    types = [[x.type for x in f.parameters] for f in (a, b)]
    if types[0] != types[1] or len(a.operations) != len(b.operations):
        return False
    tensors, ops = dict(zip(b.parameters, a.parameters, strict=True)), dict[Operation, Operation]()
    for p, q in zip(a.operations, b.operations, strict=True):
        around = [tensors[x] for x in q.inputs], [ops[c] for c in q.controls], q.device, q.attrs
        if around != (list(p.inputs), list(p.controls), p.device, p.attrs) or not is_same(p.primitive, q.primitive):
            return False
        tensors.update(zip(q.outputs, p.outputs, strict=True))
        ops[q] = p
    return list(a.results) == [tensors[y] for y in b.results]
