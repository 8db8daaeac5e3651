"""Partial runs: one run in several steps, which keep what later steps read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.dtypes import resource
from ..core.errors import InvalidArgumentError
from ..core.graph import Operation, Tensor
from ..core.needs import needed
from .fetches import fed_tensor, feed_pairs, flatten
from .messages import element_text


@dataclass
class _Steps:
    """A run in steps: what it may be given, what it has to give still, and the values that there are."""

    feeds: set[Tensor]
    fetches: set[Tensor]
    left: set[Tensor]
    values: dict[Tensor, Any] = field(default_factory=dict)

    def needed_for(self, fetches: Sequence[Tensor]) -> set[Operation]:
        """The operations that must run for them still."""
        return needed([x.op for x in fetches if x not in self.values], self._before)

    def _before(self, op: Operation) -> list[Operation]:
        ended = [c for c in op.controls if not (c.outputs and all(y in self.values for y in c.outputs))]
        return [*[x.op for x in op.inputs if x not in self.values], *ended]

    def kept_of(self, fetches: Sequence[Tensor]) -> list[Tensor]:
        """What a step that computes `fetches` finds, and later steps read, or wait for."""
        now, rest = self.needed_for(fetches), list(self.left.difference(fetches))
        later = self.needed_for(rest) - now
        read = [x for op in later for x in op.inputs]
        waited = [y for op in later for c in op.controls for y in c.outputs]
        found = dict.fromkeys(x for x in (*read, *waited, *rest) if x.op in now and x.dtype != resource)
        return [x for x in found if x not in self.values]


class PartialRuns:
    """The runs in steps of one session, by their names."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._open: dict[str, _Steps] = {}
        self._numbers = itertools.count()

    def begin(self, fetches: Any, feeds: Sequence[Any]) -> str:
        """A new run, by its name."""
        graph = self._session.graph
        wanted = set(flatten(fetches, graph).tensors)
        name = f"partial_run_{next(self._numbers)}"
        self._open[name] = _Steps({fed_tensor(x, graph) for x in feeds}, wanted, set(wanted))
        return name

    def run(self, name: str, fetches: Any, feed_dict: Mapping[Any, Any]) -> Any:
        """The next step of a run."""
        steps, graph = self._open.get(name), self._session.graph
        if steps is None:
            raise InvalidArgumentError(f"partial_run: Must run 'setup' before performing partial runs; not {name!r}")
        flat = flatten(fetches, graph)
        if flat.operations:
            raise RuntimeError(f"partial_run fetches tensors only, not {element_text(flat.operations[0])}")
        given = dict(feed_pairs(feed_dict, graph)) if feed_dict else {}
        _check(steps, flat.tensors, given)
        steps.values.update(given)
        missing = [x for x in steps.feeds if x not in steps.values and x.op in steps.needed_for(flat.tensors)]
        if missing:
            raise InvalidArgumentError(
                f"partial_run: {element_text(missing[0])} has not been fed so far, and a fetch needs it"
            )
        kept = steps.kept_of(flat.tensors)
        result, values = self._session.run([fetches, kept], steps.values)
        steps.values.update(zip(kept, values, strict=True))
        steps.left.difference_update(flat.tensors)
        if not steps.left:
            del self._open[name]
        return result


def _check(steps: _Steps, fetches: Sequence[Tensor], given: Mapping[Tensor, Any]) -> None:
    """InvalidArgumentError unless the fetches and feeds of a step are those of the run, and new."""
    for x in given:
        if x not in steps.feeds:
            raise InvalidArgumentError(
                f"partial_run: the feed {element_text(x)} was not specified in partial_run_setup"
            )
        if x in steps.values:
            raise InvalidArgumentError(f"partial_run: the feed {element_text(x)} has already been fed")
    for y in fetches:
        if y not in steps.fetches:
            raise InvalidArgumentError(
                f"partial_run: the fetch {element_text(y)} was not specified in partial_run_setup"
            )
        if y not in steps.left:
            raise InvalidArgumentError(f"partial_run: the fetch {element_text(y)} has already been fetched")
