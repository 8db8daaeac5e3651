"""Reports of optimisation: each rewrite with its rule, its operations and the user's line; what all of them save."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..core.errors import InvalidArgumentError
from ..core.graph import Operation
from ..core.lengths import Length
from ..core.printing import functions_in
from ..core.traits import CONSTANT
from ..drawing.comparison import comparison
from ..drawing.page import Page
from .costs import flops
from .run_lengths import Lengths
from .simplify import Rewrite

_MOST_LINES = 20
_WIDTH = 100
_PREFIXES = ("", "k", "M", "G", "T", "P")


class Cost(NamedTuple):
    """What some operations take, about, where every length that only a run knows is 1."""

    operations: int
    """Constants left out, those of functions inside counted once."""
    flops: int
    bytes: int
    """What they read and write."""

    @classmethod
    def of(cls, operations: Sequence[Operation]) -> Cost:
        """The sum over `operations`; what has a shape that nobody knows costs nothing."""
        counted = [op for op in operations if CONSTANT not in op.primitive.traits]
        inside = [op for f in functions_in(counted) for op in f.operations if CONSTANT not in op.primitive.traits]
        lengths = Lengths({n: 1 for op in counted for y in op.outputs for n in _symbols(y.shape.lengths or ())})
        costs = [_cost(op, lengths) for op in counted]
        return cls(len(counted) + len(inside), sum(a for a, _ in costs), sum(b for _, b in costs))


def _cost(op: Operation, lengths: Lengths) -> tuple[int, int]:
    try:
        return flops(op, lengths), sum(lengths.bytes(x) for x in (*op.inputs, *op.outputs))
    except InvalidArgumentError:
        return 0, 0


def _symbols(lengths: Iterable[object]) -> Iterable[Length]:
    return [s for n in lengths if isinstance(n, Length) for s in n.symbols]


@dataclass(frozen=True)
class Report:
    """What an optimisation has done. Printed, it fits a screen; `html` has every rewrite, and both graphs."""

    rewrites: tuple[Rewrite, ...]
    """In the order in which they were made, those in functions inside too."""
    _operations: tuple[tuple[Operation, ...], tuple[Operation, ...]]

    @classmethod
    def of(cls, before: Sequence[Operation], after: Sequence[Operation], rewrites: Sequence[Rewrite]) -> Report:
        """The report of rewrites that made the operations `after` of `before`."""
        return cls(tuple(rewrites), (tuple(before), tuple(after)))

    @cached_property
    def before(self) -> Cost:
        """What the operations took that were there."""
        return Cost.of(self._operations[0])

    @cached_property
    def after(self) -> Cost:
        """What the operations take that are there now."""
        return Cost.of(self._operations[1])

    @property
    def of_nothing(self) -> Report:
        """The report where all was left as it was."""
        return Report.of(self._operations[0], self._operations[0], [])

    @property
    def counts(self) -> dict[str, int]:
        """How often each rule was used, the most used one first."""
        counts: dict[str, int] = {}
        for rewrite in self.rewrites:
            counts[rewrite.rule] = counts.get(rewrite.rule, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    @property
    def html(self) -> Page:
        """A page with every rewrite, linked with the operations of both graphs."""
        return comparison(str(self).partition("\n")[0], *self._operations, self.rewrites)

    def __str__(self) -> str:
        a, b = self.before, self.after
        plural, was = ("", "was") if b.operations == 1 else ("s", "were")
        lines = [
            f"{b.operations} operation{plural}, {was} {a.operations}; {_short(b.flops)} flops, were {_short(a.flops)}; "
            f"{_short(b.bytes)} bytes moved, were {_short(a.bytes)}"
        ]
        counts = self.counts
        width = max([len(str(n)) for n in counts.values()], default=0)
        for rule, n in list(counts.items())[:_MOST_LINES]:
            first = next(rewrite for rewrite in self.rewrites if rewrite.rule == rule)
            place = f"  {first.place}" if first.place else ""
            lines.append(f"  {n:{width}} {rule}{place}"[:_WIDTH].rstrip())
        if len(counts) > _MOST_LINES:
            lines.append(f"  and {len(counts) - _MOST_LINES} more rules")
        return "\n".join(lines)


def _short(n: float) -> str:
    """A number in at most three digits and a letter."""
    power = 0
    while n >= 1000 and power < len(_PREFIXES) - 1:
        n, power = n / 1000, power + 1
    return f"{n:.3g}{_PREFIXES[power]}"
