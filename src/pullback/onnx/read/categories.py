"""ONNX import of categories of ai.onnx.ml: labels and one-hot vectors for what is in a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import float32, int64, string
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal, is_nan
from ...primitives.logic.logical import logical_and, logical_or
from ...primitives.reduction.argmax import argmax
from ...primitives.reduction.reduce import reduce_any
from ...primitives.shape.squeeze import expand_dims
from ..reading import Node, reader
from .dtypes import cast
from .scores import ML

Array = np.ndarray[Any, Any]
_UNKNOWN = {"strings": "_Unused", "int64s": -1, "floats": -0.0}
_DEFAULTS = {"strings": "default_string", "int64s": "default_int64", "floats": "default_float"}


@reader("OneHotEncoder", domain=ML)
def one_hot_encoder(node: Node, x: Tensor) -> Tensor:
    """For each element a vector with a one at its category; zeros for what is none."""
    if x.dtype == string:
        known = constant(list(node.attribute("cats_strings")), string)
    else:
        known, x = constant(np.asarray(node.attribute("cats_int64s"), np.int64)), cast(x, int64)
    return cast(equal(expand_dims(x, -1), known), float32)


@reader("CategoryMapper", domain=ML)
def category_mapper(node: Node, x: Tensor) -> Tensor:
    """The number of each text, or the text of each number."""
    numbers, texts = (_listed(node, f"cats_{kind}", kind) for kind in ("int64s", "strings"))
    from_text = x.dtype == string
    kind = "int64s" if from_text else "strings"
    other = node.attribute(_DEFAULTS[kind], _UNKNOWN[kind])
    return _mapped(x, *((texts, numbers) if from_text else (numbers, texts)), _one(other, kind))


@reader("LabelEncoder", domain=ML)
def label_encoder(node: Node, x: Tensor) -> Tensor:
    """For each element the value of the key that it is, of the first of equal ones; else the default."""
    classes = node.attribute("classes_strings", ())
    if classes:
        texts, numbers = _one(list(classes), "strings"), constant(np.arange(len(classes)))
        kind = "int64s" if x.dtype == string else "strings"
        other = _one(node.attribute(_DEFAULTS[kind], _UNKNOWN[kind]), kind)
        return _mapped(x, *((texts, numbers) if x.dtype == string else (numbers, texts)), other)
    keys, _ = _entries(node, "keys")
    values, kind = _entries(node, "values")
    default = node.attribute("default_tensor", None)
    if default is not None:
        other = constant(default.reshape(()))
    else:
        other = _one(node.attribute(_DEFAULTS.get(kind, ""), _UNKNOWN.get(kind, 0)), kind, values.dtype)
    return _mapped(x, keys, values, other, with_nan=node.opset >= _WITH_NAN)


_WITH_NAN = 4
"""From this version of the operators on a key that is NaN is found."""


def _entries(node: Node, name: str) -> tuple[Tensor, str]:
    """The keys or values, and what they are called."""
    for kind in ("strings", "int64s", "floats"):
        if f"{name}_{kind}" in node.attributes:
            return _listed(node, f"{name}_{kind}", kind), kind
    return constant(node.attribute(f"{name}_tensor")), "tensor"


def _listed(node: Node, name: str, kind: str) -> Tensor:
    return _one(list(node.attribute(name)), kind)


def _one(value: Any, kind: str, dtype: Any = None) -> Tensor:
    return constant(value, {"strings": string, "int64s": int64, "floats": float32}.get(kind, dtype))


def _mapped(x: Tensor, keys: Tensor, values: Tensor, other: Tensor, with_nan: bool = False) -> Tensor:
    """The values of the keys that the elements of `x` are, `other` where there is none."""
    own = expand_dims(x if x.dtype == keys.dtype else cast(x, keys.dtype), -1)
    same = equal(own, keys)
    if with_nan and keys.dtype.kind == "f":
        same = logical_or(same, logical_and(is_nan(own), is_nan(keys)))
    found = gather(values, argmax(cast(same, float32), -1, int64))
    return where(reduce_any(same, -1), found, other)
