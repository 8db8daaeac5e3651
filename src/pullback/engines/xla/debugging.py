"""XLA lowering of printing: values travel from the program to the host, where the primitive shows them."""

from __future__ import annotations

from typing import Any

import jax

from ...primitives.debugging.printing import PrintV1, PrintV2
from .registry import xla_kernel


@xla_kernel(PrintV2)
def print_(primitive: PrintV2, *arrays: Any) -> tuple[Any, ...]:
    jax.debug.callback(primitive.show, *arrays)
    return ()


@xla_kernel(PrintV1)
def print_v1(primitive: PrintV1, state: Any, *arrays: Any) -> Any:
    jax.debug.callback(primitive.show, state, *arrays[1:])
    return arrays[0]
