"""Protocol messages of TensorFlow's checkpoints, those that the package tensorboard does not ship.

They are `tensor_bundle.proto`, `tensor_slice.proto` and `saved_tensor_slice.proto` of TensorFlow, as descriptors.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ..core.errors import DataLossError
from ..core.protocol import described

_FILE = "pullback/checkpoint.proto"
_SHIPPED = ("tensor_shape", "tensor", "versions")
_MESSAGES = {
    "BundleHeader": "1 num_shards int32, 2 endianness int32, 3 version .tensorboard.VersionDef",
    "BundleEntry": (
        "1 dtype int32, 2 shape .tensorboard.TensorShapeProto, 3 shard_id int32, 4 offset int64, 5 size int64, "
        "6 crc32c fixed32, 7 slices *.pullback.TensorSlice"
    ),
    "Extent": "1 start int64, 2 length int64",
    "TensorSlice": "1 extent *.pullback.Extent",
    "SavedSliceMeta": (
        "1 name string, 2 shape .tensorboard.TensorShapeProto, 3 type int32, 4 slice *.pullback.TensorSlice"
    ),
    "SavedTensorSliceMeta": "1 tensor *.pullback.SavedSliceMeta, 2 versions .tensorboard.VersionDef",
    "SavedSlice": "1 name string, 2 slice .pullback.TensorSlice, 3 data .tensorboard.TensorProto",
    "SavedTensorSlices": "1 meta .pullback.SavedTensorSliceMeta, 2 data .pullback.SavedSlice",
}
"""The fields of each message, as `described` takes them."""


@cache
def messages() -> Any:
    """The classes of the messages, by name.

    Raises:
        ImportError: the packages that TensorFlow's checkpoints need are not installed.
    """
    try:
        import google_crc32c  # noqa: F401
        from tensorboard.compat.proto import tensor_pb2, tensor_shape_pb2, versions_pb2
    except ModuleNotFoundError as error:
        raise ImportError(
            f"TensorFlow's checkpoints need tensorboard and google-crc32c ({error}): pip install 'pullback[tensorflow]'"
        ) from error
    del tensor_pb2, tensor_shape_pb2, versions_pb2
    return described(_FILE, "proto2", _MESSAGES, [f"tensorboard/compat/proto/{name}.proto" for name in _SHIPPED])


def parsed(path: Path, what: str, kind: Any, data: bytes) -> Any:
    """The message that `data` are; DataLossError where they are none."""
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise DataLossError(f"{path} is damaged: {what} is no {kind.DESCRIPTOR.name}: {error}") from None
