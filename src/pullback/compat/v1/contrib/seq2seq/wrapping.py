"""Attention around a recurrent cell (`AttentionWrapper`): each step sees what the last one attended to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pullback as pb

from .....core import nest
from .....core.typing import DTypeLike
from .....layers.rnn.cells import RNNCell
from .....primitives.creation.constant import constant_value
from .attention import AttentionMechanism, unbiased


class AttentionWrapperState(NamedTuple):
    """The state of an `AttentionWrapper`; what belongs to mechanisms is a tuple if a list of them was given.

    `alignment_history` holds TensorArrays of all alignments, to be stacked, or () where they are not kept.
    """

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """This state with others of its parts.

        Raises:
            ValueError, TypeError: one has another structure or shape.

        >>> import pullback.compat.v1 as tf
        >>> from pullback.compat.v1.contrib import seq2seq
        >>> attention = seq2seq.LuongAttention(3, tf.ones([2, 4, 3]))
        >>> cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), attention)
        >>> cell.zero_state(2, tf.float32).clone(cell_state=tf.ones([2, 3])).cell_state.shape
        TensorShape([2, 3])
        """
        return nest.map_structure(_of_same_shape, self, self._replace(**kwargs))  # type: ignore[no-any-return]


def _of_same_shape(old: Any, new: Any) -> Any:
    if not isinstance(old, pb.Tensor) or not isinstance(new, pb.Tensor):
        return new
    if not old.shape.is_compatible_with(new.shape):
        raise ValueError(f"AttentionWrapperState.clone: {new.type} takes the place of {old.type}; shapes must be equal")
    return new if old.shape.merge_with(new.shape) == new.shape else pb.ensure_shape(new, old.shape)


def with_room(state: Any, steps: pb.Tensor) -> Any:
    """A state, be it of several cells, whose empty histories have room for so many steps from the beginning."""
    if isinstance(state, AttentionWrapperState):
        history = nest.map_structure(lambda array: _of_size(array, steps), state.alignment_history)
        return state._replace(alignment_history=history)
    if type(state) in (list, tuple):
        return type(state)(with_room(part, steps) for part in state)
    return state


def _of_size(array: Any, steps: pb.Tensor) -> Any:
    """`array`, of that size unless it has elements already."""
    if constant_value(array.size()) != 0:
        return array
    return pb.TensorArray(array.dtype, steps, element_shape=array.element_shape)


class AttentionWrapper(RNNCell):
    """`cell`, whose inputs are followed by what was attended to in the step before.

    The output of the cell is the query. What is attended to is the mean of the memory, weighted by the alignments; with
    `attention_layer_size` a layer of output and mean. It is the output, unless `output_attention=False`. Several
    mechanisms, and as many sizes or layers, are lists. `attention_fn(mechanism, output, state, layer)` returns the
    attention, the alignments and the next state in its own way.

    Raises:
        TypeError: a mechanism is no AttentionMechanism. ValueError: as many layers as mechanisms are needed; sizes and
            layers are given.

    Source: M.-T. Luong et al., "Effective approaches to attention-based neural machine translation", 2015.

    >>> import pullback.compat.v1 as tf
    >>> attention = tf.contrib.seq2seq.LuongAttention(3, tf.ones([2, 4, 5]))
    >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), attention, attention_layer_size=6)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 7, 8]), dtype=tf.float32)
    >>> outputs.shape, [v.op.name for v in cell.variables][-1]
    (TensorShape([2, 7, 6]), 'rnn/attention_wrapper/attention_layer/kernel')
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._is_multi = isinstance(attention_mechanism, list | tuple)
        self._attention_mechanisms = _listed(attention_mechanism)
        for mechanism in self._attention_mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    f"AttentionWrapper: attention_mechanism must be an AttentionMechanism, not {mechanism!r}"
                )
        self._cell, self._cell_input_fn = cell, cell_input_fn or _side_by_side
        self._attention_fn, self._output_attention = attention_fn or _compute_attention, output_attention
        self._alignment_history, self._initial_cell_state = alignment_history, initial_cell_state
        self._attention_layers = self._layers(attention_layer_size, attention_layer)
        if attention_layer_size is not None:
            self._attention_layer_size = sum(_listed(attention_layer_size))
        elif attention_layer is not None:
            depths = [cell.output_size + m.values.shape.size(-1) for m in self._attention_mechanisms]
            pairs = zip(self._attention_layers, depths, strict=True)
            self._attention_layer_size = sum(layer.compute_output_shape([None, n]).size(-1) for layer, n in pairs)
        else:
            self._attention_layer_size = sum(m.values.shape.size(-1) for m in self._attention_mechanisms)

    def _layers(self, sizes: Any, layers: Any) -> Sequence[Any]:
        """A layer for each mechanism, or None."""
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("AttentionWrapper: give attention_layer_size or attention_layer, not both")
        if sizes is None and layers is None:
            return [None] * len(mechanisms)
        given = _listed(layers if sizes is None else sizes)
        if len(given) != len(mechanisms):
            raise ValueError(f"AttentionWrapper: {len(given)} attention layers for {len(mechanisms)} mechanisms")
        if sizes is None:
            return given
        pairs = zip(given, mechanisms, strict=True)
        return [unbiased(n, "attention_layer", mechanism.dtype) for n, mechanism in pairs]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._attention_layer_size,
            time=(),
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            alignment_history=self._item_or_tuple(() for _ in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
        )

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The state before the first step; with beam search `batch_size` is that of the sequences times the beams.

        Raises:
            ValueError: it is known to be another than that of a memory.
        """
        for mechanism in self._attention_mechanisms:
            self._check_batch(batch_size, mechanism)
        cell_state = self._initial_cell_state
        if cell_state is None:
            cell_state = self._cell.zero_state(batch_size, dtype)
        alignments = [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
        return AttentionWrapperState(
            cell_state=nest.map_structure(pb.identity, cell_state),
            attention=pb.zeros([batch_size, self._attention_layer_size], dtype),
            time=pb.zeros([], pb.int32),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(self._history(a) for a in alignments),
            attention_state=self._item_or_tuple(m.initial_state(batch_size, dtype) for m in self._attention_mechanisms),
        )

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state.

        Raises:
            TypeError: the state is no AttentionWrapperState.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"AttentionWrapper: the state must be an AttentionWrapperState, not {type(state).__name__}")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        before, history = [_tuple_of(part, self._is_multi) for part in (state.attention_state, state.alignment_history)]
        attentions, alignments, states, kept = [], [], [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            self._check_batch(output.shape.size(0), mechanism)
            attended, aligned, after = self._attention_fn(mechanism, output, before[i], self._attention_layers[i])
            attentions.append(attended)
            alignments.append(aligned)
            states.append(after)
            kept.append(history[i].write(state.time, aligned) if self._alignment_history else ())
        attention = pb.concat(attentions, 1) if self._is_multi else attentions[0]
        after = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            time=state.time + 1,
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(kept),
            attention_state=self._item_or_tuple(states),
        )
        return (attention if self._output_attention else output), after

    def _history(self, alignments: pb.Tensor) -> Any:
        if not self._alignment_history:
            return ()
        return pb.TensorArray(alignments.dtype, 0, dynamic_size=True, element_shape=alignments.shape)

    def _check_batch(self, batch_size: Any, mechanism: Any) -> None:
        known, memory = batch_size, mechanism.batch_size
        if isinstance(known, int) and isinstance(memory, int) and known != memory:
            raise ValueError(
                f"AttentionWrapper: {known} sequences, but the memory has {memory}. With a BeamSearchDecoder the "
                "memory, its lengths and the state are tiled by tile_batch, and zero_state is given the batch times "
                "beam_width."
            )

    def _item_or_tuple(self, parts: Iterable[Any]) -> Any:
        """As a tuple if a list of mechanisms was given, else the only one."""
        found = tuple(parts)
        return found if self._is_multi else found[0]


def _compute_attention(mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> Any:
    """What is attended to, the alignments and the next state of a mechanism."""
    alignments, after = mechanism(cell_output, state=attention_state)
    context = pb.squeeze(pb.matmul(pb.expand_dims(alignments, 1), mechanism.values), [1])
    return (
        (context if attention_layer is None else attention_layer(pb.concat([cell_output, context], 1))),
        alignments,
        after,
    )


def _side_by_side(inputs: Any, attention: Any) -> Any:
    return pb.concat([inputs, attention], -1)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _tuple_of(part: Any, several: bool) -> Any:
    return part if several else (part,)
