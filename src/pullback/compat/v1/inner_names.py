"""Names of modules inside TensorFlow 1 that `tf` itself has not: of `ops.resource_variable_ops` and the like."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation, Tensor
from ...core.shape import TensorShape
from ...core.typing import TensorLike
from ...primitives.debugging.printing import print_ as print_
from ...primitives.variables.variable import Variable as VariableToday
from .defun import DefinedFunction as DefinedFunction
from .defun import Defun as Defun
from .variable import Variable as Variable

ResourceVariable = RefVariable = VariableV1 = BaseResourceVariable = Variable
_DefinedFunction = DefinedFunction
print_v2 = print_


def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """A shape of which nothing is known, or its rank only; `ndims` is an old name of `rank`."""
    count = kwargs.get("ndims", rank)
    return TensorShape(None if count is None else [None] * count)


def is_resource_variable(var: Any) -> bool:
    """Whether `var` is a variable: all are of resources here."""
    return isinstance(var, VariableToday)


def read_variable_op(resource: Tensor, dtype: Any = None, name: str | None = None) -> Tensor:
    """The value of the variable of that handle."""
    del dtype, name
    return VariableToday.from_handle(resource).read_value()


def assign_variable_op(resource: Tensor, value: TensorLike, name: str | None = None) -> Operation:
    """Replaces the value of the variable of that handle."""
    operation: Operation = VariableToday.from_handle(resource).assign(value, name=name, read_value=False)
    return operation


def assign_add_variable_op(resource: Tensor, value: TensorLike, name: str | None = None) -> Operation:
    """Adds to the value of the variable of that handle."""
    operation: Operation = VariableToday.from_handle(resource).assign_add(value, name=name, read_value=False)
    return operation
