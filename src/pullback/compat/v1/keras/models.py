"""Models of Keras inside graphs: layers made of layers, called with tensors; training them is left to sessions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pullback as pb

from ....core import nest
from ....core.function import Function, copy_operation
from ....core.typing import DTypeLike
from ....layers.variables.layer import Layer as AnyLayer
from .base import Layer


def Input(
    shape: Sequence[int | None] | None = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: DTypeLike = pb.float32,
    tensor: pb.Tensor | None = None,
    **options: Any,
) -> pb.Tensor:
    """A placeholder [batch, `shape`...], or `tensor`.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.layers.Input([3]).shape
    TensorShape([None, 3])
    """
    if tensor is not None:
        return tensor
    lengths = options.get("batch_shape") or options.get("batch_input_shape") or [batch_size, *(shape or ())]
    return pb.placeholder(dtype, list(lengths), name)


class Model(Layer):
    """A layer of layers: one of its own has a `call`, another is what lies between tensors: `Model(inputs, outputs)`.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.keras.Input([3])
    >>> net = tf.keras.Model(inputs=x, outputs=tf.keras.layers.Dense(2, name="last")(x))
    >>> net(tf.zeros([5, 3])).shape, net.trainable_variables
    (TensorShape([5, 2]), [<Variable 'last/kernel:0' float32[3,2]>, <Variable 'last/bias:0' float32[2]>])
    """

    _keeps_apart = False
    _between: Function | None = None
    inputs: Any = None
    """What it was made of, where it was made of tensors."""
    outputs: Any = None

    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        if outputs is None:
            return
        self.inputs, self.outputs = nest.flatten(inputs), outputs
        results = nest.flatten(outputs)
        self._between = Function(results[0].graph, tuple(self.inputs), tuple(results), name or "model")

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The outputs for other inputs: copies of the operations that depend on them, with the same variables."""
        if self._between is None:
            return super().call(inputs, *args, **kwargs)
        values = dict(zip(self._between.parameters, nest.flatten(inputs), strict=True))
        copies: dict[pb.Operation, pb.Operation] = {}
        for op in self._between.operations:
            if any(x in values for x in op.inputs):
                given = {x: values.get(x, x) for x in op.inputs}
                copies[op] = copy_operation(op, given, copies)
                values.update((y, given[y]) for y in op.outputs)
        return nest.map_structure(lambda y: values.get(y, y), self.outputs)

    @property
    def layers(self) -> list[AnyLayer]:
        """The layers that are its attributes, or in lists that are."""
        held = [value for value in vars(self).values() if isinstance(value, AnyLayer | list | tuple | dict)]
        return [value for value in nest.flatten(held) if isinstance(value, AnyLayer)]

    @property
    def variables(self) -> list[Any]:
        """Its variables and those of its layers."""
        return self._gathered("variables", "global_variables")

    @property
    def losses(self) -> list[Any]:
        """The penalties of its layers."""
        return self._of_layers("losses")

    @property
    def updates(self) -> list[Any]:
        """What moves the moving averages of its layers: let the training step depend on it."""
        return self._of_layers("updates")

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of them that optimizers change."""
        return self._gathered("trainable_variables", "trainable_variables")

    def _of_layers(self, name: str) -> list[Any]:
        if self._between is not None:
            raise NotImplementedError(f"keras Model: a model between tensors knows no layers: ask these for {name}")
        return [x for layer in self.layers for x in getattr(layer, name, [])]

    def _gathered(self, of_layers: str, of_scope: str) -> list[Any]:
        if self._between is not None:
            read = {x.op.name for op in self._between.operations for x in [*op.inputs, *op.outputs]}
            return [v for v in self._between.graph.get_collection(of_scope) if v.op.name in read]
        own = [] if self._scope is None else getattr(self._scope, of_scope)()
        return list(dict.fromkeys([*own, *[v for layer in self.layers for v in getattr(layer, of_layers)]]))

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in ("compile", "fit", "evaluate", "predict", "train_on_batch", "save", "load_weights", "save_weights"):
            raise AttributeError(
                f"'{kind}.{name}' is not there: a model is a function of tensors here; train its loss with an "
                "optimizer of tf.train in a session, and keep its variables with tf.train.Saver"
            )
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")


class Sequential(Model):
    """Layers, each on the result of the one before.

    >>> import pullback.compat.v1 as tf
    >>> net = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(2)])
    >>> net(tf.zeros([5, 3])).shape, len(net.trainable_variables)
    (TensorShape([5, 2]), 4)
    """

    def __init__(self, layers: Iterable[Any] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._layers: list[Any] = list(layers or [])

    def add(self, layer: Any) -> None:
        """Put a layer behind the others."""
        self._layers.append(layer)

    def pop(self) -> None:
        """Take the last layer away."""
        self._layers.pop()

    def call(self, inputs: Any, *args: Any, training: Any = None, **kwargs: Any) -> Any:
        """The result of the last layer; `training` goes to those that take it."""
        x = inputs
        for layer in self._layers:
            x = layer(x, training=training) if training is not None and _takes_training(layer) else layer(x)
        return x


class Wrapper(Layer):
    """A layer around another one, `layer`."""

    def __init__(self, layer: Any, trainable: bool = True, name: str | None = None, **options: Any) -> None:
        super().__init__(trainable, name, options.get("dtype"))
        self.layer: Any = layer


class TimeDistributed(Wrapper):
    """A layer at each step of [batch, time, ...]; its variables are those of the wrapper.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2))(tf.zeros([5, 4, 3])).shape
    TensorShape([5, 4, 2])
    """

    supports_masking = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The results of all steps, from one call of the layer."""
        if self.layer._scope is None:
            self.layer._scope = self._scope
        steps = pb.shape(inputs)[:2]
        y = self.layer(pb.reshape(inputs, [-1, *inputs.shape.as_list()[2:]]), *args, **kwargs)
        return pb.reshape(y, pb.concat([steps, list(y.shape.as_list()[1:])], 0))


def _takes_training(layer: Any) -> bool:
    function: Callable[..., Any] = getattr(type(layer), "function", None) or getattr(layer, "call", layer)
    return "training" in inspect.signature(function).parameters
