"""NumPy interpreter: a plan as a list of tuples, walked by one loop.

A kernel that is one call of one ufunc is bound to that ufunc. Arrays are never changed in place, but for the value of a
variable that nothing else refers to any more (told by its reference count), and what is fetched is copied where
something else refers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from sys import getrefcount
from time import perf_counter_ns
from typing import Any

import numpy as np

from ...core.devices import local_device
from ...core.dtypes import string
from ...core.errors import FailedPreconditionError, PullbackError, UnimplementedError
from ...core.function import AbstractFunctional
from ...core.graph import Operation, site_of
from ...core.nesting import explained_depth
from ...core.primitive import Primitive
from ...core.traits import ZEROS
from ...primitives.base.state import AbstractStateful
from .. import messages
from ..absent import Absent, is_plain_read, may_be_absent
from ..engine import EngineOptions, Run, as_arrays
from ..host_engine import AbstractHostEngine, copied
from ..plan import Plan, Step, checked_outputs
from ..run_shapes import has_unknown_shapes, with_checked_shapes
from ..step_stats import Recorder
from .control_flow import functional_kernel
from .loops import Prepare
from .loops import Run as RunInside
from .states import States

Array = np.ndarray[Any, Any]

_GENERAL, _UNARY, _BINARY, _TERNARY, _STATEFUL = range(5)
Instruction = tuple[int, Callable[..., Any], Any, Any, Any, Any, tuple[int, ...], Step]
"""Kind, function, inputs (three slots, or a tuple of slots), outputs (a slot, or a tuple), slots to free, the step."""


class NumpyEngine(AbstractHostEngine):
    """Computes with NumPy, operation by operation."""

    def __init__(self, options: EngineOptions) -> None:
        self.values = States()
        super().__init__(self.values)
        self.execute = _execute_checked if options.check_numerics else _execute
        self.soft_placement = options.soft_placement

    def prepare(self, plan: Plan, to_host: bool = True) -> Run:
        """The function that runs `plan`; its arrays are on the host either way."""
        if not self.soft_placement:
            _check_devices(plan)
        template: list[Any] = [None] * plan.size
        for slot, array in plan.constants:
            template[slot] = array if array.ndim else array[()]
        compute = self._computation(plan, {})

        def run(feeds: Sequence[Any]) -> list[Any]:
            with np.errstate(all="ignore"):
                values = compute(feeds)
                try:
                    return [_owned(values[i]) for i in range(len(values))]
                except MemoryError as error:
                    raise messages.no_room_for_results(error) from error

        whole = self.values.transaction(run) if plan.written else run
        return whole if to_host else as_arrays(whole)

    def _computation(self, plan: Plan, known: dict[int, RunInside]) -> RunInside:
        """From arrays for the feeds of `plan` to those for its fetches. `known` holds those of the plans inside."""
        if id(plan) in known:
            return known[id(plan)]
        template: list[Any] = [None] * plan.size
        for slot, array in plan.constants:
            template[slot] = array if array.ndim else array[()]
        inner = partial(self._computation, known=known)
        absent = may_be_absent(plan)
        program = [_instruction(step, plan, inner, self.values, absent) for step in plan.steps]
        feed_slots, fetch_slots = plan.feed_slots, plan.fetch_slots
        values, execute = self.values, self.execute

        def compute(feeds: Iterable[Any]) -> list[Any]:
            slots = template.copy()
            for slot, array in zip(feed_slots, feeds, strict=True):
                slots[slot] = array
            array = None  # So that only its slot holds it.
            recorder = self.recorder
            if recorder is None:
                execute(program, slots, values)
            else:
                _execute_recorded(program, slots, values, execute, recorder)
            return [slots[slot] for slot in fetch_slots]

        known[id(plan)] = compute
        return compute

    def compiled_memory(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """Not here: nothing is compiled."""
        raise NotImplementedError("compiled_memory: the NumPy engine compiles nothing; use Session(engine='xla')")


def _check_devices(plan: Plan) -> None:
    """Raise where an operation asks for anything but the one device that there is."""
    for op in (*plan.states, *[step.op for step in plan.steps]):
        asked = local_device(op.device)
        if asked is None or asked.kind not in ("", "CPU") or asked.number not in (None, 0):
            raise messages.no_device(op, ["/device:CPU:0"])


def _execute(program: list[Instruction], slots: list[Any], values: States) -> None:
    instruction = None
    try:
        for instruction in program:
            kind, fn, i, j, k, o, frees, _ = instruction
            if kind == _BINARY:
                slots[o] = fn(slots[i], slots[j])
            elif kind == _UNARY:
                slots[o] = fn(slots[i])
            elif kind == _TERNARY:
                slots[o] = fn(slots[i], slots[j], slots[k])
            else:
                _execute_general(instruction, slots, values)
            for n in frees:
                slots[n] = None
    except Exception as error:
        inside = instruction is not None and instruction[-1].bodies and isinstance(error, PullbackError)
        if isinstance(error, FailedPreconditionError) or instruction is None or inside:
            raise
        raise explained(instruction[-1], [slots[n] for n in instruction[-1].inputs], error) from error


def _execute_general(instruction: Instruction, slots: list[Any], values: States) -> None:
    kind, fn, i, _, _, o, _, _ = instruction
    arrays = [slots[n] for n in i]
    results = fn(values, arrays) if kind == _STATEFUL else fn(*arrays)
    if not isinstance(results, tuple):
        slots[o[0]] = results
        return
    for n, y in zip(o, results, strict=True):
        slots[n] = y


def _execute_checked(program: list[Instruction], slots: list[Any], values: States) -> None:
    """The same, with a look at every output that somebody reads."""
    for instruction in program:
        _execute([(*instruction[:6], (), instruction[7])], slots, values)
        step = instruction[7]
        for i in checked_outputs(step):
            array = slots[step.outputs[i]]
            if type(array) is not Absent and not np.isfinite(array).all():
                kind = "NaN" if np.isnan(array).any() else "infinity"
                raise messages.not_finite(step.op, kind, step.op.outputs[i])
        for n in step.frees:
            slots[n] = None


def _execute_recorded(
    program: list[Instruction], slots: list[Any], values: States, execute: Callable[..., None], recorder: Recorder
) -> None:
    """The same, and takes down when each step began and ended."""
    for instruction in program:
        began = perf_counter_ns()
        execute([instruction], slots, values)
        recorder.note(instruction[7].op, began, perf_counter_ns())


def explained(step: Step, arrays: list[Any], error: Exception) -> Exception:
    """The exception to raise in place of `error`, which a kernel raised on `arrays`."""
    if isinstance(error, NotImplementedError) and not step.op.primitive.calls_python:
        return messages.no_kernel(step.op, error)
    if isinstance(error, MemoryError):
        return messages.no_room(step.op, arrays, error)
    if isinstance(error, RecursionError):
        return explained_depth(error, f"by operation '{step.op.name}' ({step.op.type}), made at {site_of(step.op)}")
    return messages.failed_step(step.op, arrays, error)


def _instruction(step: Step, plan: Plan, prepare: Prepare, values: States, absent: frozenset[int]) -> Instruction:
    primitive = step.op.primitive
    ins, outs = step.inputs, step.outputs
    if isinstance(primitive, AbstractStateful):
        assert step.state is not None
        fn = _stateful(bool(outs), step, plan.states[step.state], is_plain_read(step) and outs[0] in absent)
        return _STATEFUL, fn, ins, None, None, outs, step.frees, step
    if isinstance(primitive, AbstractFunctional):
        return _GENERAL, functional_kernel(step, plan, prepare, values, absent), ins, None, None, outs, step.frees, step
    if ZEROS in primitive.traits and [x.dtype for x in step.op.inputs].count(string) == 1:
        raise UnimplementedError(
            f"operation '{step.op.name}' (made at {site_of(step.op)}) puts zeros between texts, which have none; "
            "use pb.where, or pb.concat with texts of yours"
        )
    fn = _function(primitive, len(ins))
    if any(x.dtype == string for x in step.op.inputs):
        fn = _of_texts(fn)
    if has_unknown_shapes(step):
        fn = with_checked_shapes(step, fn)
    if len(outs) != 1 or not 1 <= len(ins) <= 3:
        return _GENERAL, fn, ins, None, None, outs, step.frees, step
    i, j, k = (*ins, None, None)[:3]
    return len(ins), fn, i, j, k, outs[0], step.frees, step


def _of_texts(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of arrays of texts, of which one without axes may have come as its element.

    NumPy would make an array of that which is too short, without the zeros at its end.
    """
    return lambda *arrays: fn(*[np.array(x, string) if isinstance(x, bytes) else x for x in arrays])


def _function(primitive: Primitive, arity: int) -> Callable[..., Any]:
    """The kernel of a primitive with NumPy, or the ufunc that it comes down to."""
    if not arity:
        return partial(primitive.kernel, np)
    probe = _Probe()
    arrays = [object() for _ in range(arity)]
    try:
        result = primitive.kernel(probe, *arrays)
    except Exception:
        result = None
    if result is not None and result is probe.result and probe.is_plain(arrays):
        ufunc: Callable[..., Any] = probe.function
        return ufunc
    return partial(primitive.kernel, np)


class _Probe:
    """Stands for NumPy to see whether a kernel is one call of one ufunc on its own arguments."""

    def __init__(self) -> None:
        self.calls = 0
        self.result: Any = None
        self.function: Any = None
        self.arguments: tuple[Any, ...] = ()

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if not isinstance(function, np.ufunc):
            raise AttributeError(name)
        return partial(self._call, function)

    def _call(self, function: Any, *arguments: Any) -> Any:
        self.calls += 1
        self.function, self.arguments, self.result = function, arguments, object()
        return self.result

    def is_plain(self, arrays: list[Any]) -> bool:
        """Whether there was one call, with `arrays` in this order."""
        same = all(a is b for a, b in zip(arrays, self.arguments, strict=False))
        return self.calls == 1 and same and len(arrays) == len(self.arguments)


def _stateful(has_outputs: bool, step: Step, key: Operation, may_be_absent: bool) -> Callable[..., Any]:
    primitive = step.op.primitive
    assert isinstance(primitive, AbstractStateful)
    writes, reads = primitive.writes_state, primitive.reads_state
    check = with_checked_shapes(step, lambda *arrays: None) if has_unknown_shapes(step) else None

    def run(values: States, arrays: list[Any]) -> Any:
        state = values.get(key)
        if state is None and primitive.owns_state:
            state = values[key] = np.array(primitive.initial_state())
        if state is None and reads:
            if may_be_absent:
                return Absent(key)
            raise messages.uninitialized(key)
        if check is not None:
            check(*arrays)
        outputs = primitive.kernel(np, state, *arrays) if has_outputs else ()
        if writes:
            exclusive = getrefcount(state) <= _EXCLUSIVE and state.base is None if state is not None else False
            value = primitive.update(np, values.changes(key, exclusive), state, *arrays)
            if exclusive and state is not None and (value is state or _is_view_of_all(value, state)):
                return outputs
            values[key] = value if value is state or _is_fresh(value) else copied(value)
        return outputs

    return run


def _is_view_of_all(value: Any, state: Array) -> bool:
    """Whether `value` is another view of the memory of `state`, with the same elements in the same places."""
    return getattr(value, "base", None) is state and value.__array_interface__ == state.__array_interface__


def _is_fresh(value: Any) -> bool:
    """Whether an array that `update` returned was made by this run, so that it may be kept without a copy."""
    whole = isinstance(value, np.ndarray) and value.base is None and value.flags.writeable
    return whole and getrefcount(value) <= _FRESH


def _owned(x: Any) -> Any:
    """A fetched value that shares no memory with anything else."""
    if not isinstance(x, np.ndarray):
        return x
    if x.ndim == 0:
        return x[()]
    return x.copy() if x.base is not None or not x.flags.writeable or getrefcount(x) > _FETCHED else x


def _counts() -> tuple[int, int, int]:
    """The reference counts that `_stateful`, `_is_fresh` and `_owned` meet where nothing else refers to an array."""

    def in_stateful(values: dict[int, Array]) -> int:
        state = values.get(0)
        return getrefcount(state)

    def in_fresh(arrays: list[Any]) -> int:
        value = first(*arrays)
        return counted(value)

    def first(*arrays: Any) -> Any:
        return arrays[0]

    def counted(x: Any) -> int:
        return getrefcount(x)

    slots = [np.zeros(1)]
    kept = slots.copy()
    return in_stateful({0: np.zeros(1)}), in_fresh(kept), counted(np.zeros(1)) + 1


_EXCLUSIVE, _FRESH, _FETCHED = [min(pair) for pair in zip(_counts(), (3, 5, 3), strict=True)]
"""At most the counts of CPython 3.11: a debugger that holds references at import must not make copies rarer."""
