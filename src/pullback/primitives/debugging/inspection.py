"""Static inspection of tensors while a graph is built: whether something is one, and its value if known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import INEXACT, INTEGER
from ...core.graph import get_default_graph
from ...core.operation import AbstractTensorLike, Tensor
from ...core.slices import IndexedSlices
from ...core.typing import TensorLike
from ..creation.constant import constant_value
from ..sparse.sparse_tensor import SparseTensor


def is_tensor(x: object) -> bool:
    """Whether `x` is a tensor of a graph, or a variable, IndexedSlices or SparseTensor; arrays and numbers are not.

    >>> import pullback as pb
    >>> pb.is_tensor(pb.constant(1.0)), pb.is_tensor(1.0)
    (True, False)
    """
    return isinstance(x, Tensor | AbstractTensorLike | IndexedSlices | SparseTensor)


def is_symbolic_tensor(tensor: object) -> bool:
    """Whether `tensor` has no value while the graph is built: every tensor is so here.

    >>> import pullback as pb
    >>> pb.is_symbolic_tensor(pb.constant(1.0))
    True
    """
    return is_tensor(tensor)


def is_numeric_tensor(tensor: object) -> bool:
    """Whether `tensor` is a tensor of numbers: not of bool, and no handle.

    >>> import pullback as pb
    >>> pb.debugging.is_numeric_tensor(pb.constant(1.0)), pb.debugging.is_numeric_tensor(pb.constant(True))
    (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype in INEXACT | INTEGER


def get_current_name_scope() -> str:
    """The name scope of the default graph, without the `/` at its end.

    >>> import pullback as pb
    >>> with pb.name_scope("outer"), pb.name_scope("inner"):
    ...     pb.get_current_name_scope()
    'outer/inner'
    """
    return get_default_graph().get_name_scope()


def get_static_value(tensor: TensorLike, partial: bool = False) -> np.ndarray[Any, Any] | None:
    """The value of `tensor` where it can be told while the graph is built, as an array; else None.

    Constants, static shapes, and small integer arithmetic on them can be told. `partial` changes nothing.

    >>> import pullback as pb
    >>> pb.get_static_value(pb.shape(pb.zeros([2, 3])) + 1)
    array([3, 4], dtype=int32)
    >>> pb.get_static_value(pb.placeholder(pb.float32)) is None
    True
    """
    del partial
    if not isinstance(tensor, Tensor):
        return None
    value = constant_value(tensor)
    return None if value is None else np.array(value)
