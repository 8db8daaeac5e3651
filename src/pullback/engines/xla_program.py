"""`Program`: a plan as one program of XLA, compiled once for each signature of its feeds.

Variables travel as two tuples of arguments: those that the plan assigns to, which are donated, so that XLA changes them
in place, and those it only reads. Constants above a size are arguments too. Feeds whose values decide shapes are
compiled in, and are part of the signature.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from logging import getLogger
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.graph import Operation, Tensor
from . import messages
from .concrete import concrete_values, lifted_constants
from .engine import EngineOptions
from .plan import Plan, has_guards
from .xla_callbacks import Failures, calls_python, noting_in, raise_first
from .xla_devices import Layout
from .xla_trace import CODES, NAN, Refused, Trace, dense

if TYPE_CHECKING:
    from .xla import XlaEngine

_log = getLogger("pullback")
_MOST_PROGRAMS = 128
"""The programs kept for one plan whose feeds decide shapes."""
_MANY_PROGRAMS = 16


class Program:
    """A plan under `jax.jit`, called with one array for each feed.

    `volatile` are states whose memory is given up before the outputs are read: those are copied where they are outputs.
    """

    def __init__(
        self, engine: XlaEngine, plan: Plan, layout: Layout, volatile: Collection[Operation] = frozenset()
    ) -> None:
        self.engine = engine
        self.plan = plan
        self.layout = layout
        self.volatile = volatile
        self.concrete = concrete_values(plan)
        self.written = [key for i, key in enumerate(plan.states) if i in plan.written]
        self.read = [key for i, key in enumerate(plan.states) if i not in plan.written]
        self.check = engine.options.check_numerics
        self.lifted: list[Any] = lifted_constants(plan)
        self.lifted_ids = [id(array) for array in self.lifted]
        self.checked: list[Tensor | Refused] = []
        self.calls_python = calls_python(plan)
        self.failures: Failures = []
        self.calls = 0
        self.assigned: dict[int, int] = {}
        """The numbers of written states that become a lifted constant as it is, and the number of that."""
        self.compiled: OrderedDict[Any, Callable[..., Any]] = OrderedDict()
        self.only = None if self.concrete.feeds else self._jitted([])
        for key in plan.states:
            engine.initialise_own(key)

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """One NumPy array for each fetch."""
        engine = self.engine
        with self.layout.entered():
            try:
                outputs, states = self.launch(engine.values, feeds)
                results = [to_host(y) for y in outputs]
                if not results and states:
                    states[0].block_until_ready()
            except BaseException:
                engine.lose(self.written)
                raise
        engine.keep(self.written, states)
        return results

    def launch(self, values: Mapping[Operation, Any], feeds: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """One array on the device for each fetch, and the new values of `written`; to be called inside its layout."""
        fn, feeds = (self.only, feeds) if self.only is not None else self._specialised(feeds)
        self.calls += 1
        if self.calls == 2:
            assigned = set(self.assigned.values())
            self.lifted = [x if j in assigned else self.layout.copied(x) for j, x in enumerate(self.lifted)]
        written = [values.get(key) for key in self.written]
        read = [values.get(key) for key in self.read]
        outputs, states, codes = fn(written, read, self.lifted, feeds)
        if self.calls_python:
            raise_first(self.failures, (outputs, states))
        if codes is not None:
            self._raise_not_finite(codes)
        for i, j in self.assigned.items():
            states[i] = self.layout.copied(self.lifted[j])
        return outputs, states

    def memory(self, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program needs."""
        values = self.engine.values
        with self.layout.entered():
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
            donate_argnums=() if self.check or self.calls_python or has_guards(self.plan) else (0,),
            compiler_options=_compiler_options(self.engine.options, self.plan),
            **self.layout.jit_options(),
        )
        return jitted

    def _traced(
        self, written: list[Any], read: list[Any], lifted: list[Any], feeds: list[Any], static: list[Any]
    ) -> tuple[list[Any], list[Any], Any]:
        plan = self.plan
        constants = dict(zip(self.lifted_ids, lifted, strict=True))
        trace = Trace(plan, self.concrete, self.engine.lost, check=self.check, lifted=constants, checked=self.checked)
        rest, known = iter(feeds), iter(static)
        for i, slot in enumerate(plan.feed_slots):
            trace.slots[slot] = next(known if i in self.concrete.feeds else rest)
        old, unchanged = iter(written), iter(read)
        for i in range(len(plan.states)):
            trace.states[i] = next(old if i in plan.written else unchanged)
        with noting_in(self.failures):
            trace.run()
        olds = [self.engine.values.get(key) for key in self.written]
        states = [self.layout.kept(trace.states[i], old) for i, old in zip(sorted(plan.written), olds, strict=True)]
        given_up = {id(x) for key, x in zip(self.read, read, strict=True) if key in self.volatile}
        fetched = [dense(y) for y in trace.fetched()]
        outputs = [jnp.copy(y) if id(y) in given_up else jnp.asarray(y) for y in fetched]
        codes = jnp.stack(trace.codes) if trace.codes else None
        self.assigned = {i: j for i, state in enumerate(states) for j, x in enumerate(lifted) if state is x}
        for i in self.assigned:
            states[i] = None
        return outputs, _separate(states, written, [*read, *lifted, *feeds]), codes

    def _raise_not_finite(self, codes: Any) -> None:
        """The error for the first output that is not finite, if one is; nothing has been assigned then."""
        array = np.asarray(codes)
        if not array.any():
            return
        number, kind = divmod(int(array[np.argmax(array != 0)]), CODES)
        y = self.checked[number]
        if isinstance(y, Refused):
            raise y.error(kind)
        raise messages.not_finite(y.op, "NaN" if kind == NAN else "infinity", y)


def _separate(states: list[Any], written: list[Any], others: list[Any]) -> list[Any]:
    """`states`, each in memory of its own: a value that is also an argument or another state is copied; None stays."""
    taken = {id(x) for x in others}
    separate = []
    for state, own in zip(states, written, strict=True):
        shared = id(state) in taken or any(state is x for x in written if x is not own)
        taken.add(id(state))
        separate.append(jnp.copy(state) if shared and state is not None else state)
    return separate


def to_host(y: Any) -> Any:
    """A NumPy array of its own memory, or a NumPy scalar."""
    return np.array(y) if y.ndim else np.asarray(y)[()]


def _compiler_options(options: EngineOptions, plan: Plan) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if options.compile_effort == "fast":
        chosen["xla_backend_optimization_level"] = 0
    # Inside nested loops, XLA 0.10.2 leaves out copies that are needed: what one iteration wrote, the next read as old.
    has_loops = any(step.bodies for step in plan.steps)
    if plan.written and not has_loops and jax.default_backend() == "cpu":
        chosen["xla_cpu_copy_insertion_use_region_analysis"] = True
    return chosen
