"""Cardinality of datasets: how many elements there are, as far as that is known without reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

import pullback as pb

from ....control_flow.host_call import host_call
from ....core.types import tensor_type
from .functions import Pass

if TYPE_CHECKING:
    from .dataset import Dataset

INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2
Count = Callable[[Pass], int]
"""The number of elements in a pass, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`."""


def unknown(p: Pass) -> int:
    """The count of a dataset that must be read to be counted."""
    del p
    return UNKNOWN_CARDINALITY


def changed(count: Count, change: Callable[[int], int]) -> Count:
    """`change` of a finite count; what has no end, or is not known, stays so."""

    def found(p: Pass) -> int:
        n = count(p)
        return change(n) if n >= 0 else n

    return found


def in_batches(drop_remainder: bool) -> Callable[[int, int], int]:
    """That of batches, from the number of elements and the size of a batch."""
    return lambda n, size: n if n < 0 else n // size if drop_remainder else -(-n // size)


def repeated(n: int, times: int) -> int:
    """That of all elements `times` over, negative for without end."""
    if n == 0 or times == 0:
        return 0
    if times < 0:
        return INFINITE_CARDINALITY if n != UNKNOWN_CARDINALITY else UNKNOWN_CARDINALITY
    return n * times if n >= 0 else n


def taken(n: int, most: int) -> int:
    """That of the first `most` elements, of all for a negative number."""
    if most < 0 or n == UNKNOWN_CARDINALITY:
        return n
    return most if n == INFINITE_CARDINALITY else min(n, most)


def skipped(n: int, first: int) -> int:
    """That of what comes behind the first elements, of nothing for a negative number."""
    if first < 0:
        return 0
    return max(0, n - first) if n >= 0 else n


def shortest(counts: Sequence[int]) -> int:
    """That of elements side by side."""
    finite = [n for n in counts if n != INFINITE_CARDINALITY]
    return INFINITE_CARDINALITY if not finite else UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in finite else min(finite)


def joined(counts: Sequence[int]) -> int:
    """That of elements one after the other."""
    if INFINITE_CARDINALITY in counts:
        return INFINITE_CARDINALITY
    return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in counts else sum(counts)


def cardinality(dataset: Dataset) -> pb.Tensor:
    """How many elements there are: a number, `INFINITE_CARDINALITY`, or `UNKNOWN_CARDINALITY`.

    >>> import pullback.compat.v1 as tf
    >>> numbers = tf.data.Dataset.range(7).batch(2)
    >>> count = tf.data.experimental.cardinality
    >>> tf.Session().run([count(numbers), count(numbers.repeat()), count(numbers.unbatch())])
    [np.int64(4), np.int64(-1), np.int64(-2)]
    """

    def call(session: Any, *values: Any) -> Any:
        p = Pass(ref(session), dict(zip(dataset.inputs, values, strict=True)))
        return [np.array(dataset.count(p), np.int64)]

    return host_call(call, dataset.inputs, [tensor_type(pb.int64, [])], "DatasetCardinality").outputs[0]


def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """The same elements, said to be so many.

    Raises:
        FailedPreconditionError: from a run, when there is one more, or when they end before; or that is unknown.
    """

    def apply(dataset: Dataset) -> Dataset:
        from .dataset import Dataset, value_of
        from .structure import as_leaves

        leaf = as_leaves(expected_cardinality)

        def elements(p: Pass) -> Iterator[Any]:
            wanted, n = int(value_of(leaf, p)), 0
            if wanted < INFINITE_CARDINALITY:
                raise _other("Input dataset was expected to contain an unknown number of elements.")
            for x in dataset.elements(p):
                n += 1
                if 0 <= wanted < n:
                    raise _other(f"Input dataset was expected to contain {wanted} elements but contained more.")
                yield x
            if wanted == INFINITE_CARDINALITY:
                raise _other("Input dataset was expected to contain an infinite number of elements.")
            if n < wanted:
                raise _other(f"Input dataset was expected to contain {wanted} elements but contained {n} elements.")

        inputs = [leaf] if isinstance(leaf, pb.Tensor) else []
        return Dataset(dataset.element_spec, [*dataset.inputs, *inputs], elements, lambda p: int(value_of(leaf, p)))

    return apply


def _other(text: str) -> Exception:
    return pb.errors.FailedPreconditionError(text)
