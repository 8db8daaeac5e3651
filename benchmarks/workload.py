"""What a file in `benchmarks/workloads` states: one model, and how each peer computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# One step, finished when it returns: the loss, to be compared between peers, or None where there is nothing to compare.
Step = Callable[[], float | None]


@dataclass(frozen=True)
class Made:
    """A step whose "build" is not the time of the call that makes it: `seconds`, and what else there is to report."""

    step: Step
    seconds: float
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """A thing to time. Its file lists it in `WORKLOADS`.

    `data()` gives the arrays that all peers start from, by a seeded generator. Each of `peers`, by the name of the
    peer, takes them and returns a step, or a `Made`; it imports its library itself, since each peer has an environment
    of its own. The time of that call is reported as "build", that of the first step as "compile".

    `per` is the number of things that one step does: times and memory are divided by it. `collect` empties Python's
    garbage before each step, outside of the time. Losses of two peers may differ by `tolerance`, a part of them. Ratios
    are to the peer named `reference`. Workloads that are `onnx` have tables of their own.
    """

    name: str
    title: str
    data: Callable[[], Any]
    peers: Mapping[str, Callable[[Any], Step | Made]]
    per: int = 1
    of: str = "step"
    collect: bool = False
    reference: str = "pullback"
    tolerance: float = 1e-3
    onnx: bool = False
