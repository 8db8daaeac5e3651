"""Composite tensors: values made of several tensors, which go through loops, branches and functions as one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .graph import Graph
from .operation import Tensor
from .shape import TensorShape
from .types import TensorType


class AbstractComposite(ABC):
    """A value made of tensors that can stand for it in a loop, a branch or a function: SparseTensor, TensorArray."""

    @property
    @abstractmethod
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors that it is made of."""

    @property
    @abstractmethod
    def graph(self) -> Graph:
        """The graph of the tensors."""

    @property
    @abstractmethod
    def lasting_types(self) -> tuple[TensorType, ...]:
        """What stays true of the types of its tensors when a step of a loop makes another of it."""

    @abstractmethod
    def types_within(self, invariant: TensorShape) -> tuple[TensorType, ...]:
        """What stays true of them where `invariant` is all that is said of its shape.

        Raises:
            ValueError: no such shape can be said of it.
        """

    @abstractmethod
    def with_tensors(self, tensors: Sequence[Tensor]) -> Any:
        """The same with others in their places."""
