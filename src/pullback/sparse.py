"""Sparse tensors, under TensorFlow's names of `tf.sparse`."""

from .primitives.segment.sparse_segments import sparse_segment_mean as _segment_mean
from .primitives.segment.sparse_segments import sparse_segment_sqrt_n as _segment_sqrt_n
from .primitives.segment.sparse_segments import sparse_segment_sum as _segment_sum
from .primitives.sparse.arrangement import concat as concat
from .primitives.sparse.arrangement import expand_dims as expand_dims
from .primitives.sparse.arrangement import eye as eye
from .primitives.sparse.arrangement import map_values as map_values
from .primitives.sparse.arrangement import mask as mask
from .primitives.sparse.arrangement import maximum as maximum
from .primitives.sparse.arrangement import minimum as minimum
from .primitives.sparse.arrangement import reduce_max_sparse as reduce_max_sparse
from .primitives.sparse.arrangement import reduce_sum_sparse as reduce_sum_sparse
from .primitives.sparse.arrangement import reset_shape as reset_shape
from .primitives.sparse.arrangement import split as split
from .primitives.sparse.lookup import reshape_sparse as _reshape
from .primitives.sparse.operations import add as add
from .primitives.sparse.operations import divide as divide
from .primitives.sparse.operations import fill_empty_rows as fill_empty_rows
from .primitives.sparse.operations import install_sparse_operators as _install_sparse_operators
from .primitives.sparse.operations import multiply as multiply
from .primitives.sparse.operations import reduce_max as reduce_max
from .primitives.sparse.operations import reduce_sum as reduce_sum
from .primitives.sparse.operations import slice_ as _slice
from .primitives.sparse.operations import softmax as softmax
from .primitives.sparse.operations import sparse_dense_matmul as sparse_dense_matmul
from .primitives.sparse.operations import transpose as transpose
from .primitives.sparse.sparse_tensor import SparseTensor as SparseTensor
from .primitives.sparse.sparse_tensor import SparseTensorValue as SparseTensorValue
from .primitives.sparse.sparse_tensor import from_dense as from_dense
from .primitives.sparse.sparse_tensor import placeholder as placeholder
from .primitives.sparse.sparse_tensor import reorder as reorder
from .primitives.sparse.sparse_tensor import retain as retain
from .primitives.sparse.sparse_tensor import to_dense as to_dense

reshape = _reshape
segment_mean = _segment_mean
segment_sqrt_n = _segment_sqrt_n
segment_sum = _segment_sum
slice = _slice

_install_sparse_operators()
