"""Differentiation by values inside ONNX loops: zeros are added to them at each step, by which there are derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import GraphProto

from ...core.dtypes import TRAINABLE
from ...core.function import inline, like_parameter, trace
from ...core.operation import Tensor
from ...primitives.creation.fill import zeros, zeros_like
from ..model import names_inside
from ..reading import Node


class Watching:
    """The values in the body of a loop that `load` was asked to watch.

    Each has a loop variable more: what is added to it at this step. It is zeros, made anew at each step, so that the
    derivative by it is that by the value at this step alone.
    """

    def __init__(self, node: Node, body: GraphProto) -> None:
        inside = names_inside(node.proto) if node.names.outer is None and node.graph.watched else ()
        self.node, self.body = node, body
        self.names = [name for name in node.graph.watched if name in inside]

    def __len__(self) -> int:
        return len(self.names)

    def begin(self, first: Sequence[Any], start: Sequence[Tensor]) -> list[Tensor]:
        """What is added at the first step, whose body takes `first` and then `start`."""
        if not self.names:
            return []
        made = trace(
            lambda *given: self.node.read_body(self.body, [*first, *given], self.names)[-len(self.names) :],
            [like_parameter(x) for x in start],
            "first_step",
        )
        for name, y in zip(self.names, made.function.results, strict=True):
            if y.dtype not in TRAINABLE:
                self.node.refuse(f"'{name}' is {y.type}; only tensors of floats have derivatives")
        if all(y.shape.is_fully_defined() for y in made.function.results):
            return [zeros(y.shape, y.dtype) for y in made.function.results]
        return [zeros_like(y) for y in inline(made.function, [*start, *made.captured])]

    def read(self, arguments: Sequence[Any], moves: Sequence[Tensor]) -> list[Any]:
        """The results of the body, then the watched values."""
        return self.node.read_body(self.body, arguments, self.names, dict(zip(self.names, moves, strict=True)))

    @staticmethod
    def following(seen: Sequence[Tensor]) -> list[Tensor]:
        """What is added at the next step."""
        return [zeros_like(y) for y in seen]

    def keep(self, moves: Sequence[Tensor], rows: Sequence[Tensor]) -> None:
        """Note where the values and what was added to them are in the graph."""
        for name, move, row in zip(self.names, moves, rows, strict=True):
            self.node.graph.values[name] = row
            self.node.graph.moves[name] = move
