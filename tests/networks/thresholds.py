"""Thresholds of XLA's lowerings, lowered: what is chosen for large arrays is chosen for small ones, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pullback.engines import concrete
from pullback.engines.xla import array_namespace, column_major, compiler_options, fusion, inner_products
from pullback.engines.xla.control_flow import calls
from pullback.engines.xla.convolution import by_filter
from pullback.engines.xla.linalg import products
from pullback.engines.xla.loops import map as loops_map
from pullback.engines.xla.loops import rooms
from pullback.primitives.convolution import formulations
from pullback.primitives.linalg import formulations as contractions

LOW: dict[Any, dict[str, Any]] = {
    array_namespace: {
        "_LARGE": 2,
        "_FEW_ROWS": range(2, 129),
        "_MANY_COLUMNS": 2,
        "_MANY_COLUMNS_OF_STACKS": 2,
        "compiles_quickly": lambda: False,
    },
    column_major: {"_MANY": 2, "_SMALL": 1, "_MARGIN": 0.0},
    compiler_options: {"_FEW": 0},
    fusion: {"_LARGE": 2},
    inner_products: {"_FEW": 0},
    formulations: {"_CACHE": 2000, "_COPIED": 16, "_IN_CACHE": 64, "_IMAGES": 2, "_SEEN": 16},
    by_filter: {"_LITTLE": 8},
    contractions: {"LONG": 2, "_LARGE": 4, "_TINY": 2, "_MANY": 4, "_FEWEST_COLUMNS": 1},
    products: {"_FEWEST": 1},
    calls: {"_MANY": 1},
    loops_map: {"_PLACE": 1, "_FEWEST": 2},
    rooms: {"_LEAST": 1},
    concrete: {"SMALL": 0, "LIFTED_BYTES": 0},
}
"""For modules the constants from which on a lowering is worth it."""


@contextmanager
def low_thresholds() -> Iterator[None]:
    """Choose lowerings for arrays of a few elements, as for large ones."""
    with pytest.MonkeyPatch.context() as patch:
        for module, constants in LOW.items():
            for name, value in constants.items():
                patch.setattr(module, name, value)
        yield
