"""Attention layers of Keras: for each query a mean of values, weighted by how well their keys fit.

Sources: M.-T. Luong, H. Pham, C. Manning, 2015, for products; D. Bahdanau, K. Cho, Y. Bengio, 2015, for sums.
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from .base import Layer
from .plain import of_all, refuse_others


class AbstractAttention(Layer):
    """What both share: `inputs` are [query, value], or [query, value, key], each [batch, steps, dim].

    A mask is that of queries and of values: values that do not count have no weight, results of such queries are 0.
    With `causal` no query sees a later value.
    """

    supports_masking = True

    def __init__(self, use_scale: bool, causal: bool = False, **options: Any) -> None:
        refuse_others(type(self).__name__, options)
        super().__init__(**of_all(options))
        self.use_scale, self.causal = use_scale, causal

    def fit(self, query: Any, key: Any) -> Any:
        """How well each key fits each query, [batch, queries, keys]."""
        raise NotImplementedError(f"{type(self).__name__} defines no fit()")

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """The means.

        Raises:
            ValueError: `inputs` is no list of two or three tensors.
        """
        if not isinstance(inputs, list | tuple) or len(inputs) not in (2, 3):
            raise ValueError(
                f"keras {type(self).__name__}: takes [query, value] or [query, value, key], not {inputs!r}"
            )
        query, value, *rest = [pb.convert_to_tensor(x) for x in inputs]
        scores = self.fit(query, rest[0] if rest else value)
        of_query, of_value = [*(mask or ()), None, None][:2]
        hidden = None if of_value is None else pb.logical_not(of_value)[:, None, :]
        if self.causal:
            count = pb.shape(scores)
            later = pb.range(count[2])[None, None, :] > pb.range(count[1])[None, :, None]
            hidden = later if hidden is None else hidden | later
        if hidden is not None:
            scores = scores - 1e9 * pb.cast(hidden, scores.dtype)
        result = pb.matmul(pb.nn.softmax(scores), value)
        return result if of_query is None else result * pb.cast(of_query, result.dtype)[..., None]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the queries."""
        del inputs
        return mask[0] if mask else None


class Attention(AbstractAttention):
    """Products of queries and keys say how well they fit; with `use_scale` times a variable, `scale`.

    >>> import pullback.compat.v1 as tf
    >>> query, value = tf.zeros([1, 2, 3]), tf.constant([[[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]])
    >>> tf.Session().run(tf.keras.layers.Attention()([query, value]))[0, 0]
    array([2., 3., 4.], dtype=float32)
    """

    def __init__(self, use_scale: bool = False, **options: Any) -> None:
        super().__init__(use_scale, **options)

    def build(self, input_shape: Any) -> None:
        """Make the variable."""
        del input_shape
        if self.use_scale:
            self.scale = self.add_weight("scale", (), initializer="ones")

    def fit(self, query: Any, key: Any) -> Any:
        """How well each key fits each query."""
        scores = pb.matmul(query, key, transpose_b=True)
        return scores * self.scale if self.use_scale else scores


class AdditiveAttention(AbstractAttention):
    """The sum of `tanh(query + key)`, with `use_scale` times a variable, `scale` [dim], says how well they fit."""

    def __init__(self, use_scale: bool = True, **options: Any) -> None:
        super().__init__(use_scale, **options)

    def build(self, input_shape: Any) -> None:
        """Make the variable."""
        if self.use_scale:
            self.scale = self.add_weight("scale", [int(input_shape[1][-1])], initializer="glorot_uniform")

    def fit(self, query: Any, key: Any) -> Any:
        """How well each key fits each query."""
        joined = pb.tanh(query[:, :, None, :] + key[:, None, :, :])
        return pb.reduce_sum(joined * self.scale if self.use_scale else joined, -1)
