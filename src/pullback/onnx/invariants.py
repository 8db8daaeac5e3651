"""Which lengths stay as they are while a loop runs: taken for granted while its step is written, then compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .dimensions import Length, lengths_of
from .records import Body, Model, Value

_ATTEMPTS = 3


class Invariants:
    """For each value that a loop carries the lengths that it has in every step, None where they may change."""

    def __init__(self, model: Model, initial: Sequence[Value]) -> None:
        self.model = model
        self.found: list[Sequence[Length | None] | None] = [lengths_of(model, x.name) for x in initial]
        self.changed = False

    def assume(self, carried: Sequence[Value]) -> None:
        """Say so of what is carried into a step, or out of the last one."""
        for x, lengths in zip(carried, self.found, strict=True):
            dims = x.type.shape.dims
            if lengths is not None and dims is not None and len(dims) == len(lengths) and None in dims:
                self.model.lengths[x.name] = (_merged_with(dims, lengths, x.name),)

    def compare(self, carried: Sequence[Value], following: Sequence[Value]) -> None:
        """Drop the lengths that differ between what is carried into a step and what it carries on."""
        self.changed = False
        for i, (x, y) in enumerate(zip(carried, following, strict=True)):
            a, b, found = lengths_of(self.model, x.name), lengths_of(self.model, y.name), self.found[i]
            if a == b or found is None or x.type.shape.is_fully_defined():
                continue
            same = [False] * len(found) if a is None or b is None else [m == n for m, n in zip(a, b, strict=True)]
            kept = [n if ok else None for n, ok in zip(found, same, strict=True)]
            self.changed = self.changed or kept != list(found)
            self.found[i] = kept

    def written(self, write: Callable[[], Body]) -> Body:
        """The body that `write` makes, which assumes and compares; made again where a length did change."""
        model = self.model
        states, normalised, inverses = dict(model.states), dict(model.normalised), dict(model.inverses)
        failures = len(model.failures)
        for attempt in range(_ATTEMPTS):
            body = write()
            if not self.changed:
                break
            if attempt == _ATTEMPTS - 2:
                self.found = [None] * len(self.found)
            model.states, model.normalised, model.inverses = dict(states), dict(normalised), dict(inverses)
            del model.failures[failures:]
        return body


def note_rows(
    model: Model, rows: Sequence[Value], stacks: Sequence[Value], steps: Length | None, before: tuple[int, int]
) -> None:
    """Say of the rows of a loop, stacked, what is known of each of them: lengths that were known `before` its body."""
    for row, stack in zip(rows, stacks, strict=True):
        lengths, dims = lengths_of(model, row.name), stack.type.shape.dims
        if lengths is None or dims is None or len(dims) != len(lengths) + 1 or None not in dims:
            continue
        told = [steps, *[n if _is_older(n, before) else None for n in lengths]]
        model.lengths[stack.name] = (_merged_with(dims, told, stack.name),)


def _merged_with(dims: Sequence[int | None], told: Sequence[Length | None], name: str) -> tuple[Length, ...]:
    """What the type says of each length, or else what is told, or else a length of its own."""
    pairs = enumerate(zip(dims, told, strict=True))
    return tuple([n if n is not None else s if s is not None else (name, i) for i, (n, s) in pairs])


def _is_older(length: Length, before: tuple[int, int]) -> bool:
    if isinstance(length, int):
        return True
    name, number = length
    return number < before[1] if name == "" else int(name) < before[0]
