"""GraphDef import of control flow: calls of functions, conditionals and loops of version 2.

Those of version 1 are found as a whole, in `flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...control_flow.conditional import cond, switch_case
from ...control_flow.state import Unmade
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.types import TensorType
from ...primitives.creation.fill import zeros
from ...primitives.logic.comparison import not_equal
from ...primitives.shape.reshape import reshape
from ..attributes import FunctionName
from ..loops import looped
from ..nodes import LeftOut, Node, WithoutThese, reader, there
from .operands import tensor_of


@reader("PartitionedCall", "StatefulPartitionedCall", anything=True, partly=True)
def partitioned_call(node: Node, *args: Any) -> Any:
    function = node.attribute("f")
    if isinstance(function, FunctionName) and node.region.translation.uses_files(function.name):
        return node.left_out()
    return tuple(_called(node, function, args))


def _called(node: Node, function: Any, args: Sequence[Any]) -> list[Any]:
    """What the function returns."""
    if not isinstance(function, FunctionName):
        node.reject("it names no function")
    return node.region.call(function.name, function.attributes, args, node.exactly)


@reader("If", "StatelessIf", anything=True, partly=True)
def if_(node: Node, condition: Any, *args: Any) -> Any:
    if isinstance(condition, LeftOut):
        return condition
    truth = _truth(tensor_of(node, condition))
    branches = [node.attribute("then_branch"), node.attribute("else_branch")]
    return _chosen(node, branches, args, lambda yes, no: cond(truth, yes, no, node.exactly))


@reader("Case", "StatelessCase", anything=True, partly=True)
def case(node: Node, index: Any, *args: Any) -> Any:
    if isinstance(index, LeftOut):
        return index
    number = tensor_of(node, index)
    return _chosen(node, node.attribute("branches"), args, lambda *fs: switch_case(number, list(fs), name=node.exactly))


def _chosen(node: Node, branches: Sequence[Any], args: Sequence[Any], choose: Callable[..., Any]) -> Any:
    """What `choose` makes of the branches; what one of them leaves out is no result of any."""

    def build(left_out: Mapping[int, LeftOut]) -> list[Any]:
        def results(function: Any) -> list[Any]:
            found = _called(node, function, args)
            return there({i: y for i, y in enumerate(found) if i not in left_out})

        made = choose(*[partial(results, function) for function in branches])
        return made if isinstance(made, list) else []

    return tuple(_as_far_as_there(build, {})) or None


def _as_far_as_there(build: Callable[[Mapping[int, LeftOut]], list[Any]], left_out: dict[int, LeftOut]) -> list[Any]:
    """What `build` makes without what is left out; that stands in its place among the results."""
    while True:
        try:
            found = build(left_out)
        except WithoutThese as more:
            left_out.update(more.found)
            continue
        for i in sorted(left_out):
            found.insert(i, left_out[i])
        return found


def _truth(x: Tensor) -> Tensor:
    """The truth of a scalar: a number is true where it is not 0."""
    value = x if x.dtype == bool_ else not_equal(x, np.zeros((), x.dtype))
    return value if value.shape.rank == 0 else reshape(value, [])


@reader("While", "StatelessWhile", anything=True, partly=True)
def while_(node: Node, *start: Any) -> Any:
    condition, body = node.attribute("cond"), node.attribute("body")
    if not isinstance(body, FunctionName):
        node.reject("it names no function")
    fixed = _handed_on(node, body.name, len(start))

    def build(left_out: Mapping[int, LeftOut]) -> list[Any]:
        kept = [i for i in range(len(start)) if i not in left_out]

        def whole(values: Sequence[Any]) -> list[Any]:
            return [left_out[i] if i in left_out else values[kept.index(i)] for i in range(len(start))]

        def holds(values: list[Any]) -> Tensor:
            found = _called(node, condition, whole(values))[0]
            there(dict.fromkeys(kept, found))
            return _truth(tensor_of(node, found))

        def step(values: list[Any]) -> list[Any]:
            after = _called(node, body, whole(values))
            return there({i: after[i] for i in kept})

        return looped(holds, step, [start[i] for i in kept], [fixed[i] for i in kept]) if kept else []

    return tuple(_as_far_as_there(build, {i: x for i, x in enumerate(start) if isinstance(x, LeftOut)}))


def _handed_on(node: Node, name: str, count: int) -> list[bool]:
    """Which of its arguments the function returns as they are."""
    translation = node.region.translation
    flow, function = translation.flow_of(name), translation.functions[name]
    parameters = [arg.name for arg in function.signature.input_arg]
    results = [function.ret[arg.name] for arg in function.signature.output_arg]
    if len(parameters) != count or len(results) != count:
        node.reject(f"its body has {len(parameters)} parameters and {len(results)} results, but is given {count}")
    sources = [flow.origin(flow.section.source(text, name)) for text in results]
    return [source.node == parameter for source, parameter in zip(sources, parameters, strict=True)]


@reader("FakeParam")
def fake_param(node: Node) -> Any:
    """What a branch returns that has no such value: nobody reads it."""
    dtype, shape = node.attribute("dtype"), node.attribute("shape")
    if shape.is_fully_defined():
        return zeros(shape.known, dtype, name=node.exactly)
    return node.make(Unmade(TensorType(dtype, shape)))


@reader("SymbolicGradient")
def symbolic_gradient(node: Node, *args: Any) -> Any:
    del args
    node.refuse("TensorFlow's derivative of a function is not read; import the function and use gradients")
