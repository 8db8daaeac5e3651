"""Layers and cells that programs derive: variables made at the first call and kept, in a scope of their own."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...core import nest
from ...core.composite import AbstractComposite
from ...core.dtypes import FLOATING, as_dtype, float32
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.shape import TensorShape, as_shape
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.placeholders import placeholder
from ...primitives.variables.collections import add_to_collection
from ...primitives.variables.variable import Variable
from .layer_costs import COLLECTED, noting_costs
from .scope import VariableScope, get_variable, get_variable_scope, name_without_variables, variable_scope

_counts: WeakKeyDictionary[Graph, Counter[str]] = WeakKeyDictionary()
"""For each graph how many layers of each class were made without a name."""


def get_uid(prefix: str = "") -> int:
    """A number for the prefix, counted from 1 in each graph.

    >>> from pullback.layers.variables.layer import get_uid
    >>> get_uid("dense"), get_uid("dense"), get_uid("lstm")
    (1, 2, 1)
    """
    counts = _counts.setdefault(get_default_graph().outermost, Counter())
    counts[prefix] += 1
    return counts[prefix]


class Layer:
    """A function of tensors with variables of its own; TensorFlow 1's protocol for those who derive one.

    `build(input_shape)` makes the variables, by `add_weight`, once, at the first call; `call(inputs, ...)` computes,
    and may make variables by `get_variable`. Both run in the variable scope of the layer, which is that of its first
    call and is named after it, or after its class.

    >>> import pullback.compat.v1 as tf
    >>> class Scaled(tf.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.scale = self.add_weight("scale", shape=[int(input_shape[-1])], initializer=tf.ones_initializer())
    ...     def call(self, inputs):
    ...         return inputs * self.scale
    >>> layer = Scaled()
    >>> layer(tf.zeros([2, 3])).shape, layer.variables
    (TensorShape([2, 3]), [<Variable 'scaled/scale:0' float32[3]>])
    """

    built: bool = False
    dtype: Any = None
    losses: Any = ()
    """The penalties that its calls added to `GraphKeys.REGULARIZATION_LOSSES`."""
    updates: Any = ()
    """The operations that its calls added to `GraphKeys.UPDATE_OPS`."""
    _given_name: str | None = None
    _given_scope: VariableScope | str | None = None
    _reuse: bool | str | None = None
    _scope: VariableScope | None = None
    _called: bool = False
    _building: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Let programs call `build` themselves."""
        super().__init_subclass__(**options)
        if "build" in vars(cls):
            cls.build = _in_its_scope(vars(cls)["build"])  # type: ignore[method-assign]

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        activity_regularizer: Callable[..., Any] | None = None,
        _scope: VariableScope | str | None = None,
        _reuse: bool | str | None = None,
    ) -> None:
        self.trainable, self.activity_regularizer = trainable, activity_regularizer
        self.dtype = None if dtype is None else as_dtype(dtype)
        self._given_name, self._given_scope, self._reuse = name, _scope, _reuse
        if name is None:
            get_uid(snake_case(type(self).__name__))

    # What a subclass overrides

    def build(self, input_shape: TensorShape) -> None:
        """Make the variables, for inputs of `input_shape`."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The result for `inputs`."""
        raise NotImplementedError(f"{type(self).__name__} has no call(inputs): define it")

    # What it calls

    def add_weight(
        self,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: TensorLike | Callable[..., Any] | None = None,
        regularizer: Callable[..., Any] | None = None,
        trainable: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Variable:
        """The variable `name` of the scope of the layer; see `get_variable`."""
        trained = getattr(self, "trainable", True) if trainable is None else trainable
        return get_variable(name, shape, dtype, initializer, regularizer, trained, constraint=constraint, **options)

    add_variable = add_weight

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add penalties to the collection of them, and in `call` to those of the layer."""
        del inputs
        for loss in nest.flatten(losses):
            add_to_collection(COLLECTED["losses"], loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add operations to the collection of those that a training step is to depend on."""
        del inputs
        for update in nest.flatten(updates):
            add_to_collection(COLLECTED["updates"], update)

    # What a user calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `call` gives for the inputs, a tensor or a structure, in the scope of the layer, after `build`.

        `scope=` names the scope of the first call; all else is handed on. Variables that say no dtype are of that of
        the first floats among the inputs.
        """
        scope, inputs = kwargs.pop("scope", None), _as_tensors(args[0])
        dtypes = [x.dtype for x in nest.flatten(inputs) if x.dtype in FLOATING]
        with noting_costs(self), self.entered(scope, next(iter(dtypes), None)):
            self.make(nest.map_structure(lambda x: x.shape, inputs))
            result = self.call(inputs, *args[1:], **kwargs)
        self._called = True
        return result

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        """The same as a call."""
        return self(*args, **kwargs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the result for floats of `input_shape`, found by a call in a graph of its own.

        >>> import pullback.compat.v1 as tf
        >>> tf.layers.Dense(7).compute_output_shape([None, 3])
        TensorShape([None, 7])
        """
        fresh = copy.copy(self)
        fresh._scope, fresh.built, fresh._called = None, False, False
        fresh.losses, fresh.updates = [], []
        with Graph().as_default():
            shape: TensorShape = fresh(placeholder(self.dtype or float32, input_shape)).shape
        return shape

    @property
    def name(self) -> str:
        """The name of its scope, without the scopes around it."""
        if self._scope is not None:
            return self._scope.name.rsplit("/", 1)[-1]
        return self._given_name or snake_case(type(self).__name__)

    @property
    def scope_name(self) -> str:
        """The name of its scope; ValueError before the first call."""
        if self._scope is None:
            raise ValueError(f"the layer '{self.name}' has no scope before its first call")
        return self._scope.name

    @property
    def variables(self) -> list[Variable]:
        """Its variables; none before the first call."""
        return [] if self._scope is None else self._scope.global_variables()

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those of them that optimizers change."""
        return [] if self._scope is None else self._scope.trainable_variables()

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Those of them that optimizers leave alone."""
        trained = set(self.trainable_variables)
        return [v for v in self.variables if v not in trained]

    @property
    def weights(self) -> list[Variable]:
        """The same as `variables`."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Variable]:
        """The same as `trainable_variables`."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The same as `non_trainable_variables`."""
        return self.non_trainable_variables

    def get_weights(self) -> list[Any]:
        """The values of its variables in the default session."""
        return [v.eval() for v in self.variables]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Put arrays in place of the values of its variables, in the default session.

        Raises:
            ValueError: there are not as many, or they are of other shapes.

        >>> import numpy as np
        >>> import pullback.compat.v1 as tf
        >>> layer = tf.layers.Dense(1)
        >>> y = layer(tf.ones([1, 2]))
        >>> with tf.Session().as_default():
        ...     layer.set_weights([np.ones([2, 1]), np.ones([1])])
        ...     [w.tolist() for w in layer.get_weights()], y.eval().tolist()
        ([[[1.0], [1.0]], [1.0]], [[3.0]])
        """
        for v, value in checked_weights(self, weights):
            v.load(value)

    def count_params(self) -> int:
        """How many numbers its variables have.

        Raises:
            ValueError: it has none yet.
        """
        if not self.built:
            raise ValueError(f"the layer '{self.name}' has no variables to count before its first call")
        return sum(v.shape.num_elements() or 0 for v in self.variables)

    # What others of this folder call

    def make(self, shape: Any) -> None:
        """Build, unless it is built, in the scope that is open."""
        if not self.built:
            self._building = True
            try:
                self.build(shape)
            finally:
                self._building = False
            self.built = True

    @contextmanager
    def entered(self, scope: VariableScope | str | None, dtype: DTypeLike | None) -> Iterator[None]:
        """The block in which variables are the layer's: new ones at the first call, later the same."""
        if self._scope is None:
            shared = self._reuse or get_variable_scope().reuse
            named = scope or self._given_scope or (self.name if shared else name_without_variables(self.name))
            kind = self.dtype or dtype
            with variable_scope(named, reuse=self._reuse, dtype=kind) as self._scope:
                pass
        kept = variable_scope(self._scope, reuse=True if self._called else None, auxiliary_name_scope=False)
        with kept as inner, inner.graph.acting.within(inner.original_name_scope):
            yield


def checked_weights(layer: Any, weights: Sequence[Any]) -> list[tuple[Variable, Any]]:
    """The variables of a layer, each with the array that is to be its value.

    Raises:
        ValueError: there are not as many, or they are of other shapes.
    """
    shapes, given = [v.shape.as_list() for v in layer.variables], [list(np.shape(w)) for w in weights]
    if given != shapes:
        raise ValueError(
            f"set_weights: the layer '{layer.name}' has weights of the shapes {shapes}, and was given {given}"
        )
    return list(zip(layer.variables, weights, strict=True))


def _in_its_scope(build: Callable[..., None]) -> Callable[..., None]:
    """`build`, which makes the variables where the first call would when a program calls it with a shape, and once."""

    @wraps(build)
    def built(self: Layer, *shapes: Any, **named: Any) -> None:
        if self._building or len(shapes) + len(named) != 1:
            build(self, *shapes, **named)
            return
        with noting_costs(self), self.entered(None, None):
            self.make(_as_shapes(next(iter([*shapes, *named.values()]))))

    return built


def _as_shapes(given: Any) -> Any:
    """Shapes, where lists of lengths may be given."""
    if isinstance(given, Mapping):
        return {key: _as_shapes(shape) for key, shape in given.items()}
    if isinstance(given, list | tuple) and any(isinstance(x, list | tuple | TensorShape) for x in given):
        return [_as_shapes(shape) for shape in given]
    return as_shape(given)


def _as_tensors(inputs: Any) -> Any:
    """Structures of tensors as they are, with tensors for arrays; a list of numbers is one tensor for each."""
    if isinstance(inputs, Mapping) or any(isinstance(x, Tensor | AbstractComposite) for x in nest.flatten(inputs)):
        return nest.map_structure(lambda x: x if isinstance(x, AbstractComposite) else convert_to_tensor(x), inputs)
    return [convert_to_tensor(x) for x in inputs] if isinstance(inputs, list | tuple) else convert_to_tensor(inputs)


def snake_case(name: str) -> str:
    """The name of a class as that of a scope: `Conv2DTranspose` is `conv2d_transpose`."""
    parts = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    found = re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()
    return f"private{found}" if found.startswith("_") else found
