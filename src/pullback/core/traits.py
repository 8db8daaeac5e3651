"""Operation traits and indexing maps: what a primitive is, declared on its class, for passes that know no names.

A trait is a value in `Primitive.traits`, as in MLIR and xDSL. What depends on attributes is `Primitive.links`: which
axis of the result goes along which axis of an input, as the indexing maps of MLIR's linalg say for einsums. Both are
checked against what the kernels do, on the rows of the case table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from .intervals import ANY, FINITE, ORIGIN, Interval, hull
from .shape import same_length


class Trait(NamedTuple):
    """Something that holds for every operation of a class; `inputs` are those that it speaks of, () is all."""

    name: str
    inputs: tuple[int, ...] = ()


ELEMENTWISE = Trait("elementwise")
"""An element of the result depends on the elements at its place, of inputs that broadcast to its shape."""
MOVES = Trait("moves")
"""Every element of the result is one of an input, the first among them, or a constant; floats do not decide which."""
SETTLES = Trait("settles")
"""In a run the rows of the first input may have no elements, whatever their shape is to be: none is settled yet."""
VIEWS = Trait("views")
"""Where arrays are views of memory, as in NumPy, the result lies in that of the first input."""
JOINS = Trait("joins")
"""It moves the elements of all its inputs."""
ADDS = Trait("adds")
"""Every element of an input is added to one element of the result at most, or taken from it, whatever the floats."""
IGNORES_ZEROS = Trait("ignores zeros")
"""Zeros among the elements that are brought together, more of them or fewer, change nothing."""
ZEROS = Trait("zeros")
"""Some elements of the result are zeros that it puts there, as a mask does, or between and beside those of an input."""
SINGULAR = Trait("singular")
"""At some finite numbers, and not only at very large ones, the result is infinite or NaN."""
SURROGATE = Trait("surrogate")
"""The derivative is a chosen one, not that of what is computed."""
CHOOSES = Trait("chooses")
"""Every element of the first result is one of those of the input that go along with it, or a constant where there are
none; floats decide which."""
GIVES_TO_CHOSEN = Trait("gives to chosen")
"""Of inputs x, y, dy, y being what was chosen from x, an element of dy is given to elements of x that y has there."""
MARKS_CHOSEN = Trait("marks chosen")
"""Of inputs x, ..., y, the last one chosen from x, an element is 0 where x is not what y has there."""
PARTLY = Trait("partly")
"""Of the elements that mix along axes without a link some may count only, whatever the numbers; it is tried out."""
FEWER = Trait("fewer")
"""Lengths of results that a run decides are at most the number of elements of the first input."""
CONVERTS = Trait("converts")
"""The elements are the same numbers in another dtype, as far as it can hold them."""
COMPARES = Trait("compares")
"""Whether two numbers stand in a relation, which depends on nothing but which is the larger one."""
COMMUTES = Trait("commutes")
"""The two inputs may change places."""
PLACES = Trait("places")
"""The result is the input; what is said is where it shall be."""
GIVEN = Trait("given")
"""The result is there before a run computes anything: a constant, a feed, an argument, the value of a variable."""
CONSTANT = Trait("constant")
"""The result is the attribute `value`."""
COUNTS = Trait("counts")
"""The result is the number of elements of the input."""
SHAPES = Trait("shapes")
"""Each result is the shape of the input of that number."""


def linear(*inputs: int) -> Trait:
    """Linear in these inputs together (all where none is named), the others held. What moves or adds is it anyway."""
    return Trait("linear", inputs)


def affine(*inputs: int) -> Trait:
    """Linear in these inputs together, the others held, but for what they do not decide."""
    return Trait("affine", inputs)


def bilinear(a: int, b: int) -> Trait:
    """Linear in each of two inputs, the other held."""
    return Trait("bilinear", (a, b))


def multiplies(traits: Sequence[Trait]) -> bool:
    """Whether traits say that sums of products are computed, as of matrices or in convolutions."""
    return ELEMENTWISE not in traits and any(t.name == "bilinear" for t in traits)


def zero_wins(*inputs: int) -> Trait:
    """Where one of these inputs is 0 the result is, even if another input is infinite or NaN there."""
    return Trait("zero wins", inputs)


def shaped_by(i: int) -> Trait:
    """The result has the shape that input `i`, a vector, holds."""
    return Trait("shaped by", (i,))


def reads_shape(*inputs: int) -> Trait:
    """Of these inputs the shape is read, and no element."""
    return Trait("reads shape", inputs)


_AFFINE = ("linear", "affine", "bilinear")


def is_linear(traits: Iterable[Trait], i: int) -> bool:
    """Whether traits say that a result is an affine function of input `i` alone: linear, with the others held."""
    return any(t in (MOVES, ADDS, CONVERTS) or (t.name in _AFFINE and i in (t.inputs or (i,))) for t in traits)


class Reading(NamedTuple):
    """What traits say of an operation with a number of inputs, worked out."""

    homogeneous: tuple[int, ...]
    """The result is 0 where one of these inputs is, all others being finite."""
    wins: tuple[int, ...]
    """The same whatever the others are."""
    moved: tuple[int, ...]
    """The elements of the result are those of these inputs, and perhaps zeros; () where they are computed."""
    passes: tuple[int, ...]
    """Zeros of these inputs may come through."""
    together: bool
    """Only where all of them are 0 do they."""


@cache
def reading(traits: tuple[Trait, ...], count: int) -> Reading:
    """What `traits` say of an operation with `count` inputs."""
    held = set(traits)
    inputs = tuple(range(count))
    linear = [t.inputs or inputs for t in traits if t.name == "linear"]
    either = [i for t in traits if t.name in ("bilinear", "zero wins") for i in t.inputs]
    alone = inputs if count == 1 and held & {ADDS, MOVES} else ()
    moved = () if held.isdisjoint((MOVES, CONVERTS)) else inputs if JOINS in held else inputs[:1]
    return Reading(
        tuple([i for i in inputs if i in alone or i in either or (i,) in linear]),
        tuple([i for t in traits if t.name == "zero wins" for i in t.inputs]),
        moved,
        moved or tuple([i for i in inputs if is_linear(traits, i)]),
        ELEMENTWISE in held and any(len(group) > 1 for group in linear),
    )


def bounds_by_traits(traits: tuple[Trait, ...], xs: Sequence[Interval]) -> Interval:
    """What traits say of the elements of a result, from those of the inputs."""
    read = reading(traits, len(xs))
    for i in read.wins:
        if xs[i] == ORIGIN:
            return ORIGIN
    if SINGULAR in traits:
        return ANY
    if read.moved:
        moved = xs[0] if len(read.moved) == 1 else hull([xs[i] for i in read.moved])
        return hull([moved, ORIGIN]) if ZEROS in traits else moved
    if not all(x.finite for x in xs):
        return ANY
    return ORIGIN if any(xs[i] == ORIGIN for i in read.homogeneous) else FINITE


Positions = tuple[Any, Any]
"""Positions along an axis of the result, and those along an axis of an input that they depend on."""


class Link(NamedTuple):
    """An axis of the result that goes along an axis of an input: a position depends on the same position only.

    Where `pairs` is there, a function of both lengths, it depends on the positions that they give for it. `number` is
    how many of these there are, where that is known without them.
    """

    output: int
    input: int
    pairs: Callable[[int, int], Positions] | None = None
    number: Callable[[], int] | None = None

    def met(self, n: int, m: int) -> float:
        """How many positions of the input a position of the result depends on, on average, for both lengths."""
        if self.pairs is None:
            return 1
        return (len(self.pairs(n, m)[0]) if self.number is None else self.number()) / max(n, 1)


Links = tuple[Link, ...]
"""The axes of an input that go along one of the result. Along others elements mix, or are repeated."""


def same_axes(axes: Iterable[int]) -> Links:
    """Axes that stay where they are."""
    return tuple([Link(axis, axis) for axis in axes])


def all_axes_but(rank: int | None, *axes: int) -> Links | None:
    """All axes stay where they are but `axes`, along which elements mix; None where the rank is unknown."""
    if rank is None:
        return None
    mixed = {axis % rank for axis in axes}
    return same_axes(axis for axis in range(rank) if axis not in mixed)


def reduced_axes(rank: int | None, axis: Sequence[int] | None, keepdims: bool) -> Links | None:
    """The axes of a reduction over `axis`, all where it is None."""
    if rank is None:
        return None
    gone = set(range(rank)) if axis is None else {a % rank for a in axis}
    stay = [a for a in range(rank) if a not in gone]
    return tuple([Link(a if keepdims else i, a) for i, a in enumerate(stay)])


def inserted_axes(rank: int | None, *axes: int) -> Links | None:
    """All axes stay, and the result has others, at `axes`."""
    if rank is None:
        return None
    total = rank + len(axes)
    new = {axis % total for axis in axes}
    return tuple([Link(o, a) for a, o in enumerate(o for o in range(total) if o not in new)])


def broadcast_axes_of(dims: Sequence[Any], result_rank: int) -> Links:
    """The axes of an input of an elementwise operation: those that are not repeated, aligned at the end."""
    first = result_rank - len(dims)
    return tuple([Link(first + i, i) for i, n in enumerate(dims) if n != 1])


_OF_STACKS: set[Callable[..., Links | None]] = set()


def of_stacks(links: Callable[..., Links | None]) -> Callable[..., Links | None]:
    """Declares `links` to be those of what treats each of a stack by itself, wherever in the stack it stands."""
    _OF_STACKS.add(links)
    return links


def is_of_stacks(links: Callable[..., Links | None]) -> bool:
    """Whether these `links` were declared so."""
    return links in _OF_STACKS


@of_stacks
def links_of_matrices(self: object, i: int, *types: Any) -> Links | None:
    """The `links` of what works on each matrix of a stack: all axes but the last two stay."""
    del self
    return _stacked(2, i, types)


@of_stacks
def links_of_vectors(self: object, i: int, *types: Any) -> Links | None:
    """The `links` of what works on each vector of a stack: all axes but the last one stay."""
    del self
    return _stacked(1, i, types)


def _stacked(last: int, i: int, types: Sequence[Any]) -> Links | None:
    ranks = [x.shape.rank for x in types]
    if None in ranks:
        return None
    return broadcast_axes_of(types[i].shape.sizes[: ranks[i] - last], max(ranks) - last)


def meeting_axes(traits: Iterable[Trait], links: Callable[..., Links | None], i: int, j: int, types: Any) -> Meeting:
    """The axes of inputs `i` and `j` that go along one axis of the result: see `Primitive.meets`."""
    if ELEMENTWISE not in traits:
        one, other = links(i, *types) or (), links(j, *types) or ()
        mine = {link.output: link.input for link in one if link.pairs is None}
        return {link.input: mine[link.output] for link in other if link.pairs is None and link.output in mine}
    a, b = types[i].shape.lengths, types[j].shape.lengths
    if a is None or b is None:
        return {}
    lead = len(a) - len(b)
    places = [(k, k + lead) for k in range(len(b)) if k + lead >= 0]
    return {k: place for k, place in places if a[place] == 1 or same_length(a[place], b[k])}


Meeting = Mapping[int, int]
"""For axes of an input those of another along which elements meet at the same position only."""
