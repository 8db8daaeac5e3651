"""GraphDef export of control flow: calls, branches, and loops as `While`, whose rows go through lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...control_flow.branch import Case, If
from ...control_flow.call import Call, RecomputedCall, StatefulCall
from ...control_flow.loop import Loop
from ..body import Body, FunctionRef, Ref
from ..exporting import writer


@writer(Call, StatefulCall, RecomputedCall)
def call(body: Body, p: Any, *args: Ref) -> Any:
    function = body.export.function(p.function)
    given = list(args[: len(p.function.parameters)])
    return body.main("StatefulPartitionedCall", given, f=function, Tout=[y.dtype for y in body.op.outputs])


@writer(If)
def if_(body: Body, p: Any, condition: Ref, *args: Ref) -> Any:
    branches = [body.export.function(function) for function in p.functions]
    given = list(args[: len(p.then_branch.parameters)])
    attributes = dict(zip(("then_branch", "else_branch"), branches, strict=True))
    return body.main("If", condition, given, **attributes, Tout=[y.dtype for y in body.op.outputs], output_shapes=[])


@writer(Case)
def case(body: Body, p: Any, index: Ref, *args: Ref) -> Any:
    branches = [body.export.function(function) for function in p.functions]
    given = list(args[: len(p.branches[0].parameters)])
    types = [y.dtype for y in body.op.outputs]
    return body.main("Case", index, given, branches=branches, Tout=types, output_shapes=[])


@writer(Loop)
def loop(body: Body, p: Any, limit: Ref, *args: Ref) -> Any:
    return _While(body, p).written(limit, args)


class _While:
    """A loop as a `While` of (step, limit, carried..., lists of rows..., scanned..., constants...)."""

    def __init__(self, body: Body, loop: Loop) -> None:
        self.body, self.op, self.loop = body, body.op, loop
        places = self.loop.places
        last = max((n for n in range(len(self.op.outputs)) if self._is_wanted(n)), default=0)
        self.rows = range(1 + self.loop.carried, last + 1)
        """The outputs that have a row of each step, to the last one that somebody reads; the others are left out."""
        self.results = [n - places.history.start if n in places.history else places.result_of(n) for n in self.rows]
        """For each the number of the body's result, or of what is carried, that is its row."""
        self.from_history = [n in places.history for n in self.rows]

    def _is_wanted(self, n: int) -> bool:
        return n in self.loop.places.stacked or self.op.outputs[n] in self.body.read

    def written(self, limit: Ref, args: Sequence[Ref]) -> list[Ref]:
        """The outputs of the loop, to the last one that somebody reads."""
        body, c = self.body, self.loop.carried
        lists = [self._list(n, limit) for n in self.rows]
        inputs = [body.integers(0), limit, *args[:c], *lists, *args[c:]]
        condition, step = self._condition(inputs), self._step(inputs)
        made = body.outputs("While", inputs, cond=condition, body=step, output_shapes=[], parallel_iterations=10)
        steps = limit if self.loop.condition is None else made[0]
        return [steps, *made[2 : 2 + c], *map(self._stacked, self.rows, made[2 + c :])]

    def _list(self, n: int, limit: Ref) -> Ref:
        """Room for a row of each step where their number is known before the first, else an empty list."""
        dtype, shape = self.op.outputs[n].dtype, self._row_shape(n)
        if self.loop.condition is None:
            return self.body.node("TensorListReserve", shape, limit, element_dtype=dtype)
        return self.body.node("EmptyTensorList", shape, self.body.integers(-1), element_dtype=dtype)

    def _row_shape(self, n: int) -> Ref:
        shape = self.op.outputs[n].shape
        if shape.rank is None:
            return self.body.integers(-1)
        return self.body.integers([-1 if length is None else length for length in shape.as_list()[1:]])

    def _stacked(self, n: int, rows: Ref) -> Ref:
        dtype, shape = self.op.outputs[n].dtype, self._row_shape(n)
        ref = self.body.node("TensorListStack", rows, shape, element_dtype=dtype, num_elements=-1)
        return self.body.node("ReverseV2", ref, self.body.integers([0])) if self.loop.reverse else ref

    def _condition(self, inputs: Sequence[Ref]) -> FunctionRef:
        inner, made, args = self._function(inputs)
        step, limit, *rest = args
        more = inner.node("Less", step, limit)
        if self.loop.condition is not None:
            c, lists = self.loop.carried, len(self.rows)
            given = [*rest[:c], *rest[c + lists + self.loop.scanned :]]
            function = inner.export.function(self.loop.condition)
            dtype = self.loop.condition.results[0].dtype
            (holds,) = inner.outputs("StatefulPartitionedCall", given, f=function, Tout=[dtype])
            more = inner.node("LogicalAnd", more, holds)
        return self._signed(inner, made, "cond", inputs, [more])

    def _step(self, inputs: Sequence[Ref]) -> FunctionRef:
        inner, made, args = self._function(inputs)
        step, limit, *rest = args
        c, lists, s = self.loop.carried, len(self.rows), self.loop.scanned
        carried, collected, rest = rest[:c], rest[c : c + lists], rest[c + lists :]
        scanned, constants = rest[:s], rest[s:]
        one = inner.integers(1)
        place = inner.node("Sub", inner.node("Sub", limit, step), one) if self.loop.reverse else step
        rows = [inner.node("GatherV2", x, place, inner.integers(0)) for x in scanned]
        function, types = inner.export.function(self.loop.body), [y.dtype for y in self.loop.body.results]
        results = inner.outputs("StatefulPartitionedCall", [*carried, *rows, *constants], f=function, Tout=types)
        added = []
        for n, number, history, held in zip(self.rows, self.results, self.from_history, collected, strict=True):
            row = carried[number] if history else results[number]
            dtype = self.op.outputs[n].dtype
            if self.loop.condition is None:
                added.append(inner.node("TensorListSetItem", held, step, row, element_dtype=dtype))
            else:
                added.append(inner.node("TensorListPushBack", held, row, element_dtype=dtype))
        returned = [inner.node("AddV2", step, one), limit, *results[:c], *added, *scanned, *constants]
        return self._signed(inner, made, "body", inputs, returned)

    def _function(self, inputs: Sequence[Ref]) -> tuple[Body, Any, list[Ref]]:
        made = self.body.export.library.function.add()
        inner = Body(self.body.export, made.node_def, (), True)
        inner.op = self.op
        return inner, made, [Ref(f"arg_{i}", "", 0, 0, x.dtype) for i, x in enumerate(inputs)]

    def _signed(self, inner: Body, made: Any, what: str, inputs: Sequence[Ref], results: Sequence[Ref]) -> FunctionRef:
        export = self.body.export
        name = export.free_name(f"{self.op.name}_{what}")
        export.sign(made, name, [x.dtype for x in inputs], inner, results)
        return FunctionRef(name)
