"""Elements regrouped: batches, padded batches, shuffle buffers, repetitions, interleaved sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

import pullback as pb

from ....core.shape import as_shape
from ....primitives.creation.constant import as_array
from .sparse import SparseParts, joined, kinds, refuse_sparse, widened, with_sparse
from .structure import Array, leaves, packed, stacked

Element = Sequence[Array]


def stacked_spec(spec: Any, batch_size: Any) -> Any:
    """The types of batches of a number of elements, which is unknown where it is a tensor or None."""
    count = int(batch_size) if isinstance(batch_size, int | np.integer) else None
    whole = packed(spec, [stacked(kind, count) for kind in leaves(spec)])
    before = iter([kind for kind in kinds(spec) if isinstance(kind, SparseParts)])
    return with_sparse(whole, lambda _: widened(next(before), more=1))


def groups(elements: Iterable[Element], size: int, drop_remainder: bool) -> Iterator[list[Element]]:
    """`size` elements at a time, and what is left at the end unless `drop_remainder`."""
    rest = iter(elements)
    while group := list(islice(rest, size)):
        if len(group) == size or not drop_remainder:
            yield group


def batched(elements: Iterable[Element], size: int, drop_remainder: bool, spec: Any = None) -> Iterator[Element]:
    """Batches of elements of one shape; `spec` has their types, where there are sparse ones."""
    for group in groups(elements, size, drop_remainder):
        if spec is None:
            yield [np.stack(column) for column in zip(*group, strict=True)]
        else:
            yield joined(spec, group, np.stack)


def padded_shapes(spec: Any, wanted: Any) -> list[pb.TensorShape]:
    """The shape to pad each leaf to, None for the longest of a batch; -1 says None too.

    Raises:
        TypeError: there are sparse tensors.
    """
    refuse_sparse("padded_batch", spec)
    if wanted is None:
        return [kind.shape for kind in leaves(spec)]
    return [_shape(part) for part in _parts(spec, wanted)]


def padded_spec(spec: Any, shapes: Sequence[pb.TensorShape]) -> Any:
    """The types of elements that are filled up to `shapes`."""
    return packed(spec, [pb.TensorType(kind.dtype, shape) for kind, shape in zip(leaves(spec), shapes, strict=True)])


def filled_shape(shape: pb.TensorShape, length: int) -> pb.TensorShape:
    """The shape with `length` in place of each length that is not known."""
    return pb.TensorShape([length if n is None else n for n in shape.sizes or ()])


def _parts(spec: Any, wanted: Any) -> list[Any]:
    """One shape for each leaf of `spec`; a shape may be a list or a tuple itself."""
    if isinstance(spec, dict):
        return [part for key in sorted(spec) for part in _parts(spec[key], wanted[key])]
    if type(spec) is tuple:
        return [part for child, below in zip(spec, wanted, strict=True) for part in _parts(child, below)]
    return [wanted]


def _shape(wanted: Any) -> pb.TensorShape:
    return wanted if isinstance(wanted, pb.TensorShape) else as_shape([None if n in (None, -1) else n for n in wanted])


def padded(
    elements: Iterable[Element], size: int, drop_remainder: bool, shapes: Sequence[pb.TensorShape], fills: Sequence[Any]
) -> Iterator[Element]:
    """Batches of elements filled up with `fills`, zeros for None."""
    for group in groups(elements, size, drop_remainder):
        columns = zip(zip(*group, strict=True), shapes, fills, strict=True)
        yield [_filled(column, shape, fill) for column, shape, fill in columns]


def _filled(column: Sequence[Array], shape: pb.TensorShape, fill: Any) -> Array:
    longest = np.max([x.shape for x in column], axis=0).astype(int).tolist() if np.ndim(column[0]) else []
    lengths = [m if n is None else n for n, m in zip(shape.sizes or (None,) * len(longest), longest, strict=True)]
    if any(n < m for n, m in zip(lengths, longest, strict=True)):
        raise ValueError(f"Dataset.padded_batch: an element of shape {longest} is larger than {lengths}")
    dtype = np.asarray(column[0]).dtype
    nothing = as_array(b"" if dtype == pb.string else 0) if fill is None else as_array(fill)
    result = np.full([len(column), *lengths], nothing, dtype)
    for i, x in enumerate(column):
        place: Any = (i, *[slice(n) for n in np.shape(x)], ...)
        result[place] = x
    return result


def shuffled(elements: Iterable[Element], size: int, generator: np.random.Generator) -> Iterator[Element]:
    """The elements in another order: one of a buffer of `size` is drawn, and the next one takes its place."""
    rest = iter(elements)
    buffer = list(islice(rest, size))
    for x in rest:
        i = int(generator.integers(len(buffer)))
        drawn, buffer[i] = buffer[i], x
        yield drawn
    for i in generator.permutation(len(buffer)):
        yield buffer[i]


def repeated(elements: Callable[[], Iterable[Element]], count: int) -> Iterator[Element]:
    """The elements `count` times, without end if it is negative, but for nothing at all."""
    while count:
        found = False
        for x in elements():
            found = True
            yield x
        if not found:
            return
        count -= 1


def taken(elements: Callable[[], Iterable[Element]], count: int) -> Iterator[Element]:
    """The first `count` elements, all if it is negative."""
    return islice(iter(elements()), None if count < 0 else count)


def skipped(elements: Callable[[], Iterable[Element]], count: int) -> Iterator[Element]:
    """All but the first `count` elements, none if it is negative."""
    return iter(()) if count < 0 else islice(iter(elements()), count, None)


def interleaved(sequences: Iterator[Iterator[Element]], cycle: int, block: int) -> Iterator[Element]:
    """`block` elements of each of `cycle` sequences in turn; the next sequence takes the place of one that ends."""
    open_ones = list(islice(sequences, cycle))
    i = 0
    while open_ones:
        i %= len(open_ones)
        found = list(islice(open_ones[i], block))
        yield from found
        if len(found) == block:
            i += 1
            continue
        following = next(sequences, None)
        if following is None:
            del open_ones[i]
        else:
            open_ones[i] = following
            i += 1
