"""`pullback doctor`: engines, versions, devices and settings of this machine, and how fast it multiplies and copies."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import pullback as pb
from pullback.core.matmul_precision import PRECISIONS

ENGINES = {
    "numpy": ("numpy", "ml_dtypes", "scipy"),
    "xla": ("jax", "jaxlib"),
    "onnxruntime": ("onnxruntime", "onnx"),
}
"""The distributions that each engine uses; all but SciPy it needs."""
OPTIONAL = {"scipy"}
VARIABLES = ("JAX_", "XLA_", "OMP_", "OPENBLAS_", "MKL_", "MALLOC_", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD")
LEAST_SECONDS = 0.2
"""Each measurement is repeated for so long, after a first call; the fastest counts."""
CALLS = 100
"""Calls are measured so many at a time."""
COLUMNS = ("products Gflop/s", "to it GB/s", "back GB/s", "a call us", "left there us")


class Speed(NamedTuple):
    """What was measured on one device, for one precision of products."""

    products: float
    """Flop/s of products of matrices of float32."""
    to_device: float
    """Bytes a second."""
    to_host: float
    call: float
    """Seconds for a run of one small operation, from NumPy and back."""
    left: float
    """The same, from the device and left there."""


def run(args: argparse.Namespace) -> int:
    """Prints what is there, and what was measured unless asked not to; 0."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"pullback {pb.__version__}, Python {platform.python_version()}, {platform.platform()}, {cores} cores")
    _section("engines", {name: _versions(*names) for name, names in ENGINES.items()})
    devices = _devices()
    _section("devices", {string: f"{platform}, {kind}" for string, platform, kind in devices})
    _section("settings", _settings())
    if not args.quick:
        _print_speeds(devices)
    return 0


def _section(title: str, rows: Mapping[str, str]) -> None:
    print(f"\n{title}")
    width = max(map(len, rows), default=0)
    for name, text in rows.items():
        print(f"  {name:<{width}}  {text}")


def _versions(*names: str) -> str:
    """The versions of distributions that are installed; which one is missing, and what to do."""
    found = {name: _version(name) for name in names}
    missing = [name for name, text in found.items() if text is None and name not in OPTIONAL]
    if missing:
        return f"not there: {', '.join(missing)} not installed. pip install 'pullback[all]'"
    return ", ".join(f"{name} {text or 'not installed'}" for name, text in found.items())


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _devices() -> list[tuple[str, str, str]]:
    """The devices that device strings name on XLA; none without jax."""
    if _version("jax") is None:
        return []
    from pullback.engines.xla import survey

    return survey.devices()


def _settings() -> dict[str, str]:
    """Variables of the environment and settings of jax, those that are not set left out."""
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES)}
    if _version("jax") is not None:
        from pullback.engines.xla import survey

        found |= {name: str(value) for name, value in survey.settings().items() if value not in (None, False)}
    return found


def _print_speeds(devices: Sequence[tuple[str, str, str]]) -> None:
    """One line for NumPy and for the first device of each kind; on accelerators one for each precision."""
    print(
        "\nspeed: products of float32, copies of 64 MB, a small run from NumPy and back, one from the device left there"
    )
    print(f"  {'':<28}{''.join(f'{title:>18}' for title in COLUMNS)}")
    _print_speed("numpy", _measured("numpy", "", 1024))
    first = {kind: string for string, kind, _ in reversed(devices)}
    for kind, string in reversed(first.items()):
        accelerates = kind != "cpu"
        for precision in PRECISIONS if accelerates else PRECISIONS[:1]:
            name = f"xla {string} {precision if accelerates else ''}"
            _print_speed(name, _measured("xla", string, 4096 if accelerates else 1024, precision))


def _print_speed(name: str, speed: Speed) -> None:
    numbers = speed.products / 1e9, speed.to_device / 1e9, speed.to_host / 1e9, speed.call * 1e6, speed.left * 1e6
    print(f"  {name:<28}{''.join(f'{number:>18.1f}' for number in numbers)}")


def _measured(engine: str, device: str, size: int, precision: str = "highest") -> Speed:
    """What a session of that engine does on that device, with matrices of `size` rows."""
    large, small = np.ones(1 << 24, np.float32), np.ones(8, np.float32)
    with pb.Graph().as_default(), pb.device(device):
        a, x = pb.placeholder(pb.float32, [size, size]), pb.placeholder(pb.float32, [None])
        total, negative = pb.reduce_sum(a @ a), pb.negative(x)
        with pb.Session(engine=engine, matmul_precision=precision) as session:
            multiply = session.make_callable(total, [a])
            back, left = [session.make_callable(negative, [x], to_host=to_host) for to_host in (True, False)]
            (matrix,) = next(session.prefetch([[np.full((size, size), 1 / size, np.float32)]], [a]))
            (there,) = next(session.prefetch([[small]], [x]))
            return Speed(
                products=2 * size**3 / _seconds(lambda: multiply(matrix)),
                to_device=large.nbytes / _seconds(lambda: next(session.prefetch([[large]], [x]))),
                to_host=large.nbytes / min(_seconds_of_a_copy(left(large)) for _ in range(3)),
                call=_seconds(lambda: [back(small) for _ in range(CALLS)]) / CALLS,
                left=_seconds(lambda: [left(there) for _ in range(CALLS)]) / CALLS,
            )


def _seconds(work: Callable[[], Any]) -> float:
    """The seconds that `work` takes, the least of several times."""
    work()
    times: list[float] = []
    while sum(times) < LEAST_SECONDS or len(times) < 3:
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def _seconds_of_a_copy(value: Any) -> float:
    """The seconds that it takes to copy an array to the host, after it was computed."""
    float(value[0])
    start = perf_counter()
    np.array(value)
    return perf_counter() - start
