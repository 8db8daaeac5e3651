"""Shape assertions: lengths of several tensors that are to be equal, or to be numbers, by symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Operation, Tensor
from ..creation.constant import constant, convert_to_tensor
from ..identity.identity import no_op
from ..logic.comparison import equal, greater_equal
from ..shape.reshape import reshape
from ..shape.size import rank as rank_of
from ..shape.size import shape as shape_of
from ..shape.stacking import concat
from .assertions import assert_

_ANY_NUMBER = ("...", "*", Ellipsis)
_ANY_LENGTH = (None, ".")


@in_graph_of_inputs
def assert_shapes(
    shapes: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises InvalidArgumentError in a run unless tensors have the shapes that are said.

    `shapes` is pairs of a tensor and its lengths: a number, a symbol (anything hashable, that has one length in all
    tensors), None or "." for any length; "..." or "*" in the first or in the last place for any number of axes. A text
    is a symbol for each of its letters. A scalar has the lengths [1], as a tensor of one axis may have.

    What is known while the graph is built is checked at once. `data` is shown beside what is wrong.

    Raises:
        ValueError: the shapes are known to be others, or what is said is no sequence.

    >>> import pullback as pb
    >>> x, y, w = pb.zeros([8, 3]), pb.zeros([8]), pb.zeros([3, 5])
    >>> pb.Session().run(pb.debugging.assert_shapes([(x, ("N", "D")), (y, "N"), (w, ("D", None))]))
    >>> pb.debugging.assert_shapes([(w, (2, "D"))])
    Traceback (most recent call last):
    ValueError: assert_shapes: axis 0 of float32[3,5] 'zeros_2:0' must have the length 2, and not 3
    """
    pairs = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    begin = f"{message}. assert_shapes:" if message else "assert_shapes:"
    found: dict[Any, tuple[Any, str]] = {}
    checks: list[Operation] = []
    for given, said in pairs:
        if said is None:
            continue
        x = convert_to_tensor(given)
        if not isinstance(said, Iterable):
            raise ValueError(f"{begin} the lengths of {x} must be a sequence, and not {said!r}")
        with x.graph.acting.within(name or "assert_shapes"):
            for condition, words, shown in _conditions(x, list(said), found):
                if condition is False:
                    raise ValueError(f"{begin} {words}, and not {shown}")
                if condition is not True:
                    checks.append(assert_(condition, [f"{begin} {words}", shown, *(data or ())], summarize))
    return no_op(name) if not checks else _group(checks, name)


def _conditions(x: Tensor, said: list[Any], found: dict[Any, tuple[Any, str]]) -> Iterable[tuple[Any, str, Any]]:
    """What must hold of a tensor: a bool, or a tensor; in words; and what there is instead."""
    first, last = said[:1] and said[0] in _ANY_NUMBER, said[1:] and said[-1] in _ANY_NUMBER
    lengths = said[1:] if first else said[:-1] if last else said
    starred, count, rank = bool(first or last), len(lengths), x.shape.rank
    yield _has_rank(x, count, starred)
    dims = x.shape.as_list() if rank else [1] if rank == 0 else None
    in_run: Any = None if dims is not None and None not in dims else _lengths(x, count, starred, bool(first))
    for i, symbol in enumerate(lengths or ([] if starred else [1])):
        if symbol in _ANY_LENGTH:
            continue
        place = i - count if first else i
        there: Any = dims[place] if dims is not None and dims[place] is not None else in_run[place]
        where = f"axis {place} of {x}"
        if isinstance(symbol, int | float):
            wanted, because = int(symbol), ""
        else:
            wanted, other = found.setdefault(symbol, (there, where))
            because = f", as {other}"
        known = isinstance(there, int) and isinstance(wanted, int)
        shown = wanted if isinstance(wanted, int) else "of another tensor"
        yield (
            there == wanted if known else equal(there, wanted),
            f"{where} must have the length {shown}{because}",
            there,
        )


def _has_rank(x: Tensor, count: int, starred: bool) -> tuple[Any, str, Any]:
    rank = x.shape.rank
    words = f"{x} must have {f'{count} axes or more' if starred else f'{max(count, 1)} axes'}"
    if rank is not None:
        return rank >= count if starred else (rank == count or (rank <= 1 and count <= 1)), words, f"{rank}"
    found = rank_of(x)
    if starred:
        return greater_equal(found, count), words, found
    return greater_equal(1, found) if count <= 1 else equal(found, count), words, found


def _lengths(x: Tensor, count: int, starred: bool, first: bool) -> Tensor:
    """The lengths of a tensor in a run; [1] of a scalar. Where there are fewer, -1 stands for them."""
    vector = count <= 1 and not starred and x.shape.rank is None
    found = shape_of(reshape(x, [-1])) if vector else shape_of(x)
    missing = constant([-1] * max(count, 1), found.dtype)
    return concat([missing, found] if first else [found, missing], 0)


def _group(checks: Sequence[Operation], name: str | None) -> Operation:
    with checks[0].graph.acting.control_dependencies(checks):
        return no_op(name)
