"""Type specifications of composite tensors: what a loop keeps of a sparse or ragged tensor, or of slices.

>>> import pullback.compat.v1 as tf
>>> tf.SparseTensorSpec([None, 3]), tf.RaggedTensorSpec([2, None], tf.int64), tf.IndexedSlicesSpec([4, 2]).indices_dtype
(SparseTensorSpec(TensorShape([None, 3]), float32), RaggedTensorSpec(TensorShape([2, None]), int64), dtype('int64'))
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ...core import nest
from ...core.dtypes import dtype_name
from ...core.shape import as_shape
from ...core.typing import DTypeLike, ShapeLike


class TypeSpec:
    """The dtype and static shape of a value that is made of tensors.

    >>> import pullback.compat.v1 as tf
    >>> spec = tf.SparseTensorSpec([None, 3], tf.float32)
    >>> spec, spec.is_compatible_with(tf.SparseTensor([[0, 1]], [1.0], [2, 3]))
    (SparseTensorSpec(TensorShape([None, 3]), float32), True)
    """

    shape: pb.TensorShape
    dtype: Any
    value_type: type

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = "float32") -> None:
        self.shape, self.dtype = as_shape(shape), pb.as_dtype(dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or one of a spec, may have this dtype and shape."""
        other: Any = spec_or_value
        if not isinstance(spec_or_value, type(self) | self.value_type):
            return False
        return bool(other.dtype == self.dtype and self.shape.is_compatible_with(other.shape))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape!r}, {dtype_name(self.dtype)})"


class SparseTensorSpec(TypeSpec):
    """The dtype and static shape of a sparse tensor."""

    value_type = pb.SparseTensor


class IndexedSlicesSpec(TypeSpec):
    """The dtype and static shape of slices."""

    value_type = pb.IndexedSlices

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = "float32",
        indices_dtype: DTypeLike = pb.int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike | None = None,
    ) -> None:
        del dense_shape_dtype, indices_shape
        super().__init__(shape, dtype)
        self.indices_dtype = pb.as_dtype(indices_dtype)


class RaggedTensorSpec(TypeSpec):
    """The dtype and static shape of a ragged tensor."""

    value_type = pb.RaggedTensor

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = pb.int64,
        flat_values_spec: Any = None,
    ) -> None:
        del flat_values_spec
        super().__init__(shape, dtype)
        self.ragged_rank = (self.shape.rank or 2) - 1 if ragged_rank is None else ragged_rank
        self.row_splits_dtype = pb.as_dtype(row_splits_dtype)


def type_spec_from_value(value: Any) -> TypeSpec | pb.TensorSpec:
    """The spec of a tensor, dense, sparse or ragged, or of slices.

    Raises:
        TypeError: anything else.

    >>> import pullback.compat.v1 as tf
    >>> tf.type_spec_from_value(tf.constant([1.0], name="x"))
    TensorSpec(shape=(1,), dtype=float32, name='x')
    """
    for kind in (SparseTensorSpec, IndexedSlicesSpec, RaggedTensorSpec):
        if isinstance(value, kind.value_type):
            return kind(value.shape, value.dtype)
    try:
        return pb.TensorSpec.from_tensor(value)
    except AttributeError:
        raise TypeError(f"type_spec_from_value: {value!r} is no tensor") from None


def shape_of(invariant: Any) -> Any:
    """What `while_loop` takes for `invariant`: of composite values their static shape, of sparse ones its shape."""
    if isinstance(invariant, SparseTensorSpec):
        return pb.TensorShape([invariant.shape.rank])
    return invariant.shape if isinstance(invariant, TypeSpec) else invariant


def check_specs(invariants: Any, values: Any) -> None:
    """TypeError where one of `values`, which a loop begins with, is not of the spec that `invariants` have for it."""
    for spec, value in zip(nest.flatten(invariants), nest.flatten(values), strict=False):
        if isinstance(spec, TypeSpec) and not spec.is_compatible_with(value):
            raise TypeError(f"while_loop: the invariant {spec} is not compatible with {value}")
