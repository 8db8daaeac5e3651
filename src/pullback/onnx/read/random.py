"""ONNX import of random numbers; they are pullback's, not those of another runtime with the same seed."""

from __future__ import annotations

import struct
from typing import Any

from ...core.dtypes import FLOATING, DType, float32, int32
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.creation.fill import ones
from ...primitives.elementwise.masking import mask as kept
from ...primitives.indexing.where import where
from ...primitives.random.stateful import categorical, random_normal, random_uniform
from ..element_types import dtype_of
from ..reading import Node, reader
from .dtypes import cast
from .lengths import lengths


@reader("RandomNormal")
def random_normal_(node: Node) -> Tensor:
    return _normal(node, list(node.attribute("shape")), dtype_of(node.attribute("dtype", 1)))


@reader("RandomNormalLike")
def random_normal_like(node: Node, like: Tensor) -> Tensor:
    return _normal(node, lengths(like), _dtype_like(node, like))


@reader("RandomUniform")
def random_uniform_(node: Node) -> Tensor:
    return _uniform(node, list(node.attribute("shape")), dtype_of(node.attribute("dtype", 1)))


@reader("RandomUniformLike")
def random_uniform_like(node: Node, like: Tensor) -> Tensor:
    return _uniform(node, lengths(like), _dtype_like(node, like))


def _dtype_like(node: Node, like: Tensor) -> DType:
    number = node.attribute("dtype", None)
    return like.dtype if number is None else dtype_of(number)


def _normal(node: Node, shape: list[Any], dtype: DType) -> Tensor:
    return random_normal(shape, node.attribute("mean", 0.0), node.attribute("scale", 1.0), dtype, _seed(node))


def _uniform(node: Node, shape: list[Any], dtype: DType) -> Tensor:
    return random_uniform(shape, node.attribute("low", 0.0), node.attribute("high", 1.0), dtype, _seed(node))


def _seed(node: Node) -> int | None:
    """An integer for the seed, which ONNX has as a float."""
    seed = node.attribute("seed", None)
    if seed is None:
        return None
    return int(seed) if float(seed).is_integer() else int.from_bytes(struct.pack("<f", seed), "little")


@reader("Bernoulli")
def bernoulli(node: Node, x: Tensor) -> Tensor:
    """1 with the probability that each element is."""
    drawn = random_uniform(lengths(x), dtype=x.dtype, seed=_seed(node)) < x
    return cast(drawn, _dtype_like(node, x))


@reader("Multinomial")
def multinomial(node: Node, x: Tensor) -> Tensor:
    """Numbers of classes, drawn with the logarithms of their weights in each row."""
    dtype = dtype_of(node.attribute("dtype", 6))
    drawn = categorical(cast(x, float32), int(node.attribute("sample_size", 1)), int32, _seed(node))
    return cast(drawn, dtype)


@reader("Dropout")
def dropout(node: Node, x: Tensor, ratio: Tensor | None = None, training_mode: Tensor | None = None) -> Any:
    """In training, each element 0 with probability `ratio`, else divided by `1 - ratio`; `x` itself otherwise."""
    training = False if training_mode is None else node.static(training_mode)
    if training is not None and not bool(training):
        return (x, ones(lengths(x), bool_)) if node.wants(1) else x
    known = None if ratio is None else node.static(ratio)
    if known is not None and not known.any():
        return (x, ones(lengths(x), bool_)) if node.wants(1) else x
    rate = constant(0.5, x.dtype) if ratio is None else cast(ratio, x.dtype)
    if training is None and training_mode is not None:
        rate = where(training_mode, rate, constant(0.0, x.dtype))
    dtype = x.dtype if x.dtype in FLOATING else float32
    mask = random_uniform(lengths(x), dtype=dtype, seed=_seed(node)) >= rate
    y = kept(mask, x / (1.0 - rate))
    return (y, mask) if node.wants(1) else y
