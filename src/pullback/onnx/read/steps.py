"""Recurrences for ONNX import: what is carried from step to step, and what each step gives besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...control_flow.loop import Loop
from ...control_flow.maps import row_parameter, steps_of
from ...control_flow.state import values_for_handles, with_step_results
from ...control_flow.steady_lengths import with_steady_lengths
from ...control_flow.tracing import Part, trace_together
from ...core.function import carried_parameter
from ...core.operation import Tensor

Step = Callable[[Sequence[Tensor], Sequence[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]


def recur(
    step: Step, start: Sequence[Tensor], rows: Sequence[Tensor], reverse: bool = False
) -> tuple[list[Tensor], list[Tensor]]:
    """What is carried at the end, and the rows that the steps gave, stacked.

    `step(carried, row of each of rows)` returns what is carried on and the step's own rows. With `reverse` it goes from
    the last row to the first; the stacked rows stand where those that were read stood.
    """
    count, given = len(start), 0

    def build(*arguments: Tensor) -> Sequence[Tensor]:
        nonlocal given
        carried, own = step(arguments[:count], arguments[count:])
        given = len(own)
        return [*carried, *own]

    parameters = [*[carried_parameter(x) for x in start], *[row_parameter(x) for x in rows]]
    names = [*["state"] * count, *["row"] * len(rows)]
    together = trace_together([Part("step", build, parameters, names)])
    (traced,), captured = values_for_handles(together.functions, together.captured)
    body = with_steady_lengths(traced, [x.type for x in start])
    length = rows[0].shape.size(0)
    loop = Loop(
        with_step_results(body, count), None, count, scanned=len(rows), stacked=given, length=length, reverse=reverse
    )
    outputs = loop.operation(steps_of(rows[0], length), *start, *rows, *captured).outputs
    return list(outputs[1 : 1 + count]), list(outputs[1 + count : 1 + count + given])
