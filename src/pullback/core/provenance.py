"""Provenance of nodes in files: what hints, in ONNX and GraphDefs, of the operations they stand for have in common."""

from __future__ import annotations

from .errors import PullbackError
from .primitive import Primitive
from .schema import RAISED

LARGEST = 64
"""Numbers beyond it are no attributes of a hint, and arrays of more elements no part of one."""
LONGEST = 4096
"""Hints of more characters are not read."""
FAILURES = (*RAISED, PullbackError, RecursionError)
"""What a hint that makes no sense may lead to."""


def is_told(primitive: Primitive) -> bool:
    """Whether a file says of operations of this primitive what they are."""
    return not primitive.stateful and not primitive.functions


def is_small(primitive: Primitive) -> bool:
    """Whether no attribute is a number so large that it may ask for much memory or time."""
    return all(abs(n) <= LARGEST for n in primitive.attributes.values() if isinstance(n, int | float))
