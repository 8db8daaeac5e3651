"""XLA engine: a plan becomes one program, or a few where it is spread over devices by device strings.

Variables stay on their devices from run to run; a program changes them in place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from ...core.dtypes import COMPLEX, INEXACT, bfloat16, string
from ...core.errors import PullbackError, UnimplementedError
from ...core.graph import Operation, Tensor
from ...core.types import type_of_array
from ...primitives.base.state import AbstractStateful
from ...primitives.identity.sharding import Entry, Sharding
from .. import messages
from ..data_dependent_shapes import DataDependentShapeError, steps_for_host
from ..engine import AbstractEngine, EngineOptions, Run
from ..foreign_arrays import as_jax_takes_it, host_array, is_elsewhere, speaks_dlpack
from ..host_engine import copied
from ..placement import Segment, asks_for_devices, asks_for_processes, segments_of
from ..plan import Plan
from ..shards import Shards, Source, one_shard
from .devices import Layout, as_mesh, default_device, device_for, device_in_processes, of_all_processes, spread, whole
from .exceptions import leaving_jax_alone
from .host_segments import HOST, has_texts, steps_with_texts
from .known import is_known, run_of_known
from .loops.rooms import RoomKeeper
from .lost_processes import while_watching
from .platform import PROCESSOR
from .program import Program
from .settled import UnsettledError
from .transfers import everywhere, is_here, shape_of

if TYPE_CHECKING:
    from .segments import SegmentedProgram
    from .stages import StagedProgram


class XlaEngine(AbstractEngine):
    """Compiles each plan with XLA; keeps variables on the device."""

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self.values: dict[Operation, Any] = {}
        self.lost: set[Operation] = set()
        self.rooms = RoomKeeper()
        self.programs: list[Program] = []
        self.mesh = as_mesh(options.mesh)
        self.in_stages = False
        """Whether device strings name processes: then a value that lies in another one is here as its shape."""
        spans_processes = Layout(mesh=self.mesh).spans_processes
        self.takes_arrays = not spans_processes
        self.leads = not spans_processes or jax.process_index() == 0
        self.annotations: dict[Tensor, tuple[Entry, ...]] = {}
        """How feeds are spread, of those that were asked for."""
        if options.cache_dir is not None:
            _keep_programs_in(options.cache_dir)

    def prepare(self, plan: Plan, to_host: bool = True) -> Run:
        """The function that runs `plan`; XLA compiles it when it is called."""
        self._notice_stages([*plan.states, *[step.op for step in plan.steps]])
        texts = has_texts(plan)
        if texts and self.mesh is not None:
            raise UnimplementedError("Session: no texts go over a mesh; run what has texts in a session without one")
        segments = self.segments(plan)
        known = is_known(plan) and not (texts or self.options.check_numerics)
        if known and not (plan.states and (self.in_stages or self.mesh is not None or len(segments) > 1)):
            layout = self._layout(segments[0].place if segments and plan.states else default_device())
            return leaving_jax_alone(run_of_known(plan, layout, self.keep, to_host), None)
        if self.in_stages:
            return leaving_jax_alone(self._staged(plan, segments, to_host), self.mesh)
        if texts or len(segments) > 1:
            return leaving_jax_alone(self._segmented(plan, to_host), self.mesh)
        program = self._program(plan, segments, to_host)
        self.programs.append(program)
        if self.mesh is not None:
            return leaving_jax_alone(program, self.mesh)
        first = leaving_jax_alone(self._with_host(plan, program, to_host), None)

        def run(feeds: Sequence[Any]) -> list[Any]:
            if program.settled is not None:
                try:
                    return program.settled(feeds)
                except UnsettledError:
                    program.settled = None
            return first(feeds)

        return update_wrapper(run, first, updated=())

    def _with_host(self, plan: Plan, program: Program, to_host: bool) -> Run:
        """`program`, or, once XLA refuses an operation for its shape, several with the host between them."""
        run: Run = program

        def attempt(feeds: Sequence[Any]) -> list[Any]:
            nonlocal run
            try:
                return run(feeds)
            except DataDependentShapeError as error:
                if run is not program or all(step.op is not error.op for step in plan.steps):
                    raise
                run = self._segmented(plan, to_host, [error.op])
            return run(feeds)

        return update_wrapper(attempt, program, updated=())

    def _segmented(self, plan: Plan, to_host: bool, refused: Sequence[Operation] = ()) -> SegmentedProgram:
        from .segments import SegmentedProgram

        return SegmentedProgram(self, plan, to_host, refused)

    def _staged(self, plan: Plan, segments: Sequence[Segment], to_host: bool) -> StagedProgram:
        from .stages import StagedProgram

        return StagedProgram(self, plan, segments, to_host)

    def _notice_stages(self, ops: Iterable[Operation]) -> None:
        """From the first operation on that names another process, all operations are those of one program over all."""
        if self.in_stages or self.mesh is not None or not asks_for_processes(ops) or jax.process_count() == 1:
            return
        self.in_stages, self.leads = True, jax.process_index() == 0
        self.values = {key: x if is_here(self.device_of(key)) else shape_of(x) for key, x in self.values.items()}

    def segments(self, plan: Plan, refused: Collection[Operation] = ()) -> list[Segment]:
        """The segments of a plan, those of texts and of `refused` operations on the host; none where all is one."""
        if self.in_stages:
            if has_texts(plan) or self.options.check_numerics:
                raise UnimplementedError("Session: no texts, and no check_numerics, over devices of many processes")
            in_all = partial(device_in_processes, soft=self.options.soft_placement)
            return segments_of(plan, in_all, default_device(0))
        hosted = steps_with_texts(plan) | (steps_for_host(plan, refused) if refused else set())
        is_one = self.mesh is not None or not (asks_for_devices(plan) or has_texts(plan))
        if not hosted and is_one:
            return []
        asked = partial(device_for, soft=self.options.soft_placement)
        return segments_of(plan, asked, default_device(), dict.fromkeys(hosted, HOST))

    def _program(self, plan: Plan, segments: Sequence[Segment], to_host: bool = True) -> Program:
        layout = self._layout(segments[0].place if segments else default_device())
        return Program(self, plan, layout, to_host=to_host)

    def _layout(self, device: Any) -> Layout:
        """Where a program runs that is on one device, which jax takes by itself if it is the default one."""
        return Layout(mesh=self.mesh) if self.mesh is not None or device == default_device() else Layout(device)

    def device_of(self, key: Operation) -> jax.Device:
        """Where the state of `key` lives."""
        if self.in_stages:
            return device_in_processes(key, self.options.soft_placement) or default_device(0)
        return device_for(key, self.options.soft_placement) or default_device()

    def as_feed(self, tensor: Tensor, value: Any) -> Any:
        """`value` as an array of the dtype of `tensor`; an array on a device stays there."""
        value = as_jax_takes_it(value)
        if isinstance(value, jax.Array):
            _check_is_there(value)
            return _converted(value, tensor.type.dtype)
        if is_elsewhere(value) or (tensor.type.dtype == bfloat16 and speaks_dlpack(value)):
            return _converted(_lent(value), tensor.type.dtype)  # NumPy's DLPack knows no bfloat16.
        array = host_array(value, tensor.type.dtype)
        if self.mesh is None or self.takes_arrays:
            return array
        with jax.enable_x64(True):
            return of_all_processes(self.mesh, self._annotation(tensor), array)

    def put(self, tensor: Tensor, array: Any) -> Any:
        """A copy of what `as_feed` gave on the default device, or spread as the graph says of `tensor`."""
        if not self.takes_arrays or array.dtype == string:
            return array
        place = None if self.mesh is None else self._spread(self.mesh, tensor, array.shape)
        if isinstance(array, np.ndarray) and Layout(mesh=self.mesh).platform == PROCESSOR:
            array = np.array(array)  # jax takes the memory itself, if that is aligned, whatever it is told.
        with jax.enable_x64(True):
            return jax.device_put(array, place)

    def _spread(self, mesh: Mesh, tensor: Tensor, shape: tuple[int, ...]) -> NamedSharding:
        """How a feed is spread over the mesh: as the first annotation of it asks, if its lengths can be divided so."""
        return spread(mesh, self._annotation(tensor), shape)

    def _annotation(self, tensor: Tensor) -> tuple[Entry, ...]:
        if tensor not in self.annotations:
            readers = [op.primitive for op in tensor.consumers() if isinstance(op.primitive, Sharding)]
            self.annotations[tensor] = readers[0].spec if readers else ()
        return self.annotations[tensor]

    def wait_for(self, arrays: Sequence[Any]) -> None:
        """Return when what `put` gave is there."""
        jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]

    def has_state(self, key: Operation) -> bool:
        """Whether there is a state under `key`."""
        return key in self.values

    def read_state(self, key: Operation) -> np.ndarray[Any, Any] | None:
        """A copy of the state kept under `key`, or None."""
        value = self._state(key)
        if value is not None and self.in_stages:
            return while_watching(self._copied_here, value, self.device_of(key))  # type: ignore[no-any-return]
        if value is not None and self.mesh is not None and not value.is_fully_replicated:
            with jax.enable_x64(True):
                value = jax.device_put(value, whole(self.mesh))
            Layout(mesh=self.mesh).wait_for([value])
        return None if value is None else np.array(value)

    def _copied_here(self, value: Any, home: jax.Device) -> np.ndarray[Any, Any]:
        with jax.enable_x64(True):
            return np.array(everywhere([value], home)[0])

    def shards_of(self, key: Operation) -> Shards | None:
        """The parts of the state kept under `key` of which this process has the first copy, or None."""
        value = self._state(key)
        if isinstance(value, jax.ShapeDtypeStruct):
            return Shards(type_of_array(value), value.shape, [])
        if value is None or self.mesh is None:
            return None if value is None else one_shard(np.asarray(value))
        parts = [(shard.index, shard.data) for shard in value.addressable_shards if shard.replica_id == 0]
        return Shards(type_of_array(value), value.sharding.shard_shape(value.shape), parts)

    def load(self, sources: Mapping[Operation, Source], initial: Callable[[], Plan]) -> None:
        """Replace the states kept under the keys of `sources`, each read where it is to lie."""
        self._notice_stages(sources)
        if self.mesh is None:
            for key, value in [(key, self._read_here(key, source)) for key, source in sources.items()]:
                self.write_state(key, value)
            return
        places = self._places(sources, initial) | {key: x.sharding for key, x in self.values.items()}
        make: Any = jax.make_array_from_callback
        with Layout(mesh=self.mesh).entered():
            read = [
                make(source.type.shape.known, places.get(key, whole(self.mesh)), source.read)
                for key, source in sources.items()
            ]
        self.keep(sources, read)

    def _read_here(self, key: Operation, source: Source) -> Any:
        """A saved value; of one that lies in another process only the shape."""
        if is_here(self.device_of(key)):
            return source.whole()
        make: Any = jax.ShapeDtypeStruct
        return make(source.type.shape.known, source.type.dtype)

    def _places(self, keys: Iterable[Operation], initial: Callable[[], Plan]) -> dict[Operation, Any]:
        """Where the run `initial` would put states that are not there yet."""
        if all(key in self.values for key in keys):
            return {}
        try:
            return self._program(initial(), []).places()
        except PullbackError:  # It needs feeds, or the values of other variables.
            return {}

    def _state(self, key: Operation) -> Any:
        value = self.values.get(key)
        if value is None and key in self.lost:
            raise messages.lost(key)
        return value

    def write_state(self, key: Operation, value: np.ndarray[Any, Any]) -> None:
        """Replace the state kept under `key` by a copy of `value`."""
        self._notice_stages([key])
        self.lost.discard(key)
        if not is_here(self.device_of(key)):
            self.values[key] = shape_of(value)
            return
        layout = self._layout(self.device_of(key))
        if value.dtype == string:
            self.values[key] = copied(value)
        else:
            with layout.entered():
                self.values[key] = layout.copied(value, like=self.values.get(key))

    def keep(self, keys: Iterable[Operation], states: Iterable[Any]) -> None:
        """Make `states` the values of `keys`."""
        changed = dict(zip(keys, states, strict=True))
        self.values.update(changed)
        if self.lost:
            self.lost.difference_update(changed)

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

    def forget_state(self, key: Operation) -> None:
        """Leave no state under `key`."""
        self.values.pop(key, None)

    def compiled_memory(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program of `plan` needs."""
        return self._only_program("compiled_memory", plan).memory(feeds)

    def compiled_communication(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """The bytes that the compiled program of `plan` sends each device, by kind of collective."""
        if self.in_stages:
            return self._staged(plan, self.segments(plan), True).communication(feeds)
        return self._only_program("compiled_communication", plan).communication(feeds)

    def _only_program(self, what: str, plan: Plan) -> Program:
        segments = self.segments(plan)
        if len(segments) > 1 or self.in_stages:
            raise NotImplementedError(
                f"{what}: this run is cut into {len(segments)} programs on several devices; "
                "ask for parts of it that are on one"
            )
        return self._program(plan, segments)

    def meet(self, what: str) -> None:
        """Return when all processes that the mesh spans have come here, with the same words."""
        if self.in_stages or not self.takes_arrays:
            from .processes import wait_for_all

            wait_for_all(what)

    def close(self) -> None:
        """Let go of all values and compiled programs, whoever still holds a function that ran them."""
        self.values.clear()
        self.lost.clear()
        self.rooms.clear()
        for program in self.programs:
            program.close()
        self.programs.clear()


def _check_is_there(array: jax.Array) -> None:
    """Raise where an array of jax holds no numbers that a run can read.

    Raises:
        TypeError: it is traced, or holds keys. ValueError: its memory was given away.
    """
    if isinstance(array, jax.core.Tracer):
        raise TypeError("jax traces this array, which has no numbers yet; run the session outside of jax's functions")
    if array.is_deleted():
        raise ValueError("the memory of this array of jax was given away (donated) or deleted; feed a copy made before")
    if not isinstance(array.dtype, np.dtype):
        raise TypeError(f"an array of {array.dtype} holds no numbers; feed jax.random.key_data of it")


def _converted(array: jax.Array, dtype: Any) -> Any:
    """`array` in another dtype, on its device where each value has a place in that; else checked on the host."""
    if array.dtype == dtype:
        return array
    if dtype not in INEXACT or (array.dtype.kind == "c" and dtype not in COMPLEX):
        return host_array(array, dtype)
    with jax.enable_x64(True):
        return array.astype(dtype)


def _lent(value: Any) -> jax.Array:
    """The memory of an array of another library on a device, as an array of jax."""
    try:
        with jax.enable_x64(True):
            return jax.dlpack.from_dlpack(value)  # type: ignore[no-any-return]
    except Exception as error:  # Each library has errors of its own for what it does not lend.
        raise TypeError(
            f"this {type(value).__name__} gives jax no array: {error}. Copy it to the host first"
        ) from error


def _keep_programs_in(folder: str) -> None:
    """Set jax's persistent cache, for the whole process; every program is kept."""
    config: Any = jax.config
    config.update("jax_compilation_cache_dir", folder)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
