"""Variable sharing: the variable of a full name, which is made the first time and found again later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any
from weakref import WeakKeyDictionary

from ...core.dtypes import as_dtype
from ...core.graph import Graph, Tensor
from ...core.seen import seen
from ...core.shape import as_shape
from ...core.typing import DTypeLike, ShapeLike
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.variables.collections import GraphKeys
from ...primitives.variables.operations import VarHandleOp, variable_type
from ...primitives.variables.partitions import partitions_of
from ...primitives.variables.references import be_resource
from ...primitives.variables.variable import Variable, variables_of
from .creators import created
from .initializers import default_initializer

# The operation of each name that was asked for, which is another name where an operation or a scope has that one.
_made: WeakKeyDictionary[Graph, dict[str, str]] = WeakKeyDictionary()


def shared_variable(
    graph: Graph,
    default_dtype: DTypeLike | None,
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[[Tensor], Any] | None = None,
    reuse: bool | str = False,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: object = None,
    aggregation: object = None,
    shared: bool = True,
) -> Variable:
    """The variable `name` of `graph`, shared or made as `reuse` says; of `default_dtype` unless a dtype is given.

    One that is not `shared` is always made, and is never found again.
    """
    del caching_device, synchronization, aggregation
    existing = _variable_named(graph, name) if shared else None
    if existing is not None:
        return _reused(existing, name, reuse, shape, dtype)
    if reuse is True:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with get_variable(). "
            "Did you mean to set reuse=pb.AUTO_REUSE in variable_scope?"
        )
    given = dtype or default_dtype
    start = _initial(initializer, shape, given, name)
    with graph.transaction(), graph.name_scope(None):
        variable: Variable = created(
            Variable,
            initial_value=start,
            trainable=trainable,
            validate_shape=validate_shape,
            name=name,
            dtype=given,
            constraint=constraint,
            collections=collections,
        )
        _check_made(variable, shape if validate_shape else None)
        variable.partitions = partitions_of(partitioner, name, variable.shape, variable_type(variable.handle).dtype)
    if use_resource:
        be_resource(variable.graph_element())
    if shared:
        _made.setdefault(graph, {})[name] = variable.op.name
    _regularize(variable, regularizer)
    return variable


def _check_made(variable: Variable, shape: Any) -> None:
    found = variable.shape
    if shape is not None and not found.is_compatible_with(shape):
        raise ValueError(
            f"get_variable: the initializer of '{variable.op.name}' was asked for shape {as_shape(shape)} and made "
            f"{found}"
        )


def _initial(initializer: Any, shape: Any, dtype: Any, name: str) -> Any:
    if isinstance(initializer, Tensor) and dtype is not None and initializer.dtype != as_dtype(dtype):
        raise ValueError(
            f"get_variable: '{name}' has the initial value {initializer} and dtype={as_dtype(dtype).name}, "
            "which don't match"
        )
    if initializer is not None and not callable(initializer):
        if shape is not None and not as_shape(shape).is_compatible_with(convert_to_tensor(initializer).shape):
            raise ValueError(f"get_variable: '{name}' gets its shape from its initial value; leave shape= out")
        return initializer
    if isinstance(initializer, Variable):
        return initializer
    if shape is None and initializer is not None and not isinstance(initializer, type) and _takes_nothing(initializer):
        return initializer
    dims = as_shape(shape)
    if not dims.is_fully_defined():
        raise ValueError(
            f"get_variable: the shape of a new variable ('{name}') must be fully defined, but it is {dims}; pass shape="
        )
    made = default_initializer(as_dtype(dtype)) if initializer is None else initializer
    if isinstance(made, type):
        made = made()
    return _asked(made, list(dims.known), seen.dtype(as_dtype(dtype)))


def _asked(function: Callable[..., Any], shape: Any, dtype: Any) -> Callable[[], Any]:
    """A call of an initializer, which is told the dtype by name if it can be, and that it makes the whole variable."""
    try:
        parameters = signature(function).parameters
    except ValueError:  # Some functions of C say nothing of their parameters.
        return lambda: function(shape, dtype)
    options = {"partition_info": None} if "partition_info" in parameters else {}
    kinds = [p.kind for p in parameters.values()]
    if "dtype" in parameters or kinds[1:] == [Parameter.VAR_KEYWORD]:
        return lambda: function(shape, dtype=dtype, **options)
    return lambda: function(shape, dtype, **options)


def _takes_nothing(function: Callable[..., Any]) -> bool:
    """Whether `function` can be called without arguments."""
    parameters = signature(function).parameters.values()
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _reused(variable: Variable, full: str, reuse: bool | str, shape: Any, dtype: Any) -> Variable:
    if reuse is False:
        raise ValueError(
            f"Variable {full} already exists, disallowed. "
            "Did you mean to set reuse=True or reuse=pb.AUTO_REUSE in variable_scope?"
        )
    if shape is not None and not as_shape(shape).is_compatible_with(variable.shape):
        raise ValueError(
            f"Trying to share variable {full}, but specified shape {as_shape(shape)} and found shape {variable.shape}."
        )
    if dtype is not None and as_dtype(dtype) != variable.dtype:
        raise ValueError(
            f"Trying to share variable {full}, but specified dtype {as_dtype(dtype).name} "
            f"and found dtype {variable.dtype.name}."
        )
    return variable


def _regularize(variable: Variable, regularizer: Callable[[Tensor], Any] | None) -> None:
    if regularizer is None:
        return
    with variable.graph.within(variable.op.name + "/Regularizer/"):
        loss = regularizer(variable.as_tensor())
    if loss is not None:
        variable.graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def shared_names(graph: Graph) -> list[str]:
    """The names of the variables of `graph` that are shared by name."""
    return [name for name in _made.get(graph, {}) if _variable_named(graph, name) is not None]


def _variable_named(graph: Graph, name: str) -> Variable | None:
    """What `get_variable` made of `name`, unless a transaction has taken it back since."""
    try:
        op = graph.get_operation_by_name(_made.get(graph, {})[name])
    except KeyError:
        return None
    if not isinstance(op.primitive, VarHandleOp):
        return None
    return next((v for v in variables_of(graph, GraphKeys.GLOBAL_VARIABLES) if v.op is op), Variable.from_handle(op))
