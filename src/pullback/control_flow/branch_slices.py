"""Unification of branch results: where one branch returns IndexedSlices, all do, in one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..core import nest
from ..core.dtypes import DType, int64
from ..core.function import Function, inline, like_parameter, trace
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..core.slices import IndexedSlices
from ..primitives.casting.cast import cast
from ..primitives.creation.ranges import range_
from ..primitives.shape.size import shape
from .tracing import put_together, take_apart


class _Form(NamedTuple):
    """What the slices of all branches at one place have in common."""

    indices: DType
    has_dense_shape: bool
    static_shape: TensorShape

    def of(self, value: Tensor | IndexedSlices) -> IndexedSlices:
        """`value` in this form; a tensor becomes slices of all its rows."""
        if isinstance(value, Tensor):
            lengths = shape(value, self.indices)
            value = IndexedSlices(value, range_(lengths[0]), lengths)
        dense = value.shape_tensor if self.has_dense_shape else None
        indices = cast(value.indices, self.indices)
        return IndexedSlices(
            value.values, indices, None if dense is None else cast(dense, self.indices), self.static_shape
        )


def with_slices_of_one_form(
    functions: Sequence[Function], templates: Sequence[Any]
) -> tuple[list[Function], Sequence[Any]]:
    """Branches and templates of one structure as such whose slices are of one form.

    A tensor is slices of all its rows where another branch has slices; indices of int32 and int64 become int64, and a
    dense shape is known where it is in all branches.
    """
    pairs = list(zip(functions, templates, strict=True))
    columns = zip(*[nest.flatten(put_together(t, f.results)) for f, t in pairs], strict=True)
    forms = [_form(column) for column in columns]
    if not any(forms):
        return list(functions), templates
    return [list(part) for part in zip(*[_in_form(f, t, forms) for f, t in pairs], strict=True)]  # type: ignore[return-value]


def _form(values: Sequence[Any]) -> _Form | None:
    """The form that `values` must take; None where they agree, or are not all tensors and slices."""
    slices = [x for x in values if isinstance(x, IndexedSlices)]
    if not slices or not all(isinstance(x, Tensor | IndexedSlices) for x in values):
        return None
    found = {(x.indices.dtype, x.shape_tensor is None, x.static_shape) for x in slices}
    if len(found) == 1 and len(slices) == len(values):
        return None
    static = values[0].shape
    for x in values[1:]:
        static = static.most_specific_compatible_shape(x.shape)
    dtypes = {x.indices.dtype for x in slices}
    return _Form(dtypes.pop() if len(dtypes) == 1 else int64, all(x.shape_tensor is not None for x in slices), static)


def _in_form(function: Function, template: Any, forms: Sequence[_Form | None]) -> tuple[Function, Any]:
    made: list[Any] = []

    def build(*given: Tensor) -> list[Tensor]:
        leaves = nest.flatten(put_together(template, inline(function, given)))
        leaves = [x if form is None else form.of(x) for x, form in zip(leaves, forms, strict=True)]
        packed, tensors = take_apart(nest.pack_sequence_as(template, leaves))
        made.append(packed)
        return tensors

    names = [x.op.name for x in function.parameters]
    types = [like_parameter(x) for x in function.parameters]
    traced = trace(build, types, function.name, names, inherit=False).function
    return replace(traced, on_demand=function.on_demand), made[0]
