"""Layers of random networks: functions of tensors, of any batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import pullback as pb

Tensor = pb.Tensor


def weighted(y: Tensor, numbers: str, seed: int) -> Tensor:
    """`y` times eighths that differ from place to place, "eighths", or "ones"; "square": its squares."""
    if numbers == "ones":
        return y
    if numbers == "square":
        return y * y * pb.cast(0.5, y.dtype)
    places = pb.reshape(pb.range(pb.size(y)), pb.shape(y))
    return y * pb.cast((places * 37 + seed) % 17 - 8, y.dtype) / _number(y, 8)


def _number(x: Tensor, value: float) -> Tensor:
    return pb.cast(pb.constant(value, pb.float64), x.dtype)


ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "tanh": pb.tanh,
    "relu": pb.nn.relu,
    "sigmoid": pb.sigmoid,
    "softplus": pb.nn.softplus,
    "gelu": pb.nn.gelu,
    "elu": pb.nn.elu,
    "swish": pb.nn.swish,
    "sin": pb.sin,
    "square": pb.square,
    "exp": lambda x: pb.exp(-pb.square(x)),
    "abs": pb.abs,
    "relu6": pb.nn.relu6,
    "leaky": pb.nn.leaky_relu,
    "log": lambda x: pb.log1p(pb.square(x)),
    "identity": pb.identity,
    "guarded": lambda x: pb.log((_number(x, 1) - pb.sigmoid(x)) + _number(x, 1e-3)),
    "clip": lambda x: pb.clip_by_value(x, _number(x, -0.7), _number(x, 0.9)),
    "step": lambda x: pb.where(x > _number(x, 0.1), x, pb.square(x)),
}


def activation(x: Tensor, *, kind: str) -> Tensor:
    return ACTIVATIONS[kind](x)


def dense(x: Tensor, w: Tensor, b: Tensor | None = None, *, transposed: bool = False, kind: str = "identity") -> Tensor:
    """Of the last axis; `w` [out, in] where it is transposed."""
    if x.shape.rank == 2:
        y = pb.matmul(x, w, transpose_b=transposed)
    else:
        y = pb.tensordot(x, pb.transpose(w) if transposed else w, 1)
    return ACTIVATIONS[kind](y if b is None else pb.nn.bias_add(y, b))


def product(a: Tensor, b: Tensor, *, transpose_a: bool = False, transpose_b: bool = False, scale: float = 1) -> Tensor:
    return pb.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b) * _number(a, scale)


def equation(*xs: Tensor, text: str, scale: float = 1.0) -> Tensor:
    return pb.einsum(text, *xs) * _number(xs[0], scale)


FACTORS: Mapping[str, Callable[[Any, Any, int], Any]] = {
    "sum": lambda x, n, m: pb.fill([n, m], pb.reduce_mean(x)),
    "largest": lambda x, n, m: pb.broadcast_to(pb.reduce_max(x), [n, m]),
    "one": lambda x, n, m: pb.ones([n, m], x.dtype),
    "column": lambda x, n, m: pb.broadcast_to(pb.reduce_mean(x, 0)[:, None], [n, m]),
    "row": lambda x, n, m: pb.broadcast_to(pb.reduce_max(x, 0, keepdims=True)[:, :1], [n, m]),
    "first row": lambda x, n, m: pb.tile(x[:1, :1] * _number(x, 2), [n, m]),
    "unit": lambda x, n, m: pb.eye(n, m, dtype=x.dtype) * pb.reduce_mean(x),
    "in order": lambda x, n, m: pb.cast(pb.reshape(pb.range(n * m), [n, m]) % 11, x.dtype) / _number(x, 8),
    "differences": lambda x, n, m: (
        pb.reduce_mean(x, 0)[:, None] - pb.reduce_max(x, 0)[None, :1] * pb.ones([n, m], x.dtype)
    ),
    "triangle": lambda x, n, m: pb.matrix_band_part(pb.fill([n, m], pb.reduce_mean(x)), 0, -1),
    "rounded": lambda x, n, m: pb.cast(pb.cast(pb.fill([n, m], pb.reduce_mean(x)), pb.bfloat16), x.dtype),
}
"""Matrices [n, m] that XLA makes of little, where it multiplies by them; `x` has n columns."""


def times_made(x: Tensor, *, of: str, columns: int, transposed: bool = False, first: bool = False) -> Tensor:
    """A product with such a matrix, transposed or not, which is the first or the second factor."""
    n = x.shape[-1]
    matrix = FACTORS[of](x, n, columns) * _number(x, 1 / n)
    if first:
        return pb.matmul(
            pb.transpose(matrix) if transposed else matrix, x, transpose_a=not transposed, transpose_b=True
        )
    return pb.matmul(x, pb.transpose(matrix) if transposed else matrix, transpose_b=transposed)


REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "sum": lambda x, axis, keepdims: (
        pb.reduce_sum(x, axis, keepdims) / pb.cast(8, x.dtype)
        if x.dtype.kind in "fVc"
        else pb.reduce_sum(x, axis, keepdims)
    ),
    "mean": pb.reduce_mean,
    "max": pb.reduce_max,
    "min": pb.reduce_min,
    "prod": lambda x, axis, keepdims: (
        pb.reduce_prod(_number(x, 1) + x * _number(x, 1e-3), axis, keepdims)
        if x.dtype.kind in "fVc"
        else pb.reduce_max(x, axis, keepdims)
    ),
    "logsumexp": pb.reduce_logsumexp,
    "norm": lambda x, axis, keepdims: pb.norm(x, "euclidean", axis, keepdims),
    "squares": lambda x, axis, keepdims: pb.reduce_mean(x * x, axis, keepdims),
}


def reduced(x: Tensor, *, kind: str, axis: Sequence[int] | int | None, keepdims: bool = False) -> Tensor:
    return REDUCTIONS[kind](x, axis, keepdims)


def against_reduced(x: Tensor, *, kind: str, axis: Sequence[int] | int | None, how: str) -> Tensor:
    """An array with its own reduction: subtracted, multiplied, compared."""
    y = REDUCTIONS[kind](x, axis, True)
    return {
        "minus": lambda: x - y,
        "times": lambda: x * y,
        "over": lambda: x / (_number(x, 1) + pb.square(y)),
        "at": lambda: pb.where(pb.broadcast_to(y, pb.shape(x)) > x, x, pb.zeros_like(x)),
        "maximum": lambda: pb.maximum(x, y * _number(x, 0.5)),
    }[how]()


def with_other(x: Tensor, y: Tensor, *, how: str) -> Tensor:
    """Elementwise, of arrays that broadcast."""
    return {
        "plus": lambda: x + y,
        "minus": lambda: x - y,
        "times": lambda: x * y,
        "over": lambda: x / (_number(x, 1) + pb.square(y)),
        "maximum": lambda: pb.maximum(x, y),
        "minimum": lambda: pb.minimum(x, y),
        "difference": lambda: pb.squared_difference(x, y),
        "where": lambda: pb.where(x > y, x, pb.broadcast_to(y, pb.shape(x))),
        "atan2": lambda: pb.atan2(x, y),
    }[how]()


def normalised(x: Tensor, *, kind: str) -> Tensor:
    axes = list(range(x.shape.rank - 1))
    if kind == "batch":
        mean, variance = pb.nn.moments(x, axes)
        return pb.nn.batch_normalization(x, mean, variance, None, None, 1e-3)
    return {
        "softmax": lambda: pb.nn.softmax(x),
        "log softmax": lambda: pb.nn.log_softmax(x),
        "softmax along 1": lambda: pb.nn.softmax(x, 1),
        "layer": lambda: pb.nn.layer_normalization(x),
        "l2": lambda: pb.nn.l2_normalize(x, -1, 1e-3),
        "l2 of all": lambda: pb.nn.l2_normalize(x, None, 1e-3),
    }[kind]()


def cumulative(x: Tensor, *, kind: str, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    if kind == "sum":
        return pb.cumsum(x, axis, exclusive, reverse)
    if kind == "product":
        return pb.cumprod(_number(x, 1) + x * _number(x, 1e-3), axis, exclusive, reverse)
    return pb.math.cumulative_logsumexp(x, axis, exclusive, reverse)


def moved(x: Tensor, *, how: str) -> Tensor:
    """Elements in other places."""
    rank = x.shape.rank
    last = [[0, 0]] * (rank - 1)
    return {
        "reversed": lambda: pb.reverse(x, [rank - 1]),
        "rows reversed": lambda: x[::-1],
        "every other": lambda: x[..., ::2],
        "rows every other": lambda: x[::2],
        "head": lambda: x[..., : max(x.shape[-1] // 2, 1)],
        "padded": lambda: pb.pad(x, [*last, [1, 2]]),
        "mirrored": lambda: pb.pad(x, [*last, [1, 0]], "SYMMETRIC"),
        "rolled": lambda: pb.roll(x, 1, 0),
        "doubled": lambda: pb.concat([x, pb.tanh(x)], rank - 1),
        "tiled": lambda: pb.tile(x, [1] * (rank - 1) + [2]),
        "repeated": lambda: pb.repeat(x, 2, axis=-1),
        "turned": lambda: pb.transpose(x, [0, *range(rank - 1, 0, -1)]),
        "transposed": lambda: pb.transpose(x),
        "flat": lambda: pb.reshape(x, [-1, int(np.prod(x.shape[1:].as_list()))]),
        "added up": lambda: pb.add_n(pb.unstack(x, axis=rank - 1)),
        "stacked": lambda: pb.stack([x, x * x], 1),
    }[how]()


def split(x: Tensor, *, lengths: Sequence[int]) -> Tensor:
    """The last axis as several."""
    return pb.reshape(x, pb.concat([pb.shape(x)[:-1], list(lengths)], 0))


def picked(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    return pb.gather(x, indices, axis=axis)


def segments(x: Tensor, ids: Tensor, *, kind: str, count: int) -> Tensor:
    return getattr(pb, f"unsorted_segment_{kind}")(x, ids, count)


def sorted_along(x: Tensor, *, kind: str, axis: int = -1) -> Tensor:
    if kind == "sort":
        return pb.sort(x, axis)
    if kind == "top":
        return pb.nn.top_k(x, max(x.shape[-1] // 2, 1))[0]
    return pb.one_hot(pb.argmax(x, axis), x.shape[axis], dtype=x.dtype) * pb.tanh(x) if axis == -1 else pb.sort(x, axis)


def cross_entropy(x: Tensor, labels: Tensor) -> Tensor:
    return pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)


def convolved(x: Tensor, f: Tensor, b: Tensor | None = None, *, kind: str = "identity", **how: Any) -> Tensor:
    y = pb.nn.convolution(x, f, **how)
    first = (how.get("data_format") or "").startswith("NC")
    return ACTIVATIONS[kind](y if b is None else pb.nn.bias_add(y, b, data_format="NCHW" if first else None))


def convolved_back(x: Tensor, f: Tensor, *, stride: int, padding: str) -> Tensor:
    """A transposed convolution."""
    windows = f.shape.as_list()[:-2]
    lengths = [
        n * stride if padding == "SAME" else (n - 1) * stride + k
        for n, k in zip(x.shape.as_list()[1:-1], windows, strict=True)
    ]
    shape = pb.stack([pb.shape(x)[0], *lengths, f.shape[-2]])
    y = pb.nn.conv_transpose(x, f, shape, stride, padding)
    return pb.ensure_shape(y, [None, *lengths, f.shape[-2]])


def depthwise(x: Tensor, f: Tensor, *, kind: str = "identity", **how: Any) -> Tensor:
    return ACTIVATIONS[kind](pb.nn.depthwise_conv2d(x, f, **how))


def pooled(x: Tensor, **how: Any) -> Tensor:
    return pb.nn.pool(x, **how)


def dilated(x: Tensor, f: Tensor, *, strides: int, padding: str) -> Tensor:
    """Grey-scale dilation."""
    return pb.nn.dilation2d(x, f, strides, padding)


def image(x: Tensor, *, kind: str) -> Tensor:
    return {
        "lrn": lambda: pb.nn.lrn(x, 2),
        "depth": lambda: pb.nn.space_to_depth(x, 2),
        "space": lambda: pb.nn.depth_to_space(x, 2),
        "larger": lambda: pb.image.resize_bilinear(x, [2 * x.shape[1], 2 * x.shape[2]]),
        "nearest": lambda: pb.image.resize_nearest_neighbor(x, [2 * x.shape[1], 2 * x.shape[2]]),
    }[kind]()


def attention(x: Tensor, q: Tensor, k: Tensor, v: Tensor, *, heads: int, causal: bool) -> Tensor:
    """Scaled products of [batch, time, channels]."""
    time, channels = x.shape[1], x.shape[2]

    def parts(w: Tensor) -> Tensor:
        return pb.transpose(pb.reshape(pb.tensordot(x, w, 1), [-1, time, heads, channels // heads]), [0, 2, 1, 3])

    scores = pb.matmul(parts(q), parts(k), transpose_b=True) * _number(x, (channels // heads) ** -0.5)
    if causal:
        scores += pb.cast(pb.constant(np.triu(np.full((time, time), -1e4), 1)), x.dtype)
    y = pb.matmul(pb.nn.softmax(scores), parts(v))
    return pb.reshape(pb.transpose(y, [0, 2, 1, 3]), [-1, time, channels])


def recurrent(x: Tensor, w: Tensor, u: Tensor, *, how: str, reverse: bool = False) -> Tensor:
    """tanh(x w + h u) along axis 1 of [batch, time, channels]."""
    rows = pb.transpose(x, [1, 0, 2])
    start = pb.zeros_like(pb.matmul(rows[0], w))

    def step(h: Tensor, row: Tensor) -> Tensor:
        return pb.tanh(pb.matmul(row, w) + pb.matmul(h, u))

    if how == "unrolled":
        found = [start]
        for t in range(x.shape[1]):
            found.append(step(found[-1], rows[t]))
        return pb.stack(found[1:], 1)
    return pb.transpose(pb.scan(step, rows, start, reverse=reverse), [1, 0, 2])


def repeatedly(x: Tensor, w: Tensor, *, kind: str, count: int, how: str) -> Tensor:
    """A layer of as many outputs as inputs, in a loop, a function, one that is computed again, a branch, or a map."""
    rank = x.shape.rank

    def once(y: Tensor) -> Tensor:
        return ACTIVATIONS[kind](pb.matmul(y, w) if rank == 2 else pb.nn.convolution(y, w, 1, "SAME"))

    def row(y: Tensor) -> Tensor:
        return once(y[None])[0]

    if how == "loop":
        return pb.while_loop(lambda i, y: i < count, lambda i, y: [i + 1, once(y)], [0, x])[1]
    if how == "until":
        return pb.while_loop(lambda i, y: (i < count) & (_size(y) >= 0.0), lambda i, y: [i + 1, once(y)], [0, x])[1]
    if how == "branch":
        return pb.cond(_size(x) > 1e-3, lambda: once(x), lambda: once(once(x)))
    if how in ("map", "rows"):
        return pb.vectorized_map(row, x) if how == "map" else pb.map_fn(row, x)
    function: Any = pb.function(once) if how == "function" else pb.recompute_grad(once)
    for _ in range(count):
        x = function(x)
    return x


def _size(x: Tensor) -> Tensor:
    return pb.cast(pb.reduce_mean(pb.abs(x)), pb.float32)


def solved(x: Tensor, *, kind: str) -> Tensor:
    """Of the Gram matrix of columns, made regular."""
    n = x.shape[-1]
    gram = pb.matmul(x, x, transpose_a=True) / pb.cast(pb.shape(x)[0], x.dtype) + pb.eye(n, dtype=x.dtype)
    return {
        "solve": lambda: pb.transpose(pb.matrix_solve(gram, pb.transpose(x))),
        "cholesky": lambda: pb.matmul(x, pb.cholesky(gram)),
        "inverse": lambda: pb.matmul(x, pb.matrix_inverse(gram)),
        "logdet": lambda: x * pb.linalg.logdet(gram),
    }[kind]()


def masked(x: Tensor, *, how: str) -> Tensor:
    """Of the rows whose first element is positive, however many there are."""
    rows = pb.boolean_mask(x, x[:, 0] > _number(x, 0))
    return {
        "sum": lambda: pb.reduce_sum(pb.tanh(rows), 0),
        "largest": lambda: pb.reduce_max(pb.concat([rows, x[:1]], 0), 0),
        "gram": lambda: pb.matmul(rows, rows, transpose_a=True),
        "scaled": lambda: pb.reduce_sum(rows * pb.reduce_mean(x, 0), 0),
        "softmax": lambda: pb.reduce_sum(pb.nn.softmax(rows), 0),
    }[how]()


def collected(x: Tensor, w: Tensor, *, count: int, how: str) -> Tensor:
    """What a loop that ends when its state says so has written into an array, row after row."""
    start = pb.reduce_mean(x, 0)

    def more(i: Tensor, y: Tensor, rows: Any) -> Tensor:
        return (i < count) & (_size(y) >= 0.0)

    def step(i: Tensor, y: Tensor, rows: Any) -> list[Any]:
        z = pb.tanh(pb.matmul(y[None], w)[0] + pb.reduce_max(x, 0) * _number(x, 0.1))
        return [i + 1, z, rows.write(i, z)]

    array = pb.TensorArray(x.dtype, size=0, dynamic_size=True, element_shape=start.shape)
    _, _, array = pb.while_loop(more, step, [0, start, array], maximum_iterations=count + 3)
    rows = array.stack()
    return {
        "sum": lambda: pb.reduce_sum(rows, 0),
        "gram": lambda: pb.matmul(rows, rows, transpose_a=True),
        "largest": lambda: pb.reduce_max(rows * _number(x, 0.5), 0),
        "squares": lambda: pb.reduce_sum(rows * rows),
        "softmax": lambda: pb.reduce_sum(pb.nn.softmax(rows), 0),
    }[how]()
