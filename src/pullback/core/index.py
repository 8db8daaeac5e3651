"""Index of a graph's operations, by name and by class of primitive: each operation is looked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operation import Operation
    from .primitive import Primitive


class OperationIndex:
    """What finds operations in a list that grows at its end, and is cut there where a change is taken back."""

    def __init__(self, operations: list[Operation]) -> None:
        self._operations = operations
        self._named: dict[str, Operation] = {}
        self._of_class: dict[type[Primitive], tuple[int, list[Operation]]] = {}
        """For each class that was asked for: how many operations were looked at, and those of that class among them."""

    def named(self, name: str) -> Operation | None:
        """The operation of that name, if there is one."""
        for op in self._operations[len(self._named) :]:
            self._named[op.name] = op
        return self._named.get(name)

    def of_class(self, cls: type[Primitive]) -> list[Operation]:
        """The operations whose primitive is of class `cls`, in order."""
        seen, found = self._of_class.get(cls, (0, []))
        found = [*found, *(op for op in self._operations[seen:] if isinstance(op.primitive, cls))]
        self._of_class[cls] = (len(self._operations), found)
        return found

    def cut(self, size: int) -> None:
        """Forget the operations from the number `size` on."""
        self._named = {name: op for name, op in self._named.items() if op.index < size}
        self._of_class = {
            cls: (min(seen, size), [op for op in found if op.index < size])
            for cls, (seen, found) in self._of_class.items()
        }
