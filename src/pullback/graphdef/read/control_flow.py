"""GraphDef import of control flow: calls of functions, conditionals and loops of version 2.

Those of version 1 are found as a whole, in `flow`.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from ..nodes import Node, reader
from .operands import tensor_of


@reader("PartitionedCall", "StatefulPartitionedCall", anything=True)
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


@reader("If", "StatelessIf", anything=True)
def if_(node: Node, condition: Any, *args: Any) -> Any:
    yes, no = node.attribute("then_branch"), node.attribute("else_branch")
    return _chosen(
        cond(
            _truth(tensor_of(node, condition)),
            lambda: _called(node, yes, args),
            lambda: _called(node, no, args),
            node.exactly,
        )
    )


@reader("Case", "StatelessCase", anything=True)
def case(node: Node, index: Any, *args: Any) -> Any:
    branches = node.attribute("branches")
    return _chosen(
        switch_case(tensor_of(node, index), [lambda f=f: _called(node, f, args) for f in branches], name=node.exactly)
    )


def _chosen(results: Any) -> Any:
    return tuple(results) if isinstance(results, list) else None


def _truth(x: Tensor) -> Tensor:
    """The truth of a scalar: a number is true where it is not 0."""
    value = x if x.dtype == bool_ else not_equal(x, np.zeros((), x.dtype))
    return value if value.shape.rank == 0 else reshape(value, [])


@reader("While", "StatelessWhile", anything=True)
def while_(node: Node, *start: Any) -> Any:
    condition, body = node.attribute("cond"), node.attribute("body")
    if not isinstance(body, FunctionName):
        node.reject("it names no function")
    fixed = _handed_on(node, body.name, len(start))
    return tuple(
        looped(
            lambda values: _truth(tensor_of(node, _called(node, condition, values)[0])),
            lambda values: _called(node, body, values),
            start,
            fixed,
        )
    )


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
