"""Layers of Keras: names, variables below the name scope of their first call, and masks, which all of them share.

Scopes of variables say nothing to them: two layers never share a variable, whatever `reuse` is asked for around.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pullback as pb

from ....core import nest
from ....layers.variables import layer
from ....layers.variables.layer_costs import COLLECTED
from ....layers.variables.scope import VariableScope, global_variables, variable_scope
from .backend.state import batch_get_value, batch_set_value
from .history import Node, keep_mask, keep_node, mask_of, phase, takes

OF_INPUTS = ("input_shape", "input_dim", "batch_input_shape", "batch_size", "input_length")
"""What says the shape of inputs."""


def unique_name(kind: type) -> str:
    """The name of a layer that was given none: that of its class, with a number from the second one on."""
    base = layer.snake_case(kind.__name__)
    number = layer.get_uid(base)
    return base if number == 1 else f"{base}_{number - 1}"


def batch_shape(options: Mapping[str, Any]) -> tuple[int | None, ...] | None:
    """The shape of inputs that the options of a layer say, with that of the batch; None where they say none."""
    if options.get("batch_input_shape") is not None:
        return tuple(options["batch_input_shape"])
    given = options.get("input_shape")
    if given is None and options.get("input_dim") is not None:
        given = (options["input_dim"],)
    return None if given is None else (options.get("batch_size"), *given)


def unbuilt(layer: Any, name: str) -> Any:
    """A layer like `layer`, of that name, which has no variables yet."""
    made = copy.copy(layer)
    made._given_name, made._scope, made.built, made._called = name, None, False, False
    made.losses, made.updates, made.nodes = [], [], []
    return made


class Placed:
    """A layer whose name is its own, and whose variables stand below the name scope of its first call."""

    supports_masking: bool = False
    batch_shape: tuple[int | None, ...] | None = None
    """The shape of its inputs, where it was told."""
    _scope: VariableScope | None
    _given_name: str | None
    _keeps_apart: ClassVar[bool] = True
    losses: Any
    updates: Any
    variables: Any
    nodes: list[Node]
    """Its calls on what comes from an `Input`."""

    @property
    def input(self) -> Any:
        """What its one call was given; see `output`."""
        return self._only_node("input").args[0]

    @property
    def output(self) -> Any:
        """What its one call gave.

        Raises:
            ValueError: it was not called once on what comes from an `Input`.
        """
        results = self._only_node("output").results
        return results[0] if len(results) == 1 else list(results)

    @property
    def input_shape(self) -> Any:
        """The lengths of what its one call was given."""
        return nest.map_structure(_lengths, self.input)

    @property
    def output_shape(self) -> Any:
        """The lengths of what its one call gave."""
        return nest.map_structure(_lengths, self.output)

    def get_weights(self) -> list[Any]:
        """The values of its variables in the session of the backend."""
        return batch_get_value(self.variables)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Put arrays in place of the values of its variables, in the session of the backend.

        Raises:
            ValueError: there are not as many, or they are of other shapes.
        """
        batch_set_value(layer.checked_weights(self, weights))

    def _only_node(self, what: str) -> Node:
        if len(self.nodes) != 1:
            raise ValueError(
                f"keras: the layer '{self.name}' has no single {what}: it was called {len(self.nodes)} times on what "
                "comes from an Input"
            )
        return self.nodes[0]

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
        with graph.within(self.name) as prefix:
            if self._scope is None:
                self._scope = VariableScope(
                    graph.outermost,
                    _untaken(prefix.rstrip("/")),
                    custom_getter=own_variables(),
                    use_resource=True,
                    counts=False,
                )
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
        asked = dict(options)
        if known and "mask" not in options and self._asks_for_mask():
            options["mask"] = mask
        with kept_apart(self) if self._keeps_apart else _nothing(), phase(self, options):
            result = self._apart_from(inputs, call(inputs, *args, **options))
        keep_node(self, (inputs, *args), asked, result)
        made = self.compute_mask(inputs, mask if known else None)
        results = nest.flatten(result)
        masks = made if isinstance(made, list | tuple) else [made] * len(results)
        for y, m in zip(results, masks, strict=False):
            if m is not None and isinstance(y, pb.Tensor) and mask_of(y) is None:
                keep_mask(y, m)
        return result

    def _asks_for_mask(self) -> bool:
        return hasattr(self, "call") and takes(self, "mask")

    def _apart_from(self, inputs: Any, result: Any) -> Any:
        """The result, with other tensors for those that are inputs: these have a history of their own."""
        tensors = [x for x in nest.flatten(inputs) if isinstance(x, pb.Tensor)]
        given = set(tensors) if self._scope is not None else set()
        if not any(y in given for y in nest.flatten(result) if isinstance(y, pb.Tensor)):
            return result
        assert self._scope is not None
        with pb.get_default_graph().acting.within(self._scope.original_name_scope):
            return nest.map_structure(lambda y: pb.identity(y) if y in given else y, result)


def _lengths(x: pb.Tensor) -> tuple[int | None, ...]:
    return tuple(x.shape.as_list())


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def kept_apart(layer: Any) -> Iterator[None]:
    """A block whose penalties and updates are the layer's, in `losses` and `updates`, and in no collection."""
    graph = pb.get_default_graph().acting
    entries = {name: graph.get_collection_ref(key) for name, key in COLLECTED.items()}
    starts = {name: len(values) for name, values in entries.items()}
    yield
    for name, values in entries.items():
        kept = getattr(layer, name)
        kept.extend([value for value in values[starts[name] :] if value not in kept])
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
        super().__init__(trainable, name or unique_name(type(self)), dtype, **given)
        self.nodes, self.batch_shape = [], batch_shape(options)
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
        from . import constraints, initializers, regularizers

        assert self._scope is not None
        wanted = _untaken(f"{self._scope.name}/{name or 'Variable'}").rsplit("/", 1)[-1]
        made = initializers.get(initializer)
        options["regularizer"] = regularizers.get(options.get("regularizer"))
        options["constraint"] = constraints.get(options.get("constraint"))
        with variable_scope(self._scope, auxiliary_name_scope=False):
            return super().add_weight(wanted, () if shape is None else shape, dtype, made, **options)

    add_variable = add_weight  # type: ignore[assignment]

    def as_rnn_cell(self) -> Any:
        """It as a cell of `tf.nn.rnn_cell`, if it has the parts of one."""
        from .step_cells import KerasStep

        return KerasStep(self)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add penalties to those of the layer."""
        del inputs
        self.losses.extend(nest.flatten(losses))

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add operations to those that the training step is to depend on."""
        del inputs
        self.updates.extend(nest.flatten(updates))


def own_variables() -> Callable[..., Any]:
    """A getter of variables that only its layer knows: programs that ask for one of the same name get another."""
    kept: dict[str, Any] = {}

    def get(make: Callable[..., Any], name: str, **options: Any) -> Any:
        if name not in kept:
            kept[name] = make(name=name, **options | {"reuse": False, "shared": False})
        return kept[name]

    return get


def _untaken(name: str) -> str:
    """`name`, with a number behind it where a variable has it or stands below it."""
    taken, found, number = [v.op.name for v in global_variables()], name, 0
    while any(other == found or other.startswith(found + "/") for other in taken):
        number += 1
        found = f"{name}_{number}"
    return found
