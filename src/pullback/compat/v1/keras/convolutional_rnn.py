"""Convolutional recurrent layers of Keras: images, step after step, with states that are images."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ..layers.convolution import as_lengths
from . import backend
from .backend.state import checked_format
from .cells import LSTMCell
from .recurrent import OF_CELLS, RNN


class ConvLSTM2DCell(LSTMCell):
    """One step of `ConvLSTM2D`."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        **options: Any,
    ) -> None:
        super().__init__(filters, **options)
        self.kernel_size, self.strides = as_lengths(kernel_size, 2), as_lengths(strides, 2)
        self.dilation_rate, self.padding = as_lengths(dilation_rate, 2), padding
        self.data_format = checked_format(data_format)
        if self.data_format != "channels_last":
            raise NotImplementedError(
                "keras ConvLSTM2D: only data_format='channels_last' is there; transpose the images"
            )

    @property
    def window(self) -> list[int]:
        """The lengths of the kernels."""
        return list(self.kernel_size)

    @property
    def output_size(self) -> Any:
        """None: the output is as large as the state."""
        return None

    def of_inputs(self, x: pb.Tensor) -> pb.Tensor:
        """What the image gives to all gates."""
        return self.to_gates("inputs", x, self.kernel, self._convolved, self.bias)

    def of_states(self, h: pb.Tensor) -> pb.Tensor:
        """What the state gives to all gates."""
        return self.to_gates(
            "states", h, self.recurrent_kernel, lambda h, k: backend.conv2d(h, k, padding="same"), None
        )

    def get_initial_state(self, inputs: pb.Tensor, batch_size: Any = None, dtype: Any = None) -> list[pb.Tensor]:
        """Zeros, as large as what a convolution makes of the image."""
        del batch_size, dtype
        depth = inputs.shape.size(-1)
        zeros = self._convolved(pb.zeros_like(inputs), pb.zeros([*self.kernel_size, depth, self.units], inputs.dtype))
        return [zeros, zeros]

    def _convolved(self, x: pb.Tensor, kernel: Any) -> pb.Tensor:
        return backend.conv2d(x, kernel, self.strides, self.padding, dilation_rate=self.dilation_rate)


class ConvLSTM2D(RNN):
    """Long short-term memory whose products are convolutions, over [batch, time, height, width, channels].

    Source: X. Shi et al., "Convolutional LSTM network", 2015.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.layers.ConvLSTM2D(4, 3, padding="same")(tf.zeros([2, 5, 8, 8, 3])).shape
    TensorShape([2, 8, 8, 4])
    """

    def __init__(self, filters: int, kernel_size: Any, *args: Any, **options: Any) -> None:
        taken = (*OF_CELLS, "strides", "padding", "data_format", "dilation_rate")
        given = {name: options.pop(name) for name in taken if name in options}
        cell = ConvLSTM2DCell(filters, kernel_size, *args, **given, name="conv_lstm2d_cell")
        super().__init__(cell, **options)
        self.filters, self.kernel_size = filters, cell.kernel_size

    def build(self, input_shape: Any) -> None:
        """Make the variables, which are the layer's own."""
        self.cell._scope = self._scope
        super().build(input_shape)
