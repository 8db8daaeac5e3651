"""Select by rows: TensorFlow 1's `where`, in which a vector of conditions chooses among rows."""

from __future__ import annotations

from ...core.dtypes import int32
from ...core.operation import Tensor
from ..creation.fill import ones
from ..elementwise.maximum import maximum
from ..shape.reshape import reshape
from ..shape.size import rank, shape
from ..shape.stacking import concat
from .where import Select


def where_rows(condition: Tensor, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`x` where `condition`, `y` elsewhere; a vector `condition` chooses rows where `x` has more axes."""
    like = y if x.shape.rank is None else x
    return Select()(_before_axes_of(like, condition), x, y, name=name)


def _before_axes_of(x: Tensor, condition: Tensor) -> Tensor:
    """`condition` with axes of length one behind it, as many as `x` has more."""
    depth, wanted = condition.shape.rank, x.shape.rank
    if depth is None or (wanted is None and depth > 0):
        behind = ones([maximum(rank(x) - rank(condition), 0)], int32)
        return reshape(condition, concat([shape(condition), behind], 0))
    return reshape(condition, [-1] + [1] * (wanted - 1)) if depth == 1 and wanted and wanted > 1 else condition
