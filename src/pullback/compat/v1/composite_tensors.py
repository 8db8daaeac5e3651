"""Composite tensors that programs define: a class whose objects are made of several tensors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import pullback as pb

from ...core.composite import AbstractComposite
from ...core.shape import TensorShape
from ...core.types import TensorType


class CompositeTensor(AbstractComposite):
    """A value made of tensors: a class below it says which, and what others in their places make.

    >>> import pullback as pb
    >>> class Pair(CompositeTensor):
    ...     def __init__(self, first, second):
    ...         self.first, self.second = first, second
    ...
    ...     def _to_components(self):
    ...         return [self.first, self.second]
    ...
    ...     @classmethod
    ...     def _from_components(cls, components):
    ...         return cls(*components)
    >>> one, two = pb.constant(1), pb.constant(2)
    >>> pair = pb.cond(pb.constant(True), lambda: Pair(one, two), lambda: Pair(two, one))
    >>> pb.Session().run([pair.first, pair.second])
    [np.int32(1), np.int32(2)]
    """

    @abstractmethod
    def _to_components(self) -> Sequence[pb.Tensor]:
        """The tensors that it is made of."""

    @classmethod
    @abstractmethod
    def _from_components(cls, components: Sequence[pb.Tensor]) -> Any:
        """What is made of those tensors."""

    @property
    def tensors(self) -> tuple[pb.Tensor, ...]:
        """The tensors that it is made of."""
        return tuple(self._to_components())

    @property
    def graph(self) -> pb.Graph:
        """That of the first."""
        return self.tensors[0].graph

    @property
    def lasting_types(self) -> tuple[TensorType, ...]:
        """Their types: they stay as they are in each step of a loop."""
        return tuple([x.type for x in self.tensors])

    def types_within(self, invariant: TensorShape) -> tuple[TensorType, ...]:
        """Nothing can be said of one shape.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            f"while_loop: a shape invariant {invariant} says nothing of a {type(self).__name__}; leave it out"
        )

    def with_tensors(self, tensors: Sequence[pb.Tensor]) -> Any:
        """The same with others in their places."""
        return self._from_components(tensors)


# Not IndexedSlices, which then were an AbstractComposite too, without the methods of one.
for _kind in (pb.SparseTensor, pb.RaggedTensor):
    CompositeTensor.register(_kind)
