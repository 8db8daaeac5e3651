"""Attention mechanisms: how much each step of a memory matters to a query (Luong, Bahdanau)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

from .....core import nest
from .....core.typing import DTypeLike, TensorLike
from .....layers.variables.layer import Layer
from ...layers.objects import Dense

Probabilities = Callable[[Any], Any] | None


class AttentionMechanism:
    """What an `AttentionWrapper` asks: called with a query and a state, it returns alignments and the next state."""


class _BaseAttentionMechanism(AttentionMechanism):
    """Attention over a memory [batch, time, depth], through a layer for the query and one for the memory.

    A mechanism of one's own says `__call__(query, state)`. It finds the memory, masked beyond the lengths, in `values`,
    what the layer makes of it in `keys`, and `_probability_fn(score, state)` gives alignments of scores [batch, time].
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: TensorLike | None = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: float | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        for layer, what in ((query_layer, "query_layer"), (memory_layer, "memory_layer")):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"attention: {what} must be a layer, not {layer!r}")
        if not callable(probability_fn):
            raise TypeError(f"attention: probability_fn must be callable, not {probability_fn!r}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._values = _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
        graph = nest.flatten(self._values)[0].graph.acting
        with graph.within(name or "BaseAttentionMechanismInit"):
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size, self._alignments_size = [_length(self._keys, axis) for axis in (0, 1)]
        self.dtype = self._keys.dtype
        hidden = -np.inf if score_mask_value is None else score_mask_value

        def probabilities(score: Any, state: Any) -> Any:
            masked = _maybe_mask_score(score, memory_sequence_length, score_mask_value=hidden)
            return probability_fn(masked, state)

        self._probability_fn = probabilities

    @property
    def memory_layer(self) -> Any:
        """The layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that a query goes through; None: it is taken as it is."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, zeros beyond the lengths: [batch, time, depth]."""
        return self._values

    @property
    def keys(self) -> Any:
        """What a query is compared with: [batch, time, units]."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The number of sequences: an integer where it is known."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory: an integer where it is known."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The length of the state of a sequence."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> pb.Tensor:
        """What the alignments are before the first step: zeros [batch, time]."""
        return pb.zeros([batch_size, self._alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """What the state is before the first step: the first alignments."""
        return self.initial_alignments(batch_size, dtype)


class LuongAttention(_BaseAttentionMechanism):
    """Attention by products, `softmax(keys @ query)`; with `scale` of the products times a variable.

    The memory goes through a layer of `num_units` to become keys; queries are of that length.

    Source: M.-T. Luong et al., "Effective approaches to attention-based neural machine translation", 2015.

    >>> import pullback.compat.v1 as tf
    >>> attention = tf.contrib.seq2seq.LuongAttention(3, tf.ones([2, 4, 5]), [4, 1])
    >>> alignments, state = attention(tf.ones([2, 3]), attention.initial_state(2, tf.float32))
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(alignments))
    [[0.25 0.25 0.25 0.25]
     [1.   0.   0.   0.  ]]
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: Probabilities = None,
        score_mask_value: float | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=stateless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [batch, time] of a query [batch, units], and the next state, which is the same."""
        with pb.variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauAttention(_BaseAttentionMechanism):
    """Attention by sums, `softmax(v @ tanh(keys + query))`; with `normalize`, `v` has a length of its own, and a bias.

    Memory and query go through layers of `num_units`.

    Source: D. Bahdanau et al., "Neural machine translation by jointly learning to align and translate", 2015;
    T. Salimans and D. P. Kingma, "Weight normalization", 2016.

    >>> import pullback.compat.v1 as tf
    >>> attention = tf.contrib.seq2seq.BahdanauAttention(3, tf.ones([2, 4, 5]))
    >>> alignments, state = attention(tf.ones([2, 6]), attention.initial_state(2, tf.float32))
    >>> [v.op.name for v in tf.trainable_variables()][1:]
    ['bahdanau_attention/query_layer/kernel', 'bahdanau_attention/attention_v']
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: Probabilities = None,
        score_mask_value: float | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            query_layer=unbiased(num_units, "query_layer", dtype),
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=stateless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [batch, time] of a query [batch, depth], and the next state, which is the same."""
        with pb.variable_scope(None, "bahdanau_attention", [query]):
            score = bahdanau_score(self.query_layer(query), self._keys, self._normalize)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def hardmax(logits: TensorLike, name: str | None = None) -> pb.Tensor:
    """1 where the largest of `logits` [..., n] is, 0 elsewhere. It has no derivative.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.seq2seq.hardmax([[1.0, 3.0, 2.0]])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    x = pb.convert_to_tensor(logits)
    return pb.one_hot(pb.argmax(x, -1), _length(x, -1), dtype=x.dtype, name=name or "Hardmax")


def luong_score(query: Any, keys: Any, scale: bool) -> Any:
    """The products of a query and the keys, times a variable of the scope if `scale`.

    Raises:
        ValueError: their lengths differ.
    """
    depth, units = query.shape.size(-1), keys.shape.size(-1)
    if depth != units:
        raise ValueError(
            f"LuongAttention: the query {query.type} must be as long as the keys {keys.type}; give num_units={depth}"
        )
    score: Any = pb.squeeze(pb.matmul(pb.expand_dims(query, 1), keys, transpose_b=True), [1])
    return (
        pb.get_variable("attention_g", [], query.dtype, initializer=pb.ones_initializer()) * score if scale else score
    )


def bahdanau_score(query: Any, keys: Any, normalize: bool) -> Any:
    """`v @ tanh(keys + query)`, with variables of the scope."""
    units, dtype = keys.shape.size(-1), query.dtype
    v: Any = pb.get_variable("attention_v", [units], dtype)
    added = keys + pb.expand_dims(query, 1)
    if normalize:
        begins = pb.constant_initializer(math.sqrt(1.0 / units))
        g: Any = pb.get_variable("attention_g", [], dtype, initializer=begins)
        added = added + pb.get_variable("attention_b", [units], dtype, initializer=pb.zeros_initializer())
        v = g * v * pb.rsqrt(pb.reduce_sum(pb.square(v)))
    return pb.reduce_sum(v * pb.tanh(added), [2])


def unbiased(units: int, name: str, dtype: DTypeLike | None) -> Dense:
    """A layer that multiplies."""
    return Dense(units, use_bias=False, name=name, dtype=dtype or pb.float32)


def stateless(probability_fn: Probabilities) -> Callable[[Any, Any], Any]:
    """`probability_fn` of scores, softmax unless it is given, called with a state that it does not look at."""
    made: Callable[[Any], Any] = probability_fn or pb.math.softmax
    return lambda score, _: made(score)


def _prepare_memory(memory: Any, memory_sequence_length: Any = None, check_inner_dims_defined: bool = True) -> Any:
    """`memory`, zero beyond the lengths.

    Raises:
        ValueError: a length beyond batch and time is not known.
    """

    def prepared(value: Any) -> pb.Tensor:
        m = pb.convert_to_tensor(value)
        if check_inner_dims_defined and not m.shape[2:].is_fully_defined():
            raise ValueError(f"attention: the memory {m.type} must have known lengths beyond batch and time")
        if memory_sequence_length is None:
            return m
        alive = pb.cast(pb.sequence_mask(memory_sequence_length, _length(m, 1)), m.dtype)
        for _ in range((m.shape.rank or 3) - 2):
            alive = pb.expand_dims(alive, -1)
        return m * alive

    return nest.map_structure(prepared, memory)


def _maybe_mask_score(
    score: Any, memory_sequence_length: Any = None, memory_mask: Any = None, score_mask_value: float = -np.inf
) -> Any:
    """`score` [batch, time], and `score_mask_value` beyond the lengths, or where the mask is False."""
    if memory_sequence_length is None and memory_mask is None:
        return score
    if memory_sequence_length is not None:
        memory_mask = pb.sequence_mask(memory_sequence_length, _length(score, 1))
    return pb.where(memory_mask, score, pb.convert_to_tensor(score_mask_value, pb.as_dtype(score.dtype)))


def _length(x: Any, axis: int) -> Any:
    known = x.shape.size(axis)
    return pb.shape(x)[axis] if known is None else known
