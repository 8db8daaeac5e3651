"""Values of tensors as messages and arrays: `tf.contrib.util`.

>>> import pullback.compat.v1 as tf
>>> util = tf.contrib.util
>>> util.constant_value(tf.constant([1, 2])), util.constant_value(tf.placeholder(tf.int32))
(array([1, 2], dtype=int32), None)
>>> util.make_ndarray(util.make_tensor_proto([1.0, 2.0]))
array([1., 2.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ..io.tensors import make_ndarray as make_ndarray
from ..io.tensors import make_tensor_proto as make_tensor_proto


def constant_value(tensor: pb.Tensor, partial: bool = False) -> Any:
    """The value of a tensor that is known without a run, None where it is not."""
    del partial
    return pb.get_static_value(tensor)
