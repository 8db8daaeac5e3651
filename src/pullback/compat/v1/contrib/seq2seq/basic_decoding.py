"""Decoders of a cell and a helper (`BasicDecoder`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pullback as pb

from .....core import nest
from .....layers.variables.layer import Layer
from .decoding import Decoder
from .helpers import Helper


class BasicDecoderOutput(NamedTuple):
    """What a `BasicDecoder` gives: the outputs, and the samples."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell, whose outputs go through `output_layer`, and a helper that makes the next inputs of them.

    Raises:
        TypeError: the helper is no Helper, the layer no layer.
    """

    def __init__(self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None) -> None:
        if not isinstance(helper, Helper):
            raise TypeError(f"BasicDecoder: helper must be a Helper, not {helper!r}")
        check_layer("BasicDecoder", output_layer)
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The length of the outputs, and the shape of a sample."""
        return BasicDecoderOutput(output_size(self._cell, self._output_layer), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtype of the state, and that of samples."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, self.output_size[0]), self._helper.sample_ids_dtype
        )

    def known_steps(self) -> pb.Tensor | None:
        """What the helper says, unless a class of one's own says what a step is."""
        return self._helper.known_steps() if type(self).step is BasicDecoder.step else None

    def initialize(self, name: str | None = None) -> Any:
        """Which sequences are finished before the first step, its inputs, and its state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """The outputs of a step, the next state and inputs, and which sequences are finished."""
        y, after = self._cell(inputs, state)
        if self._output_layer is not None:
            y = self._output_layer(y)
        ids = self._helper.sample(time=time, outputs=y, state=after)
        finished, inputs, after = self._helper.next_inputs(time=time, outputs=y, state=after, sample_ids=ids)
        return BasicDecoderOutput(y, ids), after, inputs, finished


def check_layer(what: str, layer: Any) -> None:
    """TypeError unless `layer` is a layer, or None."""
    if layer is not None and not isinstance(layer, Layer):
        raise TypeError(f"{what}: output_layer must be a layer, not {layer!r}")


def output_size(cell: Any, layer: Any) -> Any:
    """The length, or the shape, of what a cell gives for a sequence, or of what a layer makes of it."""
    if layer is None:
        return cell.output_size
    sizes = nest.map_structure(lambda n: pb.TensorShape([None, *_lengths(n)]), cell.output_size)
    return nest.map_structure(lambda s: layer.compute_output_shape(s)[1:], sizes)


def _lengths(size: Any) -> list[Any]:
    return size.as_list() if isinstance(size, pb.TensorShape) else [size]
