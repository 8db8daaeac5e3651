"""NumPy's global random stream, which importing jax would move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def untouched_stream() -> Iterator[None]:
    """What draws inside leaves NumPy's global stream as it was: programs that seeded it see the numbers they expect."""
    before = np.random.get_state()
    try:
        yield
    finally:
        np.random.set_state(before)
