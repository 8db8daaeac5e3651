"""XLA lowering of rematerialisation: XLA must not merge a second computation with the first.

On a processor XLA drops barriers before it merges equal computations. There the second one becomes a branch that is
always taken, on a condition that XLA cannot know: what is in a branch is not merged with what is outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ....control_flow.call import RecomputedCall
from ....core.dtypes import INEXACT
from ...plan import Step
from ..fences import is_there
from ..platform import on_processor
from ..registry import xla_functional
from ..trace import Trace, dense
from .branches import exact, give, scattered, written_out


@xla_functional(RecomputedCall)
def computed_again(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The operations of the function, in a branch of their own on a processor."""
    function = step.op.primitive.functions[0]
    read = {*function.results, *[x for op in function.operations for x in op.inputs]}
    numbers = [i for i, x in enumerate(arrays) if isinstance(x, jax.Array)]
    last = next((arrays[i] for i in reversed(numbers) if arrays[i].size and arrays[i].dtype in INEXACT), None)
    if last is None or not on_processor():
        return written_out(trace, step, step.bodies[0], arrays)
    numbers = [i for i in numbers if function.parameters[i] in read]
    (body,) = step.bodies

    made: list[Any] = []

    def compute(given: list[Any]) -> tuple[list[Any], Any]:
        values = list(arrays)
        for n, x in zip(numbers, given, strict=True):
            values[n] = x
        inner = trace.inner(body.plan)
        give(inner, body, values)
        inner.states = [trace.states[n] for n in body.states]
        inner.run()
        outputs = [exact(dense(y), x.dtype) for y, x in zip(inner.fetched(), body.plan.fetches, strict=True)]
        code = inner.first_code()
        made[:] = [(x.shape, x.dtype) for x in (*outputs, code)]
        return outputs, code

    def never(given: list[Any]) -> tuple[list[Any], Any]:
        if not made:  # jax traces this branch behind the other one, but does not promise to.
            jax.eval_shape(compute, given)
        *outputs, code = [jnp.zeros(shape, dtype) for shape, dtype in made]
        return outputs, code

    outputs, code = jax.lax.cond(is_there(last), compute, never, [arrays[i] for i in numbers])
    if trace.reports:
        trace.codes.append(code)
    return scattered(step, outputs)
