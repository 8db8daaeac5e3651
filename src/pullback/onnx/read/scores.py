"""Scores of ai.onnx.ml: the labels of classes, and what post_transform makes of scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, float32, int64, string
from ...core.operation import Tensor
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.activations.softmax import softmax
from ...primitives.creation.constant import constant
from ...primitives.elementwise.exponential import exp
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.logic.logical import logical_not
from ...primitives.reduction.argmax import argmax
from ...primitives.reduction.reduce import reduce_max, reduce_sum
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import stack
from ...primitives.special.error_function import erfinv
from ..reading import Node
from .dtypes import cast

ML = "ai.onnx.ml"
_TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
_NEARLY_ZERO = 1e-7


def rows_of(x: Tensor) -> Tensor:
    """`x` as a matrix of floats; a vector is one row."""
    x = x if x.dtype in FLOATING else cast(x, float32)
    return expand_dims(x, 0) if x.shape.rank == 1 else x


def labels_of(node: Node, numbers: str) -> Tensor:
    """The labels of the classes: of the attribute `numbers`, or strings."""
    texts = node.attribute("classlabels_strings", ())
    if texts:
        return constant(list(texts), string)
    found = node.attribute(numbers, ())
    if not found:
        node.reject("its classes have no labels")
    return constant(np.asarray(found, np.int64))


def classified(labels: Tensor, scores: Tensor) -> Tensor:
    """The label of the largest score of each row, the first of equal ones."""
    return gather(labels, argmax(scores, 1, int64))


def kind_of_transform(node: Node) -> str:
    """The node's post_transform."""
    kind: str = node.attribute("post_transform", "NONE")
    if kind not in _TRANSFORMS:
        node.refuse(f"post_transform {kind!r} is not one of {', '.join(_TRANSFORMS)}")
    return kind


def transformed(kind: str, scores: Tensor) -> Tensor:
    """The scores [rows, classes] as a post_transform makes them."""
    if kind == "LOGISTIC":
        return sigmoid(scores)
    if kind == "SOFTMAX":
        return softmax(scores)
    if kind == "SOFTMAX_ZERO":
        return _softmax_without_zeros(scores)
    return _probit(scores) if kind == "PROBIT" else scores


def _probit(scores: Tensor) -> Tensor:
    """The quantiles of the normal distribution."""
    found: Tensor = erfinv(scores * 2.0 - 1.0) * math.sqrt(2.0)
    return found


def _softmax_without_zeros(scores: Tensor) -> Tensor:
    """Softmax of what is not zero; zeros stay what they are."""
    largest = reduce_max(scores, 1, True)
    counts = absolute(scores) > _NEARLY_ZERO
    powers = where(counts, exp(scores - largest), constant(0.0, scores.dtype))
    rest = where(logical_not(counts), scores * exp(-largest), constant(0.0, scores.dtype))
    return (powers + rest) / reduce_sum(powers, 1, True)


def of_two(node: Node, kind: str, score: Tensor, first: Any) -> Tensor:
    """The scores of two classes, where only that of the second [rows] is computed; `first` is that of the other."""
    if kind == "PROBIT":
        node.refuse("post_transform 'PROBIT' of one score for two classes is not defined")
    if kind == "LOGISTIC":
        return stack([sigmoid(-score), sigmoid(score)], 1)
    return stack([first, score], 1)
