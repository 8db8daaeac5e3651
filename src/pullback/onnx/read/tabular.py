"""ONNX import of ai.onnx.ml: the differentiable operators, which scikit-learn's linear models are exported to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, float32, int64
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.gather import gather
from ...primitives.indexing.slicing import Take
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.logic.comparison import equal, is_nan
from ...primitives.reduction.norms import euclidean_norm
from ...primitives.reduction.reduce import reduce_max, reduce_sum
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat
from ..reading import Node, reader
from .dtypes import cast
from .lengths import length, rank_of
from .scores import ML, classified, kind_of_transform, labels_of, of_two, rows_of, transformed


@reader("Scaler", domain=ML)
def scaler(node: Node, x: Tensor) -> Tensor:
    """`(x - offset) * scale`."""
    offset, scale = (constant(np.asarray(node.attribute(name), np.float32)) for name in ("offset", "scale"))
    return (cast(x, float32) - offset) * scale


@reader("Normalizer", domain=ML)
def normalizer(node: Node, x: Tensor) -> Tensor:
    """`x / norm(x)` along the last axis, and `x` where the norm is 0; "MAX" is the largest element with its sign."""
    x, kind = x if x.dtype in FLOATING else cast(x, float32), node.attribute("norm", "MAX")
    if kind not in ("MAX", "L1", "L2"):
        node.refuse(f"norm {kind!r} is not one of MAX, L1, L2")
    if kind == "MAX":
        x_or_least = where(is_nan(x), constant(-np.inf, x.dtype), x)
        norm = reduce_max(x_or_least, -1, True)
    else:
        norm = reduce_sum(absolute(x), -1, True) if kind == "L1" else euclidean_norm(x, -1, True)
    return x / where(equal(norm, 0.0), 1.0, norm)


@reader("Imputer", domain=ML)
def imputer(node: Node, x: Tensor) -> Tensor:
    """Other numbers in place of NaN, or of the one that stands for what is missing: one, or one for each column."""
    kind = "float" if x.dtype in FLOATING else "int64"
    values = constant(np.asarray(node.attribute(f"imputed_value_{kind}s")), x.dtype)
    missing = node.attribute(f"replaced_value_{kind}", 0)
    return where(is_nan(x) if np.isnan(missing) else equal(x, missing), values, x)


@reader("Binarizer", domain=ML)
def binarizer(node: Node, x: Tensor) -> Tensor:
    """1 beyond the threshold, else 0."""
    return cast(x > node.attribute("threshold", 0.0), x.dtype)


@reader("FeatureVectorizer", domain=ML)
def feature_vectorizer(node: Node, *xs: Tensor) -> Tensor:
    """The columns of all tensors side by side, of each as many as the node says; zeros where it has fewer."""
    widths = node.attribute("inputdimensions", ()) or [None] * len(xs)
    parts = []
    for x, width in zip(xs, widths, strict=True):
        rows = cast(expand_dims(x, 0) if rank_of(node, x) == 1 else reshape(x, [length(x, 0), -1]), float32)
        have = rows.shape.size(1)
        if width is not None and have != width:
            if have is None:
                node.refuse(f"the number of columns of {x} must be known")
            rows = rows[:, :width] if have > width else pad(rows, [(0, 0), (0, width - have)])
        parts.append(rows)
    return concat(parts, 1)


@reader("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(node: Node, x: Tensor, places: Tensor) -> Any:
    """Parts of the last axis; of a vector a matrix of one row."""
    x = expand_dims(x, 0) if rank_of(node, x) == 1 else x
    return Take(-1)(x, places if places.shape.rank == 1 else reshape(places, [-1]))


@reader("LinearRegressor", domain=ML)
def linear_regressor(node: Node, x: Tensor) -> Tensor:
    """Onnxruntime transforms the score of a single target by PROBIT alone, and so do we."""
    kind, targets = kind_of_transform(node), node.attribute("targets", 1)
    found = _scores(node, x, targets)
    return transformed(kind, found) if targets > 1 or kind == "PROBIT" else found


@reader("LinearClassifier", domain=ML)
def linear_classifier(node: Node, x: Tensor) -> Any:
    """The class of the largest score, and the scores, as `post_transform` makes them."""
    labels, kind = labels_of(node, "classlabels_ints"), kind_of_transform(node)
    classes = labels.shape.size(0)
    found = _scores(node, x, len(node.attribute("intercepts", ())) or classes)
    if found.shape.size(1) == classes:
        return classified(labels, found), transformed(kind, found)
    if (found.shape.size(1), classes) != (1, 2):
        node.reject(f"it has {found.shape.size(1)} scores for {classes} classes")
    score = found[:, 0]
    return gather(labels, cast(score > 0.0, int64)), of_two(node, kind, score, 1.0 - score)


def _scores(node: Node, x: Tensor, count: int) -> Tensor:
    x = rows_of(x)
    weights = np.asarray(node.attribute("coefficients"), np.float32).reshape(count, -1)
    found = matmul(x, constant(weights, x.dtype), transpose_b=True)
    added = node.attribute("intercepts", ())
    return found + constant(np.asarray(added, np.float32), x.dtype) if added else found
