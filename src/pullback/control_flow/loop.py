"""Loop primitive under `while_loop`, `scan` and the rest; its derivative is a loop in the other direction.

Step t turns what is carried into what is carried next, c[t+1], y[t] = f(c[t], x[t], k), while the condition on c[t]
and k holds, at most `limit` times. The derivative carries the cotangents of c backward and adds up those of the
constants k. It reads the rows of x and the c[t] of each step, the loop's *history*, and writes one row a step of the
cotangent of x. History is read row by row, never carried, so that derivatives of derivatives stay linear in the number
of steps (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.dtypes import bool as bool_
from ..core.dtypes import int32
from ..core.function import AbstractFunctional, Function, bound_lengths, type_in
from ..core.graph import Operation
from ..core.lengths import Dimension, Length
from ..core.memory import Memory
from ..core.shape import TensorShape
from ..core.types import TensorType
from .call import check_arguments

if TYPE_CHECKING:
    from ..autodiff.cotangent import Term


class Loop(AbstractFunctional):
    """Inputs: (limit, carried..., scanned..., constants...).

    Outputs: (steps, final carried..., stacked..., history of carried..., kept...), where what is carried has `carried`
    members. A step reads one row of each of `scanned` arrays. It writes one row of each of `stacked` arrays, of the
    history of each member as it was at the step's beginning, and of each of the body's results beyond: values that no
    step can compute again, such as random numbers. Engines make only those arrays that somebody reads.

    `body`: (carried..., scanned rows..., constants...) -> (next carried..., stacked rows..., kept rows...).
    `condition`: (carried..., constants...) -> a truth value; None: `limit` steps are made.
    With `reverse`, rows are read and written from the last to the first; there is no condition then.
    """

    repeats = True
    lead = 1
    takes_none = True
    takes_wanted = True

    body: Function
    condition: Function | None
    carried: int
    scanned: int = 0
    stacked: int = 0
    length: int | None = None
    """The number of steps, where it is known."""
    bound: int | None = None
    """A number that the steps never exceed, where one is known."""
    reverse: bool = False
    at_once: int | None = None
    """How many steps an engine may compute at once where nothing is carried; None: one; 0: as many as it likes."""
    in_order: bool = False
    """Whether the operations of a step run as they were made, in the order in which they take least memory."""
    memory: Memory | None = None
    """What is kept of the histories that this loop scans; None: what is kept where no policy says."""

    def infer(self, limit: TensorType, *args: TensorType) -> tuple[TensorType, ...]:
        if limit.dtype != int32 or not limit.shape.is_compatible_with(TensorShape.SCALAR):
            raise TypeError(f"loop: the limit must be a scalar of int32, not {limit}")
        for x in args[self.carried : self.carried + self.scanned]:
            if x.shape.rank == 0:
                raise ValueError(f"loop: {x} has no rows to scan")
        rows = [TensorType(x.dtype, x.shape[1:]) for x in args[self.carried : self.carried + self.scanned]]
        check_arguments("loop", self.body, [*args[: self.carried], *rows, *args[self.carried + self.scanned :]])
        for given, made in zip(self.body.parameters[: self.carried], self.body.results, strict=False):
            if given.dtype != made.dtype:
                raise TypeError(f"loop: '{given.op.name}' is carried as {given.type}, but a step makes it {made.type}")
        if self.condition is not None:
            if self.scanned:
                raise ValueError("loop: a loop that scans rows makes a step for each, and takes no condition")
            (holds,) = self.condition.results
            if holds.dtype != bool_ or not holds.shape.is_compatible_with(TensorShape.SCALAR):
                raise TypeError(f"while_loop: cond must return a scalar of truth values, not {holds.type}")
        carried, written = self.types_of_all_steps(args)
        scanned = args[self.carried : self.carried + self.scanned]
        steps = TensorShape([self.length if self.length is not None or not scanned else scanned[0].shape.length(0)])
        history = [TensorType(t.dtype, steps.concatenate(t.shape)) for t in carried]
        stacked = [TensorType(t.dtype, steps.concatenate(t.shape)) for t in written]
        return (limit, *carried, *stacked[: self.stacked], *history, *stacked[self.stacked :])

    def types_of_all_steps(
        self, args: Sequence[TensorType], alike: Sequence[bool] | None = None
    ) -> tuple[list[TensorType], list[TensorType]]:
        """The types of what is carried and of the other results, in the lengths of `args`, which follow the limit.

        A length that may differ from step to step is None. `alike` says of each scanned array whether its rows have one
        shape; all do unless it is given. A length is taken to stay until a step is found to change it.
        """
        c, s = self.carried, self.scanned
        parameters, results = [x.shape for x in self.body.parameters], [y.type for y in self.body.results]
        given = [x.shape[1:] if c <= i < c + s else x.shape for i, x in enumerate(args)]
        pairs = enumerate(zip(parameters, given, strict=True))
        values = bound_lengths([pair for i, pair in pairs if alike is None or not c <= i < c + s or alike[i - c]])
        found = [type_in(values, t) for t in results]
        while moving := self._changed(values, parameters, found):
            values = {n: value for n, value in values.items() if n not in moving}
            found = [type_in(values, t) for t in results]
        carried = [type_in(values, x.type) for x in self.body.parameters[:c]]
        return carried, found[c:]

    def _changed(
        self, values: Mapping[Length, Dimension], parameters: Sequence[TensorShape], found: Sequence[TensorType]
    ) -> set[Length]:
        """The lengths among `values` that a step changes, whose results are of the types `found`."""
        changed: set[Length] = set()
        for shape, result in zip(parameters[: self.carried], found, strict=False):
            if shape.lengths is None or result.shape.lengths is None:
                changed.update([n for n in shape.lengths or () if isinstance(n, Length) and n in values])
                continue
            for n, after in zip(shape.lengths, result.shape.lengths, strict=False):
                if isinstance(n, Length) and n in values and values[n] != after:
                    changed.add(n)
        return changed

    def arguments(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        inner = inputs[1 : 1 + len(self.body.parameters)]
        constants = inner[self.carried + self.scanned :]
        given: list[Sequence[Any]] = [inner]
        return given if self.condition is None else [*given, [*inner[: self.carried], *constants]]

    def fetched(self, read: Sequence[bool]) -> list[list[int]]:
        places = self.places
        rows = [places.result_of(n) for n in (*places.stacked, *places.kept) if read[n]]
        needed = [*range(self.carried), *rows]
        return [needed] if self.condition is None else [needed, [0]]

    def gradient(self, op: Operation, *dys: Any, wanted: Sequence[bool]) -> Sequence[Term | None]:
        from ..autodiff.choices import chosen_memory
        from .loop_gradient import loop_gradient

        return loop_gradient(op, dys, wanted, chosen_memory())

    @property
    def has_steps_apart(self) -> bool:
        """Whether no step needs what another one gives, and many may run at once."""
        return self.at_once is not None and self.carried == 0 and self.condition is None and self.scanned > 0

    @property
    def places(self) -> Places:
        """Where the outputs of each kind begin."""
        return Places(self)


class Places:
    """The numbers of a loop's outputs by kind, and of its body's results."""

    def __init__(self, loop: Loop) -> None:
        c, s = loop.carried, loop.stacked
        kept = len(loop.body.results) - c - s
        self.final = range(1, 1 + c)
        self.stacked = range(1 + c, 1 + c + s)
        self.history = range(1 + c + s, 1 + 2 * c + s)
        self.kept = range(1 + 2 * c + s, 1 + 2 * c + s + kept)

    def result_of(self, output: int) -> int:
        """The number of the body's result whose rows the output of that number, stacked or kept, holds."""
        return output - 1 if output in self.stacked else output - 1 - len(self.final)
