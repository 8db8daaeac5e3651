"""Depthwise convolutions of Keras: each channel by itself."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ..layers.convolution import as_lengths, format_of
from . import activations, constraints, initializers, regularizers
from .backend.state import checked_format
from .base import Layer
from .plain import of_all, refuse_others


class DepthwiseConv2D(Layer):
    """A convolution of each channel by itself, `depth_multiplier` results for each, a bias, an activation.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2)(tf.zeros([1, 8, 8, 3])).shape
    TensorShape([1, 6, 6, 6])
    """

    depthwise_kernel: Any
    bias: Any = None

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **options: Any,
    ) -> None:
        refuse_others("DepthwiseConv2D", options | {"activity_regularizer": activity_regularizer})
        super().__init__(**of_all(options))
        self.kernel_size, self.strides = as_lengths(kernel_size, 2), as_lengths(strides, 2)
        self.dilation_rate, self.padding = as_lengths(dilation_rate, 2), padding.upper()
        self.depth_multiplier, self.use_bias = depth_multiplier, use_bias
        self.data_format, self.activation = checked_format(data_format), activations.get(activation)
        self._of_kernel = (depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._of_bias = (bias_initializer, bias_regularizer, bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        depth = input_shape.size(1 if self.data_format == "channels_first" else -1)
        sizes = {"depthwise_kernel": [*self.kernel_size, depth, self.depth_multiplier]}
        if self.use_bias:
            sizes["bias"] = [depth * self.depth_multiplier]
        for name, lengths in sizes.items():
            made = self._of_bias if name == "bias" else self._of_kernel
            initializer, regularizer, constraint = made
            value = self.add_weight(
                name,
                lengths,
                initializer=initializers.get(initializer),
                regularizer=regularizers.get(regularizer),
                constraint=constraints.get(constraint),
            )
            setattr(self, name, value)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The results."""
        letters = format_of(self.data_format, 2)
        strides = [1, *self.strides, 1] if letters.endswith("C") else [1, 1, *self.strides]
        y = pb.nn.depthwise_conv2d(
            inputs, self.depthwise_kernel, strides, self.padding, letters, dilations=self.dilation_rate
        )
        if self.use_bias:
            y = pb.nn.bias_add(y, self.bias, letters)
        return y if self.activation is None else self.activation(y)
