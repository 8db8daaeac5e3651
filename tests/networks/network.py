"""Random networks: layers on arrays of sizes at which XLA's lowering of them changes, written down as what makes them.

A network prints as Python code that makes it again: arrays are named by how their numbers are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

import pullback as pb

from . import layers

Array = np.ndarray[Any, Any]
BATCH = -1
"""The length of an axis that is the batch."""


def _normal(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return random.normal(size=shape)


def _same(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return np.full(shape, random.normal())


def _equal_rows(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return np.broadcast_to(random.normal(size=shape[1:]), shape)


def _equal_columns(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return np.broadcast_to(random.normal(size=(*shape[:-1], 1)[: len(shape)]), shape)


def _in_order(random: np.random.Generator, shape: Sequence[int]) -> Array:
    del random
    return np.linspace(-1.5, 1.5, prod(shape)).reshape(shape)


def _whole(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return random.integers(-2, 3, shape).astype(float)


def _sparse(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return random.normal(size=shape) * (random.uniform(size=shape) < 0.2)


def _with(*extremes: float) -> Callable[[np.random.Generator, Sequence[int]], Array]:
    def drawn(random: np.random.Generator, shape: Sequence[int]) -> Array:
        x = random.normal(size=shape)
        x.flat[random.integers(0, max(x.size, 1), 3 if x.size else 0)] = random.choice(extremes, 3 if x.size else 0)
        return x

    return drawn


NUMBERS: Mapping[str, Callable[[np.random.Generator, Sequence[int]], Array]] = {
    "normal": _normal,
    "same": _same,
    "zeros": lambda random, shape: np.zeros(shape),
    "ones": lambda random, shape: np.ones(shape),
    "equal rows": _equal_rows,
    "equal columns": _equal_columns,
    "in order": _in_order,
    "whole": _whole,
    "sparse": _sparse,
    "nan": _with(np.nan),
    "infinite": _with(np.inf, -np.inf),
}
"""How arrays are drawn, by the name of it."""


@dataclass(frozen=True)
class Source:
    """An input: a placeholder, a variable or a constant; `most` > 0: integers below that."""

    shape: tuple[int, ...]
    kind: str = "placeholder"
    numbers: str = "normal"
    scale: float = 1.0
    seed: int = 0
    most: int = 0

    def array(self, batch: int, dtype: Any) -> Array:
        """Its numbers, for a batch of that length."""
        shape = [batch if n == BATCH else n for n in self.shape]
        random = np.random.default_rng([self.seed, batch])
        if self.most:
            return random.integers(0, self.most, shape).astype(np.int32)
        numbers = NUMBERS[self.numbers](random, shape) * self.scale
        if np.dtype(dtype).kind == "c":
            numbers = numbers * np.exp(1j * NUMBERS[self.numbers](random, shape))
        return np.array(numbers if np.dtype(dtype).kind != "i" else np.nan_to_num(numbers).round(), dtype)


@dataclass(frozen=True)
class Layer:
    """A function of `layers`, of the nodes of these numbers."""

    function: str
    inputs: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, xs: Sequence[pb.Tensor]) -> pb.Tensor:
        """What it makes of tensors."""
        made: pb.Tensor = getattr(layers, self.function)(*xs, **self.options)
        return made


def inferred(nodes: Sequence[Source | Layer], batch: int | None, dtype: str) -> list[pb.Tensor]:
    """The tensors of the nodes, for a batch of that length, or one that is not known, in a graph of their own."""
    values: list[pb.Tensor] = []
    with pb.Graph().as_default():
        for node in nodes:
            if isinstance(node, Source):
                shape = [batch if n == BATCH else n for n in node.shape]
                values.append(pb.placeholder(pb.int32 if node.most else dtype, shape))
            else:
                values.append(node.build([values[i] for i in node.inputs]))
    return values


@dataclass(frozen=True)
class Network:
    """Nodes, each made of earlier ones; those that are results; and how it is run."""

    nodes: tuple[Source | Layer, ...]
    results: tuple[int, ...]
    dtype: str = "float32"
    orders: int = 1
    """The order of the derivatives that are fetched."""
    cotangents: str = "eighths"
    """The numbers that results are multiplied with before they are added up; or "mean"."""
    fetched: tuple[str, ...] = ("values", "gradients")
    batches: tuple[int, ...] = (4,)
    """The lengths of the batch, of one run after the other."""
    call: str = "run"
    session: dict[str, str] = field(default_factory=dict)
    """What the session of XLA is told."""
    steps: int = 0
    """How often variables are moved down the slope."""

    def sources(self) -> list[int]:
        """The numbers of the inputs."""
        return [i for i, node in enumerate(self.nodes) if isinstance(node, Source)]


@dataclass(frozen=True)
class Built:
    """A network as a graph."""

    graph: pb.Graph
    xs: dict[int, Any]
    """The inputs by their numbers."""
    values: list[pb.Tensor]
    """Those of all nodes."""
    fetches: list[pb.Tensor]
    training: pb.Operation | None


def build(network: Network, dtype: Any) -> Built:
    """A network in a graph of its own, computed in a dtype."""
    graph = pb.Graph()
    with graph.as_default():
        xs: dict[int, Any] = {}
        values: list[pb.Tensor] = []
        for i, node in enumerate(network.nodes):
            if isinstance(node, Source):
                xs[i] = _input(network, node, dtype)
                values.append(pb.convert_to_tensor(xs[i]))
            else:
                values.append(node.build([values[j] for j in node.inputs]))
        return Built(graph, xs, values, *_fetches(network, xs, [values[i] for i in network.results]))


def _input(network: Network, source: Source, dtype: Any) -> Any:
    first = network.batches[0]
    if source.kind == "placeholder":
        known = len(network.batches) == 1
        shape = [n if n != BATCH else first if known else None for n in source.shape]
        return pb.placeholder(pb.int32 if source.most else dtype, shape)
    array = source.array(first, dtype)
    return pb.Variable(array) if source.kind == "variable" else pb.constant(array)


def _fetches(network: Network, xs: dict[int, Any], ys: list[pb.Tensor]) -> tuple[list[pb.Tensor], Any]:
    """Values, derivatives, and what moves the variables."""
    fetches = list(ys) if "values" in network.fetched else []
    moved = [x for x in xs.values() if x.dtype.kind in "fVc" and not _is_constant(x)]
    targets = [_weighted(network, y, i) for i, y in enumerate(ys) if y.dtype.kind in "fVc"]
    training = None
    for order in range(1, network.orders + 1 if moved and targets else 1):
        dxs = pb.gradients(targets, moved, unconnected_gradients="zero")
        dxs = [pb.convert_to_tensor(dx) for dx in dxs]
        if order == 1 and network.steps:
            changed = [(x, dx) for x, dx in zip(moved, dxs, strict=True) if isinstance(x, pb.Variable)]
            training = pb.group(*[x.assign_sub(dx * pb.cast(1e-3, dx.dtype)) for x, dx in changed]) if changed else None
        if order == network.orders or "gradients" in network.fetched:
            fetches += dxs
        targets = [_real(pb.reduce_sum(layers.weighted(dx, "eighths", order))) for dx in dxs]
    return fetches, training


def _is_constant(x: Any) -> bool:
    return isinstance(x, pb.Tensor) and x.op.type == "Const"


def _weighted(network: Network, y: pb.Tensor, i: int) -> pb.Tensor:
    if network.cotangents == "mean":
        return _real(pb.reduce_mean(y))
    return _real(pb.reduce_sum(layers.weighted(y, network.cotangents, i)))


def _real(y: pb.Tensor) -> pb.Tensor:
    return pb.real(y) if y.dtype.kind == "c" else y
