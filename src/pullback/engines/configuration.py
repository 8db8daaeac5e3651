"""Session configuration as TensorFlow has it (`ConfigProto`); only what changes results counts here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .step_stats import StepStats


@dataclass
class GPUOptions:
    """Taken for TensorFlow's sake; not used.

    >>> import pullback as pb
    >>> pb.GPUOptions(allow_growth=True).allow_growth
    True
    """

    per_process_gpu_memory_fraction: float = 0.0
    allow_growth: bool = False
    allocator_type: str = ""
    deferred_deletion_bytes: int = 0
    visible_device_list: str = ""
    force_gpu_compatible: bool = False


@dataclass
class OptimizerOptions:
    """Taken for TensorFlow's sake; not used: XLA compiles every run.

    >>> import pullback as pb
    >>> pb.OptimizerOptions(global_jit_level=pb.OptimizerOptions.ON_1).global_jit_level
    1
    """

    L1: ClassVar[int] = 0
    L0: ClassVar[int] = -1
    DEFAULT: ClassVar[int] = 0
    OFF: ClassVar[int] = -1
    ON_1: ClassVar[int] = 1
    ON_2: ClassVar[int] = 2

    do_common_subexpression_elimination: bool = False
    do_constant_folding: bool = False
    do_function_inlining: bool = False
    opt_level: int = 0
    global_jit_level: int = 0
    cpu_global_jit: bool = False


@dataclass
class GraphOptions:
    """Taken for TensorFlow's sake; not used.

    >>> import pullback as pb
    >>> pb.GraphOptions(build_cost_model=1).optimizer_options.opt_level
    0
    """

    enable_recv_scheduling: bool = False
    optimizer_options: OptimizerOptions = field(default_factory=OptimizerOptions)
    build_cost_model: int = 0
    build_cost_model_after: int = 0
    infer_shapes: bool = False
    place_pruned_graph: bool = False
    enable_bfloat16_sendrecv: bool = False
    timeline_step: int = 0
    rewrite_options: object = None


@dataclass
class ConfigProto:
    """The `config` of a session. Only `allow_soft_placement` counts: False refuses devices that are not there.

    Unless it is given, `Session(soft_placement=)` says so. All others are taken for TensorFlow's sake; not used.

    >>> import pullback as pb
    >>> config = pb.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> pb.Session(config=config, engine="numpy").run(pb.constant(1.0))
    np.float32(1.0)
    """

    device_count: Mapping[str, int] = field(default_factory=dict)
    intra_op_parallelism_threads: int = 0
    inter_op_parallelism_threads: int = 0
    use_per_session_threads: bool = False
    allow_soft_placement: bool | None = None
    log_device_placement: bool = False
    gpu_options: GPUOptions = field(default_factory=GPUOptions)
    operation_timeout_in_ms: int = 0
    placement_period: int = 0
    device_filters: list[str] = field(default_factory=list)
    graph_options: GraphOptions = field(default_factory=GraphOptions)


@dataclass
class RunOptions:
    """The `options` of a run: `trace_level` for its `RunMetadata`; a loop on NumPy stops after `timeout_in_ms`, if any.

    A run that stops so raises DeadlineExceededError. The others are taken for TensorFlow's sake.

    >>> import pullback as pb
    >>> options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE)
    >>> pb.Session().run(pb.constant(1.0), options=options)
    np.float32(1.0)
    """

    NO_TRACE: ClassVar[int] = 0
    SOFTWARE_TRACE: ClassVar[int] = 1
    HARDWARE_TRACE: ClassVar[int] = 2
    FULL_TRACE: ClassVar[int] = 3

    trace_level: int = 0
    timeout_in_ms: int = 0
    inter_op_thread_pool: int = 0
    output_partition_graphs: bool = False
    report_tensor_allocations_upon_oom: bool = False


@dataclass
class RunMetadata:
    """The `run_metadata` of a run: which operations ran when, with a trace level in the `options` of the run.

    On NumPy those are all operations that ran; on other engines, which run a program as a whole, there is one entry.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [])
    >>> options, metadata = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE), pb.RunMetadata()
    >>> pb.Session(engine="numpy").run(x * 2.0, {x: 1.0}, options, metadata)
    np.float32(2.0)
    >>> [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats]
    ['mul']
    """

    step_stats: StepStats | None = None


def soft_placement_of(config: Any, otherwise: bool) -> bool:
    """What a configuration says of `allow_soft_placement`; `otherwise` where it says nothing."""
    said = config.allow_soft_placement if isinstance(config, ConfigProto) else None
    return otherwise if said is None else said
