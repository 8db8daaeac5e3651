"""Sections: the nodes of a GraphDef or of one of its functions, what each reads, and an order for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from ..core.errors import InvalidArgumentError
from ..core.naming import check_operation_name
from .nodes import reader_of

NEXT_ITERATION = ("NextIteration", "RefNextIteration")
"""The op types of nodes that hand a value to the next step of a loop."""


class Source(NamedTuple):
    """An output of a node: what another one reads."""

    node: str
    number: int

    def __str__(self) -> str:
        return f"{self.node}:{self.number}"


class Section:
    """Nodes by name, with the outputs that each reads, and the nodes that it waits for.

    In a function, `arguments` are the names of its parameters, and outputs are called `node:name:number`.
    """

    def __init__(self, protos: Iterable[Any], what: str, arguments: Sequence[str] | None = None) -> None:
        self.what = what
        self.arguments = arguments
        self.protos: dict[str, Any] = {}
        for proto in protos:
            check_name(proto.name, what)
            if proto.name in self.protos:
                raise InvalidArgumentError(f"import_graph_def: two nodes of {what} are called '{proto.name}'")
            self.protos[proto.name] = proto
        self.reads: dict[str, list[Source]] = {}
        self.waits: dict[str, list[str]] = {}
        for name, proto in self.protos.items():
            self.reads[name] = [self.source(x, name) for x in proto.input if not x.startswith("^")]
            self.waits[name] = [self.source(x[1:], name).node for x in proto.input if x.startswith("^")]

    def source(self, text: str, reading: str) -> Source:
        """The output that `text`, an input of the node `reading`, names."""
        name, *rest = text.split(":")
        number = rest[-1] if rest else "0"
        parameter = self.arguments is not None and name in self.arguments
        if (name not in self.protos and not parameter) or not number.isdecimal() or len(rest) > 2:
            raise InvalidArgumentError(
                f"import_graph_def: node '{reading}' reads '{text}', but {self.what} has no such output"
            )
        index = int(number)
        if len(rest) == 2 and not parameter:
            found = reader_of(self.protos[name].op)
            if found is not None:
                index += _before(rest[0], found.outputs, self.protos[name].attr)
        return Source(name, index)

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each node in an order in which a node comes after what it reads, else as they stand.

        What the last step of a loop hands to the next one is left out of account.
        """
        return self.ordered({})

    def ordered(self, more: Mapping[str, Iterable[str]]) -> dict[str, int]:
        """The number of each node in such an order, in which nodes also come after those that `more` says."""
        numbers = {name: i for i, name in enumerate(self.protos)}
        before = {name: {x for x in self.before(name) if x in numbers} | set(more.get(name, ())) for name in numbers}
        after: dict[str, list[str]] = {}
        for name, found in before.items():
            for x in found:
                after.setdefault(x, []).append(name)
        missing = {name: len(found) for name, found in before.items()}
        ready = [numbers[name] for name, count in missing.items() if not count]
        heapify(ready)
        names = list(numbers)
        order: dict[str, int] = {}
        while ready:
            name = names[heappop(ready)]
            order[name] = len(order)
            for later in after.get(name, ()):
                missing[later] -= 1
                if not missing[later]:
                    heappush(ready, numbers[later])
        if len(order) < len(names):
            stuck = next(name for name in names if name not in order)
            raise InvalidArgumentError(f"import_graph_def: in {self.what}, '{stuck}' depends on itself")
        return order

    def before(self, name: str) -> list[str]:
        """The nodes that the node of that name reads or waits for; of a loop's Merge what it is at the beginning."""
        found = [*[source.node for source in self.reads[name]], *self.waits[name]]
        if self.protos[name].op in ("Merge", "RefMerge"):
            return [x for x in found if x not in self.protos or self.protos[x].op not in NEXT_ITERATION]
        return found


def check_name(name: str, what: str) -> None:
    """InvalidArgumentError unless `name` can name an operation."""
    try:
        check_operation_name(name)
    except ValueError as error:
        raise InvalidArgumentError(f"import_graph_def: {what}: {error}") from None


def _before(wanted: str, outputs: Sequence[str], attributes: Any) -> int:
    """How many outputs stand before those called `wanted`; `name*N` is a list, as long as the attribute `N` says."""
    count = 0
    for output in outputs:
        name, _, length = output.partition("*")
        if name == wanted:
            return count
        count += attributes[length].i if length in attributes else 1
    return 0
