"""Sparse tensors, under TensorFlow's names of `tf.sparse`."""

from .primitives.segment.sparse_segments import sparse_segment_mean as segment_mean
from .primitives.segment.sparse_segments import sparse_segment_sqrt_n as segment_sqrt_n
from .primitives.segment.sparse_segments import sparse_segment_sum as segment_sum
from .primitives.sparse.operations import (
    add,
    divide,
    fill_empty_rows,
    install_sparse_operators,
    multiply,
    reduce_max,
    reduce_sum,
    softmax,
    sparse_dense_matmul,
    transpose,
)
from .primitives.sparse.operations import slice_ as slice
from .primitives.sparse.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    from_dense,
    placeholder,
    reorder,
    retain,
    to_dense,
)

__all__ = [
    "SparseTensor",
    "SparseTensorValue",
    "add",
    "divide",
    "fill_empty_rows",
    "from_dense",
    "multiply",
    "placeholder",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "to_dense",
    "transpose",
]

install_sparse_operators()
