"""Sessions: they run parts of a graph, and keep the values of its variables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import resource
from ..core.function import Function
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.matmul_precision import HIGHEST, check_precision
from ..core.nesting import explained_depth
from ..core.typing import TensorLike
from ..passes.view import as_it_is
from ..primitives.creation.placeholders import Placeholder
from ..primitives.variables.variable import Variable
from . import messages
from .abstract_feeds import zeros_for
from .default_engine import check_engine, default_engine
from .default_session import sessions
from .device_attributes import DeviceAttributes, device_attributes
from .engine import AbstractEngine, EngineClass, EngineOptions, Run
from .feed_lengths import with_lengths_checked
from .fetches import Element, Fetches, fed_tensor, feed_pairs, flatten, variable_or
from .host_calls import calls_host, with_host_calls
from .last_reads import with_last_reads
from .loading import engine_loaders
from .partial_runs import PartialRuns
from .plan import Plan, function_plan, handle_of, make_plan
from .prefetch import prefetched
from .shards import Shards, Source
from .step_stats import around_run

if TYPE_CHECKING:
    from ..passes.ruleset import Rules

_CLOSED = "Attempted to use a closed Session."


class Session:
    """Runs parts of one graph, and keeps the values of its variables from run to run.

    Args:
        target: taken for TensorFlow's sake; "" only.
        graph: what to run; the default graph unless given.
        config: a `pb.ConfigProto`, of which only `allow_soft_placement` counts; then `soft_placement` does not.
        engine: "xla" compiles each set of fetches (needs jax), "numpy" computes operation by operation, "onnxruntime"
            exports each set of fetches as a model and runs that; "xla" where jax is installed unless given.
        check_numerics: raise where an operation gives NaN or infinity, naming the first. Slower; for finding errors.
        cache_dir: a folder for XLA's compiled programs, which later processes reuse. It is set for the whole process.
        compile_effort: "full", or "fast" for programs that compile faster and run slower.
        soft_placement: put on the default device what asks for a device that is not here; False raises.
        mesh: the devices that `pb.sharding` spreads tensors over: a dictionary from the names of its axes to their
            lengths, or a `jax.sharding.Mesh`. With a mesh, device strings do not count. For XLA only.
        matmul_precision: how exactly accelerators multiply where `pb.matmul_precision` does not say: "highest", "high"
            or "default", which are faster and keep 10 or 7 bits of each factor.
        optimize: "exact", "safe" or "fast", or `pb.Rules`: what is run is optimised first, as `pb.optimize` does.

    The engines agree but for what a compiled program cannot do or does not do: an index out of range raises on NumPy;
    on XLA what is read there is NaN (the smallest integer for integers), and what is written there is left out. XLA
    needs shapes that do not depend on values computed by the run, and on a CPU takes denormal numbers for zero.

    As a context manager it makes itself the default session and its graph the default graph, and closes at the end.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [None])
    >>> with pb.Session() as session:
    ...     session.run({"twice": x * 2.0}, feed_dict={x: [1.0, 2.0]})
    {'twice': array([2., 4.], dtype=float32)}
    """

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: object = None,
        *,
        engine: str | None = None,
        check_numerics: bool = False,
        cache_dir: str | None = None,
        compile_effort: str = "full",
        soft_placement: bool = True,
        mesh: Any = None,
        matmul_precision: str = HIGHEST,
        optimize: Rules | str | None = None,
    ) -> None:
        if target != "":
            raise TypeError(f"Session: target must be '', not {target!r}; pass the graph by name: Session(graph=...)")
        if optimize is not None and engine == "onnxruntime":
            raise ValueError("Session: optimize= is for the engines that plan a run; for onnxruntime use pb.optimize")
        if compile_effort not in ("full", "fast"):
            raise ValueError(f"Session: compile_effort must be 'full' or 'fast', not {compile_effort!r}")
        self.graph = get_default_graph() if graph is None else graph
        self.engine = default_engine() if engine is None else engine
        if config is not None:
            from .configuration import soft_placement_of

            soft_placement = soft_placement_of(config, soft_placement)
        check_precision("Session", matmul_precision)
        self.matmul_precision = matmul_precision
        options = EngineOptions(check_numerics, cache_dir, compile_effort, soft_placement, mesh, matmul_precision)
        self._engine: AbstractEngine = _engine_class(self.engine)(options)
        self._optimize = as_it_is
        if optimize is not None:
            from ..passes.optimizing import Optimizing
            from ..passes.ruleset import as_rules

            self._optimize = Optimizing(as_rules(optimize)).view
        self._runs: dict[Any, Run] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._entered: list[Any] = []
        self._partial = PartialRuns(self)

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: object = None,
        run_metadata: object = None,
        *,
        to_host: bool = True,
    ) -> Any:
        """The values of `fetches`, nested as they are: arrays for tensors and variables, None for operations.

        `fetches` is a tensor, operation, variable, IndexedSlices (which gives an IndexedSlicesValue) or the name of
        one, or a list, tuple, named tuple or dictionary of fetches. `feed_dict` gives values for any tensors of the
        graph, for IndexedSlices, or for tuples of them: what they would be computed from is then not run. A variable
        that is fed has that value for all that reads it in this run, and its own again afterwards, also where the run
        assigns to it. Floats fed as whole numbers lose their fractions. Arrays that speak DLPack are fed without a copy
        if they are where the run is. Values are NumPy arrays, of no dimensions NumPy scalars, and share no memory with
        the session. With a trace level in `options`, `run_metadata` says which operations ran when; loops on NumPy heed
        their `timeout_in_ms`.

        With `to_host=False` values stay where they were computed. On XLA they are arrays of jax, and the run returns
        before they are computed; what goes wrong on the device is raised where one is read. On the other engines, which
        compute on the host, they are NumPy arrays. All speak DLPack.

        Raises:
            InvalidArgumentError: a fetch or feed of the wrong kind, a feed that does not fit, a placeholder not fed,
                an operation that fails. InaccessibleTensorError: a tensor of another graph.
            FailedPreconditionError: a variable has no value yet. RuntimeError: the session is closed.
            ResourceExhaustedError: the memory is not enough.
        """
        if (around := around_run(self._engine, options, run_metadata)) is not None:
            with around:
                return self.run(fetches, feed_dict, to_host=to_host)
        if isinstance(feed_dict, Mapping) and any(isinstance(key, Variable | str) for key in feed_dict):
            feed_dict = {variable_or(key, self.graph): value for key, value in feed_dict.items()}
            if any(isinstance(key, Variable) for key in feed_dict):
                return self._run_with_variables(fetches, feed_dict, to_host)
        flat = flatten(fetches, self.graph)
        tensors: list[Tensor] = []
        arrays: list[Any] = []
        for tensor, value in feed_pairs(feed_dict, self.graph) if feed_dict else ():
            tensors.append(tensor)
            arrays.append(self._fed(tensor, value))
        return flat.values(self._run_of(flat, tensors, to_host)(arrays))

    def _run_with_variables(self, fetches: Any, feed_dict: Mapping[Any, Any], to_host: bool) -> Any:
        """A run in which variables that are fed have other values than their own."""
        variables = [key for key in feed_dict if isinstance(key, Variable)]
        rest = {key: value for key, value in feed_dict.items() if not isinstance(key, Variable)}
        given = [(v.handle.op, self._fed(fed_tensor(v, self.graph), feed_dict[v])) for v in variables]
        engine = self._engine
        with self._lock:
            before = {key: engine.read_state(key) if engine.has_state(key) else None for key, _ in given}
            try:
                for key, value in given:
                    engine.write_state(key, np.asarray(value))
                return self.run(fetches, rest, to_host=to_host)
            finally:
                for key, own in before.items():
                    if own is None:
                        engine.forget_state(key)
                    else:
                        engine.write_state(key, own)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, *, to_host: bool = True
    ) -> Callable[..., Any]:
        """A function of one value for each of `feed_list` that returns the values of `fetches`.

        Calling it costs less than `run`, which looks at its arguments each time. RuntimeError after `close`. Values,
        with and without `to_host`, are those of `run`.

        >>> import pullback as pb
        >>> x = pb.placeholder(pb.float32, [])
        >>> square = pb.Session().make_callable(x * x, [x])
        >>> square(3.0)
        np.float32(9.0)
        """
        flat = flatten(fetches, self.graph)
        if isinstance(feed_list, list | tuple):
            feed_list = [variable_or(x, self.graph) for x in feed_list]
        feeds = self._fed_tensors(feed_list)
        if any(isinstance(x, Variable) for x in feed_list or ()):
            return lambda *values: self.run(fetches, dict(zip(feed_list or (), values, strict=True)), to_host=to_host)
        run = self._run_of(flat, feeds, to_host)
        fed, names = self._fed, [f"'{x.name}'" for x in feeds]

        def call(*values: Any) -> Any:
            if self._closed:
                raise RuntimeError(_CLOSED)
            if len(values) != len(feeds):
                raise messages.wrong_count(names, len(values))
            return flat.values(run([*map(fed, feeds, values)]))

        def call_for_one(*values: Any) -> Any:
            if self._closed:
                raise RuntimeError(_CLOSED)
            if len(values) != len(feeds):
                raise messages.wrong_count(names, len(values))
            return run([*map(fed, feeds, values)])[0]

        return call_for_one if isinstance(fetches, Tensor) else call

    def prefetch(self, batches: Iterable[Any], feed_list: Sequence[Any] | None = None) -> Iterator[Any]:
        """`batches` with their arrays where runs read them; two are always on the way ahead of the one that is used.

        A batch is a feed dictionary, or, with `feed_list`, a sequence of one value for each of its elements; each comes
        back as it is, with arrays of the engine in the places of values. An iterator may write each batch over the
        arrays of the one before. Copies to a device go on while a step runs, if the step does not wait for its values:
        use `to_host=False`, and read a loss now and then.

        >>> import numpy as np, pullback as pb
        >>> x = pb.placeholder(pb.float32, [2])
        >>> total = pb.Variable(0.0)
        >>> with pb.Session() as session:
        ...     session.run(total.initializer)
        ...     step = session.make_callable(total.assign_add(pb.reduce_sum(x)), [x], to_host=False)
        ...     for (batch,) in session.prefetch(([np.full(2, i)] for i in range(4)), [x]):
        ...         value = step(batch)
        >>> float(value)
        12.0
        """
        feeds = None if feed_list is None else self._fed_tensors(feed_list)
        wait_for = self._engine.wait_for
        if feeds is None:
            return prefetched(batches, self._placed_feeds, lambda batch: wait_for(list(batch.values())))
        return prefetched(batches, partial(self._placed_values, feeds), wait_for)

    def _placed_feeds(self, feed_dict: Mapping[Any, Any]) -> dict[Any, Any]:
        """A feed dictionary with arrays of the engine for its tensors; variables are fed as they are."""
        if not isinstance(feed_dict, Mapping):
            raise messages.feeds_kind(feed_dict)
        variables = {key: value for key, value in feed_dict.items() if isinstance(key, Variable)}
        rest = {key: value for key, value in feed_dict.items() if key not in variables}
        return variables | {x: self._put(x, value) for x, value in feed_pairs(rest, self.graph)}

    def _placed_values(self, feeds: Sequence[Tensor], values: Sequence[Any]) -> tuple[Any, ...]:
        if isinstance(values, Mapping):
            raise messages.batch_kind(values)
        if len(values) != len(feeds):
            raise messages.wrong_count([f"'{x.name}'" for x in feeds], len(values), "each batch")
        return tuple([self._put(x, value) for x, value in zip(feeds, values, strict=True)])

    def _fed_tensors(self, feed_list: Sequence[Any] | None) -> list[Tensor]:
        if isinstance(feed_list, Tensor | Variable | str):
            raise messages.feed_list_kind(feed_list)
        return [] if feed_list is None else [fed_tensor(x, self.graph) for x in feed_list]

    def _put(self, tensor: Tensor, value: Any) -> Any:
        if self._closed:
            raise RuntimeError(_CLOSED)
        return self._engine.put(tensor, self._fed(tensor, value))

    def partial_run_setup(self, fetches: Any, feeds: Sequence[Any] | None = None) -> str:
        """The name of a run in several steps, each a `partial_run`, with these fetches and feeds in all.

        >>> import pullback as pb
        >>> x, by = pb.placeholder(pb.float32, []), pb.placeholder(pb.float32, [])
        >>> square = x * x
        >>> scaled = square * by
        >>> session = pb.Session()
        >>> steps = session.partial_run_setup([square, scaled], [x, by])
        >>> first = session.partial_run(steps, square, {x: 3.0})
        >>> session.partial_run(steps, scaled, {by: 2.0 * first})
        np.float32(162.0)
        """
        return self._partial.begin(fetches, feeds or [])

    def partial_run(self, handle: str, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """The values of some of the fetches of a run in steps, for feeds of all steps so far; nothing is run twice.

        Raises:
            InvalidArgumentError: no such run, or it has ended; what was fetched or fed before, or not set up; a feed
            is missing still. RuntimeError: an operation is fetched.
        """
        return self._partial.run(handle, fetches, feed_dict or {})

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices that operations can be put on.

        >>> import pullback as pb
        >>> pb.Session(engine="numpy").list_devices()[0].device_type
        'CPU'
        """
        return device_attributes(self.engine)

    def run_function(self, function: Function, captured: Sequence[Tensor], values: Sequence[Any]) -> list[Any]:
        """The results of a traced function for one value for each parameter that is no handle.

        `captured` stand behind its last parameters.
        """
        key = (function, tuple(captured))
        run = self._runs.get(key)
        feeds = [x for x in function.parameters if x.dtype != resource]
        if run is None:
            parameters = function.parameters[len(function.parameters) - len(captured) :]
            pairs = zip(parameters, captured, strict=True)
            handles = {x.op: handle_of(around) for x, around in pairs if around.dtype == resource}
            run = self._prepared(key, lambda: self._function_plan(function, handles), feeds)
        return run([self._fed(x, value) for x, value in zip(feeds, values, strict=True)])

    def _run_of(self, flat: Fetches, feeds: Sequence[Tensor], to_host: bool) -> Run:
        key = (tuple(flat.elements), tuple(feeds), to_host)
        known = self._runs.get(key)
        if known is not None:
            return known
        if calls_host(self.graph):
            return self._with_host_calls(key, flat, feeds, to_host)
        return self._prepared(key, lambda: self._plan(flat, feeds), feeds, to_host)

    def _with_host_calls(self, key: Any, flat: Fetches, feeds: Sequence[Tensor], to_host: bool) -> Run:
        """A run before which Python may have something to do."""

        def prepare(elements: Sequence[Element], given: Sequence[Tensor]) -> Run:
            rest = Fetches(list(elements), list)
            return self._prepared((*key, *elements, *given), lambda: self._plan(rest, given), given, to_host)

        run = self._runs[key] = with_host_calls(self, flat.elements, feeds, prepare, self._fed)
        return run

    def _prepared(self, key: Any, make: Callable[[], Plan], feeds: Sequence[Tensor] = (), to_host: bool = True) -> Run:
        if self._closed:
            raise RuntimeError(_CLOSED)
        with self._lock:
            try:
                plan = make()
                run = with_lengths_checked(self._engine.prepare(plan, to_host), feeds)
            except RecursionError as error:
                raise explained_depth(error, "while a run was planned") from error.__cause__
            run = with_last_reads(self, run, plan)
            if plan.states:
                run = _one_at_a_time(run, self._lock)
            self._runs[key] = run
        return run

    def _function_plan(self, function: Function, handles: Mapping[Operation, Operation]) -> Plan:
        return function_plan(function, len(function.results), handles, self._optimize)

    def _plan(self, flat: Fetches, feeds: Sequence[Tensor]) -> Plan:
        plan = make_plan(flat.tensors, flat.operations, feeds, self._optimize)
        missing = [step.op for step in plan.steps if isinstance(step.op.primitive, Placeholder)]
        if missing:
            raise messages.not_fed(missing)
        return plan

    def _fed(self, tensor: Tensor, value: Any) -> Any:
        kind = tensor.type
        known = type(value) is np.ndarray and value.dtype == kind.dtype and not value.dtype.hasobject
        if not known or not self._engine.takes_arrays:
            try:
                value = self._engine.as_feed(tensor, value)
            except (TypeError, ValueError) as error:
                raise messages.feed_value(tensor, error) from None
        if not kind.shape.takes(value.shape):
            raise messages.feed_shape(tensor, value)
        return value

    def compiled_memory(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> dict[str, int]:
        """The bytes that the compiled program of a run needs: "arguments", "outputs", "aliased", "temporary".

        "aliased" is what outputs share with arguments: variables changed in place. "temporary" has all room of loops
        whose number of steps only a run knows, of which a run takes what its steps write to. Nothing is run: variables
        need no values, nor do placeholders of known shapes whose values decide none.

        Raises:
            NotImplementedError: the engine does not compile.
        """
        return self._engine.compiled_memory(*self._plan_by_shape(fetches, feed_dict))

    def compiled_communication(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> dict[str, int]:
        """The bytes that a run sends each device of the mesh, by kind of collective: "all-reduce", "all-gather", ...

        Read from the compiled program; what is inside a loop counts once. Nothing where there is one device. Of stages
        in several processes, the bytes that this process is sent by the others: "collective-permute".
        """
        return self._engine.compiled_communication(*self._plan_by_shape(fetches, feed_dict))

    def _plan_by_shape(self, fetches: Any, feed_dict: Mapping[Any, Any] | None) -> tuple[Plan, list[Any]]:
        """The plan of a run, and what is fed: for placeholders that are not, arrays of zeros where these do as well."""
        flat = flatten(fetches, self.graph)
        given = {x: self._fed(x, value) for x, value in feed_pairs(feed_dict or {}, self.graph)}
        fed = given | zeros_for(make_plan(flat.tensors, flat.operations, list(given), self._optimize))
        return self._plan(flat, list(fed)), list(fed.values())

    def read_variable(self, handle: Operation) -> np.ndarray[Any, Any]:
        """A copy of the value of the variable behind `handle`, its VarHandleOp, or of the state that an operation owns.

        Raises:
            FailedPreconditionError: it has no value in this session.
        """
        with self._lock:
            value = self._engine.read_state(handle)
        if value is None:
            raise messages.uninitialized(handle)
        return value

    def shards_of(self, handle: Operation) -> Shards:
        """The parts that this process saves of what `read_variable` gives; to be read before the next run.

        Raises:
            FailedPreconditionError: it has no value in this session.
        """
        with self._lock:
            shards = self._engine.shards_of(handle)
        if shards is None:
            raise messages.uninitialized(handle)
        return shards

    def load_variables(self, sources: Mapping[Operation, Source], initializers: Sequence[Operation]) -> None:
        """Give what `write_variable` takes new values, all or none; of each this process reads the parts that it needs.

        Those without a value are spread over the mesh as `initializers` would do it.
        """
        with self._lock:
            self._engine.load(sources, lambda: self._plan(flatten(list(initializers), self.graph), []))

    def write_variable(self, handle: Operation, value: TensorLike) -> None:
        """Give the variable behind `handle`, its VarHandleOp, or an operation that owns state, a copy of `value`."""
        with self._lock:
            self._engine.write_state(handle, np.asarray(value))

    def has_variable(self, handle: Operation) -> bool:
        """Whether the variable behind `handle`, its VarHandleOp, has a value in this session."""
        return self._engine.has_state(handle)

    @property
    def leads(self) -> bool:
        """Whether this process writes what all have: the first one, where the mesh spans several."""
        return self._engine.leads

    def meet(self, what: str) -> None:
        """Return when all processes that the mesh spans have come here, with the same words."""
        self._engine.meet(what)

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Make this the default session inside the block, without closing it at the end."""
        sessions.stack.append(self)
        try:
            yield self
        finally:
            sessions.stack.remove(self)

    def close(self) -> None:
        """Let go of all values; the session cannot run any more, and an interactive one is not the default any more."""
        with self._lock:
            self._closed = True
            self._runs.clear()
            self._engine.close()
        if self in sessions.interactive:
            sessions.interactive.remove(self)
            self.__exit__(None, None, None)

    def __enter__(self) -> Session:
        default = self.graph.as_default()
        default.__enter__()
        self._entered.append(default)
        sessions.stack.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        sessions.stack.remove(self)
        self._entered.pop().__exit__(*error)
        if not self._entered:
            self.close()

    def __repr__(self) -> str:
        return f"<Session engine={self.engine} programs={len(self._runs)}>"


def _one_at_a_time(run: Run, lock: Any) -> Run:
    def guarded(feeds: Sequence[Any]) -> list[Any]:
        with lock:
            return run(feeds)

    return guarded


def _engine_class(name: str) -> EngineClass:
    check_engine(name, "Session: engine")
    return engine_loaders[name]()
