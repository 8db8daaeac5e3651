"""The XLA engine: a plan becomes one program, compiled once for each signature of its feeds.

Variables travel as two tuples of arguments: those that the plan assigns to, which are donated, so that XLA changes them
in place, and those it only reads. Constants above a size are arguments too. Feeds whose values decide shapes are
compiled in, and are part of the signature.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import OrderedDict
from collections.abc import Callable, Sequence
from logging import getLogger
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import engines
from ..core.graph import Operation, Tensor
from ..primitives.constant import as_array
from ..primitives.state import AbstractStateful
from . import messages
from .concrete import LIFTED_BYTES, concrete_values, is_small
from .engine import AbstractEngine, EngineOptions, Run
from .memory import keep_memory
from .plan import Plan, checked_outputs
from .xla_trace import NAN, Trace

for _module in pkgutil.iter_modules(engines.__path__):
    if _module.name.startswith("xla_"):
        importlib.import_module(f"{engines.__name__}.{_module.name}")

_log = getLogger("pullback")
_MOST_PROGRAMS = 128
"""The programs kept for one plan whose feeds decide shapes."""
_MANY_PROGRAMS = 16


class XlaEngine(AbstractEngine):
    """Compiles each plan with XLA; keeps variables on the device."""

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self.values: dict[Operation, Any] = {}
        self.lost: set[Operation] = set()
        keep_memory()
        if options.cache_dir is not None:
            _keep_programs_in(options.cache_dir)

    def prepare(self, plan: Plan) -> Run:
        """The function that runs `plan`; XLA compiles it when it is called."""
        if _is_known(plan) and not self.options.check_numerics:
            return _run_of_known(plan)
        return Program(self, plan)

    def as_feed(self, tensor: Tensor, value: Any) -> Any:
        """`value` as an array of the dtype of `tensor`; an array of jax stays where it is."""
        if isinstance(value, jax.Array) and value.dtype == tensor.dtype:
            return value
        return as_array(np.asarray(value) if isinstance(value, jax.Array) else value, tensor.dtype)

    def has_state(self, key: Operation) -> bool:
        """Whether there is a state under `key`."""
        return key in self.values

    def read_state(self, key: Operation) -> np.ndarray[Any, Any] | None:
        """A copy of the state kept under `key`, or None."""
        value = self.values.get(key)
        if value is None and key in self.lost:
            raise messages.lost(key)
        return None if value is None else np.array(value)

    def write_state(self, key: Operation, value: np.ndarray[Any, Any]) -> None:
        """Replace the state kept under `key` by a copy of `value`."""
        with jax.enable_x64(True):
            self.values[key] = jnp.array(value, copy=True)
        self.lost.discard(key)

    def lose(self, keys: Sequence[Operation]) -> None:
        """Forget the states of `keys` whose memory a failed run has given up; what an operation owns begins anew."""
        for key in keys:
            value = self.values.get(key)
            if value is None or not value.is_deleted():
                continue
            del self.values[key]
            if not self.initialise_own(key):
                self.lost.add(key)

    def initialise_own(self, key: Operation) -> bool:
        """Whether `key` is an operation that owns its state, which then has one."""
        primitive = key.primitive
        if not isinstance(primitive, AbstractStateful) or not primitive.owns_state:
            return False
        if key not in self.values:
            self.write_state(key, np.asarray(primitive.initial_state()))
        return True

    def compiled_memory(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program of `plan` needs."""
        return Program(self, plan).memory(feeds)

    def close(self) -> None:
        """Let go of all values."""
        self.values.clear()
        self.lost.clear()


def _is_known(plan: Plan) -> bool:
    """Whether a plan depends on nothing, and is so small that compiling it costs more than NumPy."""
    if plan.feeds or plan.states:
        return False
    small = all(is_small(y) for step in plan.steps for y in step.op.outputs)
    return small and all(array.nbytes <= LIFTED_BYTES for _, array in plan.constants)


def _run_of_known(plan: Plan) -> Run:
    def run(feeds: Sequence[Any]) -> list[Any]:
        trace = Trace(plan, concrete_values(plan), set(), check=False)
        for slot, array in plan.constants:
            trace.slots[slot] = array if array.ndim else array[()]
        trace.run()
        return [_to_host(np.asarray(trace.slots[slot])) for slot in plan.fetch_slots]

    return run


class Program:
    """A plan under `jax.jit`, called with one array for each feed."""

    def __init__(self, engine: XlaEngine, plan: Plan) -> None:
        self.engine = engine
        self.plan = plan
        self.concrete = concrete_values(plan)
        self.written = [key for i, key in enumerate(plan.states) if i in plan.written]
        self.read = [key for i, key in enumerate(plan.states) if i not in plan.written]
        self.check = engine.options.check_numerics
        self.lifted_slots = [slot for slot, array in plan.constants if self._is_lifted(slot, array)]
        self.lifted: list[Any] = [array for slot, array in plan.constants if self._is_lifted(slot, array)]
        self.calls = 0
        self.compiled: OrderedDict[Any, Callable[..., Any]] = OrderedDict()
        self.only = None if self.concrete.feeds else self._jitted([])
        for key in plan.states:
            engine.initialise_own(key)

    def _is_lifted(self, slot: int, array: np.ndarray[Any, Any]) -> bool:
        return array.nbytes > LIFTED_BYTES and slot not in self.concrete.slots

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """One NumPy array for each fetch."""
        engine = self.engine
        values = engine.values
        with jax.enable_x64(True):
            fn, feeds = (self.only, feeds) if self.only is not None else self._specialised(feeds)
            self.calls += 1
            if self.calls == 2:
                self.lifted = [jnp.array(x, copy=True) for x in self.lifted]
            written = [values.get(key) for key in self.written]
            read = [values.get(key) for key in self.read]
            try:
                outputs, states, codes = fn(written, read, self.lifted, feeds)
                if codes is not None:
                    self._raise_not_finite(codes)
                results = [_to_host(y) for y in outputs]
                if not results and states:
                    states[0].block_until_ready()
            except BaseException:
                engine.lose(self.written)
                raise
        for key, state in zip(self.written, states, strict=True):
            values[key] = state
        if engine.lost:
            engine.lost.difference_update(self.written)
        return results

    def memory(self, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program needs."""
        values = self.engine.values
        with jax.enable_x64(True):
            fn, feeds = (self.only, feeds) if self.only is not None else self._specialised(feeds)
            written = [values.get(key) for key in self.written]
            read = [values.get(key) for key in self.read]
            lowered: Any = fn
            analysis = lowered.lower(written, read, self.lifted, feeds).compile().memory_analysis()
        return {
            "arguments": int(analysis.argument_size_in_bytes),
            "outputs": int(analysis.output_size_in_bytes),
            "aliased": int(analysis.alias_size_in_bytes),
            "temporary": int(analysis.temp_size_in_bytes),
        }

    def _specialised(self, feeds: Sequence[Any]) -> tuple[Callable[..., Any], list[Any]]:
        """The program for the values of the feeds that decide shapes, and the other feeds."""
        static = [np.asarray(feeds[i]) for i in self.concrete.feeds]
        rest = [x for i, x in enumerate(feeds) if i not in self.concrete.feeds]
        key = tuple([(x.dtype, x.shape, x.tobytes()) for x in static])
        fn = self.compiled.get(key)
        if fn is None:
            fn = self.compiled[key] = self._jitted([x.copy() for x in static])
            if len(self.compiled) == _MANY_PROGRAMS:
                names = ", ".join(f"'{self.plan.feeds[i].name}'" for i in self.concrete.feeds)
                _log.warning(messages.MANY_PROGRAMS, _MANY_PROGRAMS, names)
            if len(self.compiled) > _MOST_PROGRAMS:
                self.compiled.popitem(last=False)
        else:
            self.compiled.move_to_end(key)
        return fn, rest

    def _jitted(self, static: list[Any]) -> Callable[..., Any]:
        def program(written: list[Any], read: list[Any], lifted: list[Any], feeds: list[Any]) -> Any:
            return self._traced(written, read, lifted, feeds, static)

        jitted: Callable[..., Any] = jax.jit(
            program,
            donate_argnums=() if self.check else (0,),
            compiler_options=_compiler_options(self.engine.options, self.plan),
        )
        return jitted

    def _traced(
        self, written: list[Any], read: list[Any], lifted: list[Any], feeds: list[Any], static: list[Any]
    ) -> tuple[list[Any], list[Any], Any]:
        plan = self.plan
        trace = Trace(plan, self.concrete, self.engine.lost, check=self.check)
        rest, known = iter(feeds), iter(static)
        for i, slot in enumerate(plan.feed_slots):
            trace.slots[slot] = next(known if i in self.concrete.feeds else rest)
        for slot, array in plan.constants:
            trace.slots[slot] = array if array.ndim else array[()]
        for slot, array in zip(self.lifted_slots, lifted, strict=True):
            trace.slots[slot] = array
        old, unchanged = iter(written), iter(read)
        for i in range(len(plan.states)):
            trace.states[i] = next(old if i in plan.written else unchanged)
        trace.run()
        states = [trace.states[i] for i in sorted(plan.written)]
        outputs = [jnp.asarray(trace.slots[slot]) for slot in plan.fetch_slots]
        codes = jnp.stack(trace.codes) if trace.codes else None
        return outputs, _separate(states, written, [*read, *lifted, *feeds]), codes

    def _raise_not_finite(self, codes: Any) -> None:
        """The error for the first output that is not finite, if one is; nothing has been assigned then."""
        array = np.asarray(codes)
        if not array.any():
            return
        first = int(np.argmax(array != 0))
        y = [step.op.outputs[i] for step in self.plan.steps for i in checked_outputs(step)][first]
        raise messages.not_finite(y.op, "NaN" if array[first] == NAN else "infinity", y)


def _separate(states: list[Any], written: list[Any], others: list[Any]) -> list[Any]:
    """`states`, each in memory of its own: a value that is also an argument, or another's state, is copied."""
    taken = {id(x) for x in others}
    separate = []
    for state, own in zip(states, written, strict=True):
        shared = id(state) in taken or any(state is x for x in written if x is not own)
        taken.add(id(state))
        separate.append(jnp.copy(state) if shared else state)
    return separate


def _to_host(y: Any) -> Any:
    """A NumPy array of its own memory, or a NumPy scalar."""
    return np.array(y) if y.ndim else np.asarray(y)[()]


def _compiler_options(options: EngineOptions, plan: Plan) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if options.compile_effort == "fast":
        chosen["xla_backend_optimization_level"] = 0
    if plan.written and jax.default_backend() == "cpu":
        chosen["xla_cpu_copy_insertion_use_region_analysis"] = True
    return chosen


def _keep_programs_in(folder: str) -> None:
    """Set jax's persistent cache, for the whole process; every program is kept."""
    config: Any = jax.config
    config.update("jax_compilation_cache_dir", folder)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
