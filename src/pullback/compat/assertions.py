"""TensorFlow 1 assertions of the top level, with their order of arguments: `data` is shown, not `x`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..core.contexts import in_graph_of_inputs
from ..core.named_functions import named
from ..core.operation import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.debugging.assertions import COMPARISONS, SIGNS, compared, near, of_sign, ranked, ranked_in
from ..primitives.debugging.assertions import assert_scalar as assert_scalar_today

Data = Sequence[Any] | None


class _OfTwo(Protocol):
    def __call__(
        self,
        x: TensorLike,
        y: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation: ...


class _OfOne(Protocol):
    def __call__(
        self,
        x: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation: ...


_DOC = """An operation that raises in a run unless `x` {words} everywhere; see `pb.debugging.{name}`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.compat.v1.{name}({example}))
    """


def of_two(what: str) -> _OfTwo:
    """The assertion that `x` and `y` compare as `what` says."""

    def function(
        x: TensorLike,
        y: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        return compared(what, x, y, message, summarize, name, data)

    name, how = f"assert_{what}", COMPARISONS[what]
    return named(name, _DOC.format(words=f"{how.words} `y`", name=name, example=how.example), function)


def _of_one(what: str) -> _OfOne:
    def function(
        x: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        return of_sign(what, x, message, summarize, name, data)

    name, (compare, example) = f"assert_{what}", SIGNS[what]
    return named(name, _DOC.format(words=f"{COMPARISONS[compare].words} 0", name=name, example=example), function)


assert_none_equal = of_two("none_equal")
assert_less_equal = of_two("less_equal")
assert_greater_equal = of_two("greater_equal")
assert_positive = _of_one("positive")
assert_negative = _of_one("negative")
assert_non_negative = _of_one("non_negative")
assert_non_positive = _of_one("non_positive")


@in_graph_of_inputs
def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` is close to `y` everywhere; see `pb.debugging.assert_near`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_near([1.0], [1.0000001]))
    """
    return near(x, y, rtol, atol, message, summarize, name, data)


@in_graph_of_inputs
def assert_rank(
    x: TensorLike,
    rank: int,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` has that rank; see `pb.debugging.assert_rank`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.compat.v1.assert_rank([1, 2], 1))
    """
    return ranked(convert_to_tensor(x), rank, "assert_rank", "equal", message, name, data, summarize)


@in_graph_of_inputs
def assert_rank_in(
    x: TensorLike,
    ranks: Sequence[int],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` has one of `ranks`; see `pb.debugging.assert_rank_in`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.compat.v1.debugging.assert_rank_in([1, 2], (1, 2)))
    """
    return ranked_in(convert_to_tensor(x), ranks, message, name, data, summarize)


@in_graph_of_inputs
def assert_rank_at_least(
    x: TensorLike,
    rank: int,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` has at least that rank; see `pb.debugging.assert_rank_at_least`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_rank_at_least([1, 2], 0))
    """
    x = convert_to_tensor(x)
    return ranked(x, rank, "assert_rank_at_least", "greater_equal", message, name, data, summarize)


def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor`, whose static shape must be that of a scalar; see `pb.debugging.assert_scalar`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_scalar(1.5))
    np.float32(1.5)
    """
    return assert_scalar_today(tensor, message, name)
