"""Models of Keras inside graphs: layers made of layers, called with tensors; training them is left to sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pullback as pb

from ....core import nest
from ....core.function import Function
from ....core.typing import DTypeLike
from ....layers.variables.layer import Layer as AnyLayer
from ....layers.variables.layer import get_uid
from .base import Layer
from .history import Node, again, keep_mask, keep_node, steps_between, takes


class InputLayer(Layer):
    """What stands for an `Input` among the layers of a model; made by itself it makes one.

    >>> import pullback.compat.v1 as tf
    >>> tf.keras.layers.InputLayer([3]).output.shape
    TensorShape([None, 3])
    """

    def __init__(
        self,
        input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        dtype: DTypeLike | None = None,
        input_tensor: pb.Tensor | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name=name or f"input_{get_uid('input')}", dtype=dtype or pb.float32)
        if input_tensor is None:
            lengths = options.get("batch_input_shape") or [batch_size, *(input_shape or ())]
            input_tensor = pb.placeholder(self.dtype, list(lengths), self.name)
        keep_node(self, (), {}, input_tensor)


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
    whole = options.get("batch_shape") or options.get("batch_input_shape")
    made: pb.Tensor = InputLayer(shape, batch_size, dtype, tensor, name, batch_input_shape=whole).output
    return made


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
    _steps: Sequence[Any] = ()
    inputs: Any = None
    """What it was made of, where it was made of tensors."""
    outputs: Any = None
    _structure: Any = None

    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        if outputs is not None:
            self._connect(inputs, outputs)

    def _connect(self, inputs: Any, outputs: Any) -> None:
        """Let it be what lies between these tensors."""
        self.inputs, self.outputs, self._structure = nest.flatten(inputs), nest.flatten(outputs), outputs
        self._between = Function(self.outputs[0].graph, tuple(self.inputs), tuple(self.outputs), self.name)
        self._steps, self.built = steps_between(self.inputs, self.outputs), True

    @property
    def input(self) -> Any:
        """The tensor that it was made of, or the list of these."""
        return self._only("inputs")

    @property
    def output(self) -> Any:
        """The tensor that it ends in, or the list of these.

        Raises:
            ValueError: it was not made of tensors.
        """
        return self._only("outputs")

    def _only(self, what: str) -> Any:
        tensors = getattr(self, what)
        if tensors is None:
            raise ValueError(f"keras: the model '{self.name}' has no {what}: it was not made of tensors")
        return tensors[0] if len(tensors) == 1 else tensors

    def call(self, inputs: Any, training: Any = None, mask: Any = None, **kwargs: Any) -> Any:
        """The outputs for other inputs: the layers between the tensors are called again, other operations copied."""
        if self._between is None:
            return super().call(inputs, training=training, mask=mask, **kwargs)
        given = nest.flatten(inputs)
        for x, m in zip(given, [None] * len(given) if mask is None else nest.flatten(mask), strict=True):
            keep_mask(x, m)
        values = dict(zip(self._between.parameters, given, strict=True))
        again(self._steps, values)
        return nest.map_structure(lambda y: values.get(y, y), self._structure)

    @property
    def layers(self) -> list[AnyLayer]:
        """The layers that are its attributes, or in lists that are; those between the tensors it was made of."""
        if self._between is not None:
            inputs = [node for x in self.inputs for node in steps_between([], [x]) if isinstance(node, Node)]
            nodes = [*inputs, *[step for step in self._steps if isinstance(step, Node)]]
            return list(dict.fromkeys([node.layer for node in nodes]))
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
        return [x for layer in self.layers for x in getattr(layer, name, [])]

    def _gathered(self, of_layers: str, of_scope: str) -> list[Any]:
        own = [] if self._scope is None or self._between is not None else getattr(self._scope, of_scope)()
        found = [*own, *[v for layer in self.layers for v in getattr(layer, of_layers)]]
        if self._between is not None:
            read = {x.op.name for op in self._between.operations for x in [*op.inputs, *op.outputs]}
            found += [v for v in self._between.graph.get_collection(of_scope) if v.op.name in read]
        return list(dict.fromkeys(found))

    def get_layer(self, name: str | None = None, index: int | None = None) -> AnyLayer:
        """The layer of that name, or of that number.

        Raises:
            ValueError: there is none.
        """
        layers = self.layers
        if index is not None and index < len(layers):
            return layers[index]
        found = [layer for layer in layers if layer.name == name and index is None]
        if not found:
            raise ValueError(f"keras: the model has no layer {name or index!r}; it has {[y.name for y in layers]}")
        return found[0]

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in ("compile", "fit", "evaluate", "predict", "train_on_batch", "save", "load_weights", "save_weights"):
            raise AttributeError(
                f"'{kind}.{name}' is not there: a model is a function of tensors here; train its loss with an "
                "optimizer of tf.train in a session, and keep its variables with tf.train.Saver"
            )
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")


class Sequential(Model):
    """Layers, each on the result of the one before. Where the first one knows the shape of its inputs, they are built.

    >>> import pullback.compat.v1 as tf
    >>> net = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(2)])
    >>> net(tf.zeros([5, 3])).shape, len(net.trainable_variables)
    (TensorShape([5, 2]), 4)
    """

    def __init__(self, layers: Iterable[Any] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._layers: list[Any] = []
        for layer in layers or ():
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Put a layer, or first an `Input`, behind the others."""
        if isinstance(layer, pb.Tensor | InputLayer):
            x = layer if isinstance(layer, pb.Tensor) else layer.output
            self._connect(x, x)
            return
        if not self._layers and self.inputs is None:
            x = _input_of(layer)
            if x is not None:
                self._connect(x, x)
        self._layers.append(layer)
        if self.inputs is not None:
            self._connect(self.inputs, layer(self.output))

    def pop(self) -> None:
        """Take the last layer away."""
        self._layers.pop()
        if self.inputs is not None:
            self._connect(self.inputs, self._layers[-1].output if self._layers else self.inputs[0])

    @property
    def layers(self) -> list[Any]:
        """Its layers."""
        return list(self._layers)

    def call(self, inputs: Any, training: Any = None, mask: Any = None, **kwargs: Any) -> Any:
        """The result of the last layer; `training` goes to those that take it."""
        if self.inputs is not None:
            return super().call(inputs, training, mask, **kwargs)
        x = inputs
        for layer in self._layers:
            x = layer(x, training=training) if training is not None and takes(layer, "training") else layer(x)
        return x


def _input_of(layer: Any) -> pb.Tensor | None:
    """An `Input` for a layer that knows the shape of what it takes; None for others."""
    if isinstance(layer, Model) and layer.inputs is not None:
        (x,) = layer.inputs
        return Input(batch_shape=x.shape.as_list(), dtype=x.dtype, name=f"{x.op.name}_input")
    shape = getattr(layer, "batch_shape", None)
    if shape is None:
        return None
    return Input(batch_shape=shape, dtype=layer.dtype or pb.float32, name=f"{layer.name}_input")


class Wrapper(Layer):
    """A layer around another one, `layer`."""

    def __init__(self, layer: Any, trainable: bool = True, name: str | None = None, **options: Any) -> None:
        super().__init__(trainable, name, **options)
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
