"""Benchmarks of TensorFlow 1: `tf.test.Benchmark`, times of runs of a session."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import pullback as pb

from . import logging


class Benchmark:
    """What benchmarks derive from: each of their methods measures something and reports it.

    >>> import pullback.compat.v1 as tf
    >>> found = tf.test.Benchmark().run_op_benchmark(tf.Session(), tf.constant(1.0), min_iters=3, name="constant")
    >>> found["iters"], found["wall_time"] > 0.0
    (3, True)
    """

    def run_op_benchmark(
        self,
        sess: pb.Session,
        op_or_tensor: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: Mapping[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Reports the median time of `min_iters` runs, in seconds, after `burn_iters` others; gives what it reports.

        `mbs` is how many megabytes a run goes through, for the throughput.
        """
        del store_trace, store_memory_usage
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict)
            times.append(time.perf_counter() - start)
        found: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": float(np.median(times)),
            "throughput": mbs / float(np.median(times)),
            "extras": {
                **(extras or {}),
                "wall_time_mean": float(np.mean(times)),
                "wall_time_stdev": float(np.std(times)),
            },
        }
        self.report_benchmark(name=name, **found)
        return {"name": name, **found}

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, Any] | None = None,
        name: str | None = None,
        metrics: Any = None,
    ) -> None:
        """Writes what was measured to the log."""
        logging.info(
            "benchmark %s: iters=%s cpu_time=%s wall_time=%s throughput=%s extras=%s metrics=%s",
            name or type(self).__name__,
            iters,
            cpu_time,
            wall_time,
            throughput,
            extras,
            metrics,
        )

    def evaluate(self, tensors: Any) -> Any:
        """The values of `tensors`, by the default session or a new one."""
        return (pb.get_default_session() or pb.Session()).run(tensors)
