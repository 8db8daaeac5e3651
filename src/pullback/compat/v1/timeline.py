"""Chrome traces of runs: `tensorflow.python.client.timeline`, from the `step_stats` of a run's metadata.

>>> import json
>>> import pullback.compat.v1 as tf
>>> from pullback.compat.v1.timeline import Timeline
>>> x = tf.placeholder(tf.float32, [])
>>> options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
>>> tf.Session(engine="numpy").run(tf.exp(x * 2.0, name="y"), {x: 0.0}, options, metadata)
np.float32(1.0)
>>> events = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
>>> [event["args"] for event in events if event["ph"] == "X"]
[{'name': 'mul', 'op': 'Mul', 'input0': 'Placeholder', 'input1': 'mul/y'}, {'name': 'y', 'op': 'Exp', 'input0': 'mul'}]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

Event = dict[str, Any]


class Timeline:
    """The trace of a run, for chrome://tracing and its like: a row for each thread of each device."""

    def __init__(self, step_stats: Any, graph: object = None) -> None:
        del graph
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """The trace as JSON: an event for each operation, an arrow for each tensor between two with `show_dataflow`.

        Runs take down no memory: `show_memory` adds nothing.

        Raises:
            ValueError: there are no statistics, for the run was not traced.
        """
        del show_memory, op_time
        if self._step_stats is None:
            raise ValueError(
                "Timeline: the run was not traced; run with options=RunOptions(trace_level=RunOptions.FULL_TRACE) and "
                "run_metadata="
            )
        events, ran = [], {}
        for pid, device in enumerate(self._step_stats.dev_stats):
            events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"{device.device} Compute"}})
            for node in device.node_stats:
                events.append(_event(pid, node))
                ran[node.node_name] = events[-1]
        arrows = _arrows(ran) if show_dataflow else ()
        return json.dumps({"traceEvents": [*events, *arrows]}, indent=4, separators=(",", ": "))


def _event(pid: int, node: Any) -> Event:
    """The event of an operation, whose label is `name = Type(inputs)`."""
    _, kind, inputs = re.fullmatch(r"(.*) = (.*)\((.*)\)", node.timeline_label, re.DOTALL).groups()  # type: ignore[union-attr]
    given = {f"input{i}": name for i, name in enumerate(inputs.split(", ") if inputs else ())}
    return {
        "ph": "X",
        "cat": "Op",
        "name": kind,
        "pid": pid,
        "tid": node.thread_id,
        "ts": node.all_start_micros,
        "dur": max(1, node.op_end_rel_micros),
        "args": {"name": node.node_name, "op": kind, **given},
    }


def _arrows(ran: dict[str, Event]) -> Iterator[Event]:
    """From the end of each operation to the beginning of those that read it."""
    number = 0
    for event in ran.values():
        for key, name in event["args"].items():
            if not key.startswith("input") or name not in ran:
                continue
            source = ran[name]
            same = {"cat": "DataFlow", "name": name, "id": number}
            yield {**same, "ph": "s", "pid": source["pid"], "tid": source["tid"], "ts": source["ts"] + source["dur"]}
            yield {**same, "ph": "t", "pid": event["pid"], "tid": event["tid"], "ts": event["ts"]}
            number += 1
