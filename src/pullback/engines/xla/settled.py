"""Dispatch: a program whose first calls are done is called through what jax compiled, and nothing around that.

What is compiled knows its types, so it is called outside of a block of 64-bit types: to enter one, and to look programs
up by it, costs jax about as much as all that a call does beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import starmap
from operator import call as read_by
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..engine import Run
from .exceptions import has_64_bits, leaving_jax_alone, raise_explained
from .headroom import make_sure_of
from .interrupts import to_its_end

if TYPE_CHECKING:
    from .loops.rooms import WithRooms
    from .program import Program

_WIDE = 8
"""The bytes of elements that jax takes from NumPy in a block of 64-bit types only."""


class UnsettledError(Exception):
    """What is compiled does not take what it is given: a variable has a value of another type, or none any more."""


def settled_call(program: Program, call: Any, rooms: WithRooms | None = None) -> Run:
    """The calls of a program of one signature on one device; `call` is the `launcher` of what jax made of it.

    `rooms` are its buffers for loops, where it has any.

    Raises:
        UnsettledError: when it is called; nothing has been done.
    """
    run = _assigning(program, call, rooms) if program.written else _reading(program, call, rooms)
    kinds: list[Any] = [x.type.dtype for x in program.plan.feeds]
    if not any(np.dtype(kind).itemsize >= _WIDE for kind in kinds):
        return run

    def run_with_64_bits(feeds: Sequence[Any]) -> list[Any]:
        with jax.enable_x64(True):
            return run(feeds)

    return leaving_jax_alone(run_with_64_bits, None)


def _reading(program: Program, call: Any, rooms: WithRooms | None) -> Run:
    """The calls of a program that assigns nothing: what an interrupt makes them lose is nobody's."""
    value, read, lifted, readers = program.engine.values.get, program.read, program.lifted, program.readers
    to_host, taken = program.to_host, program.taken
    on_host = (np.ndarray,) * len(program.plan.feeds)
    none: list[Any] = []

    def run(feeds: Sequence[Any]) -> list[Any]:
        if tuple(map(type, feeds)) != on_host or not to_host:
            feeds = taken(feeds)
        try:
            values = [*map(value, read)] if read else none
            if rooms is None:
                outputs: list[Any] = call(none, values, lifted, feeds)[0]
            else:
                outputs, *_, left = call(none, values, lifted, feeds, rooms.take())
                rooms.give_back(left)
            if not to_host or not outputs:
                return outputs
            outputs[0].block_until_ready()
            return [*map(read_by, readers, outputs)]
        except TypeError as error:
            raise UnsettledError from error
        except Exception as error:
            raise_explained(error)

    return run


def _assigning(program: Program, call: Any, rooms: WithRooms | None) -> Run:
    """The calls of a program that takes the memory of variables, and gives it back with their new values."""
    engine, headroom, to_host = program.engine, program.headroom, program.to_host
    value, written, read, lifted = engine.values.get, program.written, program.read, program.lifted
    on_host = (np.ndarray,) * len(program.plan.feeds)
    seen: set[tuple[type, ...]] = set()

    def start(launched: list[Any], feeds: Sequence[Any]) -> None:
        """Put what the program gives into `launched`, by one call that no signal can cut in two."""
        if headroom:
            make_sure_of(headroom)
        given = () if rooms is None else (rooms.take(),)
        launched.extend(starmap(call, (([*map(value, written)], [*map(value, read)], lifted, feeds, *given),)))
        if rooms is not None:
            rooms.give_back(launched[0][-1])

    def start_first(launched: list[Any], feeds: Sequence[Any], precision: bool) -> None:
        """The same with feeds of new kinds, for which it goes through Python code of jax's, in another thread."""
        with jax.enable_x64(precision):
            start(launched, feeds)

    def run(feeds: Sequence[Any]) -> list[Any]:
        kinds = tuple(map(type, feeds))
        if kinds != on_host or not to_host:
            feeds = program.taken(feeds)
        launched: list[Any] = []
        try:
            if kinds in seen:
                start(launched, feeds)
            else:
                to_its_end(partial(start_first, launched, feeds, has_64_bits()))
                seen.add(kinds)
            outputs, states, *_ = launched[0]
            results = program.on_host(outputs, states) if to_host else outputs
            engine.keep(written, states)
        except BaseException as error:
            if isinstance(error, TypeError) and not launched:
                raise UnsettledError from error
            program.save(launched)
            raise_explained(error)
        return results

    return run
