"""Layers of Keras: `tf.keras.layers`, called with tensors of the graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pullback as pb

from ....core.dtypes import INTEGER
from ..layers import objects
from . import activations, backend, constraints, initializers, regularizers
from .attention import AdditiveAttention as AdditiveAttention
from .attention import Attention as Attention
from .base import OF_INPUTS, Placed, batch_shape, unique_name
from .base import Layer as Layer
from .cells import GRUCell as GRUCell
from .cells import LSTMCell as LSTMCell
from .cells import SimpleRNNCell as SimpleRNNCell
from .cells import StackedRNNCells as StackedRNNCells
from .convolution import DepthwiseConv2D as DepthwiseConv2D
from .convolutional_rnn import ConvLSTM2D as ConvLSTM2D
from .features import DenseFeatures as DenseFeatures
from .merging import Add as Add
from .merging import Average as Average
from .merging import Concatenate as Concatenate
from .merging import Dot as Dot
from .merging import Maximum as Maximum
from .merging import Minimum as Minimum
from .merging import Multiply as Multiply
from .merging import Subtract as Subtract
from .merging import add as add
from .merging import average as average
from .merging import concatenate as concatenate
from .merging import dot as dot
from .merging import maximum as maximum
from .merging import minimum as minimum
from .merging import multiply as multiply
from .merging import subtract as subtract
from .models import Input as Input
from .models import InputLayer as InputLayer
from .models import TimeDistributed as TimeDistributed
from .models import Wrapper as Wrapper
from .noise import GaussianDropout as GaussianDropout
from .noise import GaussianNoise as GaussianNoise
from .noise import SpatialDropout1D as SpatialDropout1D
from .noise import SpatialDropout2D as SpatialDropout2D
from .noise import SpatialDropout3D as SpatialDropout3D
from .plain import Activation as Activation
from .plain import ActivityRegularization as ActivityRegularization
from .plain import Lambda as Lambda
from .plain import refuse_others
from .rectifiers import ELU as ELU
from .rectifiers import LeakyReLU as LeakyReLU
from .rectifiers import PReLU as PReLU
from .rectifiers import ReLU as ReLU
from .rectifiers import Softmax as Softmax
from .rectifiers import ThresholdedReLU as ThresholdedReLU
from .recurrent import GRU as GRU
from .recurrent import LSTM as LSTM
from .recurrent import RNN as RNN
from .recurrent import Bidirectional as Bidirectional
from .recurrent import SimpleRNN as SimpleRNN
from .shapes import Cropping1D as Cropping1D
from .shapes import Cropping2D as Cropping2D
from .shapes import Cropping3D as Cropping3D
from .shapes import GlobalAveragePooling1D as GlobalAveragePooling1D
from .shapes import GlobalAveragePooling2D as GlobalAveragePooling2D
from .shapes import GlobalAveragePooling3D as GlobalAveragePooling3D
from .shapes import GlobalMaxPooling1D as GlobalMaxPooling1D
from .shapes import GlobalMaxPooling2D as GlobalMaxPooling2D
from .shapes import GlobalMaxPooling3D as GlobalMaxPooling3D
from .shapes import Masking as Masking
from .shapes import Permute as Permute
from .shapes import RepeatVector as RepeatVector
from .shapes import Reshape as Reshape
from .shapes import UpSampling1D as UpSampling1D
from .shapes import UpSampling2D as UpSampling2D
from .shapes import UpSampling3D as UpSampling3D
from .shapes import ZeroPadding1D as ZeroPadding1D
from .shapes import ZeroPadding2D as ZeroPadding2D
from .shapes import ZeroPadding3D as ZeroPadding3D


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
    return {name: _meant(name, value) for name, value in given.items() if name not in OF_INPUTS and value is not None}


def _meant(name: str, value: Any) -> Any:
    if name == "activation":
        return activations.get(value)
    if name.endswith("_initializer"):
        return initializers.get(value)
    if name.endswith("_constraint"):
        return constraints.get(value)
    return regularizers.get(value) if name.endswith("_regularizer") else value


_MASKED = ("Dense", "Dropout", "BatchNormalization")
"""Those of `tf.layers` that hand on a mask."""


def _named(base: type[objects.FunctionLayer]) -> Any:
    """The layer of Keras for one of `tf.layers`: the same function, whose parts may be given by name."""

    class KerasLayer(Placed, base):  # type: ignore[misc, valid-type]
        supports_masking = base.__name__ in _MASKED

        def __init__(self, *args: Any, name: str | None = None, dtype: Any = None, **options: Any) -> None:
            given = _given(base.function, args, options)
            if "pool_size" in inspect.signature(base.function).parameters:
                size = given.setdefault("pool_size", 2)
                given.setdefault("strides", size)
            super().__init__(name=name or unique_name(type(self)), dtype=dtype, **given)
            self.losses: list[Any] = []
            self.updates: list[Any] = []
            self.nodes, self.batch_shape = [], batch_shape(options)

        def __call__(self, inputs: Any, training: Any = None, **options: Any) -> pb.Tensor:
            """The result for `inputs`; where `training` is not given, the phase of the backend says it."""
            options.pop("mask", None)
            if training is not None:
                options["training"] = training
            return self.with_masks(self._called_with, inputs, (), options)  # type: ignore[no-any-return]

        def _called_with(self, inputs: Any, **options: Any) -> Any:
            if "training" in inspect.signature(base.function).parameters:
                options.setdefault("training", backend.learning_phase() == 1)
            return base.__call__(self, inputs, **options)

    KerasLayer.__name__ = KerasLayer.__qualname__ = base.__name__
    KerasLayer.__doc__ = base.__doc__
    return KerasLayer


Dense = _named(objects.Dense)
Conv1D = _named(objects.Conv1D)
Conv2D = _named(objects.Conv2D)
Conv3D = _named(objects.Conv3D)
Conv2DTranspose = _named(objects.Conv2DTranspose)
Conv3DTranspose = _named(objects.Conv3DTranspose)
SeparableConv1D = _named(objects.SeparableConv1D)
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
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D


class Embedding(Layer):
    """The rows of a table that integers name."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        weights: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        refuse_others("Embedding", options | {"activity_regularizer": activity_regularizer})
        shape = {"input_shape": (options.pop("input_length", None),)} if "input_shape" not in options else {}
        super().__init__(**{"dtype": "float32"} | shape | options)
        self._sizes, self.mask_zero = [input_dim, output_dim], mask_zero
        given = initializers.get(embeddings_initializer)
        self._initializer = given if weights is None else initializers.Constant(weights[0])
        self._regularizer = regularizers.get(embeddings_regularizer)
        self._constraint = constraints.get(embeddings_constraint)

    def build(self, input_shape: Any) -> None:
        """Make the table."""
        del input_shape
        self.embeddings = self.add_weight(
            "embeddings",
            self._sizes,
            initializer=self._initializer,
            regularizer=self._regularizer,
            constraint=self._constraint,
        )

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The rows; numbers that are no integers lose their fraction."""
        return pb.nn.embedding_lookup(self.embeddings, inputs if inputs.dtype in INTEGER else pb.cast(inputs, "int32"))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """With `mask_zero` the places that are not 0 count."""
        del mask
        return pb.not_equal(inputs, pb.zeros([], inputs.dtype)) if self.mask_zero else None


class LayerNormalization(Layer):
    """Normalization along the last axis, scaled and shifted."""

    supports_masking = True

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
