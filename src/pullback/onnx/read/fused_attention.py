"""ONNX import of com.microsoft: attention with keys and values of the past, grouped queries, rotary embedding."""

from __future__ import annotations

import math
from typing import Any

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.activations.softmax import softmax
from ...primitives.creation.constant import constant
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.maximum import maximum
from ...primitives.indexing.gather import gather
from ...primitives.indexing.scatter_nd import tensor_scatter_nd_update
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.logic.comparison import equal
from ...primitives.logic.logical import logical_and
from ...primitives.shape.broadcast import broadcast_to
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat, split, stack
from ...primitives.shape.tile import repeat
from ...primitives.shape.transpose import transpose
from ..reading import Node, reader
from .attention import turned
from .dtypes import cast
from .lengths import length, lengths, rank_of
from .operands import scalar, vector

_DOMAIN = "com.microsoft"


@reader("Attention", domain=_DOMAIN)
def attention(
    node: Node,
    x: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    seen: Tensor | None = None,
    past: Tensor | None = None,
    added: Tensor | None = None,
    past_length: Tensor | None = None,
) -> Any:
    """Attention whose queries, keys and values are one product of `x` and `weights`; and keys and values for later."""
    if past_length is not None:
        node.refuse("a past whose buffer is shared is not read")
    rows = matmul(x, weights)
    rows = rows if bias is None else rows + bias
    parts = split(rows, list(node.attribute("qkv_hidden_sizes", ())) or 3, rank_of(node, rows) - 1)
    q, k, v = [_heads(part, node.attribute("num_heads")) for part in parts]
    if past is not None:
        k, v = concat([past[0], k], 2), concat([past[1], v], 2)
    y, _ = _attended(node, q, k, v, seen, added)
    return y, stack([k, v]) if node.wants(1) else None


@reader("MultiHeadAttention", domain=_DOMAIN)
def multi_head_attention(
    node: Node,
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    seen: Tensor | None = None,
    added: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    *more: Tensor | None,
) -> Any:
    """Attention of queries, keys and values [batch, length, heads * size], to which a bias for all three is added."""
    if any(m is not None for m in more):
        node.refuse("a past whose buffer is shared is not read")
    if key is None or value is None or rank_of(node, query) != 3 or rank_of(node, key) not in (3, 4):
        node.refuse("packed queries, keys and values are not read; they must be three tensors")
    heads, is_split = node.attribute("num_heads"), rank_of(node, key) == 4
    if bias is not None:
        sizes = [x.shape.size(2) for x in (query, key, value)]
        if None in sizes or is_split:
            node.refuse("the widths of queries, keys and values must be known where they have a bias")
        of_query, of_key, of_value = split(bias, [n for n in sizes if n is not None], 0)
        query, key, value = query + of_query, key + of_key, value + of_value
    k, v = (key, value) if is_split else (_heads(key, heads), _heads(value, heads))
    if past_key is not None and past_value is not None:
        k, v = concat([past_key, k], 2), concat([past_value, v], 2)
    y, scores = _attended(node, _heads(query, heads), k, v, seen, added)
    return y, k, v, scores


def _heads(x: Tensor, count: int) -> Tensor:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    batch, steps, _ = lengths(x)
    return transpose(reshape(x, [batch, steps, count, -1]), [0, 2, 1, 3])


def _joined(y: Tensor) -> Tensor:
    """[batch, heads, length, size] as [batch, length, heads * size]."""
    batch, _, steps, _ = lengths(y)
    return reshape(transpose(y, [0, 2, 1, 3]), [batch, steps, -1])


def _scale(node: Node, q: Tensor) -> float:
    size = q.shape.size(3)
    scale: float | None = node.attribute("scale", 0.0) or (None if size is None else 1 / math.sqrt(size))
    if scale is None:
        node.refuse("the size of a head must be known where there is no scale")
    return scale


def _attended(
    node: Node, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, added: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The result of all heads, side by side, and the scores: what is not seen has a large negative number added."""
    queries, keys = length(q, 2), length(k, 2)
    scores = matmul(q * _scale(node, q), k, transpose_b=True)
    low = constant(node.attribute("mask_filter_value", -10000.0), scores.dtype)
    if seen is not None:
        scores = scores + where(_seen(node, seen, keys), constant(0.0, scores.dtype), low)
    if added is not None:
        scores = scores + added
    if node.attribute("unidirectional", 0):
        before = keys - queries
        ahead = range_(constant(0, int64), keys) - expand_dims(range_(constant(0, int64), queries) + before, 1)
        scores = scores + where(ahead <= 0, constant(0.0, scores.dtype), low)
    return _joined(matmul(softmax(scores), v)), scores


def _seen(node: Node, seen: Tensor, keys: Any) -> Tensor:
    """Which keys are seen, to be broadcast over scores: as a mask, or how many there are."""
    rank = rank_of(node, seen)
    if rank == 1:
        return range_(constant(0, int64), keys) < reshape(cast(seen, int64), [-1, 1, 1, 1])
    batch, *rest = lengths(seen)
    return reshape(seen, [batch, *([1] * (4 - rank)), *rest]) > 0


@reader("RotaryEmbedding", domain=_DOMAIN)
def rotary_embedding(node: Node, x: Tensor, position_ids: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Pairs of elements turned by the angle of their place, which a vector of one element says of the first."""
    if node.attribute("is_packed_batching", 0):
        node.refuse("packed batches are not read")
    is_packed = rank_of(node, x) == 3
    heads = node.attribute("num_heads", 0)
    if is_packed and not heads:
        width, half = x.shape.size(2), cos.shape.size(1)
        if width is None or half is None:
            node.refuse("the width of the input must be known where num_heads is not given")
        heads = width // (2 * half)
    rows = _heads(x, heads) if is_packed else x
    places = cast(position_ids, int64)
    if rank_of(node, places) == 1:
        places = expand_dims(places + range_(constant(0, int64), length(rows, 2)), 0)
    y = _rotated(node, rows, places, cos, sin, node.attribute("interleaved", 0)) * node.attribute("scale", 1.0)
    return _joined(y) if is_packed else y


def _rotated(node: Node, x: Tensor, places: Tensor, cos: Tensor, sin: Tensor, interleaved: int) -> Tensor:
    """`x` [batch, heads, length, size] turned by the rows of tables at places [batch or 1, length]."""
    if cos.shape.size(1) is None or x.shape.size(3) is None:
        node.refuse("the size of a head, and how much of it is turned, must be known")
    width = 2 * cos.shape.size(1)
    turned_part = turned(
        x[..., :width], expand_dims(gather(cos, places), 1), expand_dims(gather(sin, places), 1), bool(interleaved)
    )
    return turned_part if width == x.shape.size(3) else concat([turned_part, x[..., width:]], 3)


@reader("GroupQueryAttention", domain=_DOMAIN)
def group_query_attention(
    node: Node,
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    past_key: Tensor | None,
    past_value: Tensor | None,
    last: Tensor,
    total: Tensor,
    cos: Tensor | None = None,
    sin: Tensor | None = None,
    *more: Tensor | None,
) -> Any:
    """Causal attention in which heads of keys serve groups of queries; new keys stand behind those of the past."""
    for name in ("smooth_softmax", "qk_output"):
        if node.attribute(name, 0) not in (0, -1):
            node.refuse(f"{name} is not read")
    if any(m is not None for m in more):
        node.refuse("positions, biases and sinks that are inputs are not read")
    heads, shared = node.attribute("num_heads"), node.attribute("kv_num_heads")
    if key is None or value is None:
        width = query.shape.size(2)
        if width is None:
            node.refuse("the width of packed queries, keys and values must be known")
        size = width // (heads + 2 * shared)
        query, key, value = split(query, [heads * size, shared * size, shared * size], 2)
    q, k, v = _heads(query, heads), _heads(key, shared), _heads(value, shared)
    steps, whole = length(q, 2), scalar(cast(total, int64))
    before = where(equal(whole, steps), constant(0, int64), reshape(cast(last, int64), [-1]) + 1 - steps)
    places = expand_dims(before, 1) + range_(constant(0, int64), steps)
    if node.attribute("do_rotary", 0):
        if cos is None or sin is None:
            node.reject("do_rotary needs tables of cosines and sines")
        q, k = [_rotated(node, x, places, cos, sin, node.attribute("rotary_interleaved", 0)) for x in (q, k)]
    k, v = _behind(past_key, k, places, whole), _behind(past_value, v, places, whole)
    batch, _, _, size = lengths(q)
    rows = reshape(q, [batch, shared, heads // shared, steps, size])
    scores = matmul(rows * _scale(node, q), expand_dims(k, 2), transpose_b=True)
    cap = node.attribute("softcap", 0.0)
    scores = tanh(scores / cap) * cap if cap else scores
    at_key, at_query = range_(constant(0, int64), length(k, 2)), reshape(places, [-1, 1, 1, steps, 1])
    visible, window = at_key <= at_query, node.attribute("local_window_size", -1)
    if window >= 0:
        visible = logical_and(visible, at_key > at_query - window)
    chances = softmax(where(visible, scores, constant(-math.inf, scores.dtype)))
    y = reshape(matmul(chances, expand_dims(v, 2)), [batch, heads, steps, -1])
    return _joined(y), k, v


def _behind(past: Tensor | None, x: Tensor, places: Tensor, total: Tensor) -> Tensor:
    """What a buffer holds [batch, heads, room, size] after `x` was written at places [batch or 1, length] of it."""
    if past is None:
        return x
    batch, steps = length(x, 0), length(x, 2)
    room = length(past, 2)
    more = maximum(total - vector([room])[0], 0)
    longer = pad(
        past, stack([*[constant([0, 0], int64)] * 2, stack([constant(0, int64), more]), constant([0, 0], int64)])
    )
    rows = transpose(longer, [0, 2, 1, 3])
    at = broadcast_to(places, vector([batch, steps]))
    number = reshape(repeat(range_(constant(0, int64), batch), steps), vector([batch, steps]))
    written = tensor_scatter_nd_update(rows, stack([number, at], -1), transpose(x, [0, 2, 1, 3]))
    return transpose(written, [0, 2, 1, 3])
