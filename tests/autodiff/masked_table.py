"""Masks, what mixes elements, and poles: the compositions of which derivatives must be zero where a mask hides."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

import pullback as pb

F = Callable[..., Any]
AT = np.array([[0.0, -0.0, 0.0], [1.2, 2.4, 0.5], [2.2, 0.7, 1.5]])
"""The poles of the functions below are in the first row, which masks hide."""
SAFE = np.concatenate([[[0.9, 0.6, 0.8]], AT[1:]])
"""The same rows without a pole: what is not hidden has the same derivatives."""
WEIGHTS = np.array([[1.0, -2.0, 0.0], [0.5, 0.0, 3.0], [2.0, 1.0, -1.0]])


def below(y: Any) -> Any:
    """Whether an element of `y` is in the rows below the first one."""
    return np.array([False, True, True]).reshape([3] + [1] * (y.shape.rank - 1))


def rows_of(mask: Any, y: Any) -> Any:
    """A number for each row of `y`, of its rank."""
    return pb.reshape(mask, [3] + [1] * (y.shape.rank - 1))


def matrices(p: Any, x: Any) -> Any:
    """A regular matrix for each row."""
    return pb.expand_dims(p, 2) * pb.expand_dims(x, 1) + 4.0 * np.eye(3)


def image(x: Any) -> Any:
    """The rows as images of one line and one channel."""
    return pb.reshape(x, [3, 1, 3, 1])


def normalized(p: Any) -> Any:
    """The layer normalisation of the rows."""
    mean, variance = pb.nn.moments(p, [1], keepdims=True)
    return (p - mean) * pb.math.rsqrt(variance + 1e-3)


def attended(p: Any, x: Any) -> Any:
    """Attention within the rows."""
    weights = pb.nn.softmax(pb.expand_dims(p, 2) * pb.expand_dims(x, 1))
    return pb.linalg.matvec(weights, p)


MASKS: dict[str, F] = {
    "where": lambda y: pb.where(below(y), y, pb.zeros_like(y)),
    "multiply_no_nan": lambda y: pb.math.multiply_no_nan(y, pb.cast(below(y), pb.float64)),
    "slice": lambda y: y[1:],
    "gather": lambda y: pb.gather(y, [1, 2, 2]),
    "boolean_rows": lambda y: pb.concat([y[1:], pb.zeros_like(y[:1])], 0),
    "relu": lambda y: pb.nn.relu(pb.where(below(y), y, -pb.ones_like(y))),
    "maximum": lambda y: pb.maximum(pb.where(below(y), y, -9.0 * pb.ones_like(y)), -8.0),
    "padding": lambda y: pb.pad(y[1:], [[1, 0]] + [[0, 0]] * (y.shape.rank - 1)),
    "boolean_mask": lambda y: pb.boolean_mask(y, [False, True, True]),
    "sequence_mask": lambda y: pb.where(rows_of(pb.sequence_mask(2, 3)[::-1], y), y, pb.zeros_like(y)),
    "cond": lambda y: pb.cond(pb.constant(True), lambda: MASKS["where"](y), lambda: y * 2.0),
    "where_of_where": lambda y: MASKS["where"](pb.square(MASKS["where"](y))),
    "masked_mean": lambda y: pb.reduce_sum(MASKS["where"](y), 0) / 2.0,
    "minus_infinity": lambda y: pb.nn.softmax(pb.where(below(y), y, -np.inf * pb.ones_like(y)), 0),
    "zeros_and_ones": lambda y: y * pb.cast(below(y), pb.float64),
}
MIXERS: dict[str, F] = {
    "nothing": lambda p, x: p,
    "product": lambda p, x: p * x,
    "square": lambda p, x: pb.square(p),
    "squared_difference": lambda p, x: pb.math.squared_difference(p, x),
    "divisor": lambda p, x: x / p,
    "saturated": lambda p, x: pb.exp(-pb.square(p)),
    "quotient": lambda p, x: p / (x + 2),
    "two_poles": lambda p, x: p * pb.sqrt(x),
    "tanh": lambda p, x: pb.tanh(p),
    "sigmoid": lambda p, x: pb.sigmoid(p),
    "elu": lambda p, x: pb.nn.elu(p),
    "exp": lambda p, x: pb.exp(p),
    "power": lambda p, x: p**2.0,
    "sum": lambda p, x: pb.reduce_sum(p, 1),
    "mean": lambda p, x: pb.reduce_mean(p * p, 1),
    "prod": lambda p, x: pb.reduce_prod(p, 1),
    "max": lambda p, x: pb.reduce_max(p, 1),
    "std": lambda p, x: pb.math.reduce_std(p, 1),
    "norm": lambda p, x: pb.norm(p, axis=1),
    "logsumexp": lambda p, x: pb.reduce_logsumexp(p, 1),
    "matmul": lambda p, x: pb.matmul(p, pb.constant(WEIGHTS)),
    "batch_matmul": lambda p, x: pb.matmul(matrices(p, x), matrices(x, p)),
    "inverse": lambda p, x: pb.linalg.inv(matrices(p, x)),
    "solve": lambda p, x: pb.linalg.solve(matrices(p, x), pb.expand_dims(p, 2)),
    "triangular_solve": lambda p, x: pb.linalg.triangular_solve(matrices(p, x), pb.expand_dims(p, 2)),
    "cholesky": lambda p, x: pb.linalg.cholesky(matrices(p, p)),
    "det": lambda p, x: pb.linalg.det(matrices(p, x)),
    "slogdet": lambda p, x: pb.linalg.slogdet(matrices(p, x))[1],
    "matvec": lambda p, x: pb.linalg.matvec(p, pb.constant(WEIGHTS[2])),
    "einsum": lambda p, x: pb.einsum("ij,ij->i", p, x),
    "cumsum": lambda p, x: pb.cumsum(p * p, 1),
    "cumsum_to_rows": lambda p, x: pb.cumsum(p * x, 0, reverse=True),
    "cumprod": lambda p, x: pb.math.cumprod(p, 1),
    "cumprod_to_rows": lambda p, x: pb.math.cumprod(p * x, 0, reverse=True),
    "softmax": lambda p, x: pb.nn.softmax(p),
    "log_softmax": lambda p, x: pb.nn.log_softmax(p),
    "cross_entropy": lambda p, x: pb.nn.softmax_cross_entropy_with_logits(labels=pb.constant(np.eye(3)), logits=p),
    "convolution": lambda p, x: pb.reshape(pb.nn.conv2d(image(p * p), np.ones([1, 2, 1, 2]), 1, "SAME"), [3, 6]),
    "average_pool": lambda p, x: pb.reshape(pb.nn.avg_pool2d(image(p * p), [1, 2], 1, "SAME"), [3, 3]),
    "max_pool": lambda p, x: pb.reshape(pb.nn.max_pool2d(image(p * p), [1, 2], 1, "SAME"), [3, 3]),
    "columns": lambda p, x: pb.gather(p * p, [2, 0, 1, 1], axis=1),
    "scattered": lambda p, x: pb.tensor_scatter_nd_add(p * p, [[1], [2]], (p * x)[1:]),
    "segments": lambda p, x: pb.math.unsorted_segment_prod(p, [0, 1, 2], 3),
    "sorted": lambda p, x: pb.sort(p * x, axis=1),
    "top_k": lambda p, x: pb.math.top_k(p * x, 2)[0],
    "layer_norm": lambda p, x: normalized(p),
    "attention": attended,
    "fft": lambda p, x: pb.abs(pb.signal.fft(pb.cast(p, pb.complex128))),
    "rfft": lambda p, x: pb.square(pb.abs(pb.signal.rfft(p))),
    "complex": lambda p, x: pb.real(pb.square(pb.complex(p, x))) + pb.math.angle(pb.complex(x, p)),
    "call": lambda p, x: pb.function(lambda p, x: p * x)(p, x),
    "branch": lambda p, x: pb.cond(pb.constant(True), lambda: p * x, lambda: x),
    "scan": lambda p, x: pb.scan(lambda _, row: row * row, p, initializer=pb.constant(np.zeros(3))),
}
POLES: dict[str, F] = {
    "log": pb.math.log,
    "sqrt": pb.sqrt,
    "rsqrt": pb.math.rsqrt,
    "reciprocal": lambda x: 1.0 / x,
    "power": lambda x: x**-0.5,
    "lgamma": pb.math.lgamma,
    "power_above_one": lambda x: x**1.5,
    "acos": lambda x: pb.acos(1.0 - 0.3 * x),
    "atanh": lambda x: pb.atanh(1.0 - 0.4 * x),
    "norm": lambda x: x + pb.norm(x, axis=1, keepdims=True),
    "not_a_number": lambda x: pb.math.log(x - 1e-9),
    "overflow": lambda x: pb.exp(x + 1e3 * pb.cast(pb.equal(x, 0.0), pb.float64)),
    "x*log(x)": lambda x: x * pb.math.log(x),
    "sqrt*log": lambda x: pb.sqrt(x) * pb.math.log(x),
    "pow*pow": lambda x: x**0.5 * x**-0.25,
    "acosh": lambda x: pb.acosh(1.0 + x),
    "asin": lambda x: pb.asin(1.0 - 0.4 * x),
    "digamma": pb.math.digamma,
    "log1p": lambda x: pb.math.log1p(x - 1.0),
    "x**x": lambda x: x**x,
    "xlogy": lambda x: pb.math.xlogy(x, x),
    "atan2": lambda x: pb.atan2(x, 0.0 * x),
    "of_unit_norm": lambda x: x / pb.norm(x, axis=1, keepdims=True),
    "in_a_call": lambda x: pb.function(lambda x: x * pb.math.log(x))(x),
    "in_a_loop": lambda x: pb.while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, y / x], [0, x])[1],
}
FINITE = {"sqrt", "power_above_one", "acos", "norm", "acosh", "asin", "xlogy"}
"""The poles of derivatives only: a product with 0 hides these."""
ROUGH = {"logsumexp", "divisor", "cross_entropy", "inverse", "solve", "triangular_solve", "cholesky", "det", "slogdet"}
"""The mixers of these that are not 0 or finite there."""


def compositions() -> list[tuple[str, str, str]]:
    """All that mean something: a mask, a mixer and a pole by name."""
    found = product(MASKS, MIXERS, POLES)
    return [
        (m, k, p)
        for m, k, p in found
        if (k, p) != ("scan", "in_a_loop") and (m != "zeros_and_ones" or (p in FINITE and k not in ROUGH))
    ]


def derivatives(mask: str, mixer: str, pole: str, x: Any) -> list[Any]:
    """The masked value, and its derivatives: backward, forward, and of the backward one both."""
    y = MASKS[mask](MIXERS[mixer](POLES[pole](x), x))
    weights = pb.cos(pb.cast(pb.reshape(pb.range(pb.size(y)), pb.shape(y)), pb.float64)) + 1.5
    seed, direction = pb.constant(np.arange(1.0, 10.0).reshape(3, 3)), pb.constant(WEIGHTS + 0.3)
    (dx,) = pb.gradients(y, x, weights)
    return [y, dx, *pb.gradients(dx, x, seed), *pb.jvp(dx, x, direction), *pb.jvp(y, x, direction)]


ORDERS = ("the value", "dx", "ddx", "the jvp of dx", "the jvp")


def faults(chosen: list[tuple[str, str, str]], engine: str) -> list[str]:
    """What is wrong in these: of the hidden row derivatives are zeros, and all else is what it is without poles."""
    return [fault for i in range(0, len(chosen), 20) for fault in faults_of_a_graph(chosen[i : i + 20], engine)]


def faults_of_a_graph(chosen: list[tuple[str, str, str]], engine: str) -> list[str]:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [3, 3])
        fetches = [derivatives(*names, x) for names in chosen]
        session = pb.Session(graph=graph, engine=engine)
        found, safe = [session.run(fetches, {x: at}) for at in (AT, SAFE)]
    wrong = []
    for names, at, expected in zip(chosen, found, safe, strict=True):
        for order, value, other in zip(ORDERS, at, expected, strict=True):
            if order in ORDERS[1:4]:
                other = np.concatenate([np.zeros([1, 3]), other[1:]])
            if not np.allclose(value, other, rtol=1e-6, atol=1e-8):
                wrong.append(f"{names}: {order} is {value}, not {other}")
    return wrong
