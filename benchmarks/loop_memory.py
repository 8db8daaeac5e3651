"""Memory against steps: `python -m benchmarks.loop_memory FILE.svg` draws what the derivative of a loop needs.

The loop is the recurrent network of `workloads/loops.py` with a state of 256 x 256 numbers. Of compiled programs it is
what XLA says they need beside arguments and results, but where pullback has no budget: of the room that is there then,
a run takes what its steps write to, so that is what the process has more after it, up to 10,000 steps. On NumPy it is
the peak of what was allocated, up to 300 steps. Needs Linux, jax and matplotlib.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from resource import getpagesize
from typing import Any

import jax
import jax.numpy as jnp
import matplotlib as mpl
import numpy as np
from matplotlib import pyplot

import pullback as pb

from .workloads.loops import SHAPES, Data, recurrent, step_of

STEPS = [10, 30, 100, 300, 1000, 3000, 10_000, 100_000]
MOST_ON_NUMPY, MOST_RUN = 300, 10_000
BUDGET = 4 << 20


def main(path: Path) -> None:
    """Draw the picture into `path`, and print the numbers."""
    data = recurrent(SHAPES["256x256"], 10)
    small, middle = pb.Memory(budget=BUDGET), pb.Memory(budget=4 * BUDGET)
    everything = pb.Memory(intermediates=True)
    on_numpy, run = [[n for n in STEPS if n <= most] for most in (MOST_ON_NUMPY, MOST_RUN)]
    lines: Mapping[str, tuple[Sequence[int], Sequence[float]]] = {
        "jax, scan": (STEPS, [of_jax(data, n, checkpoint=False) for n in STEPS]),
        "jax, scan of jax.checkpoint": (STEPS, [of_jax(data, n, checkpoint=True) for n in STEPS]),
        "pullback": (run, [of_run(n) for n in run]),
        "pullback, budget of 16 MiB": (STEPS, [of_program(data, n, middle) for n in STEPS]),
        "pullback, budget of 4 MiB": (STEPS, [of_program(data, n, small) for n in STEPS]),
        "pullback on NumPy, everything": (on_numpy, [on_numpy_engine(data, n, everything) for n in on_numpy]),
        "pullback on NumPy": (on_numpy, [on_numpy_engine(data, n, None) for n in on_numpy]),
        "pullback on NumPy, budget of 4 MiB": (on_numpy, [on_numpy_engine(data, n, small) for n in on_numpy]),
    }
    for name, (_, found) in lines.items():
        print(f"{name:35}", *[f"{x / 1e6:9.1f}" for x in found])
    draw(path, lines)


def of_jax(data: Data, steps: int, *, checkpoint: bool) -> float:
    """The bytes of the program that differentiates a scan."""

    def loss(parameters: Any) -> Any:
        def body(y: Any, _: None) -> Any:
            return step_of(jnp, y, parameters), None

        y, _ = jax.lax.scan(jax.checkpoint(body) if checkpoint else body, data.start, None, length=steps)
        return jnp.sum(jnp.square(y))

    analysis: Any = jax.jit(jax.grad(loss)).lower(data.parameters).compile().memory_analysis()
    return float(analysis.temp_size_in_bytes)


def _derivative(data: Data, memory: pb.Memory | None) -> tuple[list[Any], list[pb.Tensor]]:
    parameters = [pb.placeholder(pb.float32, x.shape) for x in data.parameters]
    n = pb.placeholder(pb.int32, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, step_of(pb, y, parameters)), (0, data.start))[1]
    return pb.gradients(pb.reduce_sum(pb.square(y)), parameters, memory=memory), [n, *parameters]


def of_run(steps: int) -> float:
    """The bytes that a process has more after a run of pullback's program."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_resident, steps).result()


def _resident(steps: int) -> float:
    data = recurrent(SHAPES["256x256"], steps)
    gradients, feeds = _derivative(data, None)
    run = pb.Session(engine="xla").make_callable(gradients, feeds)
    run(0, *data.parameters)
    pages = [int(Path("/proc/self/statm").read_text().split()[1])]
    run(steps, *data.parameters)
    pages.append(int(Path("/proc/self/statm").read_text().split()[1]))
    return float((pages[1] - pages[0]) * getpagesize())


def of_program(data: Data, steps: int, memory: pb.Memory | None) -> float:
    """The bytes of pullback's program."""
    with pb.Graph().as_default():
        gradients, feeds = _derivative(data, memory)
        values = dict(zip(feeds, [steps, *data.parameters], strict=True))
        return float(pb.Session(engine="xla").compiled_memory(gradients, values)["temporary"])


def on_numpy_engine(data: Data, steps: int, memory: pb.Memory | None) -> float:
    """The most bytes that are in use on the NumPy engine."""
    with pb.Graph().as_default():
        gradients, feeds = _derivative(data, memory)
        run = pb.Session(engine="numpy").make_callable(gradients, feeds)
    values: list[Any] = [steps, *data.parameters]
    run(np.int32(1), *values[1:])
    tracemalloc.start()
    run(*values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float(peak)


def draw(path: Path, lines: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> None:
    """One line for each of `lines`."""
    mpl.rcParams["svg.fonttype"] = "none"
    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for name, (steps, found) in lines.items():
        style = "--" if name.startswith("jax") else ":" if "NumPy" in name else "-"
        axes.loglog(steps, np.array(found) / 1e6, style, marker="o", markersize=3, label=name)
    axes.set_xlabel("steps")
    axes.set_ylabel("MB")
    axes.set_title("Derivative of a loop over 256 x 256 numbers (262 kB)", fontsize=10)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
