"""Term rewriting: one sweep over a view in which what a rule describes gives way to what it says is equal.

Operations are gone through once, in order, and what a rule adds is gone through at once: the time is linear in the
number of operations and of rewrites, of which there is a bound. New operations are made in a graph of their own, and
stand where those were that they replace. What has state, acts, waits, checks, or has a derivative that somebody chose,
takes no part in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..autodiff.choices import chosen_rules
from ..control_flow.branch import Case, If
from ..control_flow.loop import Loop
from ..core.function import AbstractFunctional, Function
from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import Primitive
from ..core.scopes import Scope
from ..primitives.creation.constant import Const
from ..primitives.creation.fill import Fill, Filled, FillLike
from ..primitives.debugging.guards import AbstractGuard
from ..primitives.shape.broadcast import BroadcastLike, BroadcastTo
from ..primitives.shape.reshape import Reshape, ReshapeLike
from .fold import LARGEST
from .loops import hoisted, narrowed, uses
from .pattern import Bindings, Kinds, matches
from .rebuilding import with_functions
from .rule import Rewriting, same_type
from .view import Array, View

RulesOf = Callable[[type[Primitive], Kinds], Sequence[Rewriting]]
_MOST_REWRITES = 4
"""A sweep stops after so many rewrites for each operation."""
_DEEPEST = 8
"""What a rule adds is rewritten again so often, in one sweep: rules may lead back to each other."""


@dataclass(frozen=True)
class Rewrite:
    """What a pass has done in one place: operations that are gone, and those that stand for them."""

    rule: str
    before: tuple[Operation, ...]
    after: tuple[Operation, ...]

    @property
    def place(self) -> str:
        """The user's line; empty where it is not known."""
        return "" if self.before[0].site is None else str(self.before[0].site)

    def __str__(self) -> str:
        """As `softplus by hand: Log, Exp -> Softplus (train.py:12: y = pb.log(1 + pb.exp(x)))`."""
        before, after = (", ".join(op.name for op in ops) for ops in (self.before, self.after))
        place = f" ({self.place})" if self.place else ""
        return f"{self.rule}: {before} -> {after or 'what was there'}{place}"


def simplified(
    view: View, rules_of: RulesOf, graph: Graph, inside: Callable[[Function], Function]
) -> tuple[View, list[Rewrite]]:
    """The view after one sweep, and what was rewritten; new operations are made in `graph`.

    `rules_of` gives the rules to try on operations of a class with inputs of some kinds, in order.
    `inside` says what the functions of calls, branches and loops become.
    """
    sweep = _Sweep(view, rules_of, graph, inside)
    for op in view.operations:
        sweep.visit(op)
    return sweep.result(), sweep.rewrites


class _Sweep:
    """The facts that patterns ask for, and the view as it becomes."""

    def __init__(self, view: View, rules_of: RulesOf, graph: Graph, inside: Callable[[Function], Function]) -> None:
        self.view, self.rules_of, self.graph, self.inside = view, rules_of, graph, inside
        self.same: dict[Tensor, Tensor] = dict(view.same)
        self.known: dict[Tensor, Array] = dict(view.known)
        self.apart = set(view.apart)
        self.operations: list[Operation] = []
        self.places: dict[Operation, int] = {}
        self.uses = uses(view)
        self.numbers: dict[Tensor, Any] = {}
        self.rewrites: list[Rewrite] = []
        self.most = _MOST_REWRITES * len(view.operations)
        self.depth = 0

    def result(self) -> View:
        """The view as the sweep leaves it."""
        if len(self.same) == len(self.view.same):
            return self.view
        made = replace(
            self.view, operations=self.operations, same=self.same, known=self.known, apart=frozenset(self.apart)
        )
        return made.settled().pruned()

    def visit(self, op: Operation) -> None:
        """Rewrite `op` as often as a rule can, or let it stay."""
        outputs, primitive = op.outputs, op.primitive
        stops = self.depth == _DEEPEST or len(self.rewrites) == self.most
        if outputs and outputs[0] not in self.known and not stops and self._is_free(op):
            for rule in self.rules_of(type(primitive), tuple(map(self._kind, self.inputs(op)))):
                for found in matches(rule.pattern, op, self):
                    if self._rewritten(rule, op, found):
                        return
        if isinstance(primitive, AbstractFunctional) and not primitive.recomputes and self._may_change(op):
            if self._chosen_branch(op, primitive):
                return
            op = self._hoisted(self._narrowed(self._with_lean_functions(op, primitive)))
        self._append(op)

    def _append(self, op: Operation) -> None:
        self.places[op] = len(self.operations)
        self.operations.append(op)

    # What patterns ask

    def stand_in(self, x: Tensor) -> Tensor:
        """The tensor that stands for `x` by now."""
        while x in self.same:
            x = self.same[x]
        return x

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """What an operation reads."""
        return [self.stand_in(x) for x in self.view.reads(op)]

    def producer(self, x: Tensor) -> Operation | None:
        """The operation behind `x`, where a pattern may look at it."""
        view = self.view
        return None if x in view.given or x in view.keep or x in self.apart else x.op

    def number(self, x: Tensor) -> Any:
        """The number that all elements of `x` are, where that is known."""
        if x not in self.numbers:
            self.numbers[x] = self._number(x)
        return self.numbers[x]

    def constant(self, x: Tensor) -> Primitive | None:
        """The constant that `x` is, where it is known and small."""
        value = self.known.get(x)
        if value is None or value.size > LARGEST:
            return None
        primitive = x.op.primitive
        return primitive if isinstance(primitive, Const) else Const(value)

    def _kind(self, x: Tensor) -> type[Primitive] | None:
        if x in self.known or self.number(x) is not None:
            return Const
        op = self.producer(x)
        return None if op is None else type(op.primitive)

    def _number(self, x: Tensor) -> Any:
        value, op = self.known.get(x), self.producer(x)
        if value is not None:
            return value.flat[0] if 0 < value.size <= LARGEST and (value == value.flat[0]).all() else None
        if op is None:
            return None
        match op.primitive:
            case Filled(value=number) | FillLike(value=number):
                return number
            case BroadcastTo() | BroadcastLike() | Reshape() | ReshapeLike() | Fill():
                return self.number(self.inputs(op)[0])
        return None

    # What a match leads to

    def _rewritten(self, rule: Rewriting, op: Operation, found: Bindings) -> bool:
        """Whether the operations that a rule has found gave way to its right side."""
        before = list(dict.fromkeys([part for part in found.values() if isinstance(part, Operation)]))
        if not all(part is op or (self._is_free(part) and _is_beside(part, op)) for part in before):
            return False
        made = rule.right_side(found)
        if made is None:
            return False
        function, tensors = made
        if not all(same_type(y, z) for y, z in zip(op.outputs, function.results, strict=True)):
            return False
        count = sum(not isinstance(new.primitive, Const) for new in function.operations)
        if not rule.stabilises and count > self._freed(op, before):
            return False
        self.depth += 1
        added = self._replace(op, function, tensors)
        self.depth -= 1
        self.rewrites.append(Rewrite(rule.name, tuple(before), added))
        return True

    def _replace(self, op: Operation, function: Function, tensors: Sequence[Tensor]) -> tuple[Operation, ...]:
        """Put the operations of `function` of `tensors` in the place of `op`; those that are new."""
        results, added = self._inlined(op, function, tensors)
        self._stand_for(op, results)
        self._release(op)
        return added

    def _inlined(
        self, op: Operation, function: Function, tensors: Sequence[Tensor]
    ) -> tuple[list[Tensor], tuple[Operation, ...]]:
        """The results of `function` for `tensors`, computed where `op` stands, and the operations that are new."""
        values = dict(zip(function.parameters, tensors, strict=True))
        read = {*function.results, *[x for inner in function.operations for x in inner.inputs]}
        added, held = [], []
        for inner in function.operations:
            new = self._new(
                inner.primitive, [self.stand_in(values[x]) for x in inner.inputs], op, f"{op.name}/{inner.type}"
            )
            values.update(zip(inner.outputs, new.outputs, strict=True))
            if isinstance(new.primitive, Const):
                self.known[new.outputs[0]] = new.primitive.value
                self._append(new)
            else:
                added.append(new)
                if isinstance(new.primitive, AbstractFunctional):  # What reads it has not been made yet.
                    later = [z for y, z in zip(inner.outputs, new.outputs, strict=True) if y in read]
                    self.uses.update(later)
                    held += later
                self.visit(new)
        self.uses.subtract([self.stand_in(z) for z in held])
        return [self.stand_in(values[y]) for y in function.results], tuple(added)

    def _new(self, primitive: Primitive, inputs: Sequence[Tensor], op: Operation, name: str) -> Operation:
        """A new operation that stands where `op` did."""
        with self.graph.entered(Scope(original_op=op.original_op, site=op.site)):
            new = self.graph.add(primitive, inputs, name)
        new.device, new.attrs = op.device, op.attrs
        self.uses.update(inputs)
        return new

    def _stand_for(self, op: Operation, results: Sequence[Tensor]) -> None:
        """Let `results` stand for the outputs of `op`."""
        for y, z in zip(op.outputs, results, strict=True):
            self._stand_for_one(y, z)

    def _stand_for_one(self, y: Tensor, z: Tensor) -> None:
        self.same[y] = z
        self.uses[z] += self.uses.pop(y, 0)
        if y in self.apart and z.op.graph is self.graph:
            self.apart.add(z)

    def _release(self, op: Operation) -> None:
        """Count no more what `op` reads, nor what only served that."""
        pending = [op]
        for gone in pending:
            for x in self.inputs(gone):
                self.uses[x] -= 1
                if self.uses[x] == 0 and x not in self.view.given and not any(self.uses[y] for y in x.op.outputs):
                    pending.append(x.op)

    # Calls, branches and loops

    def _with_lean_functions(self, op: Operation, primitive: AbstractFunctional) -> Operation:
        """`op`, or one of the same functions made lean."""
        lean = with_functions(primitive, self.inside)
        return op if lean is primitive else self._changed(op, lean, self.inputs(op), range(len(op.outputs)))

    def _changed(
        self, op: Operation, primitive: Primitive, inputs: Sequence[Tensor], outputs: Sequence[int]
    ) -> Operation:
        """An operation in the place of `op` that gives those of its outputs."""
        new = self._new(primitive, inputs, op, op.name)
        new.controls = op.controls
        for i, z in zip(outputs, new.outputs, strict=True):
            self._stand_for_one(op.outputs[i], z)
        self._release(op)
        return new

    def _chosen_branch(self, op: Operation, primitive: AbstractFunctional) -> bool:
        """Whether the branch that a known value chooses stands for `op` by now."""
        if not isinstance(primitive, If | Case):
            return False
        choice = self.known.get(self.inputs(op)[0])
        if choice is None or primitive.stateful or op.controls or any(f.effects for f in primitive.functions):
            return False
        number = primitive.taken(choice)
        added = self._replace(op, primitive.functions[number], primitive.arguments(self.inputs(op))[number])
        self.rewrites.append(Rewrite("branch that is always chosen", (op,), added))
        return True

    def _hoisted(self, op: Operation) -> Operation:
        """`op`, or a loop that is given what it computed from constants alone in each step."""
        loop = op.primitive
        made = hoisted(loop) if isinstance(loop, Loop) else None
        if made is None or not isinstance(loop, Loop):
            return op
        inputs = self.inputs(op)
        results, added = self._inlined(op, made.outside, inputs[1 + loop.carried + loop.scanned :])
        new = self._changed(op, made.loop, [*inputs, *results], range(len(op.outputs)))
        self.rewrites.append(Rewrite("the same in each step", (op,), (*added, new)))
        return new

    def _narrowed(self, op: Operation) -> Operation:
        """`op`, or a loop without the variables that nobody reads."""
        loop = op.primitive
        made = narrowed(loop, lambda i: self.uses[op.outputs[i]] > 0) if isinstance(loop, Loop) else None
        if made is None:
            return op
        inputs = self.inputs(op)
        new = self._changed(op, made.loop, [inputs[i] for i in made.inputs], made.outputs)
        self.rewrites.append(Rewrite("unread variables of a loop", (op,), (new,)))
        return new

    def _is_free(self, op: Operation) -> bool:
        """Whether an operation may give way to others: it neither acts nor waits, and nobody chose its derivative."""
        p = op.primitive
        if op.controls or p.stateful or p.acts or p.recomputes or isinstance(p, AbstractGuard):
            return False
        if not self._may_change(op):
            return False
        chosen = chosen_rules()
        return "_gradient_op_type" not in op.attrs and op.type not in chosen and op.name not in chosen

    def _may_change(self, op: Operation) -> bool:
        """Whether nobody outside holds on to the outputs of an operation."""
        return self.view.given.isdisjoint(op.outputs) and self.view.keep.isdisjoint(op.outputs)

    def _freed(self, op: Operation, before: Sequence[Operation]) -> int:
        """How many of the operations found nobody needs once `op`, which reads the others, is gone."""
        gone = Counter(self.inputs(op))
        count = 1
        others = {part for part in before if part is not op}
        for part in sorted(others, key=self.places.__getitem__, reverse=True):
            if all(self.uses[y] <= gone[y] for y in part.outputs):
                gone.update(self.inputs(part))
                count += 1
        return count


def _is_beside(part: Operation, op: Operation) -> bool:
    """Whether two operations are on one device, with the same attributes."""
    return part.device == op.device and part.attrs == op.attrs
