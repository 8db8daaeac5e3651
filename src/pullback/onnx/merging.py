"""`merged_loops`: loops that differ only in what they hand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..control_flow.loop import Loop
from ..core.operation import Operation, Tensor


def merged_loops(ops: Sequence[Operation], readers: set[Tensor]) -> dict[Operation, Operation]:
    """Of loops that differ only in how much they hand out, for each the one that hands out most and stands for it.

    What is read of the others is then read of that one.
    """
    groups: dict[Any, list[Operation]] = {}
    for op in ops:
        if isinstance(op.primitive, Loop):
            groups.setdefault((op.primitive.body.graph, op.inputs), []).append(op)
    found = {}
    for group in groups.values():
        longest = max(group, key=lambda op: len(op.outputs))
        for op in group if len(group) > 1 else ():
            if op is not longest:
                found[op] = longest
                readers.update([b for a, b in zip(op.outputs, longest.outputs, strict=False) if a in readers])
    return found
