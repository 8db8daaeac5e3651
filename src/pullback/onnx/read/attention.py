"""ONNX import of attention, and of what belongs to it: compositions, by the bodies that ONNX gives for them.

A row of which every key is hidden has zeros for its result and for its derivative.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.dtypes import bool as bool_
from ...core.dtypes import float32, int64
from ...core.operation import Tensor
from ...primitives.activations.bias import bias_add
from ...primitives.activations.rectifiers import silu
from ...primitives.activations.softmax import softmax
from ...primitives.convolution.conv import DepthwiseConv2dNative
from ...primitives.creation.constant import constant
from ...primitives.creation.fill import zeros
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.exponential import exp
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.masking import mask
from ...primitives.elementwise.powers import rsqrt
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.logic.logical import logical_and, logical_or
from ...primitives.reduction.reduce import reduce_all
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat, stack
from ...primitives.shape.transpose import transpose
from ..element_types import dtype_of
from ..reading import Node, reader
from .dtypes import cast
from .lengths import length, lengths, rank_of
from .steps import recur

_MINUS = -math.inf


@reader("Attention")
def attention(
    node: Node,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad: Tensor | None = None,
) -> Any:
    packed = rank_of(node, q) == 3
    if packed:
        q = _heads(q, node.attribute("q_num_heads"))
        k, v = [_heads(x, node.attribute("kv_num_heads")) for x in (k, v)]
    keys = k if past_key is None else concat([past_key, k], 2)
    values = v if past_value is None else concat([past_value, v], 2)
    raw = _products(node, q, keys)
    cap = node.attribute("softcap", 0.0)
    capped = tanh(raw / cap) * cap if cap else raw
    rules = _Rules(node, q, keys, attn_mask, past_key, nonpad, scores=capped)
    chances = _chances(node, rules.applied(capped))
    y = rules.shown(_weighted(chances, cast(values, q.dtype), q))
    if packed:
        dims = lengths(y)
        y = reshape(transpose(y, [0, 2, 1, 3]), [dims[0], dims[2], -1])
    if not any(node.wants(i) for i in (1, 2, 3)):
        return y
    if not node.wants(3):
        return y, keys, values
    seen = (lambda: raw, lambda: capped, lambda: rules.in_full(capped), lambda: rules.shown(chances))
    return y, keys, values, seen[node.attribute("qk_matmul_output_mode", 0)]()


def _heads(x: Tensor, count: int | None) -> Tensor:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    batch, steps, _ = lengths(x)
    return transpose(reshape(x, [batch, steps, count, -1]), [0, 2, 1, 3])


def _products(node: Node, q: Tensor, k: Tensor) -> Tensor:
    """The scaled products of queries and keys [batch, heads, queries, keys]; heads of keys serve groups of queries."""
    scale = node.attribute("scale", None)
    size = length(q, 3)
    if scale is None and isinstance(size, Tensor):
        q = q * rsqrt(cast(size, q.dtype))
    elif q.dtype.itemsize == 2:
        # Halves as ONNX has it, lest float16 overflow.
        half = (size**-0.5 if scale is None else scale) ** 0.5
        q, k = q * half, k * half
    else:
        q = q * (size**-0.5 if scale is None else scale)
    batch, heads, queries, _ = lengths(q)
    products = matmul(_grouped(q, k), k, transpose_b=True)
    return reshape(products, [batch, heads, queries, length(k, 2)])


def _grouped(x: Tensor, k: Tensor) -> Tensor:
    """The rows of the heads that share a head of keys, one after the other."""
    if x.shape.size(1) is not None and x.shape.size(1) == k.shape.size(1):
        return x
    dims = lengths(x)
    return reshape(x, [dims[0], length(k, 1), -1, dims[3] if x.shape.size(3) is not None else length(k, 3)])


def _weighted(chances: Tensor, v: Tensor, q: Tensor) -> Tensor:
    y = matmul(_grouped_rows(chances, v), v)
    if y.shape.size(1) is not None and y.shape.size(1) == q.shape.size(1):
        return y
    return reshape(y, [length(q, 0), length(q, 1), length(q, 2), length(v, 3)])


def _grouped_rows(chances: Tensor, v: Tensor) -> Tensor:
    if chances.shape.size(1) is not None and chances.shape.size(1) == v.shape.size(1):
        return chances
    return reshape(chances, [length(chances, 0), length(v, 1), -1, length(v, 2)])


class _Rules:
    """Which keys a query may see, and what is added to the scores.

    A query that may see none is let see all, so that there is no NaN on the way; what comes of it is hidden.
    """

    def __init__(
        self,
        node: Node,
        q: Tensor,
        k: Tensor,
        attn_mask: Tensor | None,
        past_key: Tensor | None,
        nonpad: Tensor | None,
        *,
        scores: Tensor,
    ) -> None:
        queries, keys = length(q, 2), length(k, 2)
        self.infinity = constant(_MINUS, scores.dtype)
        self.visible = _visible(node, queries, keys, past_key, nonpad)
        self.bias: Tensor | None = None
        # By their places alone every query sees some key, unless windows or padding say otherwise.
        certain = nonpad is None and node.attribute("left_window_size", -1) < 0
        if attn_mask is not None:
            certain = False
            attn_mask = _full_width(attn_mask, keys)
            if attn_mask.dtype == bool_:
                self.visible = attn_mask if self.visible is None else logical_and(attn_mask, self.visible)
            else:
                self.bias = cast(attn_mask, scores.dtype)
        self.hidden = None if certain else self._hidden()

    def _hidden(self) -> Tensor | None:
        """The queries [..., queries, 1] that see no key."""
        visible = self.visible
        if self.bias is not None:
            finite = self.bias > self.infinity
            visible = finite if visible is None else logical_and(finite, visible)
        return None if visible is None else reduce_all(~visible, -1, True)

    def in_full(self, scores: Tensor) -> Tensor:
        """The scores with what is added to them, minus infinity where a key may not be seen."""
        scores = scores if self.bias is None else scores + self.bias
        return scores if self.visible is None else where(self.visible, scores, self.infinity)

    def applied(self, scores: Tensor) -> Tensor:
        """The same where a query sees some key."""
        bias, visible = self.bias, self.visible
        if self.hidden is not None:
            bias = None if bias is None else where(self.hidden, constant(0.0, scores.dtype), bias)
            visible = None if visible is None else logical_or(visible, self.hidden)
        scores = scores if bias is None else scores + bias
        return scores if visible is None else where(visible, scores, self.infinity)

    def shown(self, x: Tensor) -> Tensor:
        """`x` with zeros for the queries that see no key."""
        return x if self.hidden is None else mask(self.hidden, x, keep=False)


def _full_width(attn_mask: Tensor, keys: Any) -> Tensor:
    """The mask made as wide as there are keys; those that it does not reach are hidden."""
    width = length(attn_mask, -1)
    if isinstance(width, int) and isinstance(keys, int):
        if width >= keys:
            return attn_mask
        amounts: Any = [(0, 0)] * (len(attn_mask.shape) - 1) + [(0, keys - width)]
    else:
        none = constant([0, 0], int64)
        after = keys - width if isinstance(keys, Tensor) else constant(keys, int64) - width
        amounts = stack([*[none] * (len(attn_mask.shape) - 1), stack([constant(0, int64), after])])
    return pad(attn_mask, amounts, constant_values=False if attn_mask.dtype == bool_ else _MINUS)


def _visible(node: Node, queries: Any, keys: Any, past_key: Tensor | None, nonpad: Tensor | None) -> Tensor | None:
    """Which keys each query may see, by place; None for all of them."""
    causal = bool(node.attribute("is_causal", 0))
    left, right = node.attribute("left_window_size", -1), node.attribute("right_window_size", -1)
    if causal:
        right = 0 if right < 0 else min(right, 0)
    at_key = range_(constant(0, int64), keys)
    rules = []
    if left >= 0 or right >= 0:
        offset: Any = 0
        if past_key is not None:
            offset = length(past_key, 2)
        elif nonpad is not None:
            offset = reshape(nonpad, [-1, 1, 1, 1]) - queries
        ahead = at_key - (expand_dims(range_(constant(0, int64), queries), 1) + offset)
        rules += [ahead <= right] if right >= 0 else []
        rules += [ahead >= -left] if left >= 0 else []
    if nonpad is not None:
        rules.append(at_key < reshape(nonpad, [-1, 1, 1, 1]))
    visible = None
    for rule in rules:
        visible = rule if visible is None else logical_and(visible, rule)
    return visible


def _chances(node: Node, scores: Tensor) -> Tensor:
    """The softmax of each row."""
    precision = node.attribute("softmax_precision", None)
    wide = scores if precision is None else cast(scores, dtype_of(precision))
    return cast(softmax(wide), scores.dtype)


@reader("FlexAttention", domain="ai.onnx.preview")
def flex_attention(node: Node, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention whose scores and probabilities are changed by functions that the node holds."""
    scores = _products(node, q, k)
    precision = node.attribute("softmax_precision", None)
    dtype = dtype_of(precision) if precision is not None else float32 if q.dtype.itemsize == 2 else q.dtype
    scores = _modified(node, "score_mod", cast(scores, dtype))
    chances = _modified(node, "prob_mod", softmax(scores))
    return cast(_weighted(chances, cast(v, dtype), q), v.dtype)


def _modified(node: Node, name: str, x: Tensor) -> Tensor:
    body = node.attribute(name, None)
    return x if body is None else node.read_body(body, [x])[0]


@reader("RotaryEmbedding")
def rotary_embedding(node: Node, x: Tensor, cos: Tensor, sin: Tensor, position_ids: Tensor | None = None) -> Tensor:
    """Pairs of elements turned by the angle of their place: the two halves of a head, or neighbours."""
    packed = rank_of(node, x) == 3
    dims = lengths(x)
    heads = reshape(x, [dims[0], dims[1], node.attribute("num_heads"), -1]) if packed else transpose(x, [0, 2, 1, 3])
    if position_ids is not None:
        cos, sin = gather(cos, position_ids), gather(sin, position_ids)
    cos, sin = expand_dims(cos, 2), expand_dims(sin, 2)
    width = node.attribute("rotary_embedding_dim", 0)
    rest = None
    if width and width != heads.shape.size(3):
        heads, rest = heads[..., :width], heads[..., width:]
    y = turned(heads, cos, sin, bool(node.attribute("interleaved", 0)))
    y = y if rest is None else concat([y, rest], 3)
    return reshape(y, dims) if packed else transpose(y, [0, 2, 1, 3])


def turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Pairs of elements of the last axis of `x` turned by angles: its halves, or neighbours."""
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
        pairs = stack([cos * a - sin * b, sin * a + cos * b], -1)
        return reshape(pairs, lengths(x))
    half = length(x, 3) // 2
    a, b = x[..., :half], x[..., half:]
    return concat([cos * a - sin * b, sin * a + cos * b], 3)


@reader("CausalConvWithState")
def causal_conv_with_state(
    node: Node, x: Tensor, w: Tensor, bias: Tensor | None = None, past_state: Tensor | None = None
) -> Any:
    """Each channel correlated with its own window over what came before; and the last elements, for the next call."""
    k = w.shape.size(2)
    if k is None:
        node.refuse(f"the window's length must be known, which it is not in {w}")
    longer = pad(x, [(0, 0), (0, 0), (k - 1, 0)]) if past_state is None else concat([past_state, x], 2)
    y = DepthwiseConv2dNative((1,), "VALID", "NCW", (1,))(longer, transpose(w, [2, 0, 1]))
    y = y if bias is None else bias_add(y, bias, "NC")
    if node.attribute("activation", "none") in ("silu", "swish"):
        y = silu(y)
    return y, longer[:, :, length(longer, 2) - (k - 1) :]


@reader("LinearAttention")
def linear_attention(
    node: Node,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
) -> Any:
    """`S <- exp(g) S + beta k (v - exp(g) S' k)'`, `y = scale S' q` step by step, in float32 at least."""
    heads = node.attribute("kv_num_heads")
    dtype = float32 if q.dtype.itemsize == 2 else q.dtype
    queries, keys, values = [_steps(cast(x, dtype), heads) for x in (q, k, v)]
    batch, size = length(q, 0), length(keys, 3)
    rows = [reshape(queries, [*lengths(queries)[:3], -1, size]), keys, values]
    gates = [] if decay is None else [exp(_steps(cast(decay, dtype), heads))]
    rates = [] if beta is None else [_steps(cast(beta, dtype), 1 if beta.shape.size(2) == 1 else heads)]
    scale: Any = node.attribute("scale", 0.0)
    if not scale:
        scale = rsqrt(cast(size, dtype)) if isinstance(size, Tensor) else size**-0.5

    def step(carried: Any, row: Any) -> Any:
        (state,) = carried
        query, key, value, *others = row
        if gates:
            state = state * expand_dims(others[0], -1)
        if rates:
            seen = matmul(expand_dims(key, 2), state)[:, :, 0]
            value = (value - seen) * others[-1]
        state = state + expand_dims(key, -1) * expand_dims(value, 2)
        return [state], [matmul(query, state)]

    start = zeros([batch, heads, size, length(values, 3)], dtype) if past_state is None else cast(past_state, dtype)
    (state,), (ys,) = recur(step, [start], [*rows, *gates, *rates])
    y = reshape(transpose(ys, [1, 0, 2, 3, 4]) * scale, [batch, length(q, 1), -1])
    return cast(y, q.dtype), cast(state, q.dtype if past_state is None else past_state.dtype)


def _steps(x: Tensor, heads: int) -> Tensor:
    """[batch, steps, heads * size] as [steps, batch, heads, size]."""
    batch, steps, _ = lengths(x)
    return transpose(reshape(x, [batch, steps, heads, -1]), [1, 0, 2, 3])
