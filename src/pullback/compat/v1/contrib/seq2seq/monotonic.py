"""Monotonic attention: alignments that never go back (Raffel et al., 2017)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.typing import DTypeLike, TensorLike
from .attention import _BaseAttentionMechanism, bahdanau_score, luong_score, unbiased


def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> pb.Tensor:
    """`cumprod` of elements in (0, 1], `exp(cumsum(log(x)))`: its derivative is finite at 0. Arguments of `cumsum`."""
    y = pb.convert_to_tensor(x)
    return pb.exp(pb.cumsum(pb.log(pb.clip_by_value(y, float(np.finfo(y.dtype).tiny), 1.0)), *args, **kwargs))


@in_graph_of_inputs
def monotonic_attention(p_choose_i: TensorLike, previous_attention: TensorLike, mode: str) -> pb.Tensor:
    """The probability that each step of a memory is attended to, when it is gone through from where it was last.

    At each step the search stops with the probability `p_choose_i` [batch, time]. "recursive" goes step by step,
    "parallel" takes products and sums, which is inexact where probabilities are near 0 or 1 and the memory is long,
    "hard" is exact where all of them are 0 or 1.

    Raises:
        ValueError: another mode.

    >>> import pullback.compat.v1 as tf
    >>> p, before = [[0.5, 0.5, 1.0]], [[1.0, 0.0, 0.0]]
    >>> tf.Session().run(tf.contrib.seq2seq.monotonic_attention(p, before, "recursive")).tolist()
    [[0.5, 0.25, 0.25]]
    """
    p, before = pb.convert_to_tensor(p_choose_i), pb.convert_to_tensor(previous_attention)
    if mode == "recursive":
        on = pb.concat([pb.ones_like(p[:, :1]), 1.0 - p[:, :-1]], 1)
        reached = pb.scan(
            lambda x, step: step[0] * x + step[1], (pb.transpose(on), pb.transpose(before)), pb.zeros_like(p[:, 0])
        )
        return p * pb.transpose(reached)
    if mode == "parallel":
        on = safe_cumprod(1.0 - p, 1, True)
        return p * on * pb.cumsum(before / pb.clip_by_value(on, 1e-10, 1.0), 1)
    if mode == "hard":
        p = p * pb.cumsum(before, 1)
        return p * pb.cumprod(1.0 - p, 1, exclusive=True)
    raise ValueError(f"monotonic_attention: mode must be 'recursive', 'parallel' or 'hard', not {mode!r}")


def _monotonic_probability_fn(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Any:
    """The alignments of scores, with noise added before they become probabilities."""
    if sigmoid_noise > 0:
        score = score + sigmoid_noise * pb.random_normal(pb.shape(score), dtype=score.dtype, seed=seed)
    p = pb.cast(score > 0.0, score.dtype) if mode == "hard" else pb.sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """Attention whose first alignment is the first step of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> pb.Tensor:
        """1 for the first step of the memory, 0 for the others."""
        return pb.one_hot(pb.zeros([batch_size], pb.int32), self._alignments_size, dtype=pb.as_dtype(dtype))


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with the scores of `BahdanauAttention`, plus a variable.

    Source: C. Raffel et al., "Online and linear-time attention by enforcing monotonic alignments", 2017.

    >>> import pullback.compat.v1 as tf
    >>> attention = tf.contrib.seq2seq.BahdanauMonotonicAttention(3, tf.ones([2, 4, 5]), mode="hard")
    >>> attention(tf.ones([2, 6]), attention.initial_state(2, tf.float32))[0].shape
    TensorShape([2, 4])
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        noise: dict[str, Any] = {"sigmoid_noise": sigmoid_noise, "mode": mode, "seed": sigmoid_noise_seed}
        super().__init__(
            query_layer=unbiased(num_units, "query_layer", dtype),
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(_monotonic_probability_fn, **noise),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._score_bias_init = num_units, normalize, score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [batch, time] of a query [batch, depth], and the next state, which is the same."""
        with pb.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = bahdanau_score(self.query_layer(query), self._keys, self._normalize)
            score = score + _bias(self._score_bias_init, query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with the scores of `LuongAttention`, plus a variable.

    Source: C. Raffel et al., "Online and linear-time attention by enforcing monotonic alignments", 2017.

    >>> import pullback.compat.v1 as tf
    >>> attention = tf.contrib.seq2seq.LuongMonotonicAttention(3, tf.ones([2, 4, 5]), scale=True)
    >>> attention(tf.ones([2, 3]), attention.initial_state(2, tf.float32))[0].shape
    TensorShape([2, 4])
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        noise: dict[str, Any] = {"sigmoid_noise": sigmoid_noise, "mode": mode, "seed": sigmoid_noise_seed}
        super().__init__(
            query_layer=None,
            memory_layer=unbiased(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(_monotonic_probability_fn, **noise),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._score_bias_init = num_units, scale, score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [batch, time] of a query [batch, units], and the next state, which is the same."""
        with pb.variable_scope(None, "luong_monotonic_attention", [query]):
            score = luong_score(query, self._keys, self._scale) + _bias(self._score_bias_init, query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _bias(begins: float, query: Any) -> Any:
    return pb.get_variable("attention_score_bias", [], query.dtype, initializer=pb.constant_initializer(begins))
