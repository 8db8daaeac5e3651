"""GraphDef import of sparse tensors: nodes have their indices, values and shapes apart."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.sparse import operations
from ...primitives.sparse.sparse_tensor import SparseTensor, reorder, to_dense
from ..nodes import Node, reader


@reader("SparseTensorDenseMatMul")
def matmul(node: Node, indices: Tensor, values: Tensor, shape: Tensor, b: Tensor) -> Any:
    adjoint = node.attribute("adjoint_a", False), node.attribute("adjoint_b", False)
    return operations.sparse_dense_matmul(SparseTensor(indices, values, shape), b, *adjoint)


@reader("SparseToDense")
def dense(node: Node, indices: Tensor, shape: Tensor, values: Tensor, default: Tensor) -> Any:
    if indices.shape.rank != 2:
        node.refuse("its indices must be a matrix")
    return to_dense(SparseTensor(indices, values, shape), default)


@reader("SparseReorder", outputs=("output_indices", "output_values"))
def reordered(node: Node, indices: Tensor, values: Tensor, shape: Tensor) -> Any:
    found = reorder(SparseTensor(indices, values, shape))
    return found.indices, found.values


@reader("SparseReduceSum")
def reduce_sum(node: Node, indices: Tensor, values: Tensor, shape: Tensor, axes: Tensor) -> Any:
    along, keepdims = node.integers(axes, "the axes"), node.attribute("keep_dims", False)
    return operations.reduce_sum(SparseTensor(indices, values, shape), along, keepdims)


@reader("SparseDenseCwiseMul", "SparseDenseCwiseDiv")
def by_dense(node: Node, indices: Tensor, values: Tensor, shape: Tensor, other: Tensor) -> Any:
    found = operations.multiply if node.op_type == "SparseDenseCwiseMul" else operations.divide
    return found(SparseTensor(indices, values, shape), other).values


@reader("SparseSlice", outputs=("output_indices", "output_values", "output_shape"))
def part(node: Node, indices: Tensor, values: Tensor, shape: Tensor, start: Tensor, size: Tensor) -> Any:
    del node
    found = operations.slice_(SparseTensor(indices, values, shape), start, size)
    return found.indices, found.values, found.dense_shape


@reader(
    "SparseFillEmptyRows",
    outputs=("output_indices", "output_values", "empty_row_indicator", "reverse_index_map"),
)
def with_full_rows(node: Node, indices: Tensor, values: Tensor, shape: Tensor, default: Tensor) -> Any:
    if node.wants(3):
        node.refuse("where its values went is not read")
    found, empty = operations.fill_empty_rows(SparseTensor(indices, values, shape), default)
    return found.indices, found.values, empty


@reader("SparseSoftmax")
def softmax(node: Node, indices: Tensor, values: Tensor, shape: Tensor) -> Any:
    return operations.softmax(SparseTensor(indices, values, shape)).values


@reader("SparseTensorDenseAdd")
def add_dense(node: Node, indices: Tensor, values: Tensor, shape: Tensor, other: Tensor) -> Any:
    x: Any = SparseTensor(indices, values, shape)
    return operations.add(x, other)
