"""Carried state during ONNX import: the tensors that stand for sequences and optional values in loops and branches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence as Series
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ...core.dtypes import DType, float32
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.shape import TensorShape
from ...primitives.creation.constant import constant, convert_to_tensor
from ..reading import Node
from .packed import PackedSequence, common_shape, joined, packed_of, packed_rows
from .sequence import Growing, Optional, Sequence

Value: TypeAlias = Tensor | Sequence | PackedSequence | Optional | Growing


class AbstractLayout(ABC):
    """How the value of one name stands in a loop or a branch."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many tensors stand for it."""

    @abstractmethod
    def apart(self, value: Any) -> list[Tensor]:
        """The tensors that stand for a value."""

    @abstractmethod
    def rebuilt(self, tensors: Series[Tensor]) -> Any:
        """The value that these tensors stand for."""

    @abstractmethod
    def after(self, node: Node, start: Any, y: Any) -> AbstractLayout:
        """The layout for `start` and for `y`, which a step or another branch returns: this one where it will do."""


@dataclass(frozen=True, eq=False)
class Fixed(AbstractLayout):
    """As many tensors as `template` has."""

    template: Any
    in_loop: bool = False

    @property
    def count(self) -> int:
        return 1 if self._of_one else len(self.template.tensors)

    def apart(self, value: Any) -> list[Tensor]:
        return [convert_to_tensor(value)] if self._of_one else list(value.tensors)

    def rebuilt(self, tensors: Series[Tensor]) -> Any:
        return _like(self.template, tensors)

    def after(self, node: Node, start: Any, y: Any) -> AbstractLayout:
        if _is_alike(self.template, y):
            return self
        if self.in_loop and isinstance(start, Sequence) and isinstance(y, Sequence | PackedSequence):
            return Appending(start.dtype)
        return Packed.of(node, start).after(node, start, y)

    @property
    def _of_one(self) -> bool:
        return self.template is None or isinstance(self.template, Tensor)


def _is_alike(template: Any, y: Any) -> bool:
    if isinstance(template, Optional):
        fixed = isinstance(y, Optional) and template.there is None and y.there is None
        return fixed and _is_alike(template.value, y.value)
    if isinstance(template, Sequence):
        return isinstance(y, Sequence) and len(y.tensors) == len(template.tensors)
    if template is None or y is None:
        return template is y
    return isinstance(template, Tensor) and not isinstance(y, Sequence | PackedSequence | Optional | Growing)


def _like(template: Any, tensors: Series[Tensor]) -> Any:
    if isinstance(template, Optional):
        return Optional(None if template.value is None else _like(template.value, tensors))
    return Sequence(tuple(tensors), template.dtype) if isinstance(template, Sequence) else tensors[0]


@dataclass(frozen=True, eq=False)
class Appending(AbstractLayout):
    """A sequence that each step puts tensors of one shape behind, and reads nothing of: rows of the steps, no state."""

    dtype: DType
    rows: int = 0
    """How many tensors each step adds."""

    @property
    def count(self) -> int:
        return 0

    def apart(self, value: Any) -> list[Tensor]:
        return list(value.added) if isinstance(value, Growing) else []

    def rebuilt(self, tensors: Series[Tensor]) -> Any:
        del tensors
        return Growing(self, self.dtype)

    def after(self, node: Node, start: Any, y: Any) -> AbstractLayout:
        if isinstance(y, Growing) and y.layout is self and y.added:
            shapes = {x.shape for x in y.added}
            if len(shapes) == 1 and shapes.pop().is_fully_defined():
                return self if self.rows == len(y.added) else Appending(self.dtype, len(y.added))
        return Packed.of(node, start)

    def finished(self, start: Any, rows: Series[Tensor]) -> PackedSequence:
        """The sequence after the last step, with the rows that the steps gave."""
        own = packed_rows(rows)
        return own if isinstance(start, Sequence) and not start.tensors else joined([packed(start), own])


@dataclass(frozen=True)
class Packed(AbstractLayout):
    """The elements and the table of lengths of a packed sequence, and, if it is optional, whether it is there.

    A tensor that may be missing is a sequence of at most one.
    """

    dtype: DType | None
    width: int = 0
    shape: TensorShape | None = None
    is_sequence: bool = True
    is_optional: bool = False

    @property
    def count(self) -> int:
        return 3 if self.is_optional else 2

    @classmethod
    def of(cls, node: Node, value: Any) -> Packed:
        """The layout of one value."""
        if isinstance(value, Optional):
            if value.value is None:
                return cls(None, is_optional=True)
            inner = cls.of(node, value.value)
            return inner if value.there is None else replace(inner, is_optional=True, is_sequence=value.is_sequence)
        if isinstance(value, PackedSequence):
            return cls(value.dtype, value.width, value.shape)
        tensors = (value,) if isinstance(value, Tensor) else value.tensors
        if any(x.shape.rank is None for x in tensors):
            node.refuse("the number of axes of the tensors in a sequence must be known")
        width = max([len(x.shape) for x in tensors], default=0)
        return cls(value.dtype, width, common_shape([x.shape for x in tensors]), not isinstance(value, Tensor))

    def after(self, node: Node, start: Any, y: Any) -> AbstractLayout:
        other = Packed.of(node, y)
        differ = self.dtype != other.dtype or self.is_sequence != other.is_sequence
        if differ and None not in (self.dtype, other.dtype):
            node.reject(f"a value is {self} in one place and {other} in another")
        return Packed(
            self.dtype or other.dtype,
            max(self.width, other.width),
            common_shape([self.shape, other.shape]),
            (other if self.dtype is None else self).is_sequence,
            self.is_optional or other.is_optional,
        )

    def apart(self, value: Any) -> list[Tensor]:
        there = constant(True)
        if isinstance(value, Optional):
            there = value.there if value.there is not None else constant(value.value is not None)
            value = value.value
        whole = packed_of((), self.dtype or float32) if value is None else packed(value)
        tensors = list(whole.widened(self.width).tensors)
        return [*tensors, there] if self.is_optional else tensors

    def rebuilt(self, tensors: Series[Tensor]) -> Any:
        whole = PackedSequence(tensors[0], tensors[1], self.shape)
        return Optional(whole, tensors[2], of_sequence=self.is_sequence) if self.is_optional else whole

    def __str__(self) -> str:
        kind = "a sequence" if self.is_sequence else "a tensor"
        return f"{kind} of {self.dtype.name if self.dtype else bool_.name}"


def layout_in_loop(node: Node, value: Any) -> AbstractLayout:
    """The layout to try first for what a loop carries."""
    if isinstance(value, PackedSequence):
        return Appending(value.dtype)
    if isinstance(value, Optional) and value.there is not None:
        return Packed.of(node, value)
    return Fixed(value, in_loop=True)


def packed(value: Any) -> PackedSequence:
    """A tensor or a sequence as a packed sequence."""
    if isinstance(value, PackedSequence):
        return value
    return packed_of([value] if isinstance(value, Tensor) else value.tensors, value.dtype)
