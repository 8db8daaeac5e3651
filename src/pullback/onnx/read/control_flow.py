"""ONNX import of control flow: If, Loop, Scan."""

from __future__ import annotations

from collections.abc import Sequence as Series
from functools import partial
from typing import Any

import numpy as np
from onnx import GraphProto

from ...control_flow.conditional import cond
from ...control_flow.loop import Loop
from ...control_flow.maps import steps_of
from ...control_flow.state import values_for_handles, with_step_results
from ...control_flow.steady_lengths import with_steady_lengths
from ...control_flow.tracing import Part, Together, trace_together
from ...control_flow.while_loop import UNBOUNDED
from ...core.dtypes import bool as bool_
from ...core.dtypes import int32, int64
from ...core.function import Parameter, inline, like_parameter, trace
from ...core.limits import reading
from ...core.operation import Tensor
from ...core.types import TensorType, tensor_type
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant, constant_value
from ...primitives.elementwise.maximum import minimum
from ...primitives.indexing.where import where
from ...primitives.shape.reshape import reshape
from ...primitives.shape.reverse import reverse
from ...primitives.shape.stacking import stack
from ...primitives.shape.transpose import transpose
from ..reading import Node, all_nodes, reader, valid_name
from .lengths import rank_of
from .operands import from_front, scalar
from .sequence import IsReadError
from .states import AbstractLayout, Appending, Fixed, Packed, layout_in_loop
from .watching import Watching

_NUMBER = tensor_type(int64, [])
_TRUTH = tensor_type(bool_, [])
_NODES_OF_A_STEP = 100
"""What a step over sequences counts as among the nodes of a model, for it is read anew each time."""


@reader("If")
def if_(node: Node, condition: Tensor) -> Any:
    branches = [node.attribute("then_branch"), node.attribute("else_branch")]
    known = node.static(condition)
    if known is not None:
        return tuple(node.read_body(branches[0 if known.item() else 1], []))
    layouts = _layouts_of_branches(node, branches)

    def branch(body: GraphProto) -> list[Tensor]:
        values = node.read_body(body, [])
        return [x for layout, value in zip(layouts, values, strict=True) for x in layout.apart(value)]

    tensors = cond(scalar(condition), partial(branch, branches[0]), partial(branch, branches[1]))
    return tuple(_rebuilt(layouts, tensors))


def _layouts_of_branches(node: Node, branches: Series[GraphProto]) -> list[AbstractLayout]:
    """How the results stand; where one is no tensor, the branches are read once more to know."""
    if len(branches[0].output) != len(branches[1].output):
        node.reject(f"its branches have {len(branches[0].output)} and {len(branches[1].output)} outputs")
    if all(entry.type.HasField("tensor_type") for body in branches for entry in body.output):
        return [Fixed(None)] * len(branches[0].output)
    found: list[list[Any]] = []

    def look() -> list[Tensor]:
        found.extend([node.read_body(body, []) for body in branches])
        return []

    trace_together([Part("branches", look)])
    return [Fixed(a).after(node, a, b) for a, b in zip(*found, strict=True)]


def _rebuilt(layouts: Series[AbstractLayout], tensors: Series[Tensor]) -> list[Any]:
    """The values that tensors stand for."""
    rest = iter(tensors)
    return [layout.rebuilt([next(rest) for _ in range(layout.count)]) for layout in layouts]


@reader("Loop")
def loop(node: Node, limit: Tensor | None, condition: Tensor | None, *start: Any) -> Any:
    body = node.attribute("body")
    if len(body.input) != 2 + len(start) or len(body.output) <= len(start):
        node.reject(
            f"its body has {len(body.input)} inputs and {len(body.output)} outputs; for {len(start)} values that are "
            f"carried there must be {2 + len(start)} inputs and at least {1 + len(start)} outputs"
        )
    if not all(isinstance(x, Tensor) for x in start):
        found = _unrolled(node, body, limit, condition, list(start))
        if found is not None:
            return found
    return _Looping(node, body, limit, condition, list(start)).outputs()


def _unrolled(node: Node, body: GraphProto, limit: Tensor | None, condition: Tensor | None, state: list[Any]) -> Any:
    """Step by step: a sequence may grow from step to step. None where only a run knows how many steps there are."""
    count, go_on = node.static(limit), True if condition is None else node.static(condition)
    rows: list[list[Tensor]] = [[] for _ in range(len(body.output) - 1 - len(state))]
    if count is None or go_on is None or (rows and not (go_on and count.item() > 0)):
        return None
    for i in range(int(count.item()) if go_on else 0):
        reading().takes_nodes(_NODES_OF_A_STEP)
        holds, *values = node.read_body(body, [*_leading(body, constant(np.int64(i))), *state])
        state = values[: len(state)]
        for row, value in zip(rows, values[len(state) :], strict=True):
            row.append(value)
        if condition is not None and node.static(holds) is None:
            return None
        if condition is not None and not node.static(holds):
            break
    return (*state, *[stack(row) for row in rows])


def _leading(body: GraphProto, number: Tensor) -> list[Tensor]:
    """What each step is given first: its number, and that the condition held, for else there was no step.

    They are scalars, or, as torch's exporter declares them, vectors of one element.
    """
    given = zip(body.input, [number, constant(True)], strict=False)
    return [reshape(x, [1]) if len(entry.type.tensor_type.shape.dim) == 1 else x for entry, x in given]


class _Looping:
    """A loop over tensors: what is carried is the condition and the number of the step, where they are needed.

    What each step gives besides are the tensors that it puts behind sequences, what is stacked, and what is watched.
    """

    def __init__(
        self, node: Node, body: GraphProto, limit: Tensor | None, condition: Tensor | None, values: list[Any]
    ) -> None:
        self.node, self.body, self.values = node, body, values
        self.conditional = condition is not None
        self.numbered = _is_read(body, body.input[0].name)
        self.first = constant(True) if condition is None else scalar(condition)
        self.limit, self.bound = _limit(node, limit)
        self.watching = Watching(node, body)
        if self.watching and not all(isinstance(x, Tensor) for x in values):
            node.refuse("values inside a loop that carries a sequence cannot be watched")
        self.types: list[TensorType] = []
        self.moves = self.watching.begin([constant(np.int64(0)), constant(True)], values)
        self._finish(self._settled())

    def _settled(self) -> Together:
        """The body for state that is laid out, and of types, as each step leaves it."""
        self._begin([layout_in_loop(self.node, x) for x in self.values])
        for _ in range(8 + len(self.types) + 4 * len(self.values)):
            try:
                together, found, layouts = self._traced()
            except IsReadError as error:
                if error.layout not in self.layouts:
                    raise
                pairs = zip(self.layouts, self.values, strict=True)
                layouts = [Packed.of(self.node, x) if e is error.layout else e for e, x in pairs]
            if layouts != self.layouts:
                self._begin(layouts)
            elif found == self.types:
                break
            else:
                self.types = found
        return together

    def _begin(self, layouts: list[AbstractLayout]) -> None:
        self.layouts = layouts
        carried = [e.apart(x) for e, x in zip(layouts, self.values, strict=True)]
        self.names = [e.name for e, tensors in zip(self.body.input[2:], carried, strict=True) for _ in tensors]
        self.start = [*[x for tensors in carried for x in tensors], *self.moves]
        self.count = len(self.start) - len(self.moves)
        self.types = [x.type for x in self.start]

    def _traced(self) -> tuple[Together, list[TensorType], list[AbstractLayout]]:
        """The body for the state as it is laid out; types, and layouts, that also have what it returns."""
        found: list[TensorType] = []
        layouts: list[AbstractLayout] = []

        def step(*given: Tensor) -> list[Tensor]:
            own = list(given)
            number = own.pop(0) if self.numbered else constant(np.int64(0))
            arguments = [*_leading(self.body, number), *_rebuilt(self.layouts, own[: self.count])]
            holds, *values = self.watching.read(arguments, own[self.count :])
            following = self.watching.following(values[len(values) - len(self.watching) :])
            state = list(zip(self.layouts, self.values, values[: len(self.values)], strict=True))
            layouts.extend([e.after(self.node, x, y) for e, x, y in state])
            if layouts != self.layouts:
                return []
            carried = [x for e, _, y in state if not isinstance(e, Appending) for x in e.apart(y)]
            added = [x for e, _, y in state if isinstance(e, Appending) for x in e.apart(y)]
            carried += following
            found.extend([_wider(x, y) for x, y in zip(self.types, carried, strict=True)])
            known = constant_value(holds)
            self.holds_always = not self.conditional or (known is not None and bool(known))
            counter = [number + 1] if self.numbered else []
            stacked = _tensors_only(self.node, values[len(self.values) :])
            return [*counter, *carried, scalar(holds), *added, *stacked]

        parameters = [Parameter(t.static) for t in [*([_NUMBER] if self.numbered else []), *self.types]]
        names = [*(["number"] if self.numbered else []), *map(_valid, [*self.names, *self.watching.names])]
        together = trace_together([Part("body", step, parameters, names)])
        return together, found, layouts

    def _finish(self, together: Together) -> None:
        (traced,), self.captured = values_for_handles(together.functions, together.captured)
        self.controls = together.controls
        moving = len(self.start) + self.numbered
        counter = [_NUMBER] if self.numbered else []
        body = with_steady_lengths(traced, [*counter, *[x.type for x in self.start]])
        results = list(body.results)
        holds = results.pop(moving)
        self.scans = len(results) - moving
        self.extra: list[Tensor] = []
        if not self.holds_always:
            self.extra = [self.first]
            self.primitive = self._conditional(body, [*results[:moving], holds, *results[moving:]], moving)
            return
        known = constant_value(self.first)
        if known is None:
            self.limit = where(self.first, self.limit, 0)
        elif not known:
            self.limit, self.bound = constant(0, int32), 0
        self.primitive = Loop(
            with_step_results(body.with_results(results), moving),
            None,
            moving,
            stacked=self.scans,
            length=None if known is None else self.bound,
            bound=self.bound,
        )

    def _conditional(self, body: Any, results: list[Tensor], moving: int) -> Loop:
        """The loop that also carries its condition, behind the other values."""
        own, rest = body.parameters[:moving], body.parameters[moving:]
        whole = body.with_results(results)
        kinds = [*[like_parameter(x) for x in own], Parameter(_TRUTH), *[like_parameter(x) for x in rest]]
        names = [*[x.op.name for x in own], "holds", *[x.op.name for x in rest]]
        step = trace(lambda *given: inline(whole, [*given[:moving], *given[moving + 1 :]]), kinds, "body", names)
        condition = trace(lambda *given: [given[moving]], kinds, "cond", names)
        return Loop(
            with_step_results(step.function, moving + 1),
            condition.function,
            moving + 1,
            stacked=self.scans,
            bound=self.bound,
        )

    def outputs(self) -> Any:
        """The final values, then what was stacked."""
        counter = [constant(np.int64(0))] if self.numbered else []
        start = [*counter, *self.start, *self.extra]
        with self.limit.op.graph.acting.control_dependencies(self.controls):
            ys = self.primitive.operation(self.limit, *start, *self.captured).outputs
        first = 1 + len(counter)
        stacked = 1 + len(start)
        seen = stacked + self.scans - len(self.watching)
        self.watching.keep(self.moves, ys[seen : seen + len(self.watching)])
        rows = list(ys[stacked:seen])
        finals = _rebuilt(self.layouts, ys[first : first + self.count])
        for k, (layout, x) in enumerate(zip(self.layouts, self.values, strict=True)):
            if isinstance(layout, Appending):
                finals[k], rows = layout.finished(x, rows[: layout.rows]), rows[layout.rows :]
        return (*finals, *rows)


def _limit(node: Node, limit: Tensor | None) -> tuple[Tensor, int | None]:
    """The number of steps as a scalar of int32, and its value where it is known."""
    if limit is None:
        return constant(UNBOUNDED, int32), None
    known = node.static(limit)
    if known is not None:
        bound = max(0, min(int(known.item()), UNBOUNDED))
        return constant(bound, int32), bound if bound < UNBOUNDED else None
    return cast(minimum(scalar(limit), UNBOUNDED), int32), None


def _is_read(body: GraphProto, name: str) -> bool:
    """Whether a node of the body, or of a graph in it, reads the value of that name."""
    return any(name in n.input for n in all_nodes(body)) or any(entry.name == name for entry in body.output)


@reader("Scan")
def scan(node: Node, *values: Tensor) -> Any:
    body, count = node.attribute("body"), node.attribute("num_scan_inputs")
    if not 0 < count <= len(values):
        node.reject(f"num_scan_inputs must be from 1 to {len(values)}, not {count}")
    start, rows = list(values[:-count]), list(values[-count:])
    if len(body.input) != len(values) or len(body.output) < len(start):
        node.reject(
            f"its body has {len(body.input)} inputs and {len(body.output)} outputs; there must be {len(values)} inputs "
            f"and at least {len(start)} outputs"
        )
    stacked = len(body.output) - len(start)
    axes = node.attribute("scan_input_axes", None) or (0,) * count
    directions = node.attribute("scan_input_directions", None) or (0,) * count
    out_axes = node.attribute("scan_output_axes", None) or (0,) * stacked
    out_directions = node.attribute("scan_output_directions", None) or (0,) * stacked
    backward = all(directions) and all(out_directions)
    rows = [_moved(node, x, axis, 0) for x, axis in zip(rows, axes, strict=True)]
    if not backward:
        rows = [reverse(x, [0]) if d else x for x, d in zip(rows, directions, strict=True)]
    finals, made = _scanned(node, body, start, rows, stacked, backward)
    if not backward:
        made = [reverse(y, [0]) if d else y for y, d in zip(made, out_directions, strict=True)]
    return (*finals, *[_moved(node, y, 0, axis) for y, axis in zip(made, out_axes, strict=True)])


def _moved(node: Node, x: Tensor, source: int, target: int) -> Tensor:
    """`x` with one axis at another place."""
    if source == target:
        return x
    rank = rank_of(node, x)
    source, target = from_front(node, source, rank), from_front(node, target, rank)
    order = [i for i in range(rank) if i != source]
    order.insert(target, source)
    return transpose(x, order)


def _scanned(
    node: Node, body: GraphProto, start: list[Tensor], rows: list[Tensor], stacked: int, backward: bool
) -> tuple[list[Tensor], list[Tensor]]:
    """What is carried at the end, and the rows that the steps made."""
    watching = Watching(node, body)
    if watching and backward:
        node.refuse("values inside a loop that goes backward cannot be watched")
    own, moves = len(start), watching.begin([], [*start, *[x[0] for x in rows]]) if watching else []
    start = [*start, *moves]
    count = len(start)
    types = [x.type for x in start]
    parameters = [Parameter(TensorType(x.dtype, x.shape[1:])) for x in rows]
    carried = [*[entry.name for entry in body.input[:own]], *watching.names]
    names = [*map(_valid, carried), *[_valid(entry.name) for entry in body.input[own:]]]
    for _ in range(count + 8):
        found: list[TensorType] = []

        def step(*given: Tensor, types: list[TensorType] = types, found: list[TensorType] = found) -> list[Tensor]:
            values = _tensors_only(node, watching.read([*given[:own], *given[count:]], given[own:count]))
            following = watching.following(values[len(values) - len(watching) :])
            ys = [*values[:own], *following, *values[own:]]
            for x, y in zip(types, ys, strict=False):
                found.append(_wider(x, y))
            return ys

        together = trace_together([Part("step", step, [*[Parameter(t.static) for t in types], *parameters], names)])
        if found == types:
            break
        types = found
    (function,), captured = values_for_handles(together.functions, together.captured)
    length = next((x.shape.size(0) for x in rows if x.shape.size(0) is not None), None)
    loop = Loop(
        with_step_results(function, count),
        None,
        count,
        scanned=len(rows),
        stacked=stacked + len(watching),
        length=length,
        reverse=backward,
    )
    with rows[0].op.graph.acting.control_dependencies(together.controls):
        outputs = loop.operation(steps_of(rows[0], length), *start, *rows, *captured).outputs
    last = 1 + count + stacked
    watching.keep(moves, outputs[last : last + len(watching)])
    return list(outputs[1 : 1 + own]), list(outputs[1 + count : last])


def _tensors_only(node: Node, values: list[Any]) -> list[Tensor]:
    """The values of steps that are stacked, or of a Scan; sequences cannot be."""
    if not all(isinstance(value, Tensor) for value in values):
        node.reject("what its steps give to be stacked must be tensors, not sequences")
    return values


def _valid(name: str) -> str:
    return valid_name(name) or "value"


def _wider(x: TensorType, y: Tensor) -> TensorType:
    """A type that `y` has too."""
    shape = x.shape.most_specific_compatible_shape(y.shape)
    return x if shape == x.shape else TensorType(x.dtype, shape)
