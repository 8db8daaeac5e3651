"""Who is compared: the environment that runs each peer, and how it is made ready before anything is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec


@dataclass(frozen=True)
class Peer:
    """`environment` names the Python that runs it, `package` the library whose version and size are reported.

    `prepare(threads)` imports the library and starts it, so that neither is counted as building a model.
    """

    name: str
    environment: str
    package: str
    prepare: Callable[[int], None]


def thread_variables(threads: int) -> dict[str, str]:
    """The environment variables that hold the libraries to `threads` threads of the processor."""
    variables = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    if threads == 1:
        variables["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return variables | {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}


def memory_variables() -> dict[str, str]:
    """What pullback's XLA engine asks of glibc for itself, for all (docs/notes/0003-memory-of-compiled-steps.md)."""
    kept = {"arena_max": 1, "mmap_max": 0, "trim_threshold": 1 << 30, "top_pad": 64 << 20}
    return {"GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={value}" for name, value in kept.items())}


def _prepare_numpy(threads: int) -> None:
    del threads
    import_module("numpy")


def _prepare_jax(threads: int) -> None:
    del threads
    import_module("jax").devices()


def _prepare_pullback(threads: int) -> None:
    del threads
    pullback = import_module("pullback")
    if find_spec("jax"):
        pullback.Session(engine="xla").close()
        import_module("jax").devices()  # As for jax itself; else the first program starts them.


def _prepare_onnx(threads: int) -> None:
    del threads
    import_module("onnxruntime")
    import_module("onnx.backend.test")


def _prepare_pullback_onnx(threads: int) -> None:
    _prepare_onnx(threads)
    import_module("pullback.onnx")


def _prepare_onnx_ad(threads: int) -> None:
    _prepare_onnx(threads)
    import_module("onnx_ad")


def _prepare_tensorflow(threads: int) -> None:
    tensorflow = import_module("tensorflow")
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    tensorflow.config.threading.set_inter_op_parallelism_threads(threads)
    tensorflow.constant(0.0)


def _prepare_torch(threads: int) -> None:
    import_module("torch").set_num_threads(threads)


PEERS = {
    peer.name: peer
    for peer in (
        Peer("pullback", "pullback", "pullback", _prepare_pullback),
        Peer("pullback-numpy", "pullback", "pullback", _prepare_pullback),
        Peer("pullback-nested", "pullback", "pullback", _prepare_pullback),
        Peer("jax", "jax", "jax", _prepare_jax),
        Peer("jax-jet", "jax", "jax", _prepare_jax),
        Peer("jax-checkpoint", "jax", "jax", _prepare_jax),
        Peer("equinox", "equinox", "equinox", _prepare_jax),
        Peer("tensorflow", "tensorflow", "tensorflow", _prepare_tensorflow),
        Peer("tensorflow-graph", "tensorflow", "tensorflow", _prepare_tensorflow),
        Peer("tensorflow-xla", "tensorflow", "tensorflow", _prepare_tensorflow),
        Peer("torch", "torch", "torch", _prepare_torch),
        Peer("torch-checkpoint", "torch", "torch", _prepare_torch),
        Peer("numpy", "pullback", "numpy", _prepare_numpy),
        Peer("pullback-onnx", "pullback", "pullback", _prepare_pullback_onnx),
        Peer("onnx-ad", "onnx-ad", "onnx-ad", _prepare_onnx_ad),
        Peer("onnx-by-hand", "pullback", "onnx", _prepare_onnx),
        Peer("onnx-forward", "pullback", "onnxruntime", _prepare_onnx),
    )
}
