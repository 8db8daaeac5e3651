"""TensorFlow 1 assertions of the top level, with their order of arguments: `data` is shown, not `x`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.operation import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.debugging.assertions import assert_scalar as assert_scalar_today
from ..primitives.debugging.assertions import compared, near, of_sign, ranked

Data = Sequence[Any] | None


def assert_none_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` differs from `y` everywhere; see `pb.debugging.assert_none_equal`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_none_equal([1, 2], [2, 1]))
    """
    return compared("none_equal", "!=", x, y, message, summarize, name, data)


def assert_less_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` is at most `y` everywhere; see `pb.debugging.assert_less_equal`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_less_equal([1, 2], 2))
    """
    return compared("less_equal", "<=", x, y, message, summarize, name, data)


def assert_greater_equal(
    x: TensorLike,
    y: TensorLike,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises in a run unless `x` is at least `y` everywhere; see `pb.debugging.assert_greater_equal`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_greater_equal([1, 2], 1))
    """
    return compared("greater_equal", ">=", x, y, message, summarize, name, data)


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


def assert_positive(
    x: TensorLike, data: Data = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that raises in a run unless `x` is above 0 everywhere; see `pb.debugging.assert_positive`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_positive([1, 2]))
    """
    return of_sign("positive", "greater", "x > 0", x, message, summarize, name, data)


def assert_negative(
    x: TensorLike, data: Data = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that raises in a run unless `x` is below 0 everywhere; see `pb.debugging.assert_negative`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_negative([-1, -2]))
    """
    return of_sign("negative", "less", "x < 0", x, message, summarize, name, data)


def assert_non_negative(
    x: TensorLike, data: Data = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that raises in a run unless `x` is at least 0 everywhere; see `pb.debugging.assert_non_negative`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_non_negative([0, 2]))
    """
    return of_sign("non_negative", "greater_equal", "x >= 0", x, message, summarize, name, data)


def assert_non_positive(
    x: TensorLike, data: Data = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that raises in a run unless `x` is at most 0 everywhere; see `pb.debugging.assert_non_positive`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.assert_non_positive([0, -2]))
    """
    return of_sign("non_positive", "less_equal", "x <= 0", x, message, summarize, name, data)


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
