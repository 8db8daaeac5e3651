"""Memory policy of loop derivatives: what is kept of the steps (checkpoints), and what is computed again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import InvalidArgumentError

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([kKMGT]?)(i?)B?\s*")


@dataclass(frozen=True)
class Memory:
    """What `gradients` keeps of the steps of loops. An argument of `gradients`, or a scope: `memory_policy`.

    - `Memory()`: what is carried at the beginning of every step, and the matrix products and convolutions of a step; a
      backward step computes the rest again. This is the default. XLA, which has to know sizes when it compiles, keeps
      all of it up to 512 MiB. If only a run knows the number of steps, that is room which takes memory as steps write
      to it; beyond it, and beyond 16 MiB on accelerators, states that are further and further apart.
    - `Memory(intermediates=True)`: everything that a step computes and a backward step reads, so that nothing is
      computed again. Where XLA does not know the number of steps, it is for as many as there is room for.
    - `Memory(every=k)`: what is carried at every k-th step; the steps are computed again, k at a time. On XLA
      k is rounded up to whole blocks, and grows where there are more steps than there is room for.
    - `Memory(budget=n)`: what is carried at steps that are evenly spaced, as far apart as it takes for n bytes a loop.
      When they are full, every other one is dropped. The number of steps need not be known, and has no bound. As the
      argument of `gradients` it holds for the whole graph, as `rematerialize` has it (where there are loops, if lengths
      are known or in `sizes`): values are computed again rather than kept, or the batch is divided into micro-batches,
      of which a run takes the ys that are fetched beside, too. What cannot be is an error, or, where a loop needs more
      by itself, which keeps a few states whatever the budget, a warning.

    Derivatives are the same: on NumPy to the last bit but for micro-batches, whose sums round otherwise, on XLA up to
    rounding. What is computed again costs about one more run of the loop. Steps that call Python (`py_function`) are
    not made twice: what they give is kept, for which XLA needs `maximum_iterations`.

    Raises:
        ValueError: `every` or `budget` is not positive, or `budget` is no number of bytes.

    >>> import pullback as pb
    >>> x = pb.constant(0.5)
    >>> y = pb.while_loop(lambda i, y: i < 100, lambda i, y: [i + 1, pb.cos(y * x)], [0, x])[1]
    >>> dx, = pb.gradients(y, x, memory=pb.Memory(budget=1000))
    >>> print(f"{pb.Session().run(dx):.4f}")
    -0.3218
    """

    every: int | None = None
    """The number of steps from one kept state to the next."""
    budget: int | str | None = None
    """The most bytes, a number or a string such as "200MB": of one loop, for a few dozen states at least."""
    intermediates: bool = False
    """Whether what a step computed on the way is kept too."""
    sizes: Mapping[Any, Any] | None = field(default=None, compare=False)
    """Lengths that only a run knows, for `budget`: numbers by name, or shapes by tensor."""
    session: Any = field(default=None, compare=False, repr=False)
    """A session that compiles: `budget` is then what its program for the ys and derivatives takes (`rematerialize`)."""

    @property
    def bytes(self) -> int | None:
        """The budget as a number of bytes."""
        return None if self.budget is None else as_bytes(self.budget)

    def __post_init__(self) -> None:
        budget = as_bytes(self.budget) if isinstance(self.budget, str) else self.budget
        for name, value in (("every", self.every), ("budget", budget)):
            if value is not None and value < 1:
                raise ValueError(f"Memory: {name} must be positive, not {value}")

    def __str__(self) -> str:
        shown = [f"{k}={v}" for k, v in vars(self).items() if k != "session" and v is not None and v is not False]
        return f"Memory({', '.join(shown)})"


def as_bytes(budget: int | str) -> int:
    """The number of bytes that a number, or a string such as "200MB" or "1.5 GiB", stands for.

    Raises:
        InvalidArgumentError: it is neither, or not positive.
    """
    found = None if isinstance(budget, bool) else _AMOUNT.fullmatch(str(budget))
    if found is not None:
        number, unit, binary = found.groups()
        scale = 1024.0 if binary else 1000.0
        count = round(float(number) * scale ** " KMGT".index(unit.upper() or " "))
        if count > 0:
            return count
    raise InvalidArgumentError(f"a budget is a number of bytes, or a string such as '200MB', not {budget!r}")
