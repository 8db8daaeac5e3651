"""Settings of the process, which nothing changes unless it is asked to: `pb.config`."""

from .core.limits import Limits as Limits
from .engines.default_engine import use_engine as use_engine
from .engines.memory import keep_freed_memory as keep_freed_memory
from .engines.small_loops import join_small_loops as join_small_loops
