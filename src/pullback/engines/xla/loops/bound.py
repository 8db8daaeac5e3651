"""Trip count bounds of XLA loops: of those whose condition compares a counter with a known number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ....control_flow.loop import Loop
from ....control_flow.loop_count import conjuncts, steps_while, whole_number
from ....core.graph import Tensor
from ....primitives.creation.constant import constant_value
from ...plan import Body, Step


class Count(NamedTuple):
    """How many steps a loop makes at most; exactly so many where its condition is nothing else."""

    steps: int
    exact: bool


def count_of(step: Step, arrays: Sequence[Any]) -> Count | None:
    """What the condition of a loop says for these inputs, those that are known while the program is traced.

    `i < n`, and the like, where a step adds a constant to `i`; of several that must all hold, the one that ends first.
    """
    loop = step.op.primitive
    assert isinstance(loop, Loop)
    if loop.condition is None:
        return None
    (holds,) = loop.condition.results
    comparisons = conjuncts(holds)
    given = _Given(loop, step.bodies, arrays)
    found = [steps_while(given, y) for y in comparisons]
    known = [n for n in found if n is not None]
    if not known:
        return None
    return Count(min(known), comparisons == [holds] and len(loop.condition.operations) <= _MOST_OF_ONE)


_MOST_OF_ONE = 2
"""The operations of a condition that is one comparison: that one, and a constant."""


class _Given(NamedTuple):
    """A loop and what it is run on."""

    loop: Loop
    bodies: Sequence[Body]
    """Of its body and of its condition."""
    arrays: Sequence[Any]

    def end(self, i: int) -> Tensor:
        return self.loop.body.results[i]

    def first(self, i: int) -> int | None:
        return whole_number(self.arrays[1 + i])

    def carried(self, x: Tensor) -> int | None:
        number = self._number(x)
        return None if number is None or number > self.loop.carried else number - 1

    def known(self, x: Tensor) -> int | None:
        value = constant_value(x)
        if value is not None:
            return whole_number(value)
        number = self._number(x)
        return None if number is None or number <= self.loop.carried else whole_number(self.arrays[number])

    def _number(self, x: Tensor) -> int | None:
        """The number of the loop's input that the parameter `x` stands for."""
        found = [pair for body in self.bodies for pair in zip(body.plan.feeds, body.arguments, strict=True)]
        return next((n for p, n in found if p is x), None)
