"""Which elements of a tensor depend on which elements of another, found on the graph: the pattern of a Jacobian.

Patterns are carried from operation to operation, as sparse matrices of truth values with a row for each element. An
operation that moves elements is run on their numbers; one that adds up moved elements is differentiated, and the
derivative, which moves them back, is run on numbers. What has no rule here is taken to mix all elements: patterns may
be too large, and are never too small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..autodiff.paths import operations_between
from ..core.dtypes import TRAINABLE
from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import no_gradient
from ..engines.session import Session
from ..primitives.constant import constant_in
from ..primitives.elementwise import AbstractElementwise
from ..primitives.placeholders import placeholder
from ..primitives.reduction import Mean
from ..primitives.reshaping import Sum

Pattern = Any
"""A scipy.sparse.csr_array of truth values: a row for each element of a tensor, a column for each of the source's."""
Value = Callable[[Tensor], np.ndarray[Any, Any]]

_BY_ELEMENT = {
    *("AddN", "Cast", "Identity", "IdentityN", "EnsureShape", "SelectV2", "ClipByValue", "Mask", "Real", "Imag"),
}
_MOVING = {
    *("Reshape", "ReshapeLike", "BroadcastTo", "BroadcastLike", "Transpose", "ExpandDims", "Squeeze", "ReverseV2"),
    *("Slice", "StridedSlice", "Split", "SplitV", "SplitLike", "Unpack", "Pack", "ConcatV2", "Take", "GatherV2"),
    *("GatherNd", "Tile", "Pad", "PadV2", "MirrorPad", "Roll", "Repeat", "MergeLeading", "Shift", "RowsLike"),
    *("MatrixDiagV3", "MatrixDiagPartV3", "MatrixBandPart", "SpaceToDepth", "DepthToSpace", "Fill", "Diag", "DiagPart"),
}
_ADDING = {
    *("Sum", "SumLike", "SliceGrad", "StridedSliceGrad", "TakeGrad", "ScatterNd", "UnsortedSegmentSum", "TileGrad"),
    *("MirrorPadGrad", "RepeatGrad", "JoinRows"),
}


def jacobian_pattern(y: Tensor, x: Tensor, feed_dict: Any = None) -> Pattern:
    """Where the Jacobian of `y` by `x`, both as vectors, may differ from zero: [size of y, size of x].

    `feed_dict` is needed where shapes or positions depend on what is fed.
    """
    finder = _Finder(y.graph, feed_dict)
    n = finder.size(x)
    patterns: dict[Tensor, Pattern] = {x: sp.eye_array(n, dtype=bool, format="csr")}
    for op in reversed(operations_between([y], [x])):
        if any(t in patterns for t in op.inputs) and x not in op.outputs:
            for out, pattern in zip(op.outputs, finder.patterns_of(op, patterns, n), strict=True):
                if pattern is not None and out.type.dtype in TRAINABLE:
                    patterns[out] = pattern
    return patterns.get(y, sp.csr_array((finder.size(y), n), dtype=bool))


class _Finder:
    """The rules, on one graph."""

    def __init__(self, graph: Graph, feed_dict: Any) -> None:
        self._session = Session(graph=graph, engine="numpy")
        self._feeds = feed_dict
        self._known: dict[Tensor, np.ndarray[Any, Any]] = {}

    def value(self, x: Tensor) -> np.ndarray[Any, Any]:
        """The value of `x`, computed."""
        if x not in self._known:
            self._known[x] = np.asarray(self._session.run(x, self._feeds))
        return self._known[x]

    def shape(self, x: Tensor) -> tuple[int, ...]:
        """The shape of `x`, computed where it is not known."""
        return x.shape.known if x.shape.is_fully_defined() else self.value(x).shape

    def size(self, x: Tensor) -> int:
        """The number of elements of `x`."""
        return int(np.prod(self.shape(x)))

    def patterns_of(self, op: Operation, patterns: dict[Tensor, Pattern], n: int) -> list[Pattern | None]:
        """The patterns of the outputs of `op`, from those of its inputs."""
        if type(op.primitive).gradient is no_gradient:
            return [None] * len(op.outputs)
        found = {i: patterns[x] for i, x in enumerate(op.inputs) if x in patterns and x.type.dtype in TRAINABLE}
        if not found:
            return [None] * len(op.outputs)
        if isinstance(op.primitive, AbstractElementwise) or op.type in _BY_ELEMENT:
            return [self._by_element(op, found, y) for y in op.outputs]
        if op.type in _MOVING:
            return self._moved(op, found, n)
        if op.type in _ADDING or isinstance(op.primitive, Mean):
            return [self._added(op, found)]
        if op.type == "MatMul":
            return [self._multiplied(op, found)]
        return [self._mixed(found, y) for y in op.outputs]

    def _by_element(self, op: Operation, found: dict[int, Pattern], y: Tensor) -> Pattern:
        shape, total = self.shape(y), None
        inputs = [op.inputs[y.value_index]] if op.type == "IdentityN" else op.inputs
        for i, x in enumerate(inputs):
            pattern = found.get(y.value_index if op.type == "IdentityN" else i)
            if pattern is None:
                continue
            own = self.shape(x)
            if own != shape:
                pattern = pattern[np.broadcast_to(np.arange(pattern.shape[0]).reshape(own), shape).reshape(-1)]
            total = pattern if total is None else total + pattern
        return total

    def _moved(self, op: Operation, found: dict[int, Pattern], n: int) -> list[Pattern | None]:
        """What comes out for the numbers 1, 2, ... of the elements of all inputs; 0 stands for nothing."""
        arrays: list[Any] = []
        stacked: list[Pattern] = [sp.csr_array((1, n), dtype=bool)]
        count = 1
        for i, x in enumerate(op.inputs):
            if i in found:
                size = self.size(x)
                arrays.append(np.arange(count, count + size, dtype=np.float64).reshape(self.shape(x)))
                stacked.append(found[i])
                count += size
            else:
                arrays.append(np.zeros(self.shape(x)) if x.type.dtype in TRAINABLE else self.value(x))
        results = op.primitive.kernel(np, *arrays)
        sources = sp.vstack(stacked, format="csr")
        outputs = results if isinstance(results, tuple) else (results,)
        return [sources[np.asarray(y).reshape(-1).astype(np.int64)] for y in outputs]

    def _added(self, op: Operation, found: dict[int, Pattern]) -> Pattern:
        """The derivative of `op` moves each output's number to the inputs that it is the sum of."""
        total, count = None, self.size(op.outputs[0])
        primitive = op.primitive
        if isinstance(primitive, Mean):
            primitive = Sum(primitive.axis, primitive.keepdims)
        with Graph().as_default() as graph:
            inputs = [
                placeholder(x.dtype, self.shape(x)) if i in found else constant_in(graph, self._stand_in(x))
                for i, x in enumerate(op.inputs)
            ]
            copy = graph.add(primitive, inputs)
            dy = placeholder(op.outputs[0].dtype, self.shape(op.outputs[0]))
            entries = primitive.gradient(copy, dy)
            moved = {i: _called(entries[i] if isinstance(entries, list | tuple) else entries) for i in found}
        numbers = np.arange(1, count + 1, dtype=np.float64).reshape(self.shape(op.outputs[0]))
        wide = {dy: numbers.astype(dy.dtype)}  # type: ignore[arg-type]
        for i, dx in moved.items():
            rows = np.asarray(Session(graph=graph, engine="numpy").run(dx, wide)).reshape(-1)
            columns = np.flatnonzero(rows)
            targets = np.rint(rows[columns].real).astype(np.int64) - 1
            ones = np.ones(len(columns), bool)
            selection = sp.csr_array((ones, (targets, columns)), shape=(count, len(rows)))
            total = selection @ found[i] if total is None else total + selection @ found[i]
        return total

    def _stand_in(self, x: Tensor) -> np.ndarray[Any, Any]:
        if x.type.dtype in TRAINABLE:
            return np.zeros(self.shape(x), x.dtype)
        return self.value(x)

    def _multiplied(self, op: Operation, found: dict[int, Pattern]) -> Pattern:
        """Element (i, j) of a product of matrices depends on row i of the first and column j of the second."""
        attributes = op.primitive.attributes
        flags = [attributes["transpose_a"], attributes["transpose_b"]]
        shape, total = self.shape(op.outputs[0]), None
        for side, pattern in found.items():
            numbers = np.arange(pattern.shape[0]).reshape(self.shape(op.inputs[side]))
            numbers = numbers.T if flags[side] else numbers
            lines = numbers if side == 0 else numbers.T
            merged = _rows_merged(pattern, lines)
            spread = np.repeat(np.arange(shape[0]), shape[1]) if side == 0 else np.tile(np.arange(shape[1]), shape[0])
            total = merged[spread] if total is None else total + merged[spread]
        return total

    def _mixed(self, found: dict[int, Pattern], y: Tensor) -> Pattern:
        """Every element depends on all that any element of an input depends on."""
        merged = None
        for pattern in found.values():
            row = _rows_merged(pattern, np.arange(pattern.shape[0])[None])
            merged = row if merged is None else merged + row
        assert merged is not None
        return merged[np.zeros(self.size(y), np.int64)]


def _rows_merged(pattern: Pattern, lines: np.ndarray[Any, Any]) -> Pattern:
    """One row for each line of row numbers: where any of these rows of `pattern` is true."""
    count, width = lines.shape
    pointers = np.arange(count + 1) * width
    selection = sp.csr_array((np.ones(lines.size, bool), lines.reshape(-1), pointers), shape=(count, pattern.shape[0]))
    return selection @ pattern


def _called(entry: Any) -> Any:
    return entry() if callable(entry) else entry
