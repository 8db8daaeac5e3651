"""ONNX import of ai.onnx.preview.training: derivatives as nodes, and steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnx import NodeProto

from ...autodiff.reverse import gradients
from ...core.operation import Tensor
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import zeros_like
from ...primitives.elementwise.powers import pow, sqrt, square
from ...primitives.indexing.where import where
from ..reading import Names, Node, read_nodes, reader
from .dtypes import cast

_DOMAIN = "ai.onnx.preview.training"


@reader("Gradient", domain=_DOMAIN)
def gradient(node: Node, *inputs: Tensor) -> tuple[Tensor, ...]:
    """The derivatives of the value named `y` by those named `xs`, at the values that are the node's inputs.

    Nodes between are built once more where an input is another value than the one of its name.
    """
    xs = list(node.attribute("xs"))
    named = [*xs, *node.attribute("zs", ())]
    y = node.attribute("y")
    values = dict(zip(named, inputs, strict=True))
    others = {name: x for name, x in values.items() if node.names[name] is not x}
    names = node.names if not others else _at(node, values, y)
    by = [values[name] for name in xs]
    found = gradients([names[y]], by)
    return tuple([zeros_like(x) if dx is None else convert_to_tensor(dx) for x, dx in zip(by, found, strict=True)])


def _at(node: Node, values: dict[str, Tensor], y: str) -> Names:
    """The names for which the nodes between `values` and `y` have been built once more."""
    before: list[NodeProto] = []
    for proto in node.graph.model.graph.node:
        if list(proto.output) == list(node.outputs):
            break
        before.append(proto)
    names = Names(node.graph, dict(values), node.names)
    read_nodes(_between(before, set(values), y), names)
    return names


def _between(nodes: Sequence[NodeProto], given: set[str], y: str) -> list[NodeProto]:
    """The nodes that lead from the values `given` to `y`."""
    reached = set(given)
    forward = []
    for proto in nodes:
        if not reached.isdisjoint(proto.input) and given.isdisjoint(proto.output):
            reached.update(name for name in proto.output if name)
            forward.append(proto)
    wanted, found = {y}, []
    for proto in reversed(forward):
        if not wanted.isdisjoint(proto.output):
            wanted.update(proto.input)
            found.append(proto)
    return found[::-1]


def _for_each(count: int, tensors: Sequence[Tensor], step: Callable[..., Sequence[Tensor]]) -> tuple[Tensor, ...]:
    """What `step` makes of each variable; the node lists them kind after kind, `count` kinds."""
    n = len(tensors) // count
    made = [step(*tensors[i::n]) for i in range(n)]
    return tuple([y for kind in zip(*made, strict=True) for y in kind])


@reader("Adagrad", domain=_DOMAIN)
def adagrad(node: Node, rate: Tensor, step: Tensor, *tensors: Tensor) -> Any:
    decay, epsilon = node.attribute("decay_factor", 0.0), node.attribute("epsilon", 1e-6)
    regular = node.attribute("norm_coefficient", 0.0)

    def update(x: Tensor, g: Tensor, h: Tensor) -> Sequence[Tensor]:
        r = _as(rate, x) / (_as(step, x) * decay + 1.0)
        g = _regularized(g, x, regular)
        h = h + square(g)
        return x - r * g / (sqrt(h) + epsilon), h

    return _for_each(3, tensors, update)


@reader("Adam", domain=_DOMAIN)
def adam(node: Node, rate: Tensor, step: Tensor, *tensors: Tensor) -> Any:
    alpha, beta = node.attribute("alpha", 0.9), node.attribute("beta", 0.999)
    epsilon = node.attribute("epsilon", 1e-6)
    regular, after = node.attribute("norm_coefficient", 0.0), node.attribute("norm_coefficient_post", 0.0)

    def update(x: Tensor, g: Tensor, v: Tensor, h: Tensor) -> Sequence[Tensor]:
        g = _regularized(g, x, regular)
        v = v * alpha + g * (1 - alpha)
        h = h * beta + square(g) * (1 - beta)
        t, r = _as(step, x), _as(rate, x)
        first = step <= 0
        powers = [where(first, 0.0, pow(factor, t)) for factor in (alpha, beta)]
        r = r * sqrt(1.0 - powers[1]) / (1.0 - powers[0])
        x = x - r * v / (sqrt(h) + epsilon)
        return (x * (1 - after) if after else x), v, h

    return _for_each(4, tensors, update)


@reader("Momentum", domain=_DOMAIN)
def momentum(node: Node, rate: Tensor, step: Tensor, *tensors: Tensor) -> Any:
    alpha, beta, regular = node.attribute("alpha"), node.attribute("beta"), node.attribute("norm_coefficient")
    nesterov = node.attribute("mode") == "nesterov"

    def update(x: Tensor, g: Tensor, v: Tensor) -> Sequence[Tensor]:
        g = _regularized(g, x, regular)
        v = v * alpha + g * where(step > 0, _number(beta, x), _number(1.0, x))
        r = _as(rate, x)
        return x - r * (g + v * alpha if nesterov else v), v

    return _for_each(3, tensors, update)


def _as(number: Tensor, x: Tensor) -> Tensor:
    return cast(number, x.dtype)


def _number(value: float, x: Tensor) -> Tensor:
    return convert_to_tensor(value, x.dtype)


def _regularized(g: Tensor, x: Tensor, factor: float) -> Tensor:
    return g + x * factor if factor else g
