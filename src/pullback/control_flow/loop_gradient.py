"""Reverse-mode derivative of loops: a loop in the other direction, built from the derivative of one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..autodiff.cotangent import Term
from ..autodiff.pullbacks import Pullback, components, pullback_of, slices_of
from ..core.dtypes import TRAINABLE, TokenType
from ..core.function import Function, Parameter, inline, like_parameter, trace
from ..core.graph import Operation, Tensor
from ..core.lengths import Length
from ..core.memory import Memory
from ..core.primitive import ZERO
from ..primitives.creation.fill import zeros_like
from ..primitives.indexing.gather import merge_leading
from ..primitives.shape.reshape import reshape
from ..primitives.variables.operations import variable_type, variable_zeros
from .array_loops import MOST_ROOM, ArrayLoop
from .branch import as_dense
from .kept_values import kept_next, kept_values
from .state import with_step_results

if TYPE_CHECKING:
    from .loop import Loop


def loop_gradient(
    op: Operation, dys: Sequence[Any], wanted: Sequence[bool], memory: Memory | None
) -> Sequence[Term | None]:
    """The cotangents of the inputs of the loop `op`."""
    loop: Loop = op.primitive  # type: ignore[assignment]
    kept = kept_values(loop.body, loop.carried, memory)
    if kept and not loop.stateful:
        op = _with_rows(op, kept)
    backward = _Backward(op, _for_all_outputs(dys, op), wanted)
    if memory is None and not loop.stateful and backward.ends_alone:
        op = _with_rows(op, backward.ends_alone)
        backward = _Backward(op, _for_all_outputs(dys, op), wanted)
    return backward.cotangents(memory)


def _for_all_outputs(dys: Sequence[Any], op: Operation) -> list[Any]:
    """`dys`, and None for the other outputs of a loop."""
    return [*dys, *[None] * (len(op.outputs) - len(dys))]


def _with_rows(op: Operation, kept: Sequence[Tensor]) -> Operation:
    """The same loop with rows of `kept` among its outputs; a run makes one of the two."""
    loop: Loop = op.primitive  # type: ignore[assignment]
    body = loop.body.with_results([*loop.body.results, *kept])
    return op.graph.acting.add(replace(loop, body=body), op.inputs)


@dataclass
class _Row:
    """What a backward step reads: an array of the graph around the loop, of which the body has one row."""

    array: Any
    parameter: Parameter


class _Backward:
    """The backward loop of one loop, for given cotangents."""

    def __init__(self, op: Operation, dys: Sequence[Any], wanted: Sequence[bool]) -> None:
        loop: Loop = op.primitive  # type: ignore[assignment]
        self.op, self.loop, self.body = op, loop, loop.body
        places, c, s = loop.places, loop.carried, loop.scanned
        inputs = op.inputs[1:]
        self.starts, self.arrays, self.constants = inputs[:c], inputs[c : c + s], inputs[c + s :]
        self.final = [dys[i] for i in places.final]
        self.history = [dys[i] for i in places.history]
        self.written = [dys[i] for i in [*places.stacked, *places.kept]]
        """The cotangents of the body's results beyond what is carried."""
        self.active = self._active(list(wanted[1:]))
        self.wanted = [*self.active, *wanted[1 + c :]]
        seeded = [*self.active, *[dy is not None for dy in self.written]]
        self.length, self.bound = _counted(op)
        self.countable = self.length is not None or self.bound is not None
        """Whether slices of all steps can be put together on every engine: XLA must know how many there can be."""
        kept = range(c + loop.stacked, len(self.body.results))
        ends = self.body.results
        self.next = [i for i in kept_next(self.body, c) if ends[i] not in ends[c + loop.stacked :]]
        """The numbers of what is carried whose next value a backward step reads: it carries it from the step after."""
        derivative = partial(pullback_of, self.body, tuple(self.wanted), tuple(seeded))
        self.pullback: Pullback = derivative(given=(*kept, *self.next))
        if self.next:
            self.next = _read_last(self.pullback.function, self.next)
            self.pullback = derivative(given=(*kept, *self.next))
        read = _read_by(self.pullback.function)
        self.ends_alone = [
            ends[i] for i in self.next if loop.length is not None and self.pullback.function.parameters[i] not in read
        ]
        """What each of a known number of steps ends with, where none reads what it begins with: rows of that do."""

    def _active(self, wanted: Sequence[bool]) -> list[bool]:
        """What is carried and both receives a cotangent and hands one on to something wanted."""
        c = self.loop.carried
        reads = dependencies(self.body)
        trainable = [x.type.dtype in TRAINABLE for x in self.body.parameters[:c]]
        useful = [self.final[i] is not None or self.history[i] is not None for i in range(c)]
        direct = set().union(*[reads[c + j] for j, dy in enumerate(self.written) if dy is not None])
        useful = [use or i in direct for i, use in enumerate(useful)]
        varied = list(wanted)
        for _ in range(c):
            for i in range(c):
                useful[i] = useful[i] or any(useful[j] and i in reads[j] for j in range(c))
                varied[i] = varied[i] or any(varied[n] for n in reads[i])
        return [use and vary and train for use, vary, train in zip(useful, varied[:c], trainable, strict=True)]

    def cotangents(self, memory: Memory | None) -> Sequence[Term | None]:
        """One entry for each input of the loop; adds the backward loop."""
        c, s, places = self.loop.carried, self.loop.scanned, self.pullback.places
        if not any(places) and not any(self.active):
            return [None, *[None] * c, *self._flat()]
        body, rows, constants = self._backward_body()
        starts = [_start(dy, y) for dy, y, on in zip(self.final, self.op.outputs[1:], self.active, strict=False) if on]
        sums = [_zeros(k) for k, place in zip(self.constants, places[c + s :], strict=True) if self._is_sum(place)]
        carried = [*starts, *sums, *[self.op.outputs[1 + i] for i in self.next]]
        hands_on_slices = any(place and not self._is_sum(place) for place in places[c + s :])
        loop = type(self.loop)(
            with_step_results(body, len(carried)),
            None,
            len(carried),
            scanned=len(rows),
            stacked=len(body.results) - len(carried),
            length=self.length if hands_on_slices else self.loop.length,
            bound=self.bound if hands_on_slices else self.loop.bound,
            reverse=not self.loop.reverse,
            at_once=self.loop.at_once,
            memory=memory,
        )
        outputs = loop.operation(self.op.outputs[0], *carried, *[row.array for row in rows], *constants).outputs
        return self._entries(outputs[1:], len(carried))

    def _is_sum(self, place: Sequence[int]) -> bool:
        """Whether the cotangent of a constant is added up; else it is nothing, or slices of all steps."""
        return len(place) == 1 or (len(place) == 2 and not (self.countable and self._is_even(place)))

    def _is_even(self, place: Sequence[int]) -> bool:
        """Whether each step has as many slices as the others: by lengths that are known outside of the loop."""
        outside = {s for x in self.op.inputs for s in _symbols(x)}
        results = [self.pullback.function.results[i] for i in place]
        known = all(y.shape.lengths is not None and None not in y.shape.lengths for y in results)
        return known and all(outside.issuperset(_symbols(y)) for y in results)

    def _entries(self, outputs: Sequence[Tensor], carried: int) -> list[Term | None]:
        c, s = self.loop.carried, self.loop.scanned
        final, stacked, flat = iter(outputs[:carried]), iter(outputs[carried:]), self._flat()
        entries: list[Term | None] = [None]
        entries += [next(final) if on else None for on in self.active]
        places = self.pullback.places[c:]
        entries += [next(stacked) if place else zero for place, zero in zip(places[:s], flat, strict=False)]
        for k, place, zero in zip(self.constants, places[s:], flat[s:], strict=True):
            if place and not self._is_sum(place):
                values, indices = next(stacked), next(stacked)
                entries.append(slices_of(k, merge_leading(values, indices), reshape(indices, [-1])))
            else:
                entries.append(next(final) if place else zero)
        return entries

    def _flat(self) -> list[Any]:
        """`ZERO` for each scanned array and constant that is asked for and read; else None.

        That is what they get where the body stops the derivative. Rows that a loop hands out may be of several shapes,
        which no array of zeros has.
        """
        c, s = self.loop.carried, self.loop.scanned
        read: set[int] = set().union(*dependencies(self.body))
        entries: list[Any] = []
        for i, (x, want) in enumerate(zip(self.op.inputs[1 + c :], self.wanted[c:], strict=True), c):
            alike = i >= c + s or not isinstance(x.op.primitive, type(self.loop)) or x.shape[1:].is_fully_defined()
            entries.append(ZERO if want and i in read and alike else None)
        return entries

    def _rows(self) -> list[_Row]:
        """All that a backward step may read one row of, in the order of the pullback's parameters."""
        c, op, places = self.loop.carried, self.op, self.loop.places
        parameters, results = self.body.parameters, self.body.results
        history = [_Row(op.outputs[n], like_parameter(x)) for n, x in zip(places.history, parameters, strict=False)]
        scanned = [_Row(a, like_parameter(x)) for a, x in zip(self.arrays, parameters[c:], strict=False)]
        kept = [_Row(op.outputs[n], like_parameter(results[n - 1 - c])) for n in places.kept]
        written = [
            _Row(dy, like_parameter(y)) for dy, y in zip(self.written, results[c:], strict=True) if dy is not None
        ]
        seen = [_Row(dy, like_parameter(x)) for dy, x in self._history_seeds(parameters)]
        return [*history, *scanned, *kept, *written, *seen]

    def _history_seeds(self, parameters: Sequence[Tensor]) -> list[tuple[Any, Tensor]]:
        pairs = zip(self.history, parameters, self.active, strict=False)
        return [(dy, x) for dy, x, on in pairs if on and dy is not None]

    def _backward_body(self) -> tuple[Function, list[_Row], list[Tensor]]:
        """The body of the backward loop; the arrays that it scans, and the constants that it reads."""
        c, s = self.loop.carried, self.loop.scanned
        rows, places = self._rows(), self.pullback.places
        carried = [self._cotangent_parameter(i) for i, on in enumerate(self.active) if on]
        for x, place in zip(self.body.parameters[c + s :], places[c + s :], strict=True):
            if self._is_sum(place):
                carried.append(_sum_parameter(x))
        carried += [like_parameter(self.body.results[i]) for i in self.next]
        constants = [like_parameter(x) for x in self.body.parameters[c + s :]]
        ends = (len(carried), len(carried) + len(rows))

        def build(*given: Tensor) -> list[Tensor]:
            return self._step(given[: ends[0]], given[ends[0] : ends[1]], given[ends[1] :])

        function = trace(
            build, [*carried, *[row.parameter for row in rows], *constants], self._name(), inherit=False
        ).function
        used = _read_by(function)
        scanned = [i for i, x in enumerate(function.parameters[ends[0] : ends[1]]) if x in used]
        read = [i for i, x in enumerate(function.parameters[ends[1] :]) if x in used]
        parameters = [
            *function.parameters[: ends[0]],
            *[function.parameters[ends[0] + i] for i in scanned],
            *[function.parameters[ends[1] + i] for i in read],
        ]
        closed = function.with_results(function.results, parameters)
        return closed, [rows[i] for i in scanned], [self.constants[i] for i in read]

    def _cotangent_parameter(self, i: int) -> Parameter:
        """What stands for the cotangent of what a step hands to the next one: of its shape, if the start has it too."""
        y, start = self.body.results[i], self.op.inputs[1 + i]
        return Parameter((y if y.shape.is_compatible_with(start.shape) else self.body.parameters[i]).type)

    def _name(self) -> str:
        return f"{self.body.name}_grad"

    def _step(self, carried: Sequence[Tensor], rows: Sequence[Tensor], constants: Sequence[Tensor]) -> list[Tensor]:
        """The results of a backward step: cotangents, sums, what the step before handed on, then rows."""
        c, s, on = self.loop.carried, self.loop.scanned, self.active
        places, count = self.pullback.places, sum(self.active)
        kept = len(self.loop.places.kept)
        values, rest = rows[: c + s], iter(rows[c + s + kept :])
        seeds = [next(rest) for dy in self.written if dy is not None]
        after = carried[len(carried) - len(self.next) :]
        args = [*values, *constants, *carried[:count], *seeds, *rows[c + s : c + s + kept], *after]
        found = inline(self.pullback.function, args)
        terms = [self.pullback.term(i, found, x) for i, x in enumerate([*values, *constants])]
        previous: list[Tensor] = []
        for i in [i for i in range(c) if on[i]]:
            dx = as_dense(terms[i], values[i])
            previous.append(dx if self.history[i] is None else dx + next(rest))
        sums = iter(carried[count:])
        stacked = [as_dense(t, x) for t, x in zip(terms[c : c + s], values[c:], strict=True) if t is not None]
        added: list[Tensor] = []
        for term, place, k in zip(terms[c + s :], places[c + s :], constants, strict=True):
            if self._is_sum(place):
                added.append(next(sums) + as_dense(term, k))
            else:
                stacked += components(term)
        return [*previous, *added, *[values[i] for i in self.next], *stacked]


def _counted(op: Operation) -> tuple[int | None, int | None]:
    """The number of steps of the loop `op`, and one that they never exceed, where these are known."""
    loop: Loop = op.primitive  # type: ignore[assignment]
    if loop.bound is not None or loop.condition is None:
        return loop.length, loop.bound
    c = loop.carried
    most, exact = ArrayLoop(op.inputs[1 : 1 + c], loop.body, loop.condition, op.inputs[1 + c :], op.inputs[0]).steps()
    if exact:
        return most, loop.bound
    return loop.length, most if (most or 0) <= MOST_ROOM else None


def _read_last(function: Function, numbers: Sequence[int]) -> list[int]:
    """Those of `numbers` whose parameter, of the last ones, `function` reads."""
    read = _read_by(function)
    last = function.parameters[len(function.parameters) - len(numbers) :]
    return [i for i, x in zip(numbers, last, strict=True) if x in read]


def _read_by(function: Function) -> set[Tensor]:
    """What the operations of `function` read, and its results."""
    return {x for op in function.operations for x in op.inputs}.union(function.results)


def _symbols(x: Tensor) -> set[Length]:
    """The lengths of `x` that a run decides, taken apart into symbols."""
    return {s for n in x.shape.lengths or () if isinstance(n, Length) for s in n.symbols}


def _zeros(k: Tensor) -> Tensor:
    return variable_zeros(k) if isinstance(k.dtype, TokenType) else zeros_like(k)


def _sum_parameter(x: Tensor) -> Parameter:
    """What stands for the cotangent of a constant: of the variable's type where it is a variable's handle."""
    return Parameter(variable_type(x)) if isinstance(x.dtype, TokenType) else like_parameter(x)


def _start(dy: Any, y: Tensor) -> Tensor:
    return zeros_like(y) if dy is None else dy


def dependencies(function: Function) -> list[set[int]]:
    """For each result the numbers of the parameters that it depends on along trainable tensors."""
    known: list[set[int]] | None = function.memo.get("dependencies")
    if known is None:
        reads: dict[Tensor, set[int]] = {x: {i} for i, x in enumerate(function.parameters)}
        for op in function.operations:
            trainable = [reads[x] for x in op.inputs if x.type.dtype in TRAINABLE]
            reads.update(dict.fromkeys(op.outputs, set().union(*trainable)))
        known = function.memo["dependencies"] = [reads[y] for y in function.results]
    return known
