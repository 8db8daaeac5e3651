"""Decoders of examples: `slim.tfexample_decoder`, which make of the features of an example the items of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core.typing import DTypeLike, ShapeLike
from ....layers.image.files import image_of
from ....records.features import FixedLenFeature
from ....records.parsing import parse_single_example, parse_single_sequence_example
from ..lookup import LookupInterface
from .data_decoder import DataDecoder

Keys = str | Sequence[str]


class ItemHandler:
    """What makes an item of the features `keys`: a subclass says `tensors_to_item`."""

    def __init__(self, keys: Keys) -> None:
        self._keys = [keys] if isinstance(keys, str) else list(keys)

    @property
    def keys(self) -> list[str]:
        """The names of the features."""
        return self._keys

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        raise NotImplementedError(f"{type(self).__name__} defines no tensors_to_item(); a handler of items needs it")


class ItemHandlerCallback(ItemHandler):
    """What a function makes of the features."""

    def __init__(self, keys: Keys, func: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        return self._func(keys_to_tensors)


class Tensor(ItemHandler):
    """One feature as a dense tensor, of the shape that is given, or that other features say."""

    def __init__(
        self,
        tensor_key: str,
        shape_keys: Keys | None = None,
        shape: ShapeLike | None = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._tensor_key = tensor_key
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or ())
        self._shape, self._default = shape, default_value
        super().__init__([tensor_key, *self._shape_keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        shape: Any = self._shape
        if self._shape_keys:
            shape = pb.reshape(pb.stack([_dense(keys_to_tensors[key], 0) for key in self._shape_keys]), [-1])
        tensor = _dense(keys_to_tensors[self._tensor_key], self._default)
        return tensor if shape is None else pb.reshape(tensor, shape)


class LookupTensor(Tensor):
    """The values of a table for one feature."""

    def __init__(
        self,
        tensor_key: str,
        table: LookupInterface,
        shape_keys: Keys | None = None,
        shape: ShapeLike | None = None,
        default_value: Any = "",
    ) -> None:
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BoundingBox(ItemHandler):
    """Boxes [n, 4] of four features: their upper, left, lower and right sides."""

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        names = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(names) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(names)}")
        super().__init__([prefix + name for name in names])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        sides = [keys_to_tensors[key] for key in self.keys]
        rows = [pb.expand_dims(s.values if isinstance(s, pb.SparseTensor) else s, 0) for s in sides]
        return pb.transpose(pb.concat(rows, 0))


class Image(ItemHandler):
    """The image in a file that one feature holds; another one says the format, "raw" for bytes of `dtype`."""

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: ShapeLike | None = None,
        channels: int = 3,
        dtype: DTypeLike = pb.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        del dct_method
        if repeated:
            raise NotImplementedError(
                "tfexample_decoder.Image: repeated=True is not supported; use ItemHandlerCallback"
            )
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        self._shape, self._channels, self._dtype = shape, channels, pb.as_dtype(dtype)
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        kind: Any = self._dtype

        def decode(data: np.ndarray[Any, Any], form: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            if form.item().lower() == b"raw":
                return np.frombuffer(data.item(), kind)
            return image_of(data.item(), self._channels).astype(kind)

        known = pb.TensorShape([None, None, self._channels or None]) if self._shape is None else pb.TensorShape.UNKNOWN
        spec = pb.TensorSpec(known, kind)
        inputs = [keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]]
        image = pb.numpy_function(decode, inputs, spec, stateful=False, name="DecodeImage")
        return image if self._shape is None else pb.reshape(image, self._shape)


class BackupHandler(ItemHandler):
    """What `handler` makes, or `backup` where that has no elements."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        super().__init__([*handler.keys, *backup.keys])
        self._handler, self._backup = handler, backup

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item of the parsed features."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return pb.cond(pb.equal(pb.size(item), 0), lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class TFExampleDecoder(DataDecoder):
    """Decodes an example by features and handlers of items, both by name.

    >>> import pullback.compat.v1 as tf
    >>> decoder = tf.contrib.slim.tfexample_decoder
    >>> label = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> text = tf.train.Example(features=tf.train.Features(feature={"y": label})).SerializeToString()
    >>> features, items = {"y": tf.FixedLenFeature([1], tf.int64)}, {"label": decoder.Tensor("y", shape=[])}
    >>> tf.Session().run(decoder.TFExampleDecoder(features, items).decode(text, ["label"]))
    [np.int64(7)]
    """

    def __init__(self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]) -> None:
        self._features, self._handlers = keys_to_features, items_to_handlers

    def list_items(self) -> list[str]:
        return list(self._handlers)

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        parsed: dict[str, Any] = dict(parse_single_example(data, self._features))
        for key, feature in self._features.items():
            if isinstance(feature, FixedLenFeature):
                parsed[key] = pb.reshape(parsed[key], feature.shape)
        return _items(parsed, self._handlers, items)


class TFSequenceExampleDecoder(DataDecoder):
    """Decodes an example of sequences by the features of its context and of its steps, and handlers of items."""

    def __init__(
        self,
        keys_to_context_features: Mapping[str, Any],
        keys_to_sequence_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        both = set(keys_to_context_features) & set(keys_to_sequence_features)
        if both:
            raise ValueError(f"Context and sequence features are not allowed to share keys: {', '.join(sorted(both))}")
        self._context, self._steps = keys_to_context_features, keys_to_sequence_features
        self._handlers = items_to_handlers

    def list_items(self) -> list[str]:
        return list(self._handlers)

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        context, steps = parse_single_sequence_example(data, self._context, self._steps)
        return _items({**context, **steps}, self._handlers, items)


def _items(parsed: Mapping[str, Any], handlers: Mapping[str, ItemHandler], items: Sequence[str] | None) -> list[Any]:
    chosen = [handlers[item] for item in (handlers if items is None else items)]
    return [handler.tensors_to_item({key: parsed[key] for key in handler.keys}) for handler in chosen]


def _dense(tensor: pb.Tensor | pb.SparseTensor, default: Any) -> pb.Tensor:
    return pb.sparse_tensor_to_dense(tensor, default) if isinstance(tensor, pb.SparseTensor) else tensor
