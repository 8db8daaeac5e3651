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

    It is called with a `Writer`, the primitive, and a `Value` for each input, and returns the value of its
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
    from .write import (  # noqa: F401
        bitwise,
        casting,
        complex,
        convolution,
        creation,
        cumulative,
        debugging,
        elementwise,
        identity,
        image,
        losses,
        normalization,
        pooling,
        quantization,
        random,
        segment,
        sets,
        sorting,
        sparse,
        special,
        tensor_array,
        variables,
    )
    from .write.activations import (  # noqa: F401
        activations,
        rectifiers,
        softmax,
    )
    from .write.control_flow import (  # noqa: F401
        branches,
        loops,
    )
    from .write.indexing import (  # noqa: F401
        gather,
        slicing,
    )
    from .write.linalg import (  # noqa: F401
        decompositions,
        products,
    )
    from .write.reduction import (  # noqa: F401
        moments,
        norms,
        reduce,
    )
    from .write.shape import (  # noqa: F401
        blocks,
        pad,
        reshape,
        reverse,
        stacking,
        tile,
    )
    from .write.signal import (  # noqa: F401
        frames,
        transforms,
    )


def takes_pairs(write: WriterFunction | None) -> bool:
    """Whether a writer takes complex numbers."""
    return write in _takes_pairs


def takes_rows(write: WriterFunction | None) -> bool:
    """Whether a writer takes rows as sequences."""
    return write in _takes_rows
