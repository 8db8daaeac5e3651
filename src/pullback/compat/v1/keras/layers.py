"""Layers of Keras: `tf.keras.layers`, called with tensors of the graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pullback as pb

from ....layers.variables.layer import Layer as Layer
from ....primitives.shape.size import shape
from ..layers import objects
from . import activations, initializers, regularizers
from .models import Input as Input
from .models import TimeDistributed as TimeDistributed
from .models import Wrapper as Wrapper
from .recurrent import GRU as GRU
from .recurrent import LSTM as LSTM
from .recurrent import SimpleRNN as SimpleRNN

_OF_INPUTS = ("input_shape", "input_dim", "batch_input_shape", "input_length")
"""What says the shape of inputs that are tensors here."""


class InputSpec(NamedTuple):
    """What a layer says of its inputs; nothing looks at it."""

    dtype: Any = None
    shape: Any = None
    ndim: int | None = None
    max_ndim: int | None = None
    min_ndim: int | None = None
    axes: Any = None


def _given(function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a layer by name, with what stands for the names in them."""
    names = [name for name in inspect.signature(function).parameters if name != "inputs"]
    given = {**dict(zip(names, args, strict=False)), **options}
    return {name: _meant(name, value) for name, value in given.items() if name not in _OF_INPUTS and value is not None}


def _meant(name: str, value: Any) -> Any:
    if name == "activation":
        return activations.get(value)
    if name.endswith("_initializer"):
        return initializers.get(value)
    return regularizers.get(value) if name.endswith("_regularizer") else value


def _named(base: type[objects.FunctionLayer]) -> Any:
    """The layer of Keras for one of `tf.layers`: the same function, whose parts may be given by name."""

    class KerasLayer(base):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, name: str | None = None, dtype: Any = None, **options: Any) -> None:
            given = _given(base.function, args, options)
            if "pool_size" in inspect.signature(base.function).parameters:
                size = given.setdefault("pool_size", 2)
                given.setdefault("strides", size)
            super().__init__(name=name, dtype=dtype, **given)

        def __call__(self, inputs: Any, training: Any = None, **options: Any) -> pb.Tensor:
            """The result for `inputs`; `training` is False unless given."""
            given = options if training is None else options | {"training": training}
            return super().__call__(inputs, **given)  # type: ignore[no-any-return]

    KerasLayer.__name__ = KerasLayer.__qualname__ = base.__name__
    KerasLayer.__doc__ = base.__doc__
    return KerasLayer


Dense = _named(objects.Dense)
Conv1D = _named(objects.Conv1D)
Conv2D = _named(objects.Conv2D)
Conv3D = _named(objects.Conv3D)
Conv2DTranspose = _named(objects.Conv2DTranspose)
SeparableConv2D = _named(objects.SeparableConv2D)
BatchNormalization = _named(objects.BatchNormalization)
Dropout = _named(objects.Dropout)
Flatten = _named(objects.Flatten)
MaxPool1D = MaxPooling1D = _named(objects.MaxPooling1D)
MaxPool2D = MaxPooling2D = _named(objects.MaxPooling2D)
MaxPool3D = MaxPooling3D = _named(objects.MaxPooling3D)
AvgPool1D = AveragePooling1D = _named(objects.AveragePooling1D)
AvgPool2D = AveragePooling2D = _named(objects.AveragePooling2D)
AvgPool3D = AveragePooling3D = _named(objects.AveragePooling3D)
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function: Callable[..., Any], name: str | None = None, **options: Any) -> None:
        super().__init__(name=name)
        self._function, self._arguments = function, options.get("arguments") or {}

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        return self._function(inputs, *args, **self._arguments, **kwargs)


class Activation(Lambda):
    """An activation, or its name, as a layer."""

    def __init__(self, activation: Any, name: str | None = None) -> None:
        super().__init__(activations.get(activation), name)


def ReLU(max_value: float | None = None, negative_slope: float = 0.0, name: str | None = None) -> Layer:
    """`activations.relu` as a layer."""
    return Lambda(lambda x: activations.relu(x, negative_slope, max_value), name or "re_lu")


def LeakyReLU(alpha: float = 0.3, name: str | None = None) -> Layer:
    """`x` where it is positive, `alpha * x` elsewhere."""
    return Lambda(lambda x: pb.nn.leaky_relu(x, alpha), name)


def Softmax(axis: int = -1, name: str | None = None) -> Layer:
    """`activations.softmax` as a layer."""
    return Lambda(lambda x: activations.softmax(x, axis), name)


def Reshape(target_shape: Sequence[int], name: str | None = None, **options: Any) -> Layer:
    """Each example in the shape `target_shape`."""
    del options
    return Lambda(lambda x: pb.reshape(x, pb.concat([shape(x)[:1], list(target_shape)], 0)), name)


def Permute(dims: Sequence[int], name: str | None = None, **options: Any) -> Layer:
    """Each example with its axes, counted from 1, in the order `dims`."""
    del options
    return Lambda(lambda x: pb.transpose(x, [0, *dims]), name)


def GlobalAveragePooling2D(name: str | None = None) -> Layer:
    """The mean of each channel over height and width."""
    return Lambda(lambda x: pb.reduce_mean(x, [1, 2]), name)


def GlobalMaxPooling2D(name: str | None = None) -> Layer:
    """The largest element of each channel over height and width."""
    return Lambda(lambda x: pb.reduce_max(x, [1, 2]), name)


def GlobalAveragePooling1D(name: str | None = None) -> Layer:
    """The mean of each channel over the steps."""
    return Lambda(lambda x: pb.reduce_mean(x, 1), name)


def GlobalMaxPooling1D(name: str | None = None) -> Layer:
    """The largest element of each channel over the steps."""
    return Lambda(lambda x: pb.reduce_max(x, 1), name)


def ZeroPadding2D(padding: Any = (1, 1), name: str | None = None) -> Layer:
    """Images with zeros around them."""
    pairs = [padding] * 2 if isinstance(padding, int) else padding
    widths = [[n, n] if isinstance(n, int) else list(n) for n in pairs]
    return Lambda(lambda x: pb.pad(x, [[0, 0], *widths, [0, 0]]), name)


def UpSampling2D(size: Any = (2, 2), name: str | None = None) -> Layer:
    """Images with each row and column repeated."""
    rows, columns = (size, size) if isinstance(size, int) else size
    return Lambda(lambda x: pb.repeat(pb.repeat(x, rows, axis=1), columns, axis=2), name)


def Concatenate(axis: int = -1, name: str | None = None) -> Layer:
    """A list of tensors behind each other."""
    return Lambda(lambda xs: pb.concat(xs, axis), name)


def Add(name: str | None = None) -> Layer:
    """The sum of a list of tensors."""
    return Lambda(lambda xs: sum(xs[1:], xs[0]), name)


class Embedding(Layer):
    """The rows of a table that integers name."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        del options
        super().__init__(name=name, dtype="float32")
        self._sizes = [input_dim, output_dim]
        self._initializer = initializers.get(embeddings_initializer)
        self._regularizer = regularizers.get(embeddings_regularizer)

    def build(self, input_shape: Any) -> None:
        """Make the table."""
        del input_shape
        self.embeddings = self.add_weight(
            "embeddings", self._sizes, initializer=self._initializer, regularizer=self._regularizer
        )

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rows."""
        return pb.nn.embedding_lookup(self.embeddings, inputs)


class LayerNormalization(Layer):
    """Normalization along the last axis, scaled and shifted."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-3, name: str | None = None, **options: Any) -> None:
        super().__init__(name=name)
        if axis != -1 or options:
            raise NotImplementedError(f"LayerNormalization: only axis=-1, epsilon= and name= are there; not {options}")
        self._epsilon = epsilon

    def build(self, input_shape: Any) -> None:
        """Make scale and shift."""
        length = [input_shape.size(-1)]
        self.gamma = self.add_weight("gamma", length, initializer=initializers.Ones())
        self.beta = self.add_weight("beta", length, initializer=initializers.Zeros())

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The normalized vectors."""
        return pb.nn.layer_normalization(inputs, self.beta, self.gamma, epsilon=self._epsilon)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'tensorflow.keras.layers' has no attribute '{name}': call the layers that are there, or functions of "
        "tf.nn, on tensors"
    )
