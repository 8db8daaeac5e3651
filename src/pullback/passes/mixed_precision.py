"""Mixed precision (Micikevicius et al. 2018): products in 16 bits, sums and singular functions in 32.

Which operation computes in what is told by its traits. A product of matrices or a convolution is computed in the narrow
dtype. What moves elements, and an elementwise function without a pole, follow what they are given: they are narrow
where each input as large as the result is. All else, sums, extremes, exponentials, losses, is wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import as_dtype, bfloat16, float16, float32
from ..core.function import AbstractFunctional, Function, add_parameter, like_parameter
from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import Primitive
from ..core.scopes import Scope
from ..core.traits import ELEMENTWISE, MOVES, SINGULAR, multiplies
from ..core.typing import DTypeLike
from ..primitives.casting.cast import cast
from .rebuilding import with_functions
from .structure import Structure
from .view import view_of


def mixed_precision(fetches: Any, compute: DTypeLike = bfloat16, *, name: str = "mixed_precision") -> Any:
    """Tensors in the place of `fetches`, of the same dtypes, whose float32 products are computed in `compute`.

    Matrix products and convolutions read their inputs in 16 bits, in functions, branches and loops as well; what only
    moves their results, adds a bias, or is elementwise without a pole goes on in 16 bits; sums, exponentials, losses
    and what is fetched are float32, and so are variables, placeholders and what a loop carries. Differentiate
    afterwards: a gradient by a variable is float32, and the products that it takes are in 16 bits. In float16 small
    gradients vanish: scale the loss, as `pb.train.LossScaleOptimizer` does. What is new is added to the graph, below
    the name scope `name`; what was there stays as it was. Operations with state or effects stay, and read what they
    read before.

    Args:
        fetches: a tensor, or nested lists, tuples and dictionaries of them.
        compute: `pb.bfloat16` or `pb.float16`.
        name: the name scope of what is added.

    Raises:
        ValueError: `compute` is another dtype. TypeError: what is no tensor. RuntimeError: the graph is finalized.

    >>> import pullback as pb
    >>> x, w = pb.placeholder(pb.float32, [8, 3]), pb.Variable([[1.0], [2.0], [3.0]])
    >>> loss = pb.reduce_sum(pb.nn.relu(pb.matmul(x, w)))
    >>> mixed = pb.mixed_precision(loss)
    >>> mixed.op.inputs[0].op.inputs[0]
    <Tensor 'mixed_precision/Relu:0' bfloat16[8,1]>
    >>> pb.gradients(mixed, w)[0].dtype
    dtype('float32')
    """
    dtype = as_dtype(compute)
    if dtype not in (bfloat16, float16):
        raise ValueError(f"mixed_precision: compute must be bfloat16 or float16, not {dtype.name}")
    given = Structure(fetches, "mixed_precision")
    if not given.elements:
        return fetches
    graph = given.elements[0].graph
    for x in given.elements:
        graph.as_graph_element(x)
    view = view_of(given.elements, [], frozenset())
    with graph.transaction(), graph.name_scope(name) as prefix:
        narrowing = _Narrowing(dtype, graph, prefix, {})
        for op in view.operations:
            narrowing.visit(op)
        return given.of({x: narrowing.wide(x) for x in given.elements})


class _Narrowing:
    """Operations of one graph as they are computed in mixed precision, added to `graph`."""

    def __init__(self, dtype: Any, graph: Graph, prefix: str, made: dict[Function, Function]) -> None:
        self.dtype, self.graph, self.prefix, self.made = dtype, graph, prefix, made
        self.wide_values: dict[Tensor, Tensor] = {}
        """What stands for a tensor, in its own dtype, where it is another one."""
        self.narrow_values: dict[Tensor, Tensor] = {}
        """What is there of a tensor in the narrow dtype."""
        self.narrow_only: set[Tensor] = set()
        """Tensors of which the value in their own dtype is a cast."""
        self.copies: dict[Operation, Operation] = {}

    def visit(self, op: Operation) -> None:
        """Add what computes `op`, unless the graph has it as it is."""
        if self._is_narrow(op):
            copy = self._copy(op, op.primitive, [self.narrow(x) if x.dtype == float32 else x for x in op.inputs])
            self.narrow_values.update(zip(op.outputs, copy.outputs, strict=True))
            self.narrow_only.update(op.outputs)
            return
        primitive = op.primitive
        if isinstance(primitive, AbstractFunctional):
            primitive = with_functions(primitive, self._function)
        elif (primitive.stateful or primitive.acts) and op.graph is self.graph:
            return
        inputs = [self.wide(x) for x in op.inputs]
        if op.graph is self.graph and primitive is op.primitive and all(map(_is, inputs, op.inputs)):
            return
        copy = self._copy(op, primitive, inputs)
        self.wide_values.update(zip(op.outputs, copy.outputs, strict=True))

    def wide(self, x: Tensor) -> Tensor:
        """What stands for `x`, in its own dtype."""
        if x not in self.wide_values and x in self.narrow_only:
            self.wide_values[x] = self._cast(x, self.narrow_values[x], x.dtype)
        return self.wide_values.get(x, x)

    def narrow(self, x: Tensor) -> Tensor:
        """What stands for `x`, in the narrow dtype."""
        if x not in self.narrow_values:
            self.narrow_values[x] = self._cast(x, self.wide(x), self.dtype)
        return self.narrow_values[x]

    def _is_narrow(self, op: Operation) -> bool:
        primitive, inputs = op.primitive, [x for x in op.inputs if x.dtype == float32]
        floats = bool(inputs) and bool(op.outputs) and all(y.dtype == float32 for y in op.outputs)
        if not floats or primitive.stateful or primitive.acts or isinstance(primitive, AbstractFunctional):
            return False
        traits = primitive.traits
        if multiplies(traits):
            return True
        if MOVES in traits:
            return all(x in self.narrow_only for x in inputs)
        if ELEMENTWISE not in traits or SINGULAR in traits:
            return False
        large = [x for x in inputs if any(x.shape.lengths == y.shape.lengths for y in op.outputs)]
        return bool(large) and all(x in self.narrow_only for x in large)

    def _function(self, function: Function) -> Function:
        made = self.made.get(function)
        if made is None:
            made = self.made[function] = self._narrowed(function)
        return made

    def _narrowed(self, function: Function) -> Function:
        graph = Graph(function.graph.outer, function.graph.name)
        with graph.as_default():
            inside = _Narrowing(self.dtype, graph, "", self.made)
            for x in function.parameters:
                inside.wide_values[x] = add_parameter(graph, like_parameter(x), x.op.name + "/")
            for op in function.operations:
                inside.visit(op)
            parameters = tuple([inside.wide(x) for x in function.parameters])
            results = tuple([inside.wide(y) for y in function.results])
        graph.finalize()
        return Function(graph, parameters, results, function.name)

    def _cast(self, x: Tensor, value: Tensor, dtype: Any) -> Tensor:
        with self.graph.entered(Scope(prefix=self.prefix, site=x.op.site)):
            return cast(value, dtype)

    def _copy(self, op: Operation, primitive: Primitive, inputs: Sequence[Tensor]) -> Operation:
        controls = [self.copies.get(c, c) for c in op.controls]
        with self.graph.entered(Scope(prefix=self.prefix, original_op=op.original_op, site=op.site)):
            copy = self.copies[op] = self.graph.add(primitive, inputs, op.name)
        copy.device, copy.attrs, copy.controls = op.device, op.attrs, tuple(controls)
        return copy


def _is(a: Tensor, b: Tensor) -> bool:
    return a is b
