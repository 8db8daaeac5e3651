"""Composite tensors in fetches and feeds: the values of sparse and of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Tensor
from ..primitives.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue, ragged_value
from ..primitives.sparse.sparse_tensor import SparseTensor, SparseTensorValue
from . import messages
from .fetches import Conversion, Rebuild


def _sparse_parts(fetched: SparseTensor) -> tuple[Sequence[Tensor], Rebuild]:
    return fetched.tensors, SparseTensorValue._make


def _sparse_pairs(key: SparseTensor, value: Any) -> Sequence[tuple[Tensor, Any]]:
    if not isinstance(value, tuple) or len(value) not in (2, 3):
        raise messages.feed_sparse(key, value)
    if len(value) == 2:
        return list(zip(key.tensors[:2], value, strict=True))
    lengths = np.asarray(value[2]).tolist()
    if not key.sure_shape.is_compatible_with(lengths):
        raise messages.feed_sparse_lengths(key, lengths)
    return list(zip(key.tensors, value, strict=True))


def _ragged_parts(fetched: RaggedTensor) -> tuple[Sequence[Tensor], Rebuild]:
    return fetched.tensors, ragged_value


def _ragged_pairs(key: RaggedTensor, value: Any) -> Sequence[tuple[Tensor, Any]]:
    if not isinstance(value, RaggedTensorValue) or len(value.nested_row_splits) != key.ragged_rank:
        raise messages.feed_ragged(key, value)
    return list(zip(key.tensors, [value.flat_values, *value.nested_row_splits], strict=True))


SPARSE_AND_RAGGED = (
    Conversion(SparseTensor, _sparse_parts, _sparse_pairs),
    Conversion(RaggedTensor, _ragged_parts, _ragged_pairs),
)
"""How these are fetched and fed."""
