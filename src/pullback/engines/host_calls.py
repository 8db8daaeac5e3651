"""Runs with host calls: what Python hands a run before it begins is fed to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..control_flow.host_call import HostCall
from ..control_flow.running_sessions import asks_for_session, running
from ..core.errors import OutOfRangeError, PullbackError
from ..core.graph import Graph, Operation, Tensor, site_of
from . import messages
from .engine import Run
from .fetches import Element
from .plan import Plan, make_plan

Prepare = Callable[[Sequence[Element], Sequence[Tensor]], Run]
"""The run of some elements, for some feeds."""


def calls_host(graph: Graph) -> bool:
    """Whether some run of `graph` may have host calls, or ask for its session."""
    return asks_for_session(graph) or any(isinstance(op.primitive, HostCall) for op in graph.operations)


@dataclass(frozen=True)
class _Call:
    op: Operation
    read: Sequence[Element]
    """What is computed for it: its inputs, as far as nothing has given them, and what is to run before it."""
    run: Run | None
    feeds: Sequence[Tensor]


def with_host_calls(
    session: Any, elements: Sequence[Element], feeds: Sequence[Tensor], prepare: Prepare, fed: Callable[..., Any]
) -> Run:
    """A run that carries out its host calls first, one after the other; each sees what those before it gave.

    `fed(tensor, value)` is a value as an array of the engine that fits the tensor.
    """
    given, calls = dict.fromkeys(feeds), []
    for op in [step.op for step in _plan(elements, feeds).steps if isinstance(step.op.primitive, HostCall)]:
        before = [c for c in op.controls if not isinstance(c.primitive, HostCall)]
        read: list[Element] = [*[x for x in dict.fromkeys(op.inputs) if x not in given], *before]
        used = _used(read, list(given))
        calls.append(_Call(op, read, prepare(read, used) if read else None, used))
        given.update(dict.fromkeys([*_tensors(read), *op.outputs]))
    rest = [x for x in elements if x not in given and not _is_call(x)]
    used = _used(rest, list(given))
    last = prepare(rest, used)

    def run(arrays: Sequence[Any]) -> list[Any]:
        with running(session):
            return called(arrays)

    def called(arrays: Sequence[Any]) -> list[Any]:
        values: dict[Tensor, Any] = dict(zip(feeds, arrays, strict=True))
        for call in calls:
            if call.run is not None:
                found = call.run([fed(x, values[x]) for x in call.feeds])
                values.update(zip(_tensors(call.read), found, strict=True))
            values.update(zip(call.op.outputs, _called(session, call.op, values), strict=True))
        values.update(zip(_tensors(rest), last([fed(x, values[x]) for x in used]), strict=True))
        return [_shown(values[x]) for x in _tensors(elements)]

    return run


def _plan(elements: Sequence[Element], feeds: Sequence[Tensor]) -> Plan:
    return make_plan(_tensors(elements), [x for x in elements if isinstance(x, Operation)], feeds)


def _tensors(elements: Sequence[Element]) -> list[Tensor]:
    return [x for x in elements if isinstance(x, Tensor)]


def _is_call(element: Element) -> bool:
    return isinstance(element, Operation) and isinstance(element.primitive, HostCall)


def _used(elements: Sequence[Element], given: Sequence[Tensor]) -> list[Tensor]:
    """Those of `given` that a run of `elements` reads, and all that host calls gave for which it waits."""
    ops = [step.op for step in _plan(elements, given).steps]
    read = {x for op in ops for x in op.inputs}
    read |= {y for op in ops for c in op.controls if isinstance(c.primitive, HostCall) for y in c.outputs}
    return [x for x in given if x in read]


def _shown(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def _called(session: Any, op: Operation, values: dict[Tensor, Any]) -> Sequence[Any]:
    """What the call gives.

    Raises:
        OutOfRangeError: there is no more. InvalidArgumentError: it fails.
    """
    primitive = op.primitive
    assert isinstance(primitive, HostCall)
    arrays = [np.asarray(values[x]) for x in op.inputs]
    try:
        found = primitive.func.call(session, *arrays)
        kinds: list[Any] = [kind.dtype for kind in primitive.outputs]
        return [np.asarray(x, dtype) for x, dtype in zip(found, kinds, strict=True)]
    except (OutOfRangeError, StopIteration) as error:
        reason = str(error) or "End of sequence"
        raise OutOfRangeError(f"{reason}\n  operation '{op.name}', made at {site_of(op)}") from None
    except PullbackError:
        raise
    except Exception as error:
        raise messages.failed_step(op, arrays, error) from error
