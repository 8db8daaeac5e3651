"""ONNX writer registry: `@writer` says which function writes a primitive."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..core.primitive import Primitive

WriterFunction = Callable[..., Any]
_writers: dict[type[Primitive], WriterFunction] = {}
_takes_pairs: set[WriterFunction] = set()
_takes_rows: set[WriterFunction] = set()


def writer(
    *classes: type[Primitive],
    pairs: bool = False,
    rows: bool = False,
) -> Callable[[WriterFunction], WriterFunction]:
    """A decorator: the function writes the operations of these primitives.

    With `pairs` it takes complex numbers too, as pairs of values; where it does not, their kernels are traced. With
    `rows` it takes what loops have written as sequences; where it does not, they are stacked.

    It is called with a `Writer`, the operation, and a `Value` for each of its inputs, and returns the value of its
    output, or a sequence of them, with None for those that nobody reads.
    """

    def register(function: WriterFunction) -> WriterFunction:
        for cls in classes:
            _writers[cls] = function
        if pairs:
            _takes_pairs.add(function)
        if rows:
            _takes_rows.add(function)
        return function

    return register


def writer_of(primitive: Primitive) -> WriterFunction | None:
    """The function that writes operations of this primitive, or None."""
    _load_writers()
    return _writers.get(type(primitive))


@cache
def _load_writers() -> None:
    """Import the modules that register writers."""
    from .writers import (  # noqa: F401
        activation,
        boxes,
        complex,
        control,
        convolution,
        creation,
        ctc,
        cumulative,
        decompositions,
        elementwise,
        fourier,
        identity,
        indexing,
        linear,
        loops,
        masking,
        normalisation,
        pooling,
        random,
        reduction,
        repeating,
        segment,
        sets,
        shaping,
        slicing,
        softmax,
        spatial,
        special,
        stacking,
        state,
        traced,
        unique_slices,
    )


def takes_pairs(write: WriterFunction | None) -> bool:
    """Whether a writer takes complex numbers."""
    return write in _takes_pairs


def takes_rows(write: WriterFunction | None) -> bool:
    """Whether a writer takes rows as sequences."""
    return write in _takes_rows
