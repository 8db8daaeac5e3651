"""ONNX import of support vector machines of ai.onnx.ml."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ...control_flow.while_loop import while_loop
from ...core.operation import Tensor
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.creation.constant import constant
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.exponential import exp
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.powers import pow, square
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.reduction.reduce import reduce_any, reduce_max, reduce_sum
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import stack
from ..reading import Node, reader
from .dtypes import cast
from .scores import ML, classified, kind_of_transform, labels_of, of_two, rows_of, transformed

Array = np.ndarray[Any, Any]
_MOST_STEPS = 100
_TOLERANCE = 0.005
_NEARLY_ONE = 1.0 - 1e-7


@reader("SVMRegressor", domain=ML)
def svm_regressor(node: Node, x: Tensor) -> Tensor:
    """The sum of the kernels of `x` and each support vector, times its coefficient; the sign of it for one class."""
    rows, factors = rows_of(x), _floats(node, "coefficients")
    count = node.attribute("n_supports", 0)
    if count:
        rows = _kernel(node, rows, _floats(node, "support_vectors").reshape(count, -1))
    found = matmul(rows, constant(factors.reshape(-1, 1), rows.dtype)) + float(_floats(node, "rho")[0])
    if not node.attribute("one_class", 0):
        return found
    return where(found > 0.0, constant(1.0, found.dtype), constant(-1.0, found.dtype))


@reader("SVMClassifier", domain=ML)
def svm_classifier(node: Node, x: Tensor) -> Any:
    """The class that most of the machines choose, each of two classes; and their scores, or probabilities."""
    labels, kind = labels_of(node, "classlabels_ints"), kind_of_transform(node)
    of_class = node.attribute("vectors_per_class", ())
    rows, count = rows_of(x), labels.shape.size(0)
    if not sum(of_class):
        node.refuse("it has no support vectors: a linear machine, which is a LinearClassifier")
    if len(of_class) != count or count < 2:
        node.reject(f"it has {count} classes, and support vectors of {len(of_class)}")
    vectors = _floats(node, "support_vectors").reshape(sum(of_class), -1)
    kernels = _kernel(node, rows, vectors)
    pairs = list(combinations(range(count), 2))
    weights = _of_pairs(_floats(node, "coefficients").reshape(count - 1, -1), of_class)
    scores = matmul(kernels, constant(weights, rows.dtype)) + constant(_floats(node, "rho")[: len(pairs)], rows.dtype)
    label = classified(labels, _votes(scores, pairs, count))
    if node.attribute("prob_a", ()):
        return label, transformed(kind, _probabilities(node, scores, pairs, count))
    if count > 2:
        return label, transformed(kind, scores)
    score = scores[:, 0]
    return label, of_two(node, kind, score, -score if kind == "NONE" else 1.0 - score)


def _floats(node: Node, name: str) -> Array:
    return np.asarray(node.attribute(name, ()), np.float32)


def _of_pairs(coefficients: Array, of_class: Any) -> Array:
    """The coefficients of each support vector [vectors, pairs], for the machines of two classes."""
    bounds = list(pairwise(np.cumsum([0, *of_class]).tolist()))
    columns = []
    for i, j in combinations(range(len(of_class)), 2):
        column = np.zeros(coefficients.shape[1], np.float32)
        for own, other in ((i, j - 1), (j, i)):
            part = slice(*bounds[own])
            column[part] = coefficients[other, part]
        columns.append(column)
    return np.stack(columns, 1)


def _votes(scores: Tensor, pairs: Any, count: int) -> Tensor:
    """How many machines choose each class."""
    first, second = (np.zeros((len(pairs), count), np.float32) for _ in range(2))
    for k, (i, j) in enumerate(pairs):
        first[k, i] = second[k, j] = 1.0
    won = cast(scores > 0.0, scores.dtype)
    return matmul(won, constant(first, scores.dtype)) + matmul(1.0 - won, constant(second, scores.dtype))


def _probabilities(node: Node, scores: Tensor, pairs: Any, count: int) -> Tensor:
    """Probabilities of classes by pairwise coupling (Wu, Lin and Weng, 2004, algorithm 2), as libsvm computes them."""
    a, b = (constant(_floats(node, f"prob_{name}")[: len(pairs)], scores.dtype) for name in "ab")
    first = clip_by_value(sigmoid(-(scores * a + b)), 1.0 - _NEARLY_ONE, _NEARLY_ONE)
    one: Any = {pair: first[:, k] for k, pair in enumerate(pairs)}
    r = {**one, **{(j, i): 1.0 - p for (i, j), p in one.items()}}
    q: Any = [[None] * count for _ in range(count)]
    for i in range(count):
        q[i][i] = sum(square(r[j, i]) for j in range(count) if j != i)
        for j in range(count):
            if i != j:
                q[i][j] = -(r[j, i] * r[i, j])
    matrix = stack([stack(row, 1) for row in q], 1)

    def products(p: Tensor) -> tuple[Tensor, Tensor]:
        qp = reduce_sum(matrix * expand_dims(p, 1), 2)
        return qp, reduce_sum(p * qp, 1, True)

    def far(p: Tensor) -> Tensor:
        qp, pqp = products(p)
        return reduce_max(absolute(qp - pqp), 1, True) >= _TOLERANCE / count

    def step(number: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        return number + 1, where(far(p), _coupled(p, q, *products(p)), p)

    start = r[0, 1] * 0.0 + 1.0 / count
    _, found = while_loop(
        lambda number, p: reduce_any(far(p)),
        step,
        (constant(0), stack([start] * count, 1)),
        maximum_iterations=_MOST_STEPS,
    )
    return found  # type: ignore[no-any-return]


def _coupled(p: Tensor, q: Any, qp: Tensor, pqp: Tensor) -> Tensor:
    """One step: each probability in turn is made the best for those of the others."""
    count = len(q)
    ps, products, total = [p[:, i] for i in range(count)], [qp[:, i] for i in range(count)], pqp[:, 0]
    for i in range(count):
        move = (total - products[i]) / q[i][i]
        ps[i] = ps[i] + move
        whole = 1.0 + move
        total = (total + move * (move * q[i][i] + 2.0 * products[i])) / square(whole)
        products = [(y + move * q[i][j]) / whole for j, y in enumerate(products)]
        ps = [one / whole for one in ps]
    return stack(ps, 1)


def _kernel(node: Node, x: Tensor, vectors: Array) -> Any:
    """The kernel of each row of `x` and each support vector."""
    kind = node.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = map(float, node.attribute("kernel_params", None) or (0.0, 0.0, 0.0))
    others = constant(vectors, x.dtype)
    if kind == "RBF":
        return exp(reduce_sum(square(expand_dims(x, 1) - others), 2) * -gamma)
    products = matmul(x, others, transpose_b=True)
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return pow(products * gamma + offset, degree)
    if kind == "SIGMOID":
        return tanh(products * gamma + offset)
    return node.refuse(f"kernel_type {kind!r} is not one of LINEAR, POLY, RBF, SIGMOID")
