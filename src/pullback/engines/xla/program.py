"""XLA programs: a plan compiled once for each signature of its feeds.

Variables travel as two tuples of arguments: those that the plan assigns to, which are donated, so that XLA changes them
in place, and those it only reads. Constants above a size are arguments too. Feeds whose values decide shapes are
compiled in, and are part of the signature.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from logging import getLogger
from operator import call
from threading import RLock
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ...control_flow.loop import Loop
from ...core.dtypes import string
from ...core.function import bound_lengths
from ...core.garbage import without_collection
from ...core.graph import Operation, Tensor
from ...core.shape import as_shape
from ...passes.run_lengths import Lengths
from ...primitives.variables.operations import VarHandleOp
from .. import messages
from ..concrete import SMALL, concrete_values, is_small, lifted_constants, shape_slots
from ..engine import Run
from ..plan import Plan, has_guards
from .broadcast_factors import has_broadcast_factor
from .collectives import bytes_by_kind
from .compiler_options import compiler_options
from .control_flow.failures import Failures, calls_python, noting_in, raise_first
from .devices import Layout
from .headroom import headroom_of, make_sure_of
from .interrupts import to_its_end
from .jax_internals import launcher
from .loops.padded import Padded, Turned, cut
from .loops.rooms import Rooms, WithRooms, are_lazy
from .lost_processes import while_watching
from .platform import PROCESSOR, compiling_for
from .settled import settled_call
from .trace import CODES, NAN, Refused, Trace, dense
from .trigonometric import are_few_in

if TYPE_CHECKING:
    from .engine import XlaEngine

Compiled = Callable[..., Any] | WithRooms
_ON_HOST = {np.ndarray}
_log = getLogger("pullback")
_MOST_PROGRAMS = 128
"""The programs kept for one plan whose feeds decide shapes."""
_MANY_PROGRAMS = 16


class Program:
    """A plan under `jax.jit`, called with one array for each feed.

    `volatile` are states whose memory is given up before the outputs are read: those are copied where they are outputs.
    """

    def __init__(
        self,
        engine: XlaEngine,
        plan: Plan,
        layout: Layout,
        volatile: Collection[Operation] = frozenset(),
        donates: bool = True,
        to_host: bool = True,
    ) -> None:
        self.engine = engine
        self.plan = plan
        self.layout = layout
        self.spans_processes = layout.spans_processes
        self.volatile = volatile
        self.to_host = to_host
        self.readers = [np.array if x.shape.rank else host_value for x in plan.fetches]
        self.concrete = concrete_values(plan)
        self.written = [key for i, key in enumerate(plan.states) if i in plan.written]
        self.read = [key for i, key in enumerate(plan.states) if i not in plan.written]
        self.check = engine.options.check_numerics
        self.lifted: list[Any] = lifted_constants(plan)
        self.lifted_ids = [id(array) for array in self.lifted]
        self.checked: list[Tensor | Refused] = []
        self.calls_python = calls_python(plan)
        self.failures: Failures = []
        self.turn = RLock()
        """Failures are noted for one run at a time."""
        reports = self.check or self.calls_python or has_guards(plan)
        self.donates = donates and not reports
        self.has_signature = all(x.shape.is_fully_defined() for x in plan.feeds)
        self.completed: dict[Any, int] = {}
        """The signatures for which a compiled program has run to its end, and the memory that it needs for that."""
        self.headroom = 0
        """The memory that the program which is run next needs, where it is given that of variables."""
        self.calls = 0
        self.settled: Run | None = None
        """What to call instead once all that the first calls do is done, where there is one signature."""
        self.may_settle = self.has_signature and not (layout.mesh or reports)
        self.assigned: dict[int, int] = {}
        """The numbers of written states that become a lifted constant as it is, and the number of that."""
        self.compiled: OrderedDict[Any, Compiled] = OrderedDict()
        self.only: Compiled | None = None
        """The one program, where no feed decides shapes; made when the first feeds are there."""
        self.with_ynnpack = True
        """Whether YNNPACK may compute products; until a program is seen where it would do so wrongly."""
        for key in plan.states:
            engine.initialise_own(key)

    def close(self) -> None:
        """Let go of what is compiled."""
        self.only = self.settled = None
        self.compiled.clear()
        self.completed.clear()

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """One array for each fetch."""
        engine = self.engine
        launched: list[Any] = []
        with self.layout.entered():
            try:
                outputs, states, counts = self.launch(engine.values, feeds, launched)
                results = self.on_host(outputs, states) if self.to_host else list(outputs)
                for (i, axis), count in counts.items():
                    results[i] = cut(results[i], axis, count)
                if states:
                    engine.keep(self.written, states)
            except BaseException:
                self.save(launched)
                raise
            if self.may_settle and self.calls > 1:
                self._settle(feeds, counts)
        return results

    def _settle(self, feeds: Sequence[Any], counts: Mapping[Any, Any]) -> None:
        """From now on call what is compiled, where calls are as simple as that."""
        self.may_settle = False
        fn: Any = self.only
        if fn is None or counts or self.assigned:
            return
        lowered = fn.lower(*self._states(self.engine.values), self.lifted, self.taken(feeds))
        call = launcher(lowered.compile())
        rooms = fn if isinstance(fn, WithRooms) and fn.keys else None
        self.settled = None if call is None else settled_call(self, call, rooms)

    def on_host(self, outputs: Sequence[Any], states: Sequence[Any]) -> list[Any]:
        """`outputs` as NumPy arrays; where there are none, after `states` were computed, but for copies."""
        if self.spans_processes:
            self.layout.wait_for([outputs, states])
        elif outputs:
            outputs[0].block_until_ready()  # A copy to the host would wait 5 us longer for its turn.
        elif computed := [x for i, x in enumerate(states) if i not in self.assigned]:
            computed[0].block_until_ready()
        return [*map(call, self.readers, outputs)]

    def save(self, launched: Sequence[Any]) -> None:
        """After an error or an interrupt: where the memory of variables was given up, their new values count."""
        if not self.donates:
            return
        try:
            for _, states, *_ in launched:
                complete = self._with_assigned(states)
                self.layout.wait_for(complete)
                self.engine.keep(self.written, complete)
        finally:
            self.engine.lose(self.written)
            self.engine.rooms.clear()

    def launch(
        self, values: Mapping[Operation, Any], feeds: Sequence[Any], launched: list[Any]
    ) -> tuple[list[Any], list[Any], dict[tuple[int, int], Any]]:
        """One array on the device for each fetch, and the new values of `written`; to be called inside its layout.

        Also, by their number and the axis, how many rows there are of fetches that have rows of zeros behind them. What
        the program gave is put into `launched` by one call that no signal can cut in two: the variables' own memory is
        gone then. The first call of a signature goes through Python code of jax's, and there may be too little memory
        for what the program computes: so it is compiled before, and run in a thread of its own, or it is given copies.
        """
        if self.calls_python:
            with self.turn:
                outputs, states, codes, counts, *_ = self._call(values, feeds, launched)
                raise_first(self.failures, (outputs, states))
        else:
            outputs, states, codes, counts, *_ = self._call(values, feeds, launched)
        if codes is not None:
            self._raise_not_finite(codes)
        return outputs, self._with_assigned(states) if self.assigned else states, counts

    def shapes(
        self, values: Mapping[Operation, Any], feeds: Sequence[Any], launched: list[Any]
    ) -> tuple[list[Any], list[Any], dict[tuple[int, int], Any]]:
        """The shapes of what `launch` gives, of which nothing is run."""
        del launched
        fn, feeds = (self.only, feeds) if self.only is not None else self._chosen(feeds)
        traced: Any = fn
        outputs, states, _, counts = traced.eval_shape(*self._states(values), self.lifted, feeds)
        for i, j in self.assigned.items():
            states[i] = jax.eval_shape(jnp.asarray, self.lifted[j])
        return outputs, states, counts

    def taken(self, feeds: Sequence[Any]) -> Sequence[Any]:
        """`feeds` where the program takes them, and in memory of their own if they are read after a call returns."""
        if not _ON_HOST.issuperset(map(type, feeds)):
            feeds = [*map(self.layout.moved, feeds)]
        return feeds if self.to_host else own(feeds)

    def _states(self, values: Mapping[Operation, Any]) -> tuple[list[Any], list[Any]]:
        """The values of the states that it assigns to, and of those that it reads; None where there is none."""
        return [*map(values.get, self.written)], [*map(values.get, self.read)]

    def _call(self, values: Mapping[Operation, Any], feeds: Sequence[Any], launched: list[Any]) -> Any:
        feeds = self.taken(feeds)
        fn, rest = (self.only, feeds) if self.only is not None else self._chosen(feeds)
        written, read = self._states(values)
        if self._has_settled(fn, rest):
            self._start(fn, launched, written, read, rest)
        else:
            with without_collection():
                self._start_new(fn, launched, written, read, feeds, rest)
        return launched[-1]

    def _start_new(
        self, fn: Compiled, launched: list[Any], written: list[Any], read: list[Any], feeds: Any, rest: Any
    ) -> None:
        """The first calls of a signature, after which `fn`, with `rest` of the feeds, is what computes all rightly."""
        if self._multiplies_wrongly(fn, written, read, rest):
            self.with_ynnpack = False
            self.close()
            fn, rest = self._chosen(feeds)
        self._start_first(fn, launched, written, read, rest)

    def _multiplies_wrongly(self, fn: Compiled, written: list[Any], read: list[Any], feeds: Sequence[Any]) -> bool:
        """Whether `fn`, which has not been run for such `feeds`, leaves products to YNNPACK that it cannot compute."""
        if self.layout.platform != PROCESSOR or self._signature(fn, feeds) in self.completed:
            return False
        lowered: Any = fn
        return has_broadcast_factor(lowered.lower(written, read, self.lifted, feeds).compile().as_text())

    def _start(self, fn: Compiled, launched: list[Any], written: list[Any], read: list[Any], feeds: Any) -> None:
        if self.headroom:
            make_sure_of(self.headroom)
        if isinstance(fn, WithRooms):
            fn.launch(launched, written, read, self.lifted, feeds)
        else:
            started = self._interruptible(fn, feeds) if self.spans_processes else fn
            launched.extend(map(started, (written,), (read,), (self.lifted,), (feeds,)))

    def _interruptible(self, fn: Compiled, feeds: Sequence[Any]) -> Any:
        """`fn` in a thread of its own: a processor computes small programs where they are called, and waits in them."""
        if self.layout.platform != PROCESSOR or self._signature(fn, feeds) not in self.completed:
            return fn
        return partial(while_watching, partial(self._entered, fn))

    def _has_settled(self, fn: Compiled, feeds: Sequence[Any]) -> bool:
        """Whether all that the first calls do is done for the signature of `feeds`, whose headroom then counts."""
        known = self.completed.get(self._signature(fn, feeds)) if self.calls > 1 else None
        if known is None:
            return False
        self.headroom = known
        return True

    def _start_first(self, fn: Compiled, launched: list[Any], written: list[Any], read: list[Any], feeds: Any) -> None:
        """The first calls of a signature. From the second on constants are moved."""
        self.calls += 1
        if self.calls == 2:
            assigned = set(self.assigned.values())
            self.lifted = [
                x if j in assigned else self.layout.copied(x, lasting=True) for j, x in enumerate(self.lifted)
            ]
        signature = self._signature(fn, feeds)
        self.headroom = self.completed.get(signature, 0)
        start = partial(self._start, fn, launched)
        if signature in self.completed or not (self.donates and self.written):
            start(written, read, feeds)
        elif self.layout.platform == PROCESSOR and not self.spans_processes:
            lowered: Any = fn
            self.headroom = headroom_of(lowered.lower(written, read, self.lifted, feeds).compile())
            to_its_end(partial(self._entered, start, written, read, feeds))
        else:  # How much memory there is cannot be asked for.
            start([None if x is None else jnp.copy(x) for x in written], read, feeds)
        if signature not in self.completed:
            self.layout.wait_for(launched[-1][:2])
            self.completed[signature] = self.headroom

    def _entered(self, run: Any, *arguments: Any) -> Any:
        """What `run` gives in another thread, which begins without 64-bit types and mesh."""
        with self.layout.entered():
            return run(*arguments)

    def _signature(self, fn: Compiled, feeds: Sequence[Any]) -> Any:
        return fn, () if self.has_signature else tuple([x.shape for x in feeds])

    def _with_assigned(self, states: Sequence[Any]) -> list[Any]:
        """The new values of `written`, with those that are constants as they are."""
        complete = list(states)
        for i, j in self.assigned.items():
            complete[i] = self.layout.copied(self.lifted[j], lasting=True)
        return complete

    def memory(self, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program needs."""
        fn, compiled = self._compiled(feeds, self._values_or_types())
        analysis = compiled.memory_analysis()
        rooms = fn.nbytes if isinstance(fn, WithRooms) else 0
        return {
            "arguments": int(analysis.argument_size_in_bytes) - rooms,
            "outputs": int(analysis.output_size_in_bytes) - rooms,
            "aliased": int(analysis.alias_size_in_bytes) - rooms,
            "temporary": int(analysis.temp_size_in_bytes) + rooms,
        }

    def communication(self, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that one device is sent by collectives, by their kind."""
        return bytes_by_kind(self._compiled(feeds, self._values_or_types())[1].as_text())

    def places(self) -> dict[Operation, Any]:
        """How the values that a run without feeds gives to states are spread over the mesh."""
        compiled = self._compiled([], self.engine.values)[1]
        _, states, *_ = compiled.output_shardings
        return {key: place for key, place in zip(self.written, states, strict=True) if place is not None}

    def _compiled(self, feeds: Sequence[Any], values: Mapping[Operation, Any]) -> tuple[Compiled, Any]:
        with self.layout.entered():
            fn, feeds = (self.only, feeds) if self.only is not None else self._chosen(feeds)
            lowered: Any = fn
            return fn, lowered.lower(*self._states(values), self.lifted, feeds).compile()

    def _values_or_types(self) -> dict[Operation, Any]:
        """The values of states; of variables that have none yet what XLA needs to know of one, where that is said."""
        make: Any = jax.ShapeDtypeStruct
        handles = [(key, key.primitive) for key in self.plan.states if key not in self.engine.values]
        types = {
            key: make(p.shape.known, p.dtype)
            for key, p in handles
            if isinstance(p, VarHandleOp) and p.shape.is_fully_defined() and p.dtype != string
        }
        return types | self.engine.values

    def _chosen(self, feeds: Sequence[Any]) -> tuple[Compiled, Sequence[Any]]:
        """The program for `feeds`, and those that it takes."""
        if self.concrete.feeds:
            return self._specialised(feeds)
        self.only = self._jitted([], feeds)
        return self.only, feeds

    def _specialised(self, feeds: Sequence[Any]) -> tuple[Compiled, list[Any]]:
        """The program for the values of the feeds that decide shapes, and the other feeds."""
        static = [np.asarray(feeds[i]) for i in self.concrete.feeds]
        rest = [x for i, x in enumerate(feeds) if i not in self.concrete.feeds]
        key = tuple([(x.dtype, x.shape, x.tobytes()) for x in static])
        fn = self.compiled.get(key)
        if fn is None:
            enough = 1 if any(x.size > SMALL for x in static) else _MANY_PROGRAMS - 1
            if len(self.compiled) == enough:
                self._leave_large_to_host()
            fn = self.compiled[key] = self._jitted([x.copy() for x in static], feeds)
            if len(self.compiled) == _MANY_PROGRAMS:
                names = ", ".join(f"'{self.plan.feeds[i].name}'" for i in self.concrete.feeds)
                _log.warning(messages.MANY_PROGRAMS, _MANY_PROGRAMS, names)
            if len(self.compiled) > _MOST_PROGRAMS:
                self.compiled.popitem(last=False)
                self.completed.clear()
        else:
            self.compiled.move_to_end(key)
        return fn, rest

    def _leave_large_to_host(self) -> None:
        """Refuse an operation that finds in a fed array how long its result is: it may be another length each time."""
        if self.layout.mesh is not None:
            return
        for step in self.plan.steps:
            if any(not is_small(x) for x in step.op.inputs) and self.concrete.slots.intersection(shape_slots(step)):
                raise messages.needs_value(step.op, step.op.inputs)

    def _jitted(self, static: list[Any], feeds: Sequence[Any]) -> Compiled:
        """The program for feeds of which `static` are compiled in; it is made for lengths as those of `feeds`."""
        platform = self.layout.platform
        lengths = Lengths(
            bound_lengths([(x.shape, as_shape(y.shape)) for x, y in zip(self.plan.feeds, feeds, strict=True)])
        )

        def traced(rooms: Rooms, *args: Any) -> Any:
            with compiling_for(platform, self.engine.options.compile_effort, may_expand=are_few_in(self.plan)):
                return self._traced(static, rooms, *args)

        donates = self.donates
        keeps_rooms = donates and self.layout.mesh is None and _may_record(self.plan)
        is_lazy = keeps_rooms and are_lazy(platform)
        asked = Rooms()

        def program(*args: Any) -> Any:
            nonlocal asked
            asked = Rooms(is_lazy=is_lazy)
            return traced(asked, *args)

        def with_rooms(*args: Any) -> Any:
            rooms = Rooms(args[-1], is_lazy)
            return (*traced(rooms, *args[:-1]), rooms.final())

        def rooms_asked(*args: Any) -> Rooms:
            plain.eval_shape(*args)
            return asked

        jit: Any = partial(
            jax.jit,
            compiler_options=compiler_options(self.engine.options, self.plan, platform, lengths, self.with_ynnpack),
            **self.layout.jit_options(),
        )
        plain = jit(program, donate_argnums=(0,) if donates else ())
        if not keeps_rooms:
            return plain  # type: ignore[no-any-return]
        jitted = jit(with_rooms, donate_argnums=(0, 4))
        return WithRooms(plain, jitted, rooms_asked, self.engine.rooms, self.layout.device)

    def _traced(
        self, static: list[Any], rooms: Rooms, written: list[Any], read: list[Any], lifted: list[Any], feeds: list[Any]
    ) -> tuple[list[Any], list[Any], Any, dict[tuple[int, int], Any]]:
        plan = self.plan
        constants = dict(zip(self.lifted_ids, lifted, strict=True))
        trace = Trace(
            plan,
            self.concrete,
            self.engine.lost,
            check=self.check,
            precision=self.engine.options.matmul_precision,
            lifted=constants,
            checked=self.checked,
        )
        trace.level = rooms
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
        rows = {i: y for i, y in enumerate(trace.fetched()) if isinstance(y, Padded | Turned)}
        fetched = [rows[i].whole() if i in rows else dense(y) for i, y in enumerate(trace.fetched())]
        outputs = [jnp.copy(y) if id(y) in given_up else jnp.asarray(y) for y in fetched]
        if self.to_host:
            outputs = [self.layout.readable(y) for y in outputs]
        codes = self.layout.readable(jnp.stack(trace.codes)) if trace.codes else None
        self.assigned = {i: j for i, state in enumerate(states) for j, x in enumerate(lifted) if state is x}
        for i in self.assigned:
            states[i] = None
        counts = {(i, y.axis): self.layout.readable(y.count) for i, y in rows.items()}
        return outputs, _separate(states, written, [*read, *lifted, *feeds]), codes, counts

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


def _may_record(plan: Plan) -> bool:
    """Whether there is a loop whose steps follow one another, which may keep room for what it computes again."""
    for step in plan.steps:
        loop = step.op.primitive
        if (isinstance(loop, Loop) and not loop.has_steps_apart) or any(_may_record(body.plan) for body in step.bodies):
            return True
    return False


def _separate(states: list[Any], written: list[Any], others: list[Any]) -> list[Any]:
    """`states`, each in memory of its own: a value that is also an argument or another state is copied; None stays."""
    taken = {id(x) for x in others}
    separate = []
    for state, own in zip(states, written, strict=True):
        shared = id(state) in taken or any(state is x for x in written if x is not own)
        taken.add(id(state))
        separate.append(jnp.copy(state) if shared and state is not None else state)
    return separate


def host_value(y: Any) -> Any:
    """A NumPy array of its own memory, or a NumPy scalar."""
    return np.array(y) if y.ndim else np.asarray(y)[()]


def own(feeds: Sequence[Any]) -> list[Any]:
    """`feeds`, in memory that nobody writes to while a program that nobody waits for reads them."""
    return [np.array(x) if type(x) is np.ndarray else x for x in feeds]
