"""Static shapes: `TensorShape`, whose dimensions or whole rank may be unknown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .dimensions import UnknownDimension
from .lengths import Dimension, Length, named, symbol
from .seen import seen

if TYPE_CHECKING:
    from .typing import ShapeLike

Dims = tuple[int | None, ...]
Lengths = tuple[Dimension | None, ...]


class TensorShape:
    """What is known of an array's shape: a length for each dimension, or nothing (unknown rank).

    A length is a number, a `Length` that a run decides, or None, of which nothing is known. TensorFlow's answers
    (`as_list`, `sizes`, `==`, ...) say None for both of the latter; `lengths` has them all. A string names a length:
    what has one name has one length in a run.

    `dims`, `shape[i]` and iteration are for users: they give numbers and None, or TensorFlow 1's `Dimension`s
    after `disable_v2_tensorshape`. What reads shapes in pullback itself says `sizes` and `size(i)`.

    >>> TensorShape([None, 3]).merge_with([2, 3])
    TensorShape([2, 3])
    >>> TensorShape(["batch", 3]).as_list(), TensorShape(["batch", 3]).lengths
    ([None, 3], (batch, 3))
    """

    __slots__ = ("_dims", "_size", "has_unknown", "lengths")
    UNKNOWN: ClassVar[TensorShape]
    SCALAR: ClassVar[TensorShape]
    lengths: Lengths | None
    """The lengths, None where the rank is unknown."""
    has_unknown: bool
    """Whether the rank is known, and a length is None."""

    def __init__(self, dims: ShapeLike | None) -> None:
        self.lengths = lengths = _as_lengths(dims)
        self._dims: Dims | None = lengths  # type: ignore[assignment]
        self._size: int | None = None
        self.has_unknown = False
        if lengths is not None:
            size = 1
            for d in lengths:
                if type(d) is not int:
                    self._dims = tuple([d if type(d) is int else None for d in lengths])
                    self.has_unknown = None in lengths
                    return
                size *= d
            self._size = size

    @property
    def sizes(self) -> Dims | None:
        """The lengths as numbers and None; None where the rank is unknown."""
        return self._dims

    def size(self, axis: int) -> Any:
        """The length along `axis` as a number; None where it or the rank is unknown."""
        return None if self._dims is None else self._dims[axis]

    @property
    def dims(self) -> Sequence[Any] | None:
        """The lengths as users see them, or None where the rank is unknown."""
        return None if self._dims is None else tuple([seen.size(d) for d in self._dims])

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def known(self) -> tuple[int, ...]:
        """All lengths, for a fully defined shape; ValueError otherwise."""
        if self._size is None:
            raise ValueError(f"the shape {self} is not fully defined")
        return self._dims  # type: ignore[return-value]

    def num_elements(self) -> int | None:
        """The number of elements, or None where any length is unknown."""
        return self._size

    @property
    def static(self) -> TensorShape:
        """The shape with None for each length that only a run knows: what an attribute may hold.

        An operation may be copied to where a symbol stands for another number; what it infers must follow from there.
        """
        return self if self._dims is self.lengths else TensorShape(self._dims)

    @property
    def elements(self) -> Dimension | None:
        """The number of elements as a length, which a run may decide; None where any length is None."""
        return None if self.lengths is None or self.has_unknown else math.prod(self.lengths)  # type: ignore[arg-type]

    def length(self, axis: int) -> Dimension | None:
        """The length along `axis`; None where it or the rank is unknown."""
        lengths = self.lengths
        return lengths[axis] if lengths is not None and -len(lengths) <= axis < len(lengths) else None

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return self._size is not None

    def as_list(self) -> list[int | None]:
        """The lengths as a list; ValueError for an unknown rank."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_compatible_with(self, other: ShapeLike | None) -> bool:
        """Whether some array could have both shapes."""
        a, b = self._dims, as_shape(other)._dims
        if a is None or b is None or a == b:
            return True
        return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b, strict=True))

    def takes(self, sizes: tuple[int, ...]) -> bool:
        """Whether an array of that shape has this one: `is_compatible_with` for what each feed is asked."""
        if self._dims is None or self._dims == sizes:
            return True
        if len(self._dims) != len(sizes):
            return False
        return not [n for m, n in zip(self._dims, sizes, strict=True) if m is not None and m != n]

    def merge_with(self, other: ShapeLike | None) -> TensorShape:
        """The shape that knows what either knows; ValueError where they contradict."""
        shape = as_shape(other)
        if self is shape or shape.lengths is None or self.lengths == shape.lengths:
            return self
        if self.lengths is None:
            return shape
        if not self.is_compatible_with(shape):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        pairs = zip(self.lengths, shape.lengths, strict=True)
        return TensorShape([n if m is None or type(n) is int else m for m, n in pairs])

    def most_specific_compatible_shape(self, other: ShapeLike | None) -> TensorShape:
        """The shape that both are cases of: what they agree on, unknown elsewhere."""
        a, b = self.lengths, as_shape(other).lengths
        if a is None or b is None or len(a) != len(b):
            return TensorShape.UNKNOWN
        return TensorShape([m if m == n else None for m, n in zip(a, b, strict=True)])

    def concatenate(self, other: ShapeLike | None) -> TensorShape:
        """This shape followed by `other`."""
        other = as_shape(other)
        if self.lengths is None or other.lengths is None:
            return TensorShape.UNKNOWN
        return TensorShape(self.lengths + other.lengths)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions; ValueError if it has not."""
        return self.merge_with(TensorShape([None] * rank))

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have fewer than `rank` dimensions."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have more than `rank` dimensions."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """ValueError if it is known to have another rank."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: ShapeLike | None) -> None:
        """ValueError if the ranks are known and differ."""
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """ValueError unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_subtype_of(self, other: ShapeLike | None) -> bool:
        """Whether every array of this static shape has the static shape `other`."""
        return self.most_specific_compatible_shape(other)._dims == as_shape(other)._dims

    def assert_is_compatible_with(self, other: ShapeLike | None) -> None:
        """ValueError unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[Any]:
        return map(seen.size, self.as_list())

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return TensorShape.UNKNOWN if self.lengths is None else TensorShape(self.lengths[key])
        return seen.size(self.size(key))

    def __add__(self, other: ShapeLike | None) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike | None) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        if other is None or isinstance(other, list | tuple | int):
            return self._dims == TensorShape(other)._dims
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        """As TensorFlow prints shapes: `(2, None)`, `<unknown>`; with `Dimension`s `(2, ?)`."""
        if self._dims is None:
            return "<unknown>"
        return f"({', '.join([str(seen.size(d)) for d in self._dims])}{',' * (len(self._dims) == 1)})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self)})"


def _as_lengths(dims: Any) -> Lengths | None:
    if dims is None or isinstance(dims, TensorShape):
        return None if dims is None else dims.lengths
    if isinstance(dims, str) or not isinstance(dims, Iterable):
        dims = [dims]
    return tuple([d if d is None or (type(d) is int and d >= 0) else _as_length(d) for d in dims])


def _as_length(d: Any) -> Dimension | None:
    if isinstance(d, Length):
        return d
    if isinstance(d, str):
        return named(d)
    if isinstance(d, UnknownDimension):
        return None
    try:
        length = d.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"a dimension of a TensorShape is an integer, a name or None, not {d!r}") from None
    if length < 0:
        raise ValueError(f"a dimension of a TensorShape cannot be negative: {length}; use None for an unknown one")
    return int(length)


TensorShape.UNKNOWN = TensorShape(None)
TensorShape.SCALAR = TensorShape(())


def as_shape(value: Any) -> TensorShape:
    """`value` as a TensorShape: one already, None, an integer, or a sequence of lengths."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unnamed_shape(what: str, value: Any) -> TensorShape:
    """`value` as a TensorShape that an attribute may hold; ValueError where `value` names a length."""
    if isinstance(value, list | tuple):
        name = next((d for d in value if isinstance(d, str)), None)
        if name is not None:
            raise ValueError(f"{what}: '{name}' names a length, which only a placeholder does; give a number or None")
    return as_shape(value).static


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of which only the rank, if that, is known."""
    return TensorShape.UNKNOWN if rank is None else TensorShape([None] * rank)


def broadcast_static_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape of an elementwise result over shapes `a` and `b`, by NumPy's rule; ValueError if there is none."""
    if a is b:
        return a
    x, y = a.lengths, b.lengths
    if x is None or y is None:
        return TensorShape.UNKNOWN
    if x == y:
        return a
    if not y:
        return a
    if not x:
        return b
    rank = max(len(x), len(y))
    pairs = zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True)
    lengths = tuple([_broadcast_length(m, n, a, b) for m, n in pairs])
    return a if lengths == x else b if lengths == y else TensorShape(lengths)


def _broadcast_length(m: Dimension | None, n: Dimension | None, a: TensorShape, b: TensorShape) -> Dimension | None:
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if type(m) is int and type(n) is int:
        raise ValueError(f"shapes {a} and {b} do not broadcast together")
    if fit(m, n):
        return n if _is_capped(m, n) else m
    return m if type(m) is int else n if type(n) is int else None


def same_length(m: Dimension | None, n: Dimension | None) -> bool:
    """Whether two lengths are known to be equal in every run."""
    return m is not None and m == n


def fit(m: Dimension | None, n: Dimension | None) -> bool:
    """Whether two lengths are equal in every run in which they broadcast: one is the other, or at most a number.

    The smaller of `n` and 512 is 1 only where `n` is: the beginning of a table that is as long as a text, say. Beside
    512 it may be 1 all the same.
    """
    return same_length(m, n) or _is_capped(m, n) or _is_capped(n, m)


def _is_capped(m: Dimension | None, n: Dimension | None) -> bool:
    if not (isinstance(m, Length) and isinstance(n, Length)) or m.function != "min" or len(m.operands) != 2:
        return False
    return n in m.operands and any(isinstance(k, int) and k > 1 for k in m.operands)


def same_shape(a: TensorShape, b: TensorShape) -> bool:
    """Whether two shapes are known to be equal in every run."""
    if a is b:
        return a.lengths is not None and not a.has_unknown
    return a.lengths is not None and not a.has_unknown and a.lengths == b.lengths


def with_symbols(shape: TensorShape) -> TensorShape:
    """`shape` with a new symbol for each length of which nothing is known."""
    if not shape.has_unknown or shape.lengths is None:
        return shape
    return TensorShape([symbol() if d is None else d for d in shape.lengths])


def broadcast_axes(small: Sequence[int], large: Sequence[int]) -> tuple[int, ...]:
    """The axes of `large` along which an array of shape `small` is repeated when broadcast to it."""
    lead = len(large) - len(small)
    return (*range(lead), *[lead + i for i, n in enumerate(small) if n == 1 and large[lead + i] != 1])


def summed_axes(small: TensorShape, large: TensorShape) -> tuple[int, ...] | None:
    """The axes of `large` along which an array of shape `small` is repeated, or of length one; None where a run says.

    A sum over an axis of length one changes nothing, so that it does not matter whether an unknown length is one.
    """
    a, b = small.lengths, large.lengths
    if a is None or b is None:
        return None
    lead = len(b) - len(a)
    axes = list(range(lead))
    for axis, (m, n) in enumerate(zip(a, b[max(lead, 0) :], strict=False), start=lead):
        if type(m) is int:
            if m == 1 and n != 1:
                axes.append(axis)
        elif n != 1 and not fit(m, n):
            return None
    return tuple(axes) if lead >= 0 else None
