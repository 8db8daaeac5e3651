"""Nested structures of tensors (pytrees) that passes take and give: taken apart, and put together of other tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import nest
from ..core.graph import AbstractTensorLike, Operation, Tensor
from ..core.slices import IndexedSlices


class Structure:
    """The tensors of a nested structure, in order: variables stand for their values, slices have parts, None has none.

    `what` is the function that was given it, for messages; with `operations`, operations are elements too.

    Raises:
        TypeError: something in it is no tensor.
    """

    def __init__(self, given: Any, what: str, *, operations: bool = False) -> None:
        self.given, self.what = given, what
        self.kinds: tuple[type, ...] = (Tensor, Operation) if operations else (Tensor,)
        self.elements: list[Any] = [x for leaf in nest.flatten(given) for x in self._parts(leaf)]

    def of(self, found: Mapping[Any, Any]) -> Any:
        """The structure, with what `found` has for each of its elements."""
        return nest.pack_sequence_as(self.given, [self._leaf(leaf, found) for leaf in nest.flatten(self.given)])

    def _parts(self, leaf: Any) -> list[Any]:
        if leaf is None:
            return []
        if isinstance(leaf, IndexedSlices):
            return list(leaf.tensors)
        if isinstance(leaf, AbstractTensorLike):
            leaf = leaf.graph_element()
        if not isinstance(leaf, self.kinds):
            raise TypeError(f"{self.what}: {leaf!r} is no tensor; pass tensors, and lists or dictionaries of them")
        return [leaf]

    def _leaf(self, leaf: Any, found: Mapping[Any, Any]) -> Any:
        parts = [found[x] for x in self._parts(leaf)]
        if isinstance(leaf, IndexedSlices):
            return IndexedSlices(parts[0], parts[1], parts[2] if len(parts) > 2 else None, leaf.static_shape)
        return parts[0] if parts else None
