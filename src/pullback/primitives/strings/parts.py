"""Parts of texts: joined, measured, cut out, without blanks, in other letters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32, string
from ...core.errors import InvalidArgumentError
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape, broadcast_static_shape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import static_integers
from ..creation.constant import convert_to_tensor
from ..shape.broadcast import broadcast_to
from .base import AbstractTextwise, check_text, texts


@in_graph_of_inputs
def join(inputs: Sequence[TensorLike], separator: str = "", name: str | None = None) -> Tensor:
    """The texts of all `inputs` at one place, one behind the other, with `separator` between them.

    Shapes: all the same, or scalars. Dtypes: string.

    Raises:
        TypeError: another dtype. ValueError: the shapes differ, or there are no inputs.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.join(["layer", ["1", "2"]], "_")).tolist()
    [b'layer_1', b'layer_2']
    """
    if not inputs:
        raise ValueError("strings.join: there are no inputs")
    return StringJoin(separator)(*[convert_to_tensor(x) for x in inputs], name=name)


@in_graph_of_inputs
def add_texts(x: TensorLike, y: TensorLike, name: str | None) -> Tensor:
    """`x + y` of texts, which broadcast where their shapes are known.

    Raises:
        TypeError: one is no text. ValueError: the shapes do not broadcast.
    """
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    if a.dtype != b.dtype:
        raise TypeError(f"add: dtypes differ: {a.type} and {b.type}; convert one with pb.cast")
    if a.shape.rank and b.shape.rank and not a.shape.is_compatible_with(b.shape):
        dims = broadcast_static_shape(a.shape, b.shape)
        a, b = broadcast_to(a, dims), broadcast_to(b, dims)
    return StringJoin("")(a, b, name=name)


class StringJoin(Primitive):
    separator: str

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        shape = TensorShape([])
        for x in xs:
            check_text("strings.join", x)
            if x.shape.rank == 0 or shape.rank == 0:
                shape = broadcast_static_shape(shape, x.shape)
            elif not shape.is_compatible_with(x.shape):
                raise ValueError(f"strings.join: shapes differ: {', '.join(map(str, xs))}")
            else:
                shape = shape.merge_with(x.shape)
        return (TensorType(string, shape),)

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        arrays = np.broadcast_arrays(*[np.asarray(x) for x in xs])
        rows = zip(*[a.flat for a in arrays], strict=True)
        return texts([self.separator.encode().join(row) for row in rows], arrays[0].shape)

    gradient = no_gradient


def reduce_join(
    inputs: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """The texts along axes, one behind the other, with `separator` between them: along the first of the axes first.

    Shapes: that of `inputs` without the axes, all where None; with `keepdims` they have length 1. Dtypes: string.

    Raises:
        TypeError: another dtype. ValueError: an axis that is not there, or twice, or an unknown rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator=" ")).tolist()
    [b'a b', b'c d']
    """
    x = convert_to_tensor(inputs)
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"strings.reduce_join: the rank of {x} must be known")
    given = range(rank)[::-1] if axis is None else static_integers(axis, "strings.reduce_join: axis")
    axes = tuple([a + rank if a < 0 else a for a in given])
    if len(set(axes)) < len(axes) or not all(0 <= a < rank for a in axes):
        raise ValueError(f"strings.reduce_join: {x} has no axes {list(given)}")
    return ReduceJoin(axes, keepdims, separator)(x, name=name)


class ReduceJoin(Primitive):
    axes: tuple[int, ...]
    keep_dims: bool
    separator: str

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        check_text("strings.reduce_join", x)
        lengths = [1 if i in self.axes else n for i, n in enumerate(x.shape) if self.keep_dims or i not in self.axes]
        return (TensorType(string, TensorShape(lengths)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        array = np.asarray(x)
        kept = [i for i in range(array.ndim) if i not in self.axes]
        moved = array.transpose([*kept, *self.axes[::-1]])
        rows = moved.reshape(math.prod(moved.shape[: len(kept)]), math.prod(moved.shape[len(kept) :]))
        shape = [1 if i in self.axes else n for i, n in enumerate(array.shape) if self.keep_dims or i not in self.axes]
        return texts([self.separator.encode().join(row) for row in rows], tuple(shape))

    gradient = no_gradient


def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """How many bytes each text of `input` has, or how many characters for the unit "UTF8_CHAR".

    Shapes: any. Dtypes: string; the result is int32.

    Raises:
        TypeError: another dtype. ValueError: another unit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.length(["", "zwölf"]))
    array([0, 6], dtype=int32)
    """
    _check_unit("strings.length", unit)
    return StringLength(unit)(convert_to_tensor(input), name=name)


class StringLength(AbstractTextwise):
    what = "strings.length"
    result = int32

    unit: str

    def of(self, text: bytes) -> int:
        return len(text if self.unit == "BYTE" else text.decode(errors="replace"))


@in_graph_of_inputs
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Of each text the part of `len` bytes, or characters for the unit "UTF8_CHAR", from `pos` on; fewer at its end.

    A negative `pos` counts from the end.

    Shapes: broadcast. Dtypes: string; `pos` and `len` integers.

    Raises:
        TypeError: another dtype. ValueError: another unit. InvalidArgumentError: when it runs, a `pos` outside a text.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.substr(["hello", "world"], [1, -3], 2)).tolist()
    [b'el', b'rl']
    """
    _check_unit("strings.substr", unit)
    return Substr(unit)(convert_to_tensor(input), convert_to_tensor(pos), convert_to_tensor(len), name=name)


class Substr(Primitive):
    unit: str

    def infer(self, x: TensorType, pos: TensorType, length: TensorType) -> tuple[TensorType, ...]:
        check_text("strings.substr", x)
        for number in (pos, length):
            if not isinstance(number.dtype, np.dtype) or number.dtype.kind not in "iu":
                raise TypeError(f"strings.substr: pos and len are integers, not {number}")
        return (TensorType(string, broadcast_static_shape(broadcast_static_shape(x.shape, pos.shape), length.shape)),)

    def kernel(self, xp: Any, x: Any, pos: Any, length: Any) -> Any:
        del xp
        arrays = np.broadcast_arrays(np.asarray(x), np.asarray(pos), np.asarray(length))
        rows = zip(*[a.flat for a in arrays], strict=True)
        return texts([self._part(text, int(i), int(n)) for text, i, n in rows], arrays[0].shape)

    gradient = no_gradient

    def _part(self, text: bytes, start: int, count: int) -> Any:
        whole: Any = text if self.unit == "BYTE" else text.decode(errors="surrogateescape")
        if not -len(whole) <= start <= len(whole):
            raise InvalidArgumentError(f"strings.substr: pos {start} out of range for string {text!r}")
        start = start + len(whole) if start < 0 else start
        part = whole[start : start + max(count, 0)]
        return part if self.unit == "BYTE" else part.encode(errors="surrogateescape")


def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Each text without the blanks, tabs and line ends at its begin and end.

    Shapes: any. Dtypes: string.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.strip([" a b\\n"])).tolist()
    [b'a b']
    """
    return StringStrip()(convert_to_tensor(input), name=name)


class StringStrip(AbstractTextwise):
    what = "strings.strip"

    def of(self, text: bytes) -> bytes:
        return text.strip()


def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Each text in small letters: those of ASCII, or all with the encoding "utf-8".

    Shapes: any. Dtypes: string.

    Raises:
        TypeError: another dtype. ValueError: another encoding.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.lower(["ABC"])).tolist()
    [b'abc']
    """
    _check_encoding("strings.lower", encoding)
    return StringLower(encoding)(convert_to_tensor(input), name=name)


class StringLower(AbstractTextwise):
    what = "strings.lower"

    encoding: str

    def of(self, text: bytes) -> Any:
        return text.decode(errors="replace").lower() if self.encoding else text.lower()


def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Each text in capital letters: those of ASCII, or all with the encoding "utf-8".

    Shapes: any. Dtypes: string.

    Raises:
        TypeError: another dtype. ValueError: another encoding.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.upper(["abc"])).tolist()
    [b'ABC']
    """
    _check_encoding("strings.upper", encoding)
    return StringUpper(encoding)(convert_to_tensor(input), name=name)


class StringUpper(AbstractTextwise):
    what = "strings.upper"

    encoding: str

    def of(self, text: bytes) -> Any:
        return text.decode(errors="replace").upper() if self.encoding else text.upper()


def _check_unit(what: str, unit: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"{what}: unit must be 'BYTE' or 'UTF8_CHAR', not {unit!r}")


def _check_encoding(what: str, encoding: str) -> None:
    if encoding not in ("", "utf-8"):
        raise ValueError(f"{what}: encoding must be '' or 'utf-8', not {encoding!r}")
