"""Tensors as protocol messages: `tf.make_tensor_proto`, `tf.make_ndarray`, `tf.io.parse_tensor` and its like.

>>> import pullback.compat.v1 as tf
>>> message = tf.make_tensor_proto([1.0, 2.0])
>>> tf.make_ndarray(message)
array([1., 2.], dtype=float32)
>>> tf.Session().run(tf.parse_tensor(message.SerializeToString(), tf.float32))
array([1., 2.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ....core.dtypes import dtype_name
from ....core.typing import DTypeLike, ShapeLike, TensorLike
from ....graphdef.attributes import array_of
from ....graphdef.body import set_tensor
from ....primitives.creation.constant import as_array
from ..messages import message

Array = np.ndarray[Any, Any]


def make_tensor_proto(
    values: Any,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """The message of an array; one number or text is spread over `shape`.

    Raises:
        ImportError: the package tensorboard is not installed.

    >>> import pullback.compat.v1 as tf
    >>> tf.make_ndarray(tf.make_tensor_proto([1.5, 2.0]))
    array([1.5, 2. ], dtype=float32)
    """
    del verify_shape, allow_broadcast
    array = as_array(values, None if dtype is None else pb.as_dtype(dtype))
    if shape is not None:
        lengths = [int(n) for n in shape] if isinstance(shape, list | tuple) else list(pb.TensorShape(shape).known)
        array = np.broadcast_to(array, lengths) if array.size == 1 else array.reshape(lengths)
    proto = message("TensorProto")()
    set_tensor(proto, array)
    return proto


def make_ndarray(tensor: Any) -> Array:
    """The array of a message.

    Raises:
        InvalidArgumentError: its parts do not fit. ResourceExhaustedError: larger than `pb.config.Limits` allow.
    """
    array = array_of(tensor)
    return array.copy()


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> pb.Tensor:
    """A message, as a text, of each value of a tensor.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.io.parse_tensor(tf.io.serialize_tensor([[1, 2]]), tf.int32)).tolist()
    [[1, 2]]
    """

    def serialize(array: Array) -> Array:
        return as_array(serialized(array), pb.string)

    spec = pb.TensorSpec([], pb.string)
    made: pb.Tensor = pb.numpy_function(serialize, [tensor], spec, stateful=False, name=name or "SerializeTensor")
    return made


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> pb.Tensor:
    """The value that a message says; of a shape that nobody knows before.

    Raises:
        InvalidArgumentError: from a run, for what is no such message, or of another dtype.
    """
    dtype = pb.as_dtype(out_type)

    def parse(array: Array) -> Array:
        return parsed(array.item(), dtype)

    text = pb.convert_to_tensor(serialized)
    made: pb.Tensor = pb.numpy_function(
        parse, [text], pb.TensorSpec(pb.TensorShape.UNKNOWN, dtype), stateful=False, name=name or "ParseTensor"
    )
    return made


def serialized(array: Array) -> bytes:
    """The message of an array."""
    text: bytes = make_tensor_proto(array, array.dtype).SerializeToString()
    return text


def parsed(text: bytes, dtype: Any) -> Array:
    """The array of a message; InvalidArgumentError where it is none, or of another dtype."""
    from google.protobuf.message import DecodeError

    try:
        found = array_of(message("TensorProto").FromString(text))
    except DecodeError:
        raise pb.errors.InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {text[:60]!r}") from None
    if pb.as_dtype(found.dtype) != dtype:
        raise pb.errors.InvalidArgumentError(
            f"Type mismatch between parsed tensor ({found.dtype}) and dtype ({dtype_name(dtype)})"
        )
    return found
