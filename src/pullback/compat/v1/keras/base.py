"""Layers of Keras: names, variables below the name scope of their first call, and masks, which all of them share.

Scopes of variables say nothing to them: two layers never share a variable, whatever `reuse` is asked for around.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import pullback as pb

from ....core import nest
from ....layers.variables import layer
from ....layers.variables.scope import VariableScope, global_variables, variable_scope

OF_INPUTS = ("input_shape", "input_dim", "batch_input_shape", "batch_size", "input_length")
"""What says the shape of inputs that are tensors here."""
_COLLECTED = {"losses": pb.GraphKeys.REGULARIZATION_LOSSES, "updates": pb.GraphKeys.UPDATE_OPS}
_counts: WeakKeyDictionary[pb.Graph, Counter[str]] = WeakKeyDictionary()
_MASKS: Any = ("keras_masks",)
"""The collection of a graph that has its masks, by the tensors that they belong to."""


def get_uid(prefix: str = "") -> int:
    """A number for the prefix, counted from 1 in each graph.

    >>> from pullback.compat.v1.keras.base import get_uid
    >>> get_uid("dense"), get_uid("dense"), get_uid("lstm")
    (1, 2, 1)
    """
    counts = _counts.setdefault(pb.get_default_graph().outermost, Counter())
    counts[prefix] += 1
    return counts[prefix]


def unique_name(kind: type) -> str:
    """The name of a layer that was given none: that of its class, with a number from the second one on."""
    base = layer.snake_case(kind.__name__)
    number = get_uid(base)
    return base if number == 1 else f"{base}_{number - 1}"


def mask_of(x: Any) -> Any:
    """The steps of `x` [batch, steps, ...] that count, as truth values; None where all do."""
    return _masks_of(x.graph).get(x) if isinstance(x, pb.Tensor) else None


def _masks_of(graph: pb.Graph) -> dict[pb.Tensor, Any]:
    kept = graph.outermost.get_collection_ref(_MASKS)
    if not kept:
        kept.append({})
    found: dict[pb.Tensor, Any] = kept[0]
    return found


def unbuilt(layer: Any, name: str) -> Any:
    """A layer like `layer`, of that name, which has no variables yet."""
    made = copy.copy(layer)
    made._given_name, made._scope, made.built, made._called = name, None, False, False
    made.losses, made.updates = [], []
    return made


class Placed:
    """A layer whose name is its own, and whose variables stand below the name scope of its first call."""

    supports_masking: bool = False
    _scope: VariableScope | None
    _given_name: str | None
    _keeps_apart: ClassVar[bool] = True
    losses: Any
    updates: Any

    @property
    def name(self) -> str:
        """Its name, which it has from the beginning."""
        if self._given_name is None:
            self._given_name = unique_name(type(self))
        return self._given_name

    @contextmanager
    def placed(self) -> Iterator[VariableScope]:
        """The block of a call, and the scope of its variables."""
        graph = pb.get_default_graph().acting
        with graph.name_scope(self.name) as prefix:
            if self._scope is None:
                self._scope = VariableScope(graph.outermost, _untaken(prefix.rstrip("/")))
            self._scope.original_name_scope = prefix
            yield self._scope

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the result: that of the inputs, if the layer supports masks."""
        del inputs
        return mask if self.supports_masking else None

    def with_masks(self, call: Callable[..., Any], inputs: Any, args: Any, options: dict[str, Any]) -> Any:
        """What `call` gives, told the mask of the inputs if the layer asks for one; that of the result is kept."""
        mask = nest.map_structure(mask_of, inputs) if nest.flatten(inputs) else None
        known = any(m is not None for m in nest.flatten(mask))
        if known and "mask" not in options and self._asks_for_mask():
            options["mask"] = mask
        with kept_apart(self) if self._keeps_apart else _nothing():
            result = call(inputs, *args, **options)
        made = self.compute_mask(inputs, mask if known else None)
        results = nest.flatten(result)
        masks = made if isinstance(made, list | tuple) else [made] * len(results)
        for y, m in zip(results, masks, strict=False):
            if m is not None and isinstance(y, pb.Tensor) and mask_of(y) is None:
                _masks_of(y.graph)[y] = m
        return result

    def _asks_for_mask(self) -> bool:
        call = getattr(self, "call", None)
        return call is not None and "mask" in signature(call).parameters


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def kept_apart(layer: Any) -> Iterator[None]:
    """A block whose penalties and updates are the layer's, in `losses` and `updates`, and in no collection."""
    graph = pb.get_default_graph().acting
    entries = {name: graph.get_collection_ref(key) for name, key in _COLLECTED.items()}
    starts = {name: len(values) for name, values in entries.items()}
    yield
    for name, values in entries.items():
        getattr(layer, name).extend(values[starts[name] :])
        del values[starts[name] :]


class Layer(Placed, layer.Layer):
    """A layer of Keras, to derive from: `build` makes variables by `add_weight`, `call` computes.

    >>> import pullback.compat.v1 as tf
    >>> class Scaled(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.scale = self.add_weight("scale", shape=[int(input_shape[-1])], initializer="ones")
    ...     def call(self, inputs):
    ...         return inputs * self.scale
    >>> with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
    ...     layers = [Scaled(), Scaled()]
    ...     ys = [layer(tf.zeros([2, 3])) for layer in layers]
    >>> [layer.variables[0].name for layer in layers]
    ['model/scaled/scale:0', 'model/scaled_1/scale:0']
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **options: Any) -> None:
        given = {key: value for key, value in options.items() if key not in (*OF_INPUTS, "dynamic", "autocast")}
        super().__init__(trainable, name, dtype, **given)
        self._given_name = self.name
        if self._keeps_apart:
            self.losses, self.updates = [], []

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What `call` gives for the inputs."""
        return self.with_masks(super().__call__, inputs, args, kwargs)

    @contextmanager
    def entered(self, scope: Any, dtype: Any) -> Iterator[None]:
        """The block of a call: scopes of variables that are around stay as they are."""
        del scope
        with self.placed() as placed:
            placed.dtype = self.dtype or dtype or pb.float32
            yield

    def add_weight(  # type: ignore[override]
        self, name: str | None = None, shape: Any = None, dtype: Any = None, initializer: Any = None, **options: Any
    ) -> Any:
        """A new variable of the layer; initializers and regularizers may be given by name."""
        from . import initializers, regularizers

        assert self._scope is not None
        wanted = _untaken(f"{self._scope.name}/{name or 'Variable'}").rsplit("/", 1)[-1]
        made = initializers.get(initializer)
        options["regularizer"] = regularizers.get(options.get("regularizer"))
        with variable_scope(self._scope, auxiliary_name_scope=False):
            return super().add_weight(wanted, () if shape is None else shape, dtype, made, **options)

    add_variable = add_weight  # type: ignore[assignment]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add penalties to those of the layer."""
        del inputs
        self.losses.extend(nest.flatten(losses))

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add operations to those that the training step is to depend on."""
        del inputs
        self.updates.extend(nest.flatten(updates))


def _untaken(name: str) -> str:
    """`name`, with a number behind it where a variable has it or stands below it."""
    taken, found, number = [v.op.name for v in global_variables()], name, 0
    while any(other == found or other.startswith(found + "/") for other in taken):
        number += 1
        found = f"{name}_{number}"
    return found
