"""jax internals: the only names that jax does not promise to keep. A jax without them is refused with a clear error.

Everything else is jax's public interface, or `jax.experimental` (`xla_metadata`).
"""

from __future__ import annotations

from typing import Any

import jax
from jax import lax


def current_trace() -> Any:
    """The trace of jax that is open now, or None."""
    probe = lax.full((), 0)
    return _trace_of(probe) if isinstance(probe, jax.core.Tracer) else None


def in_trace(x: Any, trace: Any) -> Any:
    """`x` as it is in `trace`, or None: a tracer of `jax.vmap` stands for one of many, which are taken in its place."""
    while isinstance(x, jax.core.Tracer) and _trace_of(x) is not trace:
        x = getattr(x, "val", None)
    return x if isinstance(x, jax.core.Tracer) else None


def is_one_of_many(x: Any) -> bool:
    """Whether `x` stands for what `jax.vmap` computes at once."""
    return hasattr(x, "batch_dim")


def coordination() -> tuple[int, int, Any, Any]:
    """Of jax's coordination service: how many processes, which one this is, which are there if all ask, a barrier."""
    from jax._src import distributed

    try:
        state: Any = distributed.global_state
        return state.num_processes, state.process_id, state.client.get_live_nodes, state.client.wait_at_barrier
    except AttributeError:
        raise _unknown("processes do not say which of them are there") from None


def coordination_service(address: str, count: int, lost_timeout: int) -> Any:
    """jax's coordination service for so many processes, listening at `address`."""
    try:
        from jax._src import lib

        jaxlib: Any = lib
        start = jaxlib._jax.get_distributed_runtime_service
    except (ImportError, AttributeError):
        raise _unknown("coordination service cannot be started") from None
    return start(address, count, heartbeat_timeout=lost_timeout, shutdown_timeout=lost_timeout, recoverable=True)


def effect_of_calls() -> Any:
    """The effect of jax's callbacks that act: an operation with it stays, also in loops and branches."""
    from jax._src import callback

    try:
        return callback._IOEffect
    except AttributeError:
        raise _unknown("callbacks have another effect") from None


def sharding_of_calls(context: Any) -> Any:
    """Which device calls Python, in a program for several: the first one, or each in what is written for each."""
    from jax._src import callback

    try:
        return callback._callback_op_sharding(context.module_context.axis_context, None, context.avals_out)
    except AttributeError:
        raise _unknown("callbacks are spread over devices in another way") from None


def keeps_programs() -> bool:
    """Whether jax writes programs to files: it goes on with that when its folder is no longer set."""
    from jax._src import compilation_cache

    config: Any = jax.config
    return bool(config.jax_compilation_cache_dir) or getattr(compilation_cache, "_cache", None) is not None


def launcher(compiled: Any) -> Any:
    """What calls a compiled program without Python code, but for the first arguments of each kind; None if unknown."""
    try:
        return compiled._executable.create_cpp_call(compiled._params)
    except AttributeError:
        return None


def _trace_of(x: Any) -> Any:
    try:
        return x._trace
    except AttributeError:
        raise _unknown("tracers do not say of which trace they are") from None


def _unknown(what: str) -> ImportError:
    return ImportError(
        f"pullback does not know jax {jax.__version__}, whose {what}. "
        "Install one that it knows: pip install 'pullback[xla]'"
    )
