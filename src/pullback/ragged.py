"""Ragged tensors, under TensorFlow's names of `tf.ragged`, and their reductions, slices and joins."""

from .primitives.ragged.conversions import constant as constant
from .primitives.ragged.conversions import placeholder as placeholder
from .primitives.ragged.operations import boolean_mask as boolean_mask
from .primitives.ragged.operations import concat as concat
from .primitives.ragged.operations import gather as gather
from .primitives.ragged.operations import map_flat_values as map_flat_values
from .primitives.ragged.operations import range_ as _range
from .primitives.ragged.operations import stack as stack
from .primitives.ragged.operators import install_ragged_methods as _install_ragged_methods
from .primitives.ragged.partitions import row_splits_to_segment_ids as row_splits_to_segment_ids
from .primitives.ragged.partitions import segment_ids_to_row_splits as segment_ids_to_row_splits
from .primitives.ragged.partitions import stack_dynamic_partitions as stack_dynamic_partitions
from .primitives.ragged.ragged_tensor import RaggedTensor as RaggedTensor
from .primitives.ragged.ragged_tensor import RaggedTensorValue as RaggedTensorValue
from .primitives.ragged.reductions import reduce_all as reduce_all
from .primitives.ragged.reductions import reduce_any as reduce_any
from .primitives.ragged.reductions import reduce_max as reduce_max
from .primitives.ragged.reductions import reduce_mean as reduce_mean
from .primitives.ragged.reductions import reduce_min as reduce_min
from .primitives.ragged.reductions import reduce_prod as reduce_prod
from .primitives.ragged.reductions import reduce_sum as reduce_sum
from .primitives.ragged.slicing import install_slices as _install_slices

range = _range

_install_ragged_methods()
_install_slices()
