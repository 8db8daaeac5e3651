"""XLA lowering of printing: values travel from the program to the host, where the primitive shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ...primitives.debugging.printing import PrintV1, PrintV2
from .control_flow.python_calls import call_python, on_words
from .registry import xla_kernel


@xla_kernel(PrintV2)
def print_(primitive: PrintV2, *arrays: Any) -> tuple[Any, ...]:
    _show(primitive, arrays)
    return ()


@xla_kernel(PrintV1)
def print_v1(primitive: PrintV1, state: Any, *arrays: Any) -> Any:
    _show(primitive, (state, *arrays[1:]))
    return arrays[0]


def _show(primitive: Any, arrays: Sequence[Any]) -> None:
    def show(*given: Any) -> tuple[()]:
        primitive.show(*given)
        return ()

    given = [jnp.asarray(x) for x in arrays]
    call_python(on_words(show, given), (), given, acts=True)
