"""Linear-chain conditional random fields: scores of sequences of tags, their sum over all, the best (`contrib.crf`).

Source: J. Lafferty et al., "Conditional random fields", 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from ....layers.rnn.cells import RNNCell
from ....primitives.elementwise.masking import mask


@in_graph_of_inputs
def crf_log_likelihood(
    inputs: TensorLike, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: Any = None
) -> tuple[pb.Tensor, Any]:
    """The logarithm of the probability of each sequence of tags [batch], and the transitions.

    `inputs` [batch, time, tags] are the scores of each tag at each step, `transition_params` [tags, tags] those of one
    tag after another: a variable `transitions`, unless they are given.

    Derivative: that of the score, less what is expected of it.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.zeros([1, 3, 2])
    >>> likelihood, _ = tf.contrib.crf.crf_log_likelihood(x, [[0, 1, 1]], [3], tf.zeros([2, 2]))
    >>> tf.Session().run(tf.exp(likelihood)).round(6).tolist()
    [0.125]
    """
    x = pb.convert_to_tensor(inputs)
    if transition_params is None:
        tags = x.shape.size(2)
        transition_params = pb.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(x, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(x, sequence_lengths, transition_params), transition_params


@in_graph_of_inputs
def crf_sequence_score(
    inputs: TensorLike, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: Any
) -> pb.Tensor:
    """The score of each sequence of tags [batch, time]: of its tags, and of its transitions."""
    transitions: Any = crf_binary_score(tag_indices, sequence_lengths, transition_params)
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + transitions  # type: ignore[no-any-return]


@in_graph_of_inputs
def crf_unary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, inputs: TensorLike) -> pb.Tensor:
    """The sum of the scores `inputs` [batch, time, tags] of the tags [batch, time] of each sequence."""
    tags = pb.convert_to_tensor(tag_indices)
    scores = pb.gather(inputs, tags, axis=2, batch_dims=2)
    return pb.reduce_sum(mask(pb.sequence_mask(sequence_lengths, pb.shape(tags)[1]), scores), 1)


@in_graph_of_inputs
def crf_binary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: Any) -> pb.Tensor:
    """The sum of the transitions [tags, tags] of each sequence of tags [batch, time]."""
    tags = pb.convert_to_tensor(tag_indices)
    scores = pb.gather_nd(transition_params, pb.stack([tags[:, :-1], tags[:, 1:]], -1))
    return pb.reduce_sum(mask(pb.sequence_mask(sequence_lengths, pb.shape(tags)[1])[:, 1:], scores), 1)


@in_graph_of_inputs
def crf_log_norm(inputs: TensorLike, sequence_lengths: TensorLike, transition_params: Any) -> pb.Tensor:
    """The logarithm of the sum of the exponentials of the scores of all sequences of tags; 0 for an empty one."""
    x, lengths = pb.convert_to_tensor(inputs), pb.convert_to_tensor(sequence_lengths)
    cell = CrfForwardRnnCell(transition_params)
    _, ends = pb.nn.dynamic_rnn(cell, x[:, 1:], pb.maximum(lengths - 1, 0), x[:, 0])
    return mask(lengths > 0, pb.reduce_logsumexp(ends, [1]))


@in_graph_of_inputs
def crf_multitag_sequence_score(
    inputs: TensorLike, tag_bitmap: TensorLike, sequence_lengths: TensorLike, transition_params: Any
) -> pb.Tensor:
    """The logarithm of the sum over all sequences that have only tags of `tag_bitmap` [batch, time, tags]."""
    x = pb.convert_to_tensor(inputs)
    allowed = pb.where(tag_bitmap, x, pb.constant(float("-inf"), x.dtype))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


@in_graph_of_inputs
def crf_decode(
    potentials: TensorLike, transition_params: Any, sequence_length: TensorLike
) -> tuple[pb.Tensor, pb.Tensor]:
    """The best sequences of tags [batch, time], int32, zeros beyond their lengths, and their scores [batch].

    Derivative: the scores have one; the tags have none.

    Source: A. Viterbi, "Error bounds for convolutional codes", 1967.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.constant([[[1.0, 0.0], [0.0, 0.2], [0.0, 3.0]]])
    >>> tags, score = tf.contrib.crf.crf_decode(x, [[0.5, 0.0], [0.0, 0.0]], [3])
    >>> tf.Session().run([tags, score])
    [array([[0, 0, 1]], dtype=int32), array([4.5], dtype=float32)]
    """
    x, lengths = pb.convert_to_tensor(potentials), pb.convert_to_tensor(sequence_length)
    steps = pb.maximum(lengths - 1, 0)
    best, scores = pb.nn.dynamic_rnn(CrfDecodeForwardRnnCell(transition_params), x[:, 1:], steps, x[:, 0])
    last = pb.expand_dims(pb.argmax(scores, 1, pb.int32), 1)
    backward = CrfDecodeBackwardRnnCell(x.shape.size(2))
    before, _ = pb.nn.dynamic_rnn(backward, pb.reverse_sequence(best, steps, 1, 0), steps, last)
    tags = pb.reverse_sequence(pb.concat([last, pb.squeeze(before, [2])], 1), lengths, 1, 0)
    return tags, pb.reduce_max(scores, 1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """The best sequence of tags for arrays of scores [time, tags] and transitions [tags, tags], and its score.

    >>> import pullback.compat.v1 as tf
    >>> tags, score = tf.contrib.crf.viterbi_decode([[1.0, 0.0], [0.0, 0.2], [0.0, 3.0]], [[0.5, 0.0], [0.0, 0.0]])
    >>> tags, float(score)
    ([0, 0, 1], 4.5)
    """
    scores, transitions = np.asarray(score), np.asarray(transition_params)
    best, before = scores[0], []
    for row in scores[1:]:
        ways = best[:, None] + transitions
        before.append(ways.argmax(0))
        best = row + ways.max(0)
    tags = [int(best.argmax())]
    for row in reversed(before):
        tags.append(int(row[tags[-1]]))
    return tags[::-1], best.max()


class CrfForwardRnnCell(RNNCell):
    """The forward algorithm: the logarithm of the sum over all ways to each tag, a step further."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = pb.convert_to_tensor(transition_params)

    state_size = output_size = property(lambda self: self._transitions.shape.size(0))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The next state, twice."""
        after = inputs + pb.reduce_logsumexp(pb.expand_dims(state, 2) + self._transitions, [1])
        return after, after


class CrfDecodeForwardRnnCell(RNNCell):
    """The best way to each tag, a step further: the state is its score, the output the tag before, int32."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = pb.convert_to_tensor(transition_params)

    state_size = output_size = property(lambda self: self._transitions.shape.size(0))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The tags before, and the next state."""
        ways = pb.expand_dims(state, 2) + self._transitions
        return pb.argmax(ways, 1, pb.int32), inputs + pb.reduce_max(ways, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """The best way, a step back: inputs are the tags before each tag, [batch, tags], the state is a tag [batch, 1]."""

    def __init__(self, num_tags: int | None) -> None:
        super().__init__()
        self._tags = num_tags

    state_size = output_size = 1

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The tag before, twice."""
        before = pb.gather(inputs, pb.cast(state, pb.int32), axis=1, batch_dims=1)
        return before, before
