"""ONNX export of loops: a node that carries, writes rows, and holds a graph for its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....control_flow.loop import Loop
from ....core.dtypes import COMPLEX, int64
from ....core.dtypes import bool as bool_
from ....core.lengths import Dimension
from ....core.shape import TensorShape
from ....core.types import TensorType, tensor_type
from ...pairs import Pair, grouped, part_types, parts
from ...records import Rows, Value
from ...registry import writer
from ...writing import Writer
from .branches import changed_states, in_places, without_states


@writer(Loop, pairs=True, rows=True)
def loop(w: Writer, p: Any, limit: Value, *args: Any) -> list[Any]:
    """Constants are read from the graph around; rows are gathered by the number of the step.

    Histories are outputs of the loop that have a row for each step. What only goes along its rows is a Scan, which
    onnxruntime hands rows without a copy.
    """
    step = _Step(w, p, limit, args)
    before = dict(w.model.states)
    found = _scan(w, step) if step.is_scan() else _loop(w, step)
    w.model.states = before | {k: v for k, v in w.model.initial.items() if k not in before}
    return step.results(found)


def _loop(w: Writer, step: _Step) -> Sequence[Value]:
    """What a Loop gives, whose body takes the number of the step, whether it goes on, and all that is carried."""
    outputs, initial = step.outputs, parts(step.initial())
    begins = w.constant(True) if step.p.condition is None else step.condition(w, step.first)
    tapes = [w.sequence(outputs[n].dtype) for n in step.rows.sequences]
    empty = [w.emit("SequenceEmpty", [], [t], {"dtype": t.dtype.element})[0] for t in tapes]  # type: ignore[union-attr]
    leading = [tensor_type(int64, []), tensor_type(bool_, [])]
    types = [*leading, *part_types(step.kept), *tapes]
    body = w.body(step.build, types, ["step", "going"])
    stacks = part_types([step.rows.type_of(n) for n in step.rows.stacked])
    given = [step.count, begins, *initial, *empty]
    return w.emit("Loop", given, [*part_types(step.kept), *tapes, *stacks], {"body": body})


def _scan(w: Writer, step: _Step) -> Sequence[Value]:
    """What a Scan gives, whose body takes what is carried and one row of each array, in the loop's direction."""
    scanned, stacks = parts(step.scanned), part_types([step.rows.type_of(n) for n in step.rows.stacked])
    rows = [TensorType(x.type.dtype, x.type.shape[1:]) for x in scanned]
    directions: dict[str, Any] = {"scan_input_directions": [int(step.p.reverse)] * len(scanned)}
    if stacks:
        directions["scan_output_directions"] = [int(step.p.reverse)] * len(stacks)
    body = w.body(step.build_scan, [*part_types(step.kept), *rows])
    attributes = {"body": body, "num_scan_inputs": len(scanned), **directions}
    return w.emit("Scan", [*parts(step.initial()), *scanned], [*part_types(step.kept), *stacks], attributes)


class _Rows:
    """Which rows a loop writes: for each output of the operation what the body has for it.

    The loop stacks those that all have one shape, and carries sequences of the others.
    """

    def __init__(
        self, w: Writer, p: Any, steps: Dimension | None, carried: Sequence[Any], written: Sequence[Any]
    ) -> None:
        places = p.places
        read = [n for n in (*places.history, *places.stacked, *places.kept) if w.read(n)]
        self.steps = TensorShape([steps])
        self.types = dict(zip((*places.history, *places.stacked, *places.kept), (*carried, *written), strict=True))
        self.sequences = [n for n in read if self.types[n].shape.has_unknown and w.op.outputs[n].dtype not in COMPLEX]
        self.stacked = [n for n in read if n not in self.sequences]
        self.history = {n: n - places.history.start for n in read if n in places.history}
        self.written = [n for n in read if n not in self.history]
        self.results = [places.result_of(n) for n in self.written]

    def type_of(self, n: int) -> TensorType:
        """The type of the rows of output `n`, stacked."""
        row = self.types[n]
        return TensorType(row.dtype, self.steps.concatenate(row.shape))

    def of_step(self, carried: Sequence[Any], written: Sequence[Any]) -> dict[int, Any]:
        """The row of each output, from what was carried into a step, and the rows that its body has written."""
        rows = {n: carried[i] for n, i in self.history.items()}
        return rows | dict(zip(self.written, written, strict=True))


class _Step:
    """What the body of a loop has to do with the node around it.

    Carried are the loop's variables, the number of steps where somebody reads it, the variables of the graph that are
    changed, and sequences of rows.
    """

    def __init__(self, w: Writer, p: Any, limit: Value, args: Sequence[Any]) -> None:
        c, s = p.carried, p.scanned
        self.w, self.p, self.outputs = w, p, w.op.outputs
        self.prefix = f"{w.prefix}{w.op.name}/"
        self.first = [w.stacked(x) for x in args[:c]]
        self.scanned, self.constants = args[c : c + s], args[c + s :]
        alike = [not isinstance(x, Rows) for x in self.scanned]
        carried, written = p.types_of_all_steps([x.type for x in args], alike)
        self.changed = changed_states(w, p.functions[:1], args)
        self.counted = p.condition is not None and w.read(0)
        known = p.length is not None and p.condition is None
        self.count = w.constant(p.length, int64) if known else w.cast(limit, int64)
        counts = w.model.elements_of(self.count) if p.condition is None else None
        self.rows = _Rows(w, p, None if counts is None else counts.item(), carried, written)
        self.last = w.node("Sub", self.count, w.constant(1, int64)) if p.reverse and s else self.count
        counter: list[Any] = [tensor_type(int64, [])] if self.counted else []
        self.kept = [*carried, *counter, *self.changed.values()]

    def initial(self) -> list[Any]:
        """What is carried into the first step, without sequences."""
        counter: list[Any] = [self.w.constant(0, int64)] if self.counted else []
        return [*self.first, *counter, *[self.w.model.states[handle] for handle in self.changed]]

    def condition(self, w: Writer, carried: Sequence[Any]) -> Value:
        """Whether there is another step."""
        value: Value = w.function(self.p.condition, [*carried, *self.constants], None, self.prefix)[0]
        return value

    def build(self, inner: Writer, step: Value, going: Value, *values: Value) -> list[Value]:
        """What the node wants of its body."""
        p, rows = self.p, self.rows
        split = len(values) - len(rows.sequences)
        whole, tapes = grouped(values[:split], self.kept), values[split:]
        place = inner.node("Sub", self.last, step) if p.reverse and p.scanned else step
        following, row_of = self._made(inner, whole, [_row(inner, x, place) for x in self.scanned])
        goes_on = going if p.condition is None else self.condition(inner, following)
        counter: list[Any] = [inner.node("Add", whole[p.carried], inner.constant(1, int64))] if self.counted else []
        changed = [self.w.model.states[handle] for handle in self.changed]
        longer = [_longer(inner, x, row_of[n], p.reverse) for n, x in zip(rows.sequences, tapes, strict=True)]
        return parts([goes_on, *following, *counter, *changed, *longer, *[row_of[n] for n in rows.stacked]])

    def is_scan(self) -> bool:
        """Whether each step reads a row of arrays that have one for each, and what is carried keeps its shape.

        onnxruntime's Scan refuses arrays without rows.
        """
        n = self.rows.steps.size(0)
        if self.p.condition is not None or self.rows.sequences or not self.scanned or n is None or n < 1:
            return False
        if any(isinstance(x, Rows) for x in self.scanned) or any(not _is_known(t.shape) for t in self.kept):
            return False
        return all(x.type.shape.size(0) == n for x in parts(self.scanned))

    def build_scan(self, inner: Writer, *values: Value) -> list[Value]:
        """What a Scan wants of its body."""
        count = len(part_types(self.kept))
        whole = grouped(values[:count], self.kept)
        given = grouped(values[count:], [x.type for x in self.scanned])
        following, row_of = self._made(inner, whole, given)
        changed = [self.w.model.states[handle] for handle in self.changed]
        return parts([*following, *changed, *[row_of[n] for n in self.rows.stacked]])

    def _made(self, inner: Writer, whole: Sequence[Any], given: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        """What a step hands on, and its row of each output, from all that is carried and the rows that it reads."""
        p, rows, states = self.p, self.rows, self.w.model.states
        states.update(zip(self.changed, whole[len(whole) - len(self.changed) :], strict=True))
        numbers = [*range(p.carried), *rows.results]
        made = inner.function(p.body, [*whole[: p.carried], *given, *self.constants], numbers, self.prefix)
        made = [inner.stacked(x) for x in made]
        return made[: p.carried], rows.of_step(whole[: p.carried], made[p.carried :])

    def results(self, found: Sequence[Value]) -> list[Any]:
        """The operation's outputs from those of the node."""
        w, p, rows, outputs = self.w, self.p, self.rows, self.outputs
        a = len(part_types(self.kept))
        b = a + len(rows.sequences)
        kept, tapes = grouped(found[:a], self.kept), found[a:b]
        stacks = grouped(found[b:], [rows.type_of(n) for n in rows.stacked])
        without_states(w, kept, self.changed)
        sequences = [Rows(x.name, rows.type_of(n)) for n, x in zip(rows.sequences, tapes, strict=True)]
        stacks = [_in_order(w, x) if p.reverse and not self.is_scan() else x for x in stacks]
        steps = kept[p.carried] if self.counted else w.node("Max", self.count, w.constant(0, int64))
        stacks = [_with_lengths_of_rows(w, x, steps, [*self.first, *self.scanned, *self.constants]) for x in stacks]
        first = w.cast(steps, outputs[0].dtype) if w.read(0) else None
        numbers = [0, *range(1, 1 + p.carried), *rows.sequences, *rows.stacked]
        return in_places(w, numbers, [first, *kept[: p.carried], *sequences, *stacks])


def _is_known(shape: TensorShape) -> bool:
    return shape.lengths is not None and not shape.has_unknown


def _with_lengths_of_rows(w: Writer, x: Any, steps: Value, given: Sequence[Any]) -> Any:
    """Rows in the shape that they have where there is no step, too: onnxruntime takes what it does not know for 0."""
    if isinstance(x, Pair):
        return Pair(*[_with_lengths_of_rows(w, part, steps, given) for part in (x.re, x.im)])
    count, *row = x.type.shape.lengths or (1,)
    if all(isinstance(n, int) for n in row) or (isinstance(count, int) and count > 0):
        return x
    lengths = [w.vector([n]) if isinstance(n, int) else _found_length(w, n, given) for n in row]
    if any(n is None for n in lengths):
        return x
    shape = w.concat([w.reshape(steps, [1]), *lengths], 0)  # type: ignore[list-item]
    (made,) = w.emit("Reshape", [x, shape], [x.type], {"allowzero": 1})  # To the writer it changes nothing.
    return made


def _found_length(w: Writer, n: Any, given: Sequence[Any]) -> Value | None:
    """A vector of one length, where one of the values has it."""
    for x in given:
        part = x.re if isinstance(x, Pair) else x
        for axis, m in enumerate(part.type.shape.lengths or () if isinstance(part, Value) else ()):
            if m is n:
                return w.lengths(part, [axis])
    return None


def _longer(w: Writer, tape: Value, row: Value, reverse: Any) -> Value:
    """A sequence with a row more, at its end, or at its beginning with `reverse`."""
    place = [w.constant(0, int64)] if reverse else []
    return w.emit("SequenceInsert", [tape, row, *place], [tape.type], {})[0]


def _row(w: Writer, x: Any, place: Value) -> Any:
    if isinstance(x, Rows):
        tape = Value(x.name, w.model.types[x.name])
        return w.emit("SequenceAt", [tape, place], [TensorType(x.type.dtype, x.type.shape[1:])], {})[0]
    if isinstance(x, Pair):
        return Pair(w.gather(x.re, place, 0), w.gather(x.im, place, 0))
    return w.gather(x, place, 0)


def _in_order(w: Writer, x: Any) -> Any:
    """What a loop has written from the last row to the first."""
    if isinstance(x, Pair):
        return Pair(_in_order(w, x.re), _in_order(w, x.im))
    turned = w.slice(x, [-1], [np.iinfo(np.int64).min], [0], [-1])
    return Value(turned.name, x.type)
