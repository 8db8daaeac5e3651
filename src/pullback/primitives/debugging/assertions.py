"""Assertions about tensors: operations that raise in a run, and at once where the values are known already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import ml_dtypes
import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, DType, as_dtype, float32
from ...core.errors import InvalidArgumentError
from ...core.named_functions import named
from ...core.operation import Operation, Tensor
from ...core.typing import DTypeLike, TensorLike
from ..base.broadcasting import operands
from ..creation.constant import constant_value, convert_to_tensor
from ..elementwise.sign import absolute
from ..identity.identity import no_op
from ..logic import comparison
from ..reduction.reduce import reduce_any
from ..shape.size import rank as rank_of
from .guards import Assert, summary


@in_graph_of_inputs
def assert_(
    condition: TensorLike, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Operation:
    """An operation that raises InvalidArgumentError in a run where not all of `condition` is true, and shows `data`.

    Fetch it, or make other operations under `pb.control_dependencies([it])`. On XLA the error does not show the data.

    Shapes: any. Dtypes: `condition` bool, `data` any.

    Raises:
        TypeError: `condition` is not bool.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.Assert(True, [1.0]))
    """
    guard, tensors = _guard(data, "assertion failed:", summarize)
    return guard.operation(convert_to_tensor(condition), *tensors, name=name or "Assert")


def _guard(data: Sequence[Any], said: str, summarize: int | None) -> tuple[Assert, list[Tensor]]:
    """What raises, and the tensors that it shows; texts stand between these as they do in `data`."""
    words: list[list[str]] = [[said]]
    tensors = []
    for x in data:
        if isinstance(x, str):
            words[-1].append(x)
        else:
            tensors.append(convert_to_tensor(x))
            words.append([])
    message, *behind = [" ".join(texts) for texts in words]
    return Assert(message, 3 if summarize is None else int(summarize), tuple(behind) if any(behind) else ()), tensors


def _asserted(condition: Tensor, data: Sequence[Any], said: str, summarize: int | None, name: str) -> Operation:
    guard, tensors = _guard(data, said, summarize)
    known = [constant_value(x) for x in (condition, *tensors)]
    if known[0] is not None and not np.all(known[0]):
        raise InvalidArgumentError(guard.text(["?" if x is None else summary(x, guard.summarize) for x in known[1:]]))
    in_a_run = replace(guard, message=f"assertion failed: {guard.message}")
    return in_a_run.operation(condition, *tensors, name=name)


class Comparison(NamedTuple):
    """How an assertion compares: the sign that its error shows, and for its docstring words and arguments that hold."""

    holds: Callable[..., Tensor]
    sign: str
    words: str
    example: str


COMPARISONS = {
    "equal": Comparison(comparison.equal, "==", "equals", "[1, 2], [1, 2]"),
    "none_equal": Comparison(comparison.not_equal, "!=", "differs from", "[1, 2], [2, 1]"),
    "less": Comparison(comparison.less, "<", "is below", "[1, 2], 3"),
    "less_equal": Comparison(comparison.less_equal, "<=", "is at most", "[1, 2], 2"),
    "greater": Comparison(comparison.greater, ">", "is above", "[1, 2], 0"),
    "greater_equal": Comparison(comparison.greater_equal, ">=", "is at least", "[1, 2], 1"),
}
SIGNS = {
    "positive": ("greater", "[1, 2]"),
    "negative": ("less", "[-1, -2]"),
    "non_negative": ("greater_equal", "[0, 2]"),
    "non_positive": ("less_equal", "[0, -2]"),
}
"""Comparisons with 0, and arguments that hold."""


def compared(
    what: str,
    x: Any,
    y: Any,
    message: str | None,
    summarize: int | None,
    name: str | None,
    data: Sequence[Any] | None = None,
) -> Operation:
    """An operation that raises unless `x` and `y` compare as `what` says, and shows `data`, or both."""
    how = COMPARISONS[what]
    a, b = operands(x, y)
    with a.graph.within(name or f"assert_{what}"):
        said = f"{message + '. ' if message else ''}Condition x {how.sign} y did not hold. x and y:"
        return _asserted(how.holds(a, b), [a, b] if data is None else data, said, summarize, "Assert")


def of_sign(
    what: str,
    x: Any,
    message: str | None,
    summarize: int | None,
    name: str | None,
    data: Sequence[Any] | None = None,
) -> Operation:
    """An operation that raises unless `x` has the sign that `what` says, and shows `data`, or `x`."""
    how = COMPARISONS[SIGNS[what][0]]
    a, zero = operands(convert_to_tensor(x), 0)
    with a.graph.within(name or f"assert_{what}"):
        said = f"{message + '. ' if message else ''}Condition x {how.sign} 0 did not hold. x:"
        return _asserted(how.holds(a, zero), [a] if data is None else data, said, summarize, "Assert")


_DOC = """An operation that raises InvalidArgumentError in a run unless `x` {words} everywhere.

    Fetch it, or make other operations under `pb.control_dependencies([it])`. What is known while the graph is built is
    checked at once.

    Shapes: {shapes}

    Raises:
        InvalidArgumentError: it is known not to hold.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.{name}({example}))
    """


def _doc_of_two(what: str) -> str:
    how, shapes = COMPARISONS[what], "any that broadcast together. Dtypes: any real number, the same for both."
    return _DOC.format(words=f"{how.words} `y`", shapes=shapes, name=f"assert_{what}", example=how.example)


class _OfTwo(Protocol):
    def __call__(
        self,
        x: TensorLike,
        y: TensorLike,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> Operation: ...


class _OfOne(Protocol):
    def __call__(
        self, x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Operation: ...


def _of_two(what: str) -> _OfTwo:
    def function(
        x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Operation:
        return compared(what, x, y, message, summarize, name)

    return named(f"assert_{what}", _doc_of_two(what), function)


def _of_one(what: str) -> _OfOne:
    def function(
        x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Operation:
        return of_sign(what, x, message, summarize, name)

    name, (compare, example) = f"assert_{what}", SIGNS[what]
    words, shapes = f"{COMPARISONS[compare].words} 0", "any. Dtypes: any real number."
    return named(name, _DOC.format(words=words, shapes=shapes, name=name, example=example), function)


@in_graph_of_inputs
def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    return compared("none_equal", x, y, message, summarize, name)


assert_none_equal.__doc__ = _doc_of_two("none_equal")
assert_equal = _of_two("equal")
assert_less = _of_two("less")
assert_less_equal = _of_two("less_equal")
assert_greater = _of_two("greater")
assert_greater_equal = _of_two("greater_equal")
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
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that raises InvalidArgumentError in a run unless `|x - y| <= atol + rtol * |y|` everywhere.

    Both tolerances are ten times the spacing of the dtype at 1 where they are None.

    Shapes: any that broadcast together. Dtypes: any float, the same for both.

    Raises:
        InvalidArgumentError: it is known not to hold.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_near([1.0], [1.0000001]))
    """
    return near(x, y, rtol, atol, message, summarize, name)


def near(
    x: Any,
    y: Any,
    rtol: Any,
    atol: Any,
    message: str | None,
    summarize: int | None,
    name: str | None,
    data: Sequence[Any] | None = None,
) -> Operation:
    """An operation that raises unless `x` and `y` are equal to tolerances, and shows `data`, or both."""
    a, b = operands(x, y)
    with a.graph.within(name or "assert_near"):
        spacing = 10 * float(ml_dtypes.finfo(a.dtype).eps)  # type: ignore[no-untyped-call]
        relative, absolute_ = (spacing if t is None else t for t in (rtol, atol))
        holds = comparison.less_equal(absolute(a - b), absolute(b) * relative + absolute_)
        said = f"{message + '. ' if message else ''}x and y not equal to tolerance. x and y:"
        return _asserted(holds, [a, b] if data is None else data, said, summarize, "Assert")


@in_graph_of_inputs
def assert_rank(x: TensorLike, rank: int, message: str | None = None, name: str | None = None) -> Operation:
    """An operation that raises in a run unless `x` has that rank; what is known already is checked at once.

    Shapes, dtypes: any.

    Raises:
        ValueError: it has another rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_rank([1, 2], 1))
    """
    return ranked(convert_to_tensor(x), rank, "assert_rank", "equal", message, name)


@in_graph_of_inputs
def assert_rank_at_least(x: TensorLike, rank: int, message: str | None = None, name: str | None = None) -> Operation:
    """An operation that raises in a run unless `x` has at least that rank; what is known already is checked at once.

    Shapes, dtypes: any.

    Raises:
        ValueError: it has a lower rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_rank_at_least([1, 2], 0))
    """
    return ranked(convert_to_tensor(x), rank, "assert_rank_at_least", "greater_equal", message, name)


@in_graph_of_inputs
def assert_rank_in(
    x: TensorLike, ranks: Sequence[int], message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that raises in a run unless `x` has one of `ranks`; what is known already is checked at once.

    Shapes, dtypes: any.

    Raises:
        ValueError: it has another rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_rank_in([1, 2], (1, 2)))
    """
    return ranked_in(convert_to_tensor(x), ranks, message, name)


def ranked_in(
    x: Tensor,
    ranks: Sequence[int],
    message: str | None,
    name: str | None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
) -> Operation:
    """An operation that raises unless the rank of `x` is one of `ranks`, and shows `data`."""
    known = sorted({int(rank) for rank in ranks})
    said = f"{message + '. ' if message else ''}assert_rank_in: {x} must have a rank of {known}"
    if x.shape.rank is None:
        with x.graph.within(name or "assert_rank_in"):
            return _asserted(reduce_any(comparison.equal(rank_of(x), known)), data or [], said, summarize, "Assert")
    if x.shape.rank not in known:
        raise ValueError(said)
    return no_op(name or "assert_rank_in")


def ranked(
    x: Tensor,
    rank: int,
    what: str,
    compare: str,
    message: str | None,
    name: str | None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
) -> Operation:
    """An operation that raises unless the rank of `x` compares with `rank` as `compare` says, and shows `data`."""
    said = f"{message + '. ' if message else ''}{what}: {x} must have rank {'' if compare == 'equal' else '>= '}{rank}"
    if x.shape.rank is None:
        with x.graph.within(name or what):
            return _asserted(COMPARISONS[compare].holds(rank_of(x), rank), data or [], said, summarize, "Assert")
    if x.shape.rank != rank if compare == "equal" else x.shape.rank < rank:
        raise ValueError(said)
    return no_op(name or what)


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> Tensor:
    """`tensor`, whose static shape must be that of a scalar.

    Shapes: []. Dtypes: any.

    Raises:
        ValueError: another shape, or an unknown rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_scalar(1.5))
    np.float32(1.5)
    """
    del name
    x = convert_to_tensor(tensor)
    if x.shape.rank != 0:
        raise ValueError(f"{message + '. ' if message else ''}assert_scalar: {x} must be a scalar")
    return x


def assert_type(
    tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that does nothing: `tensor` has been found to have the dtype `tf_type`.

    Shapes, dtypes: any.

    Raises:
        TypeError: it has another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_type([1.0], pb.float32))
    """
    x = convert_to_tensor(tensor)
    if x.dtype != as_dtype(tf_type):
        raise TypeError(f"{message + '. ' if message else ''}assert_type: {x} must be of type {as_dtype(tf_type).name}")
    return no_op(name or "assert_type")


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """An operation that does nothing: `x` has been found to hold integers.

    Shapes, dtypes: any.

    Raises:
        TypeError: it holds something else.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_integer([1]))
    """
    tensor = convert_to_tensor(x)
    if tensor.dtype not in INTEGER:
        raise TypeError(f"{message + '. ' if message else ''}assert_integer: {tensor} must hold integers")
    return no_op(name or "assert_integer")


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DTypeLike | None = None) -> DType:
    """The dtype that all of `tensors` have, `dtype` where that is given, float32 where nothing is.

    Raises:
        ValueError: they have different dtypes, or one that holds no floats.

    >>> import pullback as pb
    >>> pb.debugging.assert_same_float_dtype([pb.constant(1.0), pb.constant(2.0)])
    dtype('float32')
    """
    given = [convert_to_tensor(x) for x in tensors or ()]
    wanted = as_dtype(dtype) if dtype is not None else given[0].dtype if given else float32
    for x in given:
        if x.dtype != wanted:
            raise ValueError(f"assert_same_float_dtype: {x} must be of type {wanted.name}")
    if wanted not in FLOATING:
        raise ValueError(f"assert_same_float_dtype: expected floats, got {wanted.name}")
    return wanted
