"""Sequence to sequence without loops, as the first versions had it: `tf.contrib.legacy_seq2seq`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import pullback as pb

from ....core.typing import DTypeLike
from .linear_cells import linear as _linear
from .rnn import EmbeddingWrapper, OutputProjectionWrapper, RNNCell

Inputs = Sequence[Any]
LoopFunction = Callable[[Any, int], Any] | None


def rnn_decoder(
    decoder_inputs: Inputs, initial_state: Any, cell: Any, loop_function: LoopFunction = None, scope: Any = None
) -> tuple[list[pb.Tensor], Any]:
    """The outputs of `cell` for a list of inputs, and its last state.

    With `loop_function` each input but the first is what that makes of the output before and its number.

    >>> import pullback.compat.v1 as tf
    >>> cell = tf.nn.rnn_cell.GRUCell(3)
    >>> outputs, state = tf.contrib.legacy_seq2seq.rnn_decoder([tf.ones([2, 5])] * 4, tf.zeros([2, 3]), cell)
    >>> len(outputs), state.shape
    (4, TensorShape([2, 3]))
    """
    state, outputs = initial_state, list[pb.Tensor]()
    with pb.variable_scope(scope or "rnn_decoder"):
        for i, x in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with pb.variable_scope("loop_function", reuse=True):
                    x = loop_function(outputs[-1], i)
            if i > 0:
                pb.get_variable_scope().reuse_variables()
            output, state = cell(x, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Inputs, decoder_inputs: Inputs, cell: Any, dtype: DTypeLike = pb.float32, scope: Any = None
) -> tuple[list[pb.Tensor], Any]:
    """`rnn_decoder` from the last state of a copy of `cell` that has read the inputs of the encoder."""
    with pb.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = pb.nn.static_rnn(_unbuilt(cell), list(encoder_inputs), dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def embedding_rnn_decoder(
    decoder_inputs: Inputs,
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[pb.Tensor], Any]:
    """`rnn_decoder` of symbols [batch], which are rows of a variable `embedding`.

    With `feed_previous` each symbol but the first is the likeliest one of the output before.
    """
    with pb.variable_scope(scope or "embedding_rnn_decoder"):
        table = pb.get_variable("embedding", [num_symbols, embedding_size])
        loop = _likeliest(table, output_projection, update_embedding_for_previous) if feed_previous else None
        return rnn_decoder([pb.gather(table, i) for i in decoder_inputs], initial_state, cell, loop)


def embedding_rnn_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: bool = False,
    dtype: DTypeLike | None = None,
    scope: Any = None,
) -> tuple[list[pb.Tensor], Any]:
    """Logits of symbols, from the last state of a copy of `cell` that has read symbols."""
    with pb.variable_scope(scope or "embedding_rnn_seq2seq", dtype=dtype or pb.float32):
        encoder = EmbeddingWrapper(_unbuilt(cell), num_encoder_symbols, embedding_size)
        _, state = pb.nn.static_rnn(encoder, list(encoder_inputs), dtype=dtype or pb.float32)
        decoder = cell if output_projection else OutputProjectionWrapper(cell, num_decoder_symbols)
        options = (num_decoder_symbols, embedding_size, output_projection, feed_previous)
        return embedding_rnn_decoder(decoder_inputs, state, decoder, *options)


def attention_decoder(
    decoder_inputs: Inputs,
    initial_state: Any,
    attention_states: pb.Tensor,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: LoopFunction = None,
    dtype: DTypeLike | None = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[pb.Tensor], Any]:
    """A decoder that looks at `attention_states` [batch, length, n] before each output.

    Source: O. Vinyals et al., "Grammar as a foreign language", 2015.
    """
    length = output_size or cell.output_size
    depth = int(attention_states.shape.as_list()[2] or 0)
    with pb.variable_scope(scope or "attention_decoder", dtype=dtype):
        keys = [pb.get_variable(f"AttnW_{a}", [1, 1, depth, depth]) for a in range(num_heads)]
        scores = [pb.get_variable(f"AttnV_{a}", [depth]) for a in range(num_heads)]
        hidden = [pb.einsum("bln,nm->blm", attention_states, k[0, 0]) for k in keys]

        def looked(state: Any) -> list[pb.Tensor]:
            query = pb.concat(pb.nest.flatten(state), 1)
            found = []
            for a in range(num_heads):
                with pb.variable_scope(f"Attention_{a}"):
                    wanted = _linear([query], depth)
                weights = pb.math.softmax(pb.reduce_sum(scores[a] * pb.tanh(hidden[a] + wanted[:, None, :]), 2))
                found.append(pb.einsum("bl,bln->bn", weights, attention_states))
            return found

        state, outputs = initial_state, list[pb.Tensor]()
        batch = pb.shape(attention_states)[0]
        seen = [pb.zeros(pb.stack([batch, depth]), attention_states.dtype) for _ in range(num_heads)]
        if initial_state_attention:
            seen = looked(state)
        for i, x in enumerate(decoder_inputs):
            if i > 0:
                pb.get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with pb.variable_scope("loop_function", reuse=True):
                    x = loop_function(outputs[-1], i)
            with pb.variable_scope("InputProjection"):
                mixed = _linear([x, *seen], x.shape.as_list()[1])
            output, state = cell(mixed, state)
            if i == 0 and initial_state_attention:
                with pb.variable_scope(pb.get_variable_scope(), reuse=True):
                    seen = looked(state)
            else:
                seen = looked(state)
            with pb.variable_scope("AttnOutputProjection"):
                outputs.append(_linear([output, *seen], length))
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs: Inputs,
    initial_state: Any,
    attention_states: pb.Tensor,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DTypeLike | None = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[pb.Tensor], Any]:
    """`attention_decoder` of symbols, as `embedding_rnn_decoder`."""
    with pb.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = pb.get_variable("embedding", [num_symbols, embedding_size])
        loop = _likeliest(table, output_projection, update_embedding_for_previous) if feed_previous else None
        return attention_decoder(
            [pb.gather(table, i) for i in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size,
            num_heads,
            loop,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: tuple[Any, Any] | None = None,
    feed_previous: bool = False,
    dtype: DTypeLike | None = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[pb.Tensor], Any]:
    """Logits of symbols, of a decoder that looks at the outputs of a copy of `cell` that has read symbols."""
    with pb.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype or pb.float32):
        encoder = EmbeddingWrapper(_unbuilt(cell), num_encoder_symbols, embedding_size)
        outputs, state = pb.nn.static_rnn(encoder, list(encoder_inputs), dtype=dtype or pb.float32)
        decoder = cell if output_projection else OutputProjectionWrapper(cell, num_decoder_symbols)
        return embedding_attention_decoder(
            decoder_inputs,
            state,
            pb.stack(outputs, 1),
            decoder,
            num_decoder_symbols,
            embedding_size,
            num_heads,
            None if output_projection else num_decoder_symbols,
            output_projection,
            feed_previous,
            initial_state_attention=initial_state_attention,
        )


def sequence_loss_by_example(
    logits: Inputs,
    targets: Inputs,
    weights: Inputs,
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> pb.Tensor:
    """The weighted cross entropy of each sequence [batch]: of lists of logits [batch, classes] and targets [batch].

    Raises:
        ValueError: the lists are of different lengths.

    >>> import pullback.compat.v1 as tf
    >>> seq = tf.contrib.legacy_seq2seq
    >>> tf.Session().run(seq.sequence_loss_by_example([tf.zeros([1, 4])], [[2]], [tf.ones([1])]))
    array([1.3862944], dtype=float32)
    """
    if not len(logits) == len(targets) == len(weights):
        lengths = f"{len(logits)}, {len(targets)} and {len(weights)}"
        raise ValueError(f"sequence_loss_by_example: logits, targets and weights must be as many, not {lengths}")
    losses = [
        w * _loss(softmax_loss_function, target, logit)
        for logit, target, w in zip(logits, targets, weights, strict=True)
    ]
    total: Any = pb.add_n(losses, name=name)
    if not average_across_timesteps:
        return total  # type: ignore[no-any-return]
    found: pb.Tensor = total / (pb.add_n(list(weights)) + 1e-12)
    return found


def sequence_loss(
    logits: Inputs,
    targets: Inputs,
    weights: Inputs,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> pb.Tensor:
    """The sum of `sequence_loss_by_example`, divided by the length of the batch."""
    each = sequence_loss_by_example(logits, targets, weights, average_across_timesteps, softmax_loss_function, name)
    total: pb.Tensor = pb.reduce_sum(each)
    if not average_across_batch:
        return total
    mean: pb.Tensor = total / pb.cast(pb.shape(targets[0])[0], total.dtype)
    return mean


def model_with_buckets(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    targets: Inputs,
    weights: Inputs,
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[..., Any],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[pb.Tensor]]:
    """For each pair of lengths the outputs and the loss of `seq2seq` of as many inputs; all share their variables."""
    del name
    outputs, losses = [], []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    for i, (first, second) in enumerate(buckets):
        with pb.variable_scope(pb.get_variable_scope(), reuse=True if i > 0 else None):
            found, _ = seq2seq(encoder_inputs[:first], decoder_inputs[:second])
        outputs.append(found)
        losses.append(loss(found, targets[:second], weights[:second], softmax_loss_function=softmax_loss_function))
    return outputs, losses


def _loss(function: Callable[..., Any] | None, target: Any, logits: Any) -> Any:
    if function is None:
        return pb.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    return function(labels=target, logits=logits)


def _likeliest(table: Any, projection: tuple[Any, Any] | None, update: bool) -> Callable[[Any, int], Any]:
    """The row of the likeliest symbol of an output."""

    def loop(previous: Any, _: int) -> Any:
        if projection is not None:
            previous = pb.matmul(previous, projection[0]) + projection[1]
        rows = pb.gather(table, pb.cast(pb.argmax(previous, 1), pb.int32))
        return rows if update else pb.stop_gradient(rows)

    return loop


def _unbuilt(cell: Any) -> Any:
    """A copy of a cell, and of the cells in it, which has no variables yet."""
    new = copy(cell)
    vars(new).update(built=False, _scope=None, _called=False)
    for name, value in vars(cell).items():
        if isinstance(value, RNNCell):
            vars(new)[name] = _unbuilt(value)
        elif isinstance(value, list | tuple) and any(isinstance(part, RNNCell) for part in value):
            vars(new)[name] = [_unbuilt(part) for part in value]
    return new
