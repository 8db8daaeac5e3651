"""`Variable` with the parameters of TensorFlow 1: the third one is `collections`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ...layers.variables.creators import created
from ...primitives.variables.operations import VarHandleOp
from ...primitives.variables.references import be_resource


class _AnyVariable(type(pb.Variable)):  # type: ignore[misc]
    """Makes `isinstance(v, Variable)` true of all variables, however they were made."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, pb.Variable)

    def __call__(cls, initial_value: Any = None, *args: Any, **options: Any) -> Any:
        """A variable, made as the creators around it will have it."""
        names = list(inspect.signature(cls.__init__).parameters)[2:]  # type: ignore[misc]
        given = dict(zip(names, args, strict=False))
        return created(super().__call__, initial_value=initial_value, **given, **options)


class Variable(pb.Variable, metaclass=_AnyVariable):
    """As `pb.Variable`; `expected_shape` changes nothing.

    With `use_resource` the shape of the initial value need not be known: it is then what is known of the variable's.
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Sequence[str] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        del caching_device, expected_shape, synchronization, aggregation
        if use_resource and validate_shape and shape is None and isinstance(initial_value, pb.Tensor):
            shape = initial_value.shape
        super().__init__(
            initial_value,
            trainable,
            validate_shape,
            name=name,
            variable_def=variable_def,
            dtype=dtype,
            import_scope=import_scope,
            constraint=constraint,
            shape=shape,
            collections=collections,
        )
        if use_resource:
            be_resource(self.graph_element())


def variable_of(x: Any) -> Any:
    """The variable whose handle `x` is, or `x`: by `w:0` programs of TensorFlow 1 mean the variable."""
    return pb.Variable.from_handle(x) if isinstance(x.op.primitive, VarHandleOp) else x
