"""Elements of datasets: nested tuples and dictionaries, whose leaves are arrays or tensors; a list is an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core import nest
from ....core.graph import AbstractTensorLike
from ....core.seen import seen
from ....core.shape import as_shape
from ....core.types import type_of_array
from ....primitives.creation.constant import as_array
from .sparse import Array as Array
from .sparse import SparseParts, flat, kinds, rank_of, types_of_parts, widened, with_sparse

Leaf = Array | pb.Tensor


def as_leaves(structure: Any) -> Any:
    """The structure with its leaves as arrays and tensors, and sparse tensors as their parts."""
    if isinstance(structure, pb.SparseTensor):
        return SparseParts(*structure.tensors)
    if isinstance(structure, pb.SparseTensorValue):
        return SparseParts(
            np.asarray(structure[0], np.int64), as_array(structure[1]), np.asarray(structure[2], np.int64)
        )
    if isinstance(structure, Mapping | tuple):
        children = [as_leaves(child) for child in nest.children(structure)]
        return nest.pack_sequence_as(flat(structure), children) if children else structure
    if isinstance(structure, pb.Tensor | AbstractTensorLike):
        return pb.convert_to_tensor(structure)
    if isinstance(structure, list) and any(
        isinstance(x, pb.Tensor | AbstractTensorLike) for x in nest.flatten(structure)
    ):
        return pb.convert_to_tensor(structure)
    return as_array(structure)


def as_tensors(structure: Any) -> Any:
    """What a function of a program returned, with tensors for leaves."""
    found = as_leaves(structure)
    return packed(found, [pb.convert_to_tensor(leaf) for leaf in leaves(found)])


def type_of(leaf: Leaf) -> pb.TensorType:
    """The type of an array or a tensor, without names of lengths."""
    return leaf.type.static if isinstance(leaf, pb.Tensor) else type_of_array(leaf)


def types_of(structure: Any) -> Any:
    """The structure with the types of its leaves; sparse tensors may have any number of values."""
    return with_sparse(packed(structure, [type_of(leaf) for leaf in leaves(structure)]), widened)


def leaves(structure: Any) -> list[Any]:
    """The leaves, in order. A type is a leaf, though it is a tuple."""
    if isinstance(structure, pb.TensorType) or not isinstance(structure, Mapping | tuple):
        return [structure]
    return [leaf for child in nest.children(structure) for leaf in leaves(child)]


def packed(structure: Any, values: Sequence[Any]) -> Any:
    """`values` in the places of the leaves."""
    places = iter(values)

    def filled(part: Any) -> Any:
        if isinstance(part, pb.TensorType) or not isinstance(part, Mapping | tuple):
            return next(places)
        return nest.pack_sequence_as(flat(part), [filled(child) for child in nest.children(part)])

    return filled(structure)


def types_in(spec: Any) -> Any:
    """The dtypes of an element of those types."""
    whole = _whole(spec)
    return packed(whole, [seen.dtype(kind.dtype) for kind in leaves(whole)])


def shapes_in(spec: Any) -> Any:
    """The static shapes of an element of those types."""
    whole = _whole(spec)
    return packed(whole, [kind.shape for kind in leaves(whole)])


def classes_in(spec: Any) -> Any:
    """The classes of what `get_next` gives for those types."""
    classes = [pb.SparseTensor if isinstance(kind, SparseParts) else pb.Tensor for kind in kinds(spec)]
    return packed(_whole(spec), classes)


def _whole(spec: Any) -> Any:
    """The types with one for each sparse tensor: that of the dense one."""

    def dense(parts: SparseParts) -> pb.TensorType:
        rank = rank_of(parts)
        shape = pb.TensorShape.UNKNOWN if rank is None else pb.TensorShape([None] * rank)
        return pb.TensorType(parts.values.dtype, shape)

    return with_sparse(spec, dense)


def declared(dtypes: Any, shapes: Any, classes: Any = None) -> Any:
    """The types that are said by structures of dtypes, of shapes, and of classes, of which None says nothing."""
    flat_dtypes = leaves(_tupled(dtypes))
    known = [None] * len(flat_dtypes) if shapes is None else _shapes(dtypes, shapes)
    wanted = [None] * len(flat_dtypes) if classes is None else leaves(_tupled(classes))

    def type_said(dtype: Any, shape: Any, of: Any) -> Any:
        if of is pb.SparseTensor:
            return types_of_parts(dtype, as_shape(shape).rank)
        return pb.TensorType(pb.as_dtype(dtype), as_shape(shape))

    types = [type_said(*said) for said in zip(flat_dtypes, known, wanted, strict=True)]
    return packed(_tupled(dtypes), types)


def _tupled(structure: Any) -> Any:
    """Lists of dtypes as tuples."""
    return tuple(structure) if isinstance(structure, list) else structure


def _shapes(dtypes: Any, shapes: Any) -> list[Any]:
    """One shape for each dtype: a shape may be a list or tuple itself."""
    if isinstance(dtypes, Mapping):
        return [s for key in sorted(dtypes) for s in _shapes(dtypes[key], shapes[key])]
    if isinstance(dtypes, list | tuple):
        return [s for d, part in zip(dtypes, shapes, strict=True) for s in _shapes(d, part)]
    return [shapes]


def rows_of(kind: pb.TensorType) -> pb.TensorType:
    """The type of a row."""
    return pb.TensorType(kind.dtype, kind.shape[1:] if kind.shape.rank else pb.TensorShape.UNKNOWN)


def stacked(kind: pb.TensorType, count: int | None) -> pb.TensorType:
    """The type of `count` arrays on top of each other."""
    return pb.TensorType(kind.dtype, pb.TensorShape([count]).concatenate(kind.shape))


def rows_of_all(spec: Any) -> Any:
    """The types of rows of elements."""
    whole = packed(spec, [rows_of(kind) for kind in leaves(spec)])
    before = iter([kind for kind in kinds(spec) if isinstance(kind, SparseParts)])
    return with_sparse(whole, lambda _: widened(next(before), more=-1))
