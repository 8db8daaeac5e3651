"""Attributes of operations, by TensorFlow 1's names and in its forms: `op.get_attr("strides")` is [1, 2, 2, 1].

Gradients that a program registers, and explanations of nets by relevance, hand them on to the functions of `tf.nn`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core.operation import Operation


class Text(str):
    """A text that TensorFlow has as bytes: compared and decoded like these, and taken wherever a text is."""

    __slots__ = ()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text."""
        del encoding, errors
        return str(self)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other.decode() if isinstance(other, bytes) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


Rule = Callable[[Operation], Any]
_WINDOWS = {
    "Dilation2D": {"dilations": "rates"},
    "ExtractImagePatches": {"ksize": "ksizes"},
    "ExtractVolumePatches": {"ksize": "ksizes"},
}
"""Other names of the lengths of windows."""
_OWN_NAMES = {"keep_dims": "keepdims", "num_split": "num", "DstT": "dtype"}
"""Our names of attributes of TensorFlow's."""
_COUNTED = ("AddN", "ConcatV2", "Pack")
_DTYPES: dict[str, Rule] = {
    "T": lambda op: (op.inputs or op.outputs)[0].type.dtype,
    "dtype": lambda op: op.outputs[0].type.dtype,
    "SrcT": lambda op: op.inputs[0].type.dtype,
    "Tparams": lambda op: op.inputs[0].type.dtype,
    "Tindices": lambda op: op.inputs[1].type.dtype,
}


def attribute_of(op: Operation, name: str) -> Any:
    """The attribute by the name that TensorFlow has for it.

    Raises:
        KeyError: there is none.
    """
    own: Mapping[str, Any] = op.primitive.attributes
    windows = _WINDOWS.get(op.type, {})
    for key in ("strides", "ksize", "dilations", "rates"):
        if name == windows.get(key, key) and isinstance(own.get(key), tuple):
            return _for_all_axes(own[key], str(own.get("data_format", "NHWC")))
    if name == "N" and op.type in _COUNTED:
        return len(op.inputs)
    if name == "squeeze_dims" and op.type == "Squeeze":
        return list(own["axis"] or ())
    if name == "data_format" and op.type == "BiasAdd":
        return Text("NCHW" if own["channels_first"] else "NHWC")
    key = name if name in own else _OWN_NAMES.get(name, name)
    if key not in own:
        return _DTYPES[name](op)
    return Text(own[key]) if type(own[key]) is str else own[key]


def _for_all_axes(lengths: tuple[int, ...], data_format: str) -> list[int]:
    """The lengths along all axes, 1 along batch and channels; what has one spatial axis is an image of one row."""
    if not lengths:
        return [1] * len(data_format)
    numbers = [1] * (2 - len(lengths)) + list(lengths)
    return [1, 1, *numbers] if data_format.startswith("NC") else [1, *numbers, 1]
