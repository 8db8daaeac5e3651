"""Layers as objects: their variables are made at the first call, and shared by all later ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from ....core.dtypes import float32
from ....core.graph import Tensor
from ....core.needs import needed
from ....core.operation import Operation
from ....core.typing import DTypeLike, TensorLike
from ....layers.variables.layer import Layer
from ....layers.variables.layer_costs import COLLECTED, noting_costs
from ....layers.variables.scope import VariableScope, variable_scope
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.placeholders import placeholder
from ....primitives.variables.variable import Variable
from . import convolution, core, normalization, pooling
from .variables import noting_variables

_ASKED_FOR = {"bias": "use_bias", "beta": "center", "gamma": "scale"}
"""The parameters that say whether a layer has such a variable."""


class FunctionLayer(Layer):
    """A layer: called with a tensor it gives what the function of the same name gives."""

    function: ClassVar[Callable[..., Tensor]]
    _by_name: Mapping[str, Variable] = {}

    def __init__(
        self,
        *args: Any,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        _scope: VariableScope | str | None = None,
        _reuse: bool | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(options.get("trainable", True), name, dtype, _scope=_scope, _reuse=_reuse)
        self._args, self._options = args, options

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a layer be made with the parameters of its function, as its signature says; programs look at it."""
        super().__init_subclass__(**options)
        if "function" in vars(cls):

            def __init__(self: FunctionLayer, *args: Any, **options: Any) -> None:
                FunctionLayer.__init__(self, *args, **options)

            given = inspect.signature(cls.function).parameters
            own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
            parameters = [p for name, p in given.items() if name not in ("inputs", "reuse")]
            __init__.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
            cls.__init__ = __init__  # type: ignore[method-assign]

    def __call__(self, inputs: TensorLike, **options: Any) -> Tensor:
        """The result for `inputs`; `options`, such as `training`, take the place of those given before."""
        with noting_costs(self):
            return self._result(convert_to_tensor(inputs), options)

    def build(self, input_shape: Any) -> None:
        """Make the variables, by a call of which nothing else is kept."""
        x = placeholder(self.dtype or float32, input_shape)
        self._result(x, {})
        graph = x.graph.acting
        for key in COLLECTED.values():
            entries = graph.get_collection_ref(key)
            entries[:] = [entry for entry in entries if x.op not in _before(entry)]

    def _result(self, x: Tensor, options: dict[str, Any]) -> Tensor:
        with self.placed() as scope:
            given = self._options | options | {"name": scope, "reuse": True if self._called else self._reuse}
            with noting_variables() as self._by_name:
                result = type(self).function(x, *self._args, **given)
        self._called = self.built = True
        return result

    @contextmanager
    def entered(self, scope: VariableScope | str | None, dtype: DTypeLike | None) -> Iterator[None]:
        """The block of `build`: the call in it has its own."""
        del scope, dtype
        yield

    @contextmanager
    def placed(self) -> Iterator[VariableScope]:
        """The block of a call, and the scope of its variables."""
        if self._scope is None:
            default = self._given_name or type(self).function.__name__
            with variable_scope(self._given_scope, default) as self._scope:
                pass
        yield self._scope

    def __getattr__(self, name: str) -> Any:
        """The variable of that name, None where the layer was asked for none, or else a parameter as it was given."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._by_name:
            return self._by_name[name]
        asked_for = _ASKED_FOR.get(name, name)
        given = self._parameters()
        if asked_for not in given:
            raise AttributeError(f"the layer '{self.name}' has no variable '{name}'; they are made at its first call")
        if asked_for != name and given[asked_for]:
            raise AttributeError(f"the layer '{self.name}' has its '{name}' after its first call")
        return None if asked_for != name else given[name]

    def _parameters(self) -> dict[str, Any]:
        """The parameters of the function, as they were given or by default."""
        bound = inspect.signature(type(self).function).bind(None, *self._args, **self._options)
        bound.apply_defaults()
        return bound.arguments


def _before(entry: Any) -> set[Operation]:
    """The operations that a penalty or an update needs, and its own."""
    return needed([entry if isinstance(entry, Operation) else entry.op], lambda op: [x.op for x in op.inputs])


class Dense(FunctionLayer):
    """`dense` with variables of its own."""

    function = core.dense


class Conv1D(FunctionLayer):
    """`conv1d` with variables of its own."""

    function = convolution.conv1d


class Conv2D(FunctionLayer):
    """`conv2d` with variables of its own."""

    function = convolution.conv2d


class Conv3D(FunctionLayer):
    """`conv3d` with variables of its own."""

    function = convolution.conv3d


class Conv2DTranspose(FunctionLayer):
    """`conv2d_transpose` with variables of its own."""

    function = convolution.conv2d_transpose


class Conv3DTranspose(FunctionLayer):
    """`conv3d_transpose` with variables of its own."""

    function = convolution.conv3d_transpose


class SeparableConv1D(FunctionLayer):
    """`separable_conv1d` with variables of its own."""

    function = convolution.separable_conv1d


class SeparableConv2D(FunctionLayer):
    """`separable_conv2d` with variables of its own."""

    function = convolution.separable_conv2d


class BatchNormalization(FunctionLayer):
    """`batch_normalization` with variables of its own."""

    function = normalization.batch_normalization


class Dropout(FunctionLayer):
    """`dropout` as an object."""

    function = core.dropout


class Flatten(FunctionLayer):
    """`flatten` as an object."""

    function = core.flatten


class MaxPooling1D(FunctionLayer):
    """`max_pooling1d` as an object."""

    function = pooling.max_pooling1d


class MaxPooling2D(FunctionLayer):
    """`max_pooling2d` as an object."""

    function = pooling.max_pooling2d


class MaxPooling3D(FunctionLayer):
    """`max_pooling3d` as an object."""

    function = pooling.max_pooling3d


class AveragePooling1D(FunctionLayer):
    """`average_pooling1d` as an object."""

    function = pooling.average_pooling1d


class AveragePooling2D(FunctionLayer):
    """`average_pooling2d` as an object."""

    function = pooling.average_pooling2d


class AveragePooling3D(FunctionLayer):
    """`average_pooling3d` as an object."""

    function = pooling.average_pooling3d
