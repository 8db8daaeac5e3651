"""Sliding windows: elements that are datasets themselves.

In a graph such a dataset is an integer, by which its elements are found while anybody has the array of that integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

import pullback as pb

from .sparse import as_sparse
from .structure import Array, leaves, packed

if TYPE_CHECKING:
    from .dataset import Dataset

Element = Sequence[Array]


class _Elements(list[Element]):
    """The elements of a window; a list that does not hold on to itself."""


_known: WeakValueDictionary[int, _Elements] = WeakValueDictionary()


class _Number(np.ndarray[Any, Any]):
    """The number of a window, which keeps its elements."""

    kept: _Elements


class DatasetSpec(pb.TensorType):
    """The type of an element that is a dataset of elements of `element_spec`."""

    element_spec: Any

    def __new__(cls, element_spec: Any) -> DatasetSpec:
        """A type like that of the numbers that stand for windows."""
        made = super().__new__(cls, pb.int64, pb.TensorShape.SCALAR)
        made.element_spec = element_spec
        return made

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec})"


def window_of(elements: Sequence[Element]) -> Array:
    """The number of the dataset of these elements."""
    kept = _Elements(elements)
    _known[id(kept)] = kept
    number = np.array(id(kept), np.int64).view(_Number)
    number.kept = kept
    return number


def as_arguments(spec: Any, tensors: Sequence[pb.Tensor], dataset: Callable[..., Dataset]) -> Any:
    """An element of tensors, as a function of a program takes it: with sparse tensors, and datasets for windows."""

    def argument(kind: Any, x: pb.Tensor) -> Any:
        if not isinstance(kind, DatasetSpec):
            return x
        return dataset(kind.element_spec, [x], lambda p: _known[int(p.values[x])])

    return as_sparse(packed(spec, [argument(kind, x) for kind, x in zip(leaves(spec), tensors, strict=True)]))


def windows(
    elements: Iterable[Element], size: int, shift: int, stride: int, drop_remainder: bool
) -> Iterator[list[Element]]:
    """Every `stride`-th of the elements, `size` of them, then again from `shift` elements further on."""
    found: list[Element] = []
    rest, span = iter(elements), (size - 1) * stride + 1
    while True:
        found += islice(rest, span - len(found))
        if not found or (drop_remainder and len(found) < span):
            return
        yield found[::stride]
        missing = shift - len(found)
        found = found[shift:]
        for _ in islice(rest, max(missing, 0)):
            pass
