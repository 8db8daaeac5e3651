"""Control flow of version 1: loops and conditionals, found among the Switch, Merge, Enter and Exit nodes of a section.

A frame is a loop: Enter nodes bring values in, Merge nodes choose between these and what NextIteration nodes hand on,
Switch nodes ask LoopCond whether another step is made, Exit nodes bring the last values out. A Merge outside of that
joins the two sides of Switch nodes on one predicate: the result of a conditional, as XLA's functionalization has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..core.errors import InvalidArgumentError, UnimplementedError
from .section import NEXT_ITERATION, Section, Source

_SWITCH, _MERGE, _ENTER, _EXIT = [(name, f"Ref{name}") for name in ("Switch", "Merge", "Enter", "Exit")]
FLOW = (*_SWITCH, *_MERGE, *_ENTER, *_EXIT, *NEXT_ITERATION, "LoopCond")
"""The op types of which loops and conditionals are made."""
_HANDS_ON = ("Identity", "RefIdentity", *_ENTER)

Literal = tuple[Source, int]
"""A predicate, and the side of it on which something has a value."""
Context = frozenset[Literal]
Path = tuple[str, ...]
"""The names of the frames that something is in, the outermost first."""
_EVERYWHERE: Context = frozenset()


@dataclass
class Frame:
    """A loop: what enters it and what leaves it."""

    path: Path
    enters: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    """The Enter nodes of what is the same in each step."""
    merges: list[str] = field(default_factory=list)
    exits: list[str] = field(default_factory=list)
    condition: str = ""
    switches: dict[str, list[str]] = field(default_factory=dict)
    """For each Merge the Switch nodes behind it."""


class Conditional(NamedTuple):
    """Merge nodes of one predicate."""

    predicate: Source
    merges: list[str]
    sides: dict[str, tuple[Source, Source]]
    """For each Merge what it is where the predicate is false, and where it is true."""
    boundary: list[str]
    """The nodes outside that it reads or waits for."""


class Flow:
    """A section, and the loops and conditionals in it."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self._paths: dict[str, Path] = {}
        self._contexts: dict[str, Context] = {}
        self._frames: dict[Path, Frame] = {}
        self._joins: dict[str, tuple[Source, Source, Source]] = {}
        """For each Merge of a conditional the predicate, and what it is on either side."""
        self._conditionals: dict[str, Conditional] = {}
        self._structured = any(proto.op in FLOW for proto in section.protos.values())
        if self._structured:
            self._find_frames()
            self._find_contexts()
            self._find_conditionals()

    @cached_property
    def wanted(self) -> frozenset[Source]:
        """The outputs that some node reads."""
        return frozenset(source for sources in self.section.reads.values() for source in sources)

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each node in an order that respects all edges, also those of whole loops and conditionals."""
        if not self._structured:
            return self.section.places
        more: dict[str, list[str]] = {}
        for name in self.section.protos:
            if self.loop_of_exit(name) or name in self._conditionals:
                more[name] = [x for x in self.needs(name) if x in self.section.protos]
        return self.section.ordered(more)

    @property
    def everywhere(self) -> list[str]:
        """The nodes that are in no loop and in no branch."""
        if not self._structured:
            return list(self.section.protos)
        outside = [name for name in self.section.protos if not self._paths[name] and not self._contexts[name]]
        return [name for name in outside if not self.only_hands_on(name)]

    def only_hands_on(self, name: str) -> bool:
        """Whether a node is part of a loop or a conditional, and none of their results."""
        return self.op_type(name) in (*_SWITCH, *_ENTER, *NEXT_ITERATION, "LoopCond")

    def op_type(self, name: str) -> str:
        """The op type of a node; empty for a parameter."""
        proto = self.section.protos.get(name)
        return "" if proto is None else str(proto.op)

    def needs(self, name: str) -> list[str]:
        """The nodes that must be made before that one."""
        frame, conditional = self.loop_of_exit(name), self._conditionals.get(name)
        if frame is not None:
            entering = [*frame.enters, *frame.constants]
            return [x for enter in entering for x in self.section.before(enter)]
        if conditional is not None:
            return [conditional.predicate.node, *conditional.boundary]
        return [*[source.node for source in self.section.reads[name]], *self.controls(name)]

    def controls(self, name: str) -> list[str]:
        """The nodes that one waits for, without those that only say in which loop or branch it is."""
        waits = self.section.waits[name]
        if not self._structured:
            return waits
        return [x for x in waits if not self._only_says_where(x)]

    def _only_says_where(self, name: str) -> bool:
        """Whether a node is there to be waited for by what is in a loop or in a branch."""
        name = self._followed(Source(name, 0), ("Identity",)).node
        op_type = self.op_type(name)
        return op_type in (*_SWITCH, *_ENTER, "LoopCond") or (op_type in _MERGE and self.is_loop_variable(name))

    def origin(self, source: Source) -> Source:
        """What an output is the same as, through nodes that hand on what they are given."""
        return self._followed(source, _HANDS_ON)

    def _followed(self, source: Source, op_types: Collection[str]) -> Source:
        """What an output is the same as, through nodes of these types; in a circle of them one of those."""
        passed = set()
        while self.op_type(source.node) in op_types and self.section.reads[source.node] and source.node not in passed:
            passed.add(source.node)
            source = self.section.reads[source.node][0]
        return source

    def loop_of_exit(self, name: str) -> Frame | None:
        """The loop that an Exit node leaves; None for other nodes."""
        if self.op_type(name) not in _EXIT:
            return None
        inner = self._path_of(self.section.reads[name][0].node)
        return self._frames[inner]

    def conditional_of(self, name: str) -> Conditional | None:
        """The conditional that a Merge node is a result of; None for other nodes."""
        return self._conditionals.get(name)

    # Frames

    def _path_of(self, name: str) -> Path:
        return self._paths.get(name, ())

    def _find_frames(self) -> None:
        section = self.section
        for name in section.places:
            op_type = section.protos[name].op
            if op_type in FLOW and not section.reads[name]:
                raise InvalidArgumentError(f"import_graph_def: node '{name}' ({op_type}) has no input")
            path = max([self._path_of(x) for x in section.before(name)], key=len, default=())
            if op_type in _ENTER:
                path = (*path, section.protos[name].attr["frame_name"].s.decode(errors="replace"))
                frame = self._frames.setdefault(path, Frame(path))
                constant = section.protos[name].attr["is_constant"].b
                (frame.constants if constant else frame.enters).append(name)
            elif op_type in _EXIT:
                if path not in self._frames:
                    raise InvalidArgumentError(f"import_graph_def: node '{name}' (Exit) leaves no loop")
                self._frames[path].exits.append(name)
                path = path[:-1]
            self._paths[name] = path
        for name in section.places:
            self._note_in_frame(name)

    def _note_in_frame(self, name: str) -> None:
        section, frame = self.section, self._frames.get(self._paths[name])
        if frame is None:
            return
        op_type = section.protos[name].op
        if op_type in _MERGE and self.is_loop_variable(name):
            frame.merges.append(name)
        elif op_type == "LoopCond":
            frame.condition = name
        elif op_type in _SWITCH and self.op_type(section.reads[name][-1].node) == "LoopCond":
            frame.switches.setdefault(section.reads[name][0].node, []).append(name)

    def is_loop_variable(self, name: str) -> bool:
        """Whether a Merge node is given what a step hands on."""
        return any(self.op_type(source.node) in NEXT_ITERATION for source in self.section.reads[name])

    def start_and_next(self, merge: str) -> tuple[Source, Source]:
        """What a loop variable is at the beginning, and after a step."""
        first = [s for s in self.section.reads[merge] if self.op_type(s.node) in _ENTER]
        later = [s for s in self.section.reads[merge] if self.op_type(s.node) in NEXT_ITERATION]
        if len(first) != 1 or len(later) != 1 or not self.section.reads[later[0].node]:
            raise InvalidArgumentError(
                f"import_graph_def: node '{merge}' (Merge) must have one Enter and one NextIteration as its inputs"
            )
        return self.section.reads[first[0].node][0], self.section.reads[later[0].node][0]

    # Conditionals

    def _find_contexts(self) -> None:
        """For each node the predicates, and their sides, for which it has a value: deadness analysis."""
        section = self.section
        for name in section.places:
            if section.protos[name].op in _MERGE and not self.is_loop_variable(name):
                self._contexts[name] = self._joined(name)
                continue
            sources = [s for s in section.reads[name] if s.node in self._contexts]
            found = [self._context_of(s) for s in sources]
            found += [self._contexts[x] for x in section.waits[name] if x in self._contexts]
            self._contexts[name] = _EVERYWHERE.union(*found)

    def _context_of(self, source: Source) -> Context:
        context = self._contexts.get(source.node, _EVERYWHERE)
        return context | {(self._predicate(source.node), source.number)} if self._divides(source.node) else context

    def _divides(self, name: str) -> bool:
        """Whether a node is the Switch of a conditional."""
        return self.op_type(name) in _SWITCH and self.op_type(self.section.reads[name][-1].node) != "LoopCond"

    def _predicate(self, switch: str) -> Source:
        return self.origin(self.section.reads[switch][-1])

    def _joined(self, name: str) -> Context:
        """The context of a Merge, which has a value whichever side has one."""
        sources = self.section.reads[name]
        if len(sources) == 2:
            first, second = [self._context_of(s) for s in sources]
            for predicate, side in sorted(first, key=lambda literal: (str(literal[0]), literal[1])):
                if (predicate, 1 - side) in second:
                    no, yes = sources if side == 0 else sources[::-1]
                    self._joins[name] = predicate, no, yes
                    return (first | second) - {(predicate, 0), (predicate, 1)}
        raise UnimplementedError(
            f"import_graph_def: node '{name}' (Merge): its inputs are not the two sides of one Switch"
        )

    def _find_conditionals(self) -> None:
        groups: dict[tuple[Source, Context, Path], list[str]] = {}
        for name in self.section.places:
            if name in self._joins:
                key = self._joins[name][0], self._contexts[name], self._paths[name]
                groups.setdefault(key, []).append(name)
        for (predicate, _, _), merges in groups.items():
            made = self._conditional(predicate, merges)
            first = self.section.places[merges[0]]
            apart = any(self.section.places.get(x, -1) >= first for x in made.boundary)
            for one in [self._conditional(predicate, [name]) for name in merges] if apart else [made]:
                self._conditionals.update(dict.fromkeys(one.merges, one))

    def _conditional(self, predicate: Source, merges: list[str]) -> Conditional:
        sides = {name: self._joins[name][1:] for name in merges}
        boundary: dict[str, None] = {}
        for side in (0, 1):
            boundary.update(dict.fromkeys(self._boundary((predicate, side), [pair[side] for pair in sides.values()])))
        return Conditional(predicate, merges, sides, list(boundary))

    def _boundary(self, literal: Literal, targets: Iterable[Source]) -> list[str]:
        """The nodes outside a side of a predicate that the values `targets` of that side are computed from."""
        pending, seen, found = [s.node for s in targets], set(), []
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if self._divides(name) and self._predicate(name) == literal[0]:
                found.append(self.section.reads[name][0].node)
            elif literal in self._contexts.get(name, _EVERYWHERE):
                pending.extend(self.section.before(name) if self.loop_of_exit(name) is None else self.needs(name))
            else:
                found.append(name)
        return found
