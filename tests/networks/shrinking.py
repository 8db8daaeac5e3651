"""Delta debugging: a smaller network that fails as a given one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .network import BATCH, Layer, Network, Source, inferred


def shrunk(network: Network, fails: Callable[[Network], bool]) -> Network:
    """The smallest network that steps of this kind lead to, and that fails still."""
    while True:
        smaller = next((n for n in _smaller(network) if n != network and fails(n)), None)
        if smaller is None:
            return network
        network = smaller


def _smaller(network: Network) -> Iterator[Network]:
    if len(network.batches) > 1:
        yield from [replace(network, batches=(n,)) for n in network.batches]
    if len(network.results) > 1:
        yield from [_pruned(replace(network, results=(i,))) for i in network.results]
    yield from _with_fewer_layers(network)
    yield replace(network, steps=0)
    yield replace(network, orders=max(network.orders - 1, 0))
    yield replace(network, cotangents="ones")
    yield replace(network, call="run")
    yield replace(network, session={})
    yield from [replace(network, fetched=(part,)) for part in network.fetched]
    yield from _with_plainer_nodes(network)


def _with_fewer_layers(network: Network) -> Iterator[Network]:
    """Without a layer: what it gives is an input, or a result."""
    batch = network.batches[0]
    made = inferred(network.nodes, batch, network.dtype)
    for i, node in enumerate(network.nodes):
        if not isinstance(node, Layer):
            continue
        if i in network.results and len(made[i].shape.known):
            inputs = [j for j in node.inputs if isinstance(network.nodes[j], Layer)]
            yield from [_pruned(replace(network, results=(j,))) for j in inputs]
        if made[i].dtype.name == network.dtype:
            lengths = made[i].shape.known
            shape = (BATCH, *lengths[1:]) if lengths[:1] == (batch,) else lengths
            yield _pruned(replace(network, nodes=_with(network, i, Source(shape))))


def _with_plainer_nodes(network: Network) -> Iterator[Network]:
    for i, node in enumerate(network.nodes):
        if isinstance(node, Source):
            yield replace(network, nodes=_with(network, i, replace(node, kind="placeholder", numbers="normal")))
            yield replace(network, nodes=_with(network, i, replace(node, numbers="normal", scale=1.0)))
        elif node.options.get("kind") is not None and node.function in ("dense", "convolved", "depthwise"):
            yield replace(network, nodes=_with(network, i, replace(node, options={**node.options, "kind": "identity"})))


def _with(network: Network, i: int, node: Source | Layer) -> tuple[Source | Layer, ...]:
    return (*network.nodes[:i], node, *network.nodes[i + 1 :])


def _pruned(network: Network) -> Network:
    """Only the nodes of which something is read."""
    wanted = set(network.results)
    for i in reversed(range(len(network.nodes))):
        node = network.nodes[i]
        if i in wanted and isinstance(node, Layer):
            wanted.update(node.inputs)
    kept = sorted(wanted)
    places = {old: new for new, old in enumerate(kept)}
    nodes = [network.nodes[i] for i in kept]
    moved = [
        replace(node, inputs=tuple([places[j] for j in node.inputs])) if isinstance(node, Layer) else node
        for node in nodes
    ]
    return replace(network, nodes=tuple(moved), results=tuple([places[i] for i in network.results]))
