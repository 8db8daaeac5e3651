"""GraphDef import of ragged tensors: what gathers their rows, makes them dense or sparse, or makes them of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.indexing.slicing import getitem
from ...primitives.ragged.conversions import to_sparse, to_tensor
from ...primitives.ragged.operations import gather, range_
from ...primitives.ragged.operators import install_ragged_methods
from ...primitives.ragged.ragged_tensor import RaggedTensor
from ...primitives.shape.size import size
from ..nodes import Node, reader

install_ragged_methods()


def _parts(node: Node, x: RaggedTensor, rank: int) -> tuple[Tensor, ...]:
    """The splits and the values of `x`, which has so many axes of splits."""
    if not isinstance(x, RaggedTensor) or x.ragged_rank != rank:
        node.reject(f"its result has not {rank} axes with splits")
    dtype = node.attribute("Tsplits", "int64")
    return (*[cast(splits, dtype) for splits in x.nested_row_splits], x.flat_values)


def _ragged(node: Node, values: Tensor, splits: Sequence[Tensor]) -> Any:
    if not splits:
        node.reject("it has no splits")
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


@reader("RaggedGather", outputs=("output_nested_splits*OUTPUT_RAGGED_RANK", "output_dense_values"))
def gathered(node: Node, *xs: Tensor) -> Any:
    *splits, values, indices = xs
    return _parts(node, gather(_ragged(node, values, splits), indices), node.count("OUTPUT_RAGGED_RANK"))


@reader("RaggedRange", outputs=("rt_nested_splits", "rt_dense_values"))
def ranges(node: Node, starts: Tensor, limits: Tensor, deltas: Tensor) -> Any:
    return _parts(node, range_(starts, limits, deltas), 1)


@reader("RaggedTensorToSparse", outputs=("sparse_indices", "sparse_values", "sparse_dense_shape"))
def sparse(node: Node, *xs: Tensor) -> Any:
    *splits, values = xs
    found = to_sparse(_ragged(node, values, splits))
    return found.indices, found.values, found.dense_shape


@reader("RaggedTensorToTensor")
def dense(node: Node, shape: Tensor, values: Tensor, default: Tensor, *partitions: Tensor) -> Any:
    """The dense tensor, of the rows that partitions say, the outermost first."""
    kinds = [kind.decode(errors="replace") for kind in node.attribute("row_partition_types", ())]
    if len(kinds) != len(partitions) or not kinds:
        node.reject(f"it has {len(partitions)} partitions, of {len(kinds)} types")
    wanted = node.static(shape)
    if wanted is None or default.shape.rank:
        node.refuse("the shape must be known, and the default value a scalar")
    count: Any = None
    rows: list[Any] = []
    for kind, partition in zip(kinds, partitions, strict=True):
        if kind not in ("FIRST_DIM_SIZE", "ROW_SPLITS", "VALUE_ROWIDS"):
            node.refuse(f"a partition of type '{kind}' is not read")
        if kind != "FIRST_DIM_SIZE":
            rows.append((kind, partition, count))
        count = {"FIRST_DIM_SIZE": lambda x: x, "ROW_SPLITS": _last, "VALUE_ROWIDS": size}[kind](partition)
    found: Any = values
    for kind, partition, n in reversed(rows):
        if kind == "ROW_SPLITS":
            found = RaggedTensor.from_row_splits(found, partition, validate=False)
        else:
            found = RaggedTensor.from_value_rowids(found, partition, n, validate=False)
    lengths = [None if n < 0 else int(n) for n in wanted.tolist()] if wanted.ndim else None
    return to_tensor(found, default, node.exactly, lengths)


def _last(splits: Tensor) -> Tensor:
    return getitem(splits, -1)
