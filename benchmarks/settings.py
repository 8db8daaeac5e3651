"""What the command line chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """`pythons` are those to use for environments by name, instead of the ones that were set up.

    `seconds` is the time after which a workload begins no further round, `batch` the seconds of one batch. `core` is
    the one that all peers are bound to. `keep_memory` gives all peers the malloc settings
    of `pb.config.keep_freed_memory`.
    """

    peers: Sequence[str]
    pythons: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 12
    seconds: float = 60.0
    batch: float = 0.15
    threads: int = 1
    core: int | None = None
    keep_memory: bool = False
