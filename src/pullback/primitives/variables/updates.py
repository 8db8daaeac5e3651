"""Scatter updates of variables: some rows, or some slices, are changed."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ...core.dtypes import INTEGER
from ...core.errors import InvalidArgumentError
from ...core.graph import Operation, Tensor
from ...core.primitive import no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ..base.scattering import check_not_empty, row_numbers, unlike_lengths
from ..base.state import AbstractStateful, AbstractUpdates, ScatterKind
from ..creation.constant import convert_to_tensor
from .operations import check_handle, variable_type


def scatter_rows(kind: ScatterKind, handle: Tensor, indices: Any, updates: Any, name: str | None = None) -> Operation:
    """The operation that changes the rows `indices` [...] of a variable by `updates` [..., row...].

    Of equal indices all take effect; for "update", the last. An index out of range raises on the NumPy engine and is
    left out on XLA.

    Raises:
        TypeError: the indices are no integers, or the updates have another dtype. ValueError: the shapes do not fit.
    """
    return _scattered(ROW_UPDATES[kind], handle, indices, updates, name)


class AbstractRowUpdate(AbstractStateful):
    """A change of some rows of a variable."""

    writes_state = True
    kind: ClassVar[ScatterKind]

    dtype: Any
    shape: TensorShape

    def infer(self, handle: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        function = f"scatter_{self.kind}"
        _check_types(function, self, handle, indices, updates)
        if self.shape.rank is None or updates.shape.rank == 0:
            return ()
        _check_shapes(function, self, indices, updates, indices.shape, 1)
        return ()

    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        del xp
        indices, updates = arrays
        return ex.scatter(self.kind, state, indices, updates)

    gradient = no_gradient


class ResourceScatterUpdate(AbstractRowUpdate):
    kind = "update"


class ResourceScatterAdd(AbstractRowUpdate):
    kind = "add"


class ResourceScatterSub(AbstractRowUpdate):
    kind = "sub"


class ResourceScatterMul(AbstractRowUpdate):
    kind = "mul"


class ResourceScatterDiv(AbstractRowUpdate):
    kind = "div"


class ResourceScatterMin(AbstractRowUpdate):
    kind = "min"


class ResourceScatterMax(AbstractRowUpdate):
    kind = "max"


def scatter_slices(kind: ScatterKind, handle: Tensor, indices: Any, updates: Any, name: str | None = None) -> Operation:
    """The operation that changes the slices of a variable at `indices` [..., depth] by `updates` [..., slice...].

    Raises:
        TypeError: the indices are no integers, or the updates have another dtype. ValueError: the shapes do not fit.
    """
    return _scattered(SLICE_UPDATES[kind], handle, indices, updates, name)


class AbstractSliceUpdate(AbstractStateful):
    """A change of the slices of a variable that the last axis of the indices points at."""

    writes_state = True
    kind: ClassVar[ScatterKind]

    dtype: Any
    shape: TensorShape

    def infer(self, handle: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        function = f"scatter_nd_{self.kind}"
        _check_types(function, self, handle, indices, updates)
        depth = indices.shape.size(-1) if indices.shape.rank else None
        if self.shape.rank is None or depth is None:
            return ()
        _check_shapes(function, self, indices, updates, indices.shape[:-1], depth)
        check_not_empty(function, indices, self.shape[:depth])
        return ()

    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        """The leading axes are made one, whose rows are then changed."""
        indices, updates = arrays
        depth = indices.shape[-1]
        leading, row = state.shape[:depth], state.shape[depth:]
        rows = row_numbers(xp, indices, state.shape, f"scatter_nd_{self.kind}")
        changed = ex.scatter(self.kind, state.reshape((math.prod(leading), *row)), rows, updates)
        return changed.reshape(state.shape)

    gradient = no_gradient


class ResourceScatterNdUpdate(AbstractSliceUpdate):
    kind = "update"


class ResourceScatterNdAdd(AbstractSliceUpdate):
    kind = "add"


class ResourceScatterNdSub(AbstractSliceUpdate):
    kind = "sub"


ROW_UPDATES: dict[ScatterKind, type[Any]] = {
    "update": ResourceScatterUpdate,
    "add": ResourceScatterAdd,
    "sub": ResourceScatterSub,
    "mul": ResourceScatterMul,
    "div": ResourceScatterDiv,
    "min": ResourceScatterMin,
    "max": ResourceScatterMax,
}
SLICE_UPDATES: dict[ScatterKind, type[Any]] = {
    "update": ResourceScatterNdUpdate,
    "add": ResourceScatterNdAdd,
    "sub": ResourceScatterNdSub,
}


def _scattered(update: type[Any], handle: Tensor, indices: Any, updates: Any, name: str | None) -> Operation:
    type_ = variable_type(handle)
    places = convert_to_tensor(indices, graph=handle.graph)
    values = convert_to_tensor(updates, type_.dtype, graph=handle.graph)
    made: Operation = update(type_.dtype, type_.shape).operation(handle, places, values, name=name)
    return made


def _check_shapes(
    function: str,
    change: AbstractRowUpdate | AbstractSliceUpdate,
    indices: TensorType,
    updates: TensorType,
    lead: TensorShape,
    depth: int,
) -> None:
    """ValueError where the updates are of another shape; InvalidArgumentError where the variable has too few axes."""
    variable, rank = TensorType(change.dtype, change.shape), change.shape.rank
    if rank is not None and depth > rank:
        scalar = "" if rank else "Output must be at least 1-D: "
        raise InvalidArgumentError(
            f"{function}: {scalar}the indices {indices} point at {depth} axes of the variable {variable}, which has "
            f"{rank}"
        )
    expected = lead.concatenate(change.shape[depth:])
    unlike = "" if isinstance(change, AbstractRowUpdate) else unlike_lengths(lead, updates.shape, change.shape, depth)
    if not expected.is_compatible_with(updates.shape):
        raise ValueError(
            f"{function}: the updates {updates} must have the shape {expected} for the indices {indices} "
            f"of the variable {variable}{unlike}"
        )


def _check_types(function: str, primitive: Any, handle: TensorType, indices: TensorType, updates: TensorType) -> None:
    check_handle(function, handle)
    if indices.dtype not in INTEGER:
        raise TypeError(f"{function}: indices must be integers, not {indices}")
    if updates.dtype != primitive.dtype:
        variable = TensorType(primitive.dtype, primitive.shape)
        raise TypeError(
            f"{function}: the updates are {updates}, but the variable is {variable}; convert them with pb.cast"
        )
