"""ONNX import of ai.onnx.ml: the differentiable operators, which scikit-learn's linear models are exported to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, float32, int64
from ...core.operation import Tensor
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.activations.softmax import softmax
from ...primitives.creation.constant import constant
from ...primitives.elementwise.exponential import exp
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.powers import pow, square
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.slicing import Take
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.logic.comparison import equal, is_nan
from ...primitives.reduction.argmax import argmax
from ...primitives.reduction.logsumexp import euclidean_norm
from ...primitives.reduction.reduce import reduce_max, reduce_sum
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat
from ..reading import Node, reader
from .dtypes import cast

_DOMAIN = "ai.onnx.ml"


@reader("Scaler", domain=_DOMAIN)
def scaler(node: Node, x: Tensor) -> Tensor:
    """`(x - offset) * scale`."""
    offset, scale = (constant(np.asarray(node.attribute(name), np.float32)) for name in ("offset", "scale"))
    return (cast(x, float32) - offset) * scale


@reader("Normalizer", domain=_DOMAIN)
def normalizer(node: Node, x: Tensor) -> Tensor:
    """`x / norm(x)` along the last axis, and `x` where the norm is 0; "MAX" is the largest element with its sign."""
    x, kind = x if x.dtype in FLOATING else cast(x, float32), node.attribute("norm", "MAX")
    if kind not in ("MAX", "L1", "L2"):
        node.refuse(f"norm {kind!r} is not one of MAX, L1, L2")
    norm = {"MAX": reduce_max, "L1": reduce_sum, "L2": euclidean_norm}[kind](
        absolute(x) if kind == "L1" else x, -1, True
    )
    return x / where(equal(norm, 0.0), 1.0, norm)


@reader("Imputer", domain=_DOMAIN)
def imputer(node: Node, x: Tensor) -> Tensor:
    """Other numbers in place of NaN, or of the one that stands for what is missing: one, or one for each column."""
    kind = "float" if x.dtype in FLOATING else "int64"
    values = constant(np.asarray(node.attribute(f"imputed_value_{kind}s")), x.dtype)
    missing = node.attribute(f"replaced_value_{kind}", 0)
    return where(is_nan(x) if np.isnan(missing) else equal(x, missing), values, x)


@reader("Binarizer", domain=_DOMAIN)
def binarizer(node: Node, x: Tensor) -> Tensor:
    """1 beyond the threshold, else 0."""
    return cast(x > node.attribute("threshold", 0.0), x.dtype)


@reader("FeatureVectorizer", domain=_DOMAIN)
def feature_vectorizer(node: Node, *xs: Tensor) -> Tensor:
    """All columns side by side."""
    del node
    return concat([cast(x, float32) for x in xs], 1)


@reader("ArrayFeatureExtractor", domain=_DOMAIN)
def array_feature_extractor(node: Node, x: Tensor, places: Tensor) -> Any:
    """Parts of the last axis; of a vector a matrix of one row."""
    del node
    x = expand_dims(x, 0) if x.shape.rank == 1 else x
    return Take(-1)(x, places if places.shape.rank == 1 else places[0])


@reader("LinearRegressor", domain=_DOMAIN)
def linear_regressor(node: Node, x: Tensor) -> Tensor:
    _only(node, "post_transform", "NONE")
    return _scores(node, x, node.attribute("targets", 1))


@reader("LinearClassifier", domain=_DOMAIN)
def linear_classifier(node: Node, x: Tensor) -> Any:
    """The class of the largest score, and the scores, as `post_transform` makes them."""
    labels = node.attribute("classlabels_ints", ())
    if not labels:
        node.refuse("its classes are strings")
    found = _scores(node, x, len(node.attribute("intercepts", ())) or len(labels))
    if found.shape.size(1) != len(labels):
        node.refuse("it has one score for two classes")
    label = Take(0)(constant(np.asarray(labels, np.int64)), argmax(found, 1, int64))
    return label, transformed(node, node.attribute("post_transform", "NONE"), found)


def _scores(node: Node, x: Tensor, count: int) -> Tensor:
    x = x if x.dtype in FLOATING else cast(x, float32)
    weights = np.asarray(node.attribute("coefficients"), np.float32).reshape(count, -1)
    found = matmul(x, constant(weights, x.dtype), transpose_b=True)
    added = node.attribute("intercepts", ())
    return found + constant(np.asarray(added, np.float32), x.dtype) if added else found


_TRANSFORMS: dict[str, Any] = {"NONE": lambda x: x, "LOGISTIC": sigmoid, "SOFTMAX": softmax}


def transformed(node: Node, kind: str, found: Tensor) -> Tensor:
    """The scores `found`, as the post_transform `kind` makes them."""
    if kind not in _TRANSFORMS:
        node.refuse(f"post_transform {kind!r} is not one of {', '.join(_TRANSFORMS)}")
    y: Tensor = _TRANSFORMS[kind](found)
    return y


@reader("SVMRegressor", domain=_DOMAIN)
def svm_regressor(node: Node, x: Tensor) -> Tensor:
    """The sum of the kernels of `x` and each support vector, times its coefficient."""
    _only(node, "post_transform", "NONE")
    _only(node, "one_class", 0)
    x = x if x.dtype in FLOATING else cast(x, float32)
    count, factors = node.attribute("n_supports", 0), node.attribute("coefficients")
    rows = x
    if count:
        vectors = constant(np.asarray(node.attribute("support_vectors"), np.float32).reshape(count, -1), x.dtype)
        rows = _kernel(node, node.attribute("kernel_type", "LINEAR"), x, vectors)
    found = matmul(rows, constant(np.asarray(factors, np.float32).reshape(-1, 1), x.dtype))
    return found + float(node.attribute("rho", (0.0,))[0])


def _kernel(node: Node, kind: str, x: Tensor, vectors: Tensor) -> Any:
    """The kernel of each row of `x` and each support vector."""
    gamma, offset, degree = map(float, node.attribute("kernel_params", (0.0, 0.0, 0.0)))
    if kind == "RBF":
        apart = expand_dims(x, 1) - vectors
        return exp(reduce_sum(square(apart), 2) * -gamma)
    products = matmul(x, vectors, transpose_b=True)
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return pow(products * gamma + offset, degree)
    if kind == "SIGMOID":
        return tanh(products * gamma + offset)
    return node.refuse(f"kernel_type {kind!r} is not one of LINEAR, POLY, RBF, SIGMOID")


def _only(node: Node, name: str, value: Any) -> None:
    found = node.attribute(name, value)
    if found != value:
        node.refuse(f"{name} is {found!r}, and only {value!r} is read")
