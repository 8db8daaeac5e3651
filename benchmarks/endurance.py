"""Endurance: `python -m benchmarks.endurance` trains for many steps and drops many graphs: does memory grow?

What is resident is noted ten times. The first tenth fills caches; whatever is still growing after that is a leak.
With `--hours` training goes on for as long, each engine in turn, and no graphs are built.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

import pullback as pb

from .memory import resident_memory


def training(engine: str) -> Iterator[None]:
    """Steps of Adam on a perceptron with batches of two sizes in turn; now and then all variables are fetched."""
    random = np.random.default_rng(0)
    with pb.Graph().as_default():
        x, labels = pb.placeholder(pb.float32, [None, 64]), pb.placeholder(pb.int32, [None])
        hidden = pb.nn.relu(pb.matmul(x, pb.Variable(random.normal(size=(64, 64)).astype(np.float32) / 8)))
        logits = pb.matmul(hidden, pb.Variable(random.normal(size=(64, 10)).astype(np.float32) / 8))
        loss = pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        step = pb.train.AdamOptimizer(1e-3).minimize(loss)
        with pb.Session(engine=engine) as session:
            session.run(pb.global_variables_initializer())
            for i in count():
                n = 32 if i % 2 else 48
                session.run([loss, step], {x: random.normal(size=(n, 64)), labels: random.integers(0, 10, n)})
                if i % 1000 == 0:
                    session.run(pb.global_variables())
                yield


def graphs(engine: str) -> Iterator[None]:
    """Graphs with a loop, a branch and a function, differentiated, run, and dropped."""
    for i in count():
        with pb.Graph().as_default() as graph:
            x = pb.placeholder(pb.float32, [3])
            y = pb.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, pb.sin(y) * x), [0, x])[1]  # noqa: B023
            y = pb.cond(pb.reduce_sum(y) > 0, lambda: pb.tanh(y), lambda: pb.exp(y))  # noqa: B023
            y = pb.function(lambda z: z * z + float(i))(y)  # noqa: B023
            fetches = [y, *pb.gradients(y, x)]
        with pb.Session(graph=graph, engine=engine) as session:
            session.run(fetches, {x: np.ones(3)})
        yield


def made(steps: Iterator[None], total: int) -> Iterator[int]:
    """How many steps have been made after each tenth of that many."""
    for tenth in range(1, 11):
        for _ in range(total // 10):
            next(steps)
        yield tenth * (total // 10)


def lasting(steps: Iterator[None], seconds: float) -> Iterator[int]:
    """How many steps have been made after each tenth of the time."""
    start, n = time.monotonic(), 0
    for tenth in range(1, 11):
        while time.monotonic() < start + tenth * seconds / 10:
            next(steps)
            n += 1
        yield n


def watched(tenths: Iterator[int]) -> list[tuple[int, int]]:
    """The number of steps, and what is resident then in bytes, after each tenth."""
    found = []
    for n in tenths:
        gc.collect()
        found.append((n, resident_memory()))
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="how many of the steps are made")
    parser.add_argument("--hours", type=float, help="training only, for as long on each engine")
    parser.add_argument("--engines", nargs="+", default=["numpy", "xla"], choices=["numpy", "xla"])
    asked = parser.parse_args()
    tried: dict[tuple[str, str], tuple[Callable[[str], Iterator[None]], int]] = {
        ("steps of training, NumPy", "numpy"): (training, 60_000),
        ("steps of training, XLA", "xla"): (training, 60_000),
        ("graphs built, run and dropped, NumPy", "numpy"): (graphs, 10_000),
        ("graphs built, compiled, run and dropped, XLA", "xla"): (graphs, 300),
    }
    print("| | after a tenth | two tenths | half | all | growth from two tenths on |\n|---|---|---|---|---|---|")
    for (name, engine), (make, total) in tried.items():
        if engine not in asked.engines or (asked.hours and make is not training):
            continue
        steps = make(engine)
        tenths = lasting(steps, 3600 * asked.hours) if asked.hours else made(steps, round(total * asked.scale))
        found = watched(tenths)
        marks = [f"{found[i][1] / 1e6:.0f} MB" for i in (0, 1, 4, 9)]
        growth = f"{(found[9][1] - found[1][1]) / 1e6:+.1f} MB"
        print(f"| {found[9][0]:,} {name} | {' | '.join(marks)} | {growth} |", flush=True)


if __name__ == "__main__":
    main()
