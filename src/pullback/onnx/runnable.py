"""onnxruntime compatibility: which nodes of a loaded model are written again as they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from onnx import AttributeProto, NodeProto, defs

from ..core.dtypes import COMPLEX, float16
from .kernels import letter_of, signature
from .model import domain_of
from .reading import Node, all_nodes

NEWEST = 26
"""The newest opset that onnxruntime 1.31 loads."""
_NO_KERNEL_SINCE = {
    "Attention": 25,
    "GlobalLpPool": 22,
    "MaxRoiPool": 22,
    "Multinomial": 22,
    "RandomNormal": 22,
    "RandomNormalLike": 22,
    "RandomUniform": 22,
    "RandomUniformLike": 22,
    "RoiAlign": 22,
}
"""Operators whose versions from there on have neither a kernel nor a body."""
_RECURRENT = frozenset(["GRU", "LSTM", "RNN"])


Types = Sequence[Any]


def is_runnable(node: Node, own: int, opset: int, types: Types) -> bool:
    """Whether a node of a model of opset `own` means the same at `opset`, and onnxruntime runs it.

    `types` are those of its inputs, and then of its outputs; None for what is left out or no tensor. Complex numbers
    are written as pairs, which no node takes as they are.
    """
    if any(known is not None and known.dtype in COMPLEX for known in types):
        return False
    if not _is_known(node.domain, node.op_type, own, opset):
        return False
    for attribute in node.attributes.values():
        if attribute.HasField("g") and not all(_runs_inside(inner, own, opset) for inner in all_nodes(attribute.g)):
            return False
    rule = _RULES.get(node.op_type)
    return (rule is None or rule(node.proto, types)) and _has_kernel(node, opset, types)


def _runs_inside(node: NodeProto, own: int, opset: int) -> bool:
    """The same of a node in a body, as far as it is known without types."""
    known = _is_known(domain_of(node.domain), node.op_type, own, opset)
    return known and (node.op_type not in _RECURRENT or _steps_are_first(node))


@cache
def _is_known(domain: str, op_type: str, own: int, opset: int) -> bool:
    """Whether both opsets have the same version of the operator, and that is one onnxruntime has."""
    if domain or opset > NEWEST:
        return False
    version = _version(op_type, own)
    if version is None or version > opset or _version(op_type, opset) != version:
        return False
    return version < _NO_KERNEL_SINCE.get(op_type, NEWEST + 1)


@cache
def _version(op_type: str, opset: int) -> int | None:
    """The opset that an operator is of; None where there is none so old."""
    try:
        return int(defs.get_schema(op_type, opset, "").since_version)
    except defs.SchemaError:
        return None


def _has_kernel(node: Node, opset: int, types: Types) -> bool:
    """Whether onnxruntime has a kernel for the dtypes, as far as these are known."""
    dtypes = tuple([None if known is None else known.dtype for known in types])
    return _has_kernel_of(node.op_type, opset, len(node.inputs), dtypes)


@cache
def _has_kernel_of(op_type: str, opset: int, count: int, dtypes: tuple[Any, ...]) -> bool:
    """The same of an operator, for the dtypes of its `count` inputs, and of its outputs."""
    known = signature(op_type, opset)
    for part, variables in ((dtypes[:count], known.inputs), (dtypes[count:], known.outputs)):
        for i, dtype in enumerate(part):
            if dtype is None or dtype == float16:
                continue
            allowed = known.allowed.get(variables[min(i, len(variables) - 1)])
            letter = letter_of(dtype)
            if allowed is not None and letter is not None and letter not in allowed:
                return False
    return True


def _steps_are_first(node: NodeProto, types: Types = ()) -> bool:
    del types
    return not _integer(node, "layout", 0)


def _slope_broadcasts(node: NodeProto, types: Types) -> bool:
    """Whether the slopes are not one for each channel, as the first versions had them."""
    del node
    x, slope = types[:2]
    if x is None or slope is None or x.shape.sizes is None or slope.shape.sizes is None:
        return True
    pairs = zip(reversed(x.shape.sizes), reversed(slope.shape.sizes), strict=False)
    return all(n == m or m in (1, None) or n is None for n, m in pairs)


def _mask_is_whole(node: NodeProto, types: Types) -> bool:
    """Whether a mask is as long as all keys: the standard fills up shorter ones."""
    if len(node.input) < 4 or not node.input[3]:
        return True
    key, mask, past = [types[i] if i < len(node.input) else None for i in (1, 3, 4)]
    if key is None or mask is None or not key.shape.rank or not mask.shape.rank:
        return True
    more = 0 if past is None or past.shape.sizes is None else past.shape.sizes[-2]
    keys, filled = key.shape.sizes[-2], mask.shape.sizes[-1]
    return None in (keys, filled, more) or keys + more == filled


def _pads_are_small(node: NodeProto, types: Types) -> bool:
    del types
    kernel, pads = _integers(node, "kernel_shape"), _integers(node, "pads")
    return all(pad < kernel[i % len(kernel)] for i, pad in enumerate(pads))


_RULES: dict[str, Callable[[NodeProto, Types], bool]] = {
    **dict.fromkeys(_RECURRENT, _steps_are_first),
    "Attention": _mask_is_whole,
    "LRN": lambda node, _: _integer(node, "size", 1) % 2 == 1,
    "MaxPool": _pads_are_small,
    "PRelu": _slope_broadcasts,
}


def _integer(node: NodeProto, name: str, default: int) -> int:
    return next((a.i for a in node.attribute if a.name == name and a.type == AttributeProto.INT), default)


def _integers(node: NodeProto, name: str) -> list[int]:
    return next((list(a.ints) for a in node.attribute if a.name == name), [])
