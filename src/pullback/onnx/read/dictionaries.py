"""ONNX import of dictionaries of ai.onnx.ml: what ZipMap makes of the columns of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.operation import Tensor
from ...primitives.shape.squeeze import expand_dims
from ..reading import Node, reader
from .lengths import rank_of
from .scores import ML


@dataclass(frozen=True, eq=False)
class Dictionaries:
    """A dictionary for each row of a matrix, with the same keys."""

    values: Tensor
    keys: Sequence[Any]

    is_sequence = True

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The matrix."""
        return (self.values,)

    def arrays(self, values: Any) -> list[dict[Any, Any]]:
        """The dictionaries of a run, of what it gave for `tensors`."""
        return [dict(zip(self.keys, row, strict=True)) for row in np.asarray(values)]


@reader("ZipMap", domain=ML)
def zip_map(node: Node, x: Tensor) -> Dictionaries:
    keys = node.attribute("classlabels_strings", ()) or node.attribute("classlabels_int64s", ())
    rows = expand_dims(x, 0) if rank_of(node, x) == 1 else x
    if rows.shape.size(1) not in (None, len(keys)):
        node.reject(f"it has {len(keys)} labels for the columns of {x}")
    return Dictionaries(rows, keys)
