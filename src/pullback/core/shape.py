"""Static shapes: `TensorShape`, whose dimensions or whole rank may be unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

Dims = tuple[int | None, ...]


class TensorShape:
    """What is known of an array's shape: a tuple of lengths, `None` for an unknown one, or nothing (unknown rank).

    >>> TensorShape([None, 3]).merge_with([2, 3])
    TensorShape([2, 3])
    """

    __slots__ = ("_dims", "_size")
    UNKNOWN: ClassVar[TensorShape]
    SCALAR: ClassVar[TensorShape]

    def __init__(self, dims: Any) -> None:
        self._dims: Dims | None = _as_dims(dims)
        self._size: int | None = _size_of(self._dims)

    @property
    def dims(self) -> Dims | None:
        """The lengths as a tuple, or None where the rank is unknown."""
        return self._dims

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

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return self._size is not None

    def as_list(self) -> list[int | None]:
        """The lengths as a list; ValueError for an unknown rank."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some array could have both shapes."""
        a, b = self._dims, as_shape(other)._dims
        if a is None or b is None or a == b:
            return True
        return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b, strict=True))

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that knows what either knows; ValueError where they contradict."""
        shape = as_shape(other)
        if self is shape or shape._dims is None or self._dims == shape._dims:
            return self
        if self._dims is None:
            return shape
        if not self.is_compatible_with(shape):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        return TensorShape([n if m is None else m for m, n in zip(self._dims, shape._dims, strict=True)])

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The shape that both are cases of: what they agree on, unknown elsewhere."""
        a, b = self._dims, as_shape(other)._dims
        if a is None or b is None or len(a) != len(b):
            return TensorShape.UNKNOWN
        return TensorShape([m if m == n else None for m, n in zip(a, b, strict=True)])

    def concatenate(self, other: Any) -> TensorShape:
        """This shape followed by `other`."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape.UNKNOWN
        return TensorShape(self._dims + other._dims)

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

    def assert_same_rank(self, other: Any) -> None:
        """ValueError if the ranks are known and differ."""
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """ValueError unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every array of this static shape has the static shape `other`."""
        return self.most_specific_compatible_shape(other)._dims == as_shape(other)._dims

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[int | None]:
        return iter(self.as_list())

    def __getitem__(self, key: int | slice) -> Any:
        if self._dims is None:
            return TensorShape.UNKNOWN if isinstance(key, slice) else None
        return TensorShape(self._dims[key]) if isinstance(key, slice) else self._dims[key]

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        if other is None or isinstance(other, list | tuple):
            return self._dims == _as_dims(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        """As TensorFlow prints shapes: `(2, None)`, `<unknown>`."""
        return "<unknown>" if self._dims is None else str(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"


def _as_dims(dims: Any) -> Dims | None:
    if dims is None or isinstance(dims, TensorShape):
        return None if dims is None else dims._dims
    if isinstance(dims, str) or not isinstance(dims, Iterable):
        dims = [dims]
    return tuple([None if d is None else _as_length(d) for d in dims])


def _as_length(d: Any) -> int:
    try:
        length = d.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"a dimension of a TensorShape is an integer or None, not {d!r}") from None
    if length < 0:
        raise ValueError(f"a dimension of a TensorShape cannot be negative: {length}; use None for an unknown one")
    return int(length)


def _size_of(dims: Dims | None) -> int | None:
    if dims is None:
        return None
    size = 1
    for d in dims:
        if d is None:
            return None
        size *= d
    return size


TensorShape.UNKNOWN = TensorShape(None)
TensorShape.SCALAR = TensorShape(())


def as_shape(value: Any) -> TensorShape:
    """`value` as a TensorShape: one already, None, an integer, or a sequence of lengths."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of which only the rank, if that, is known."""
    return TensorShape.UNKNOWN if rank is None else TensorShape([None] * rank)


def broadcast_static_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape of an elementwise result over shapes `a` and `b`, by NumPy's rule; ValueError if there is none."""
    if a is b:
        return a
    x, y = a._dims, b._dims
    if x == y:
        return a
    if x is None or y is None:
        return TensorShape.UNKNOWN
    if not y:
        return a
    if not x:
        return b
    rank = max(len(x), len(y))
    pairs = zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True)
    return TensorShape([_broadcast_length(m, n, a, b) for m, n in pairs])


def _broadcast_length(m: int | None, n: int | None, a: TensorShape, b: TensorShape) -> int | None:
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if m is None or n is None:
        return n if m is None else m
    raise ValueError(f"shapes {a} and {b} do not broadcast together")


def broadcast_axes(small: Sequence[int], large: Sequence[int]) -> tuple[int, ...]:
    """The axes of `large` along which an array of shape `small` is repeated when broadcast to it."""
    lead = len(large) - len(small)
    return (*range(lead), *[lead + i for i, n in enumerate(small) if n == 1 and large[lead + i] != 1])
