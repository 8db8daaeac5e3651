"""Rematerialisation: four nets in a half to an eighth of the memory that a step takes; loss and gradient, no update.

`pullback` is given a number of bytes, of its compiled program, and chooses by itself (`rematerialize`), micro-batches
too where these cost less;
`jax-checkpoint` and `torch-checkpoint` have a checkpoint around each layer or block, placed by hand, whatever the
budget; `jax` and `torch` keep everything. The fact "temporary" is what the compiled program takes beside what goes in
and comes out; torch has no such number, only what is resident.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from ..values import normal
from ..workload import Made, Step, Workload

Array = np.ndarray[Any, Any]
Layer = Callable[[Any, list[Any], Any], Any]
"""From the functions of a library, parameters and a value to a value."""
DEPTH = {"chain": 24, "transformer": 6, "resnet": 16}
WIDTH, ROWS = 256, 2048
HEADS, TOKENS = 4, 128
PIXELS, CHANNELS = 32, 32
SHARES = {"": None, "-half": 2, "-quarter": 4, "-eighth": 8}


@dataclass(frozen=True)
class Library:
    """What the nets are written with."""

    np: Any
    conv: Callable[[Any, Any], Any]
    softmax: Callable[[Any], Any]
    relu: Callable[[Any], Any]
    checkpoint: Callable[[Any], Any]
    """What is put around a layer."""


def chain(f: Library, p: list[Any], x: Any) -> Any:
    return f.np.tanh(f.np.matmul(x, p[0]))


def transformer(f: Library, p: list[Any], x: Any) -> Any:
    batch = ROWS // TOKENS

    def heads(y: Any) -> Any:
        return f.np.transpose(f.np.reshape(y, [batch, TOKENS, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])

    q, k, v = [heads(f.np.matmul(x, w)) for w in p[:3]]
    weights = f.softmax(f.np.matmul(q, f.np.transpose(k, [0, 1, 3, 2])) * 0.125)
    mixed = f.np.reshape(f.np.transpose(f.np.matmul(weights, v), [0, 2, 1, 3]), [ROWS, WIDTH])
    x = x + f.np.matmul(mixed, p[3])
    return x + f.np.matmul(f.relu(f.np.matmul(x, p[4])), p[5])


def resnet(f: Library, p: list[Any], x: Any) -> Any:
    return x + f.conv(f.relu(f.conv(f.relu(x), p[0])), p[1])


LAYERS: dict[str, tuple[Layer, list[tuple[int, ...]]]] = {
    "chain": (chain, [(WIDTH, WIDTH)]),
    "transformer": (transformer, [(WIDTH, WIDTH)] * 4 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]),
    "resnet": (resnet, [(3, 3, CHANNELS, CHANNELS)] * 2),
}


def loss_of(f: Library, net: str, parameters: list[list[Any]], x: Any) -> Any:
    if net == "unet":
        return f.np.mean(f.np.square(unet(f, parameters, x)))
    layer = f.checkpoint(partial(LAYERS[net][0], f))
    for p in parameters:
        x = layer(p, x)
    return f.np.mean(f.np.square(x))


def unet(f: Library, parameters: list[list[Any]], x: Any) -> Any:
    """Three levels down and up; what a level gives on the way down is read on the way up."""

    def block(p: list[Any], x: Any) -> Any:
        return f.relu(f.conv(f.relu(f.conv(x, p[0])), p[1]))

    def halved(x: Any) -> Any:
        batch, n, _, channels = x.shape
        return f.np.mean(f.np.reshape(x, [batch, n // 2, 2, n // 2, 2, channels]), (2, 4))

    def doubled(x: Any) -> Any:
        return f.np.repeat(f.np.repeat(x, 2, 1), 2, 2)

    around = f.checkpoint(block)
    kept = []
    for p in parameters[:3]:
        x = around(p, x)
        kept.append(x)
        x = halved(x)
    for p, y in zip(parameters[3:], reversed(kept), strict=True):
        x = around(p, doubled(x) + y)
    return x


def data(net: str) -> tuple[list[list[Array]], Array]:
    """The parameters of each layer, and what goes in."""
    random = np.random.default_rng(0)
    shapes = LAYERS["resnet" if net == "unet" else net][1]
    parameters = [[normal(random, *shape) for shape in shapes] for _ in range(DEPTH.get(net, 6))]
    image = net in ("resnet", "unet")
    x = random.standard_normal((32, PIXELS, PIXELS, CHANNELS) if image else (ROWS, WIDTH))
    return parameters, x.astype(np.float32)


def with_pullback(data: tuple[list[list[Array]], Array], net: str, divisor: int | None) -> Made:
    import pullback as pb

    names = {"mean": pb.reduce_mean, "square": pb.square, "tanh": pb.tanh, "matmul": pb.matmul}
    functions = ModuleType("functions")
    functions.__dict__.update(names, reshape=pb.reshape, transpose=pb.transpose, repeat=pb.repeat)
    f = Library(functions, lambda x, w: pb.nn.conv2d(x, w, 1, "SAME"), pb.nn.softmax, pb.nn.relu, lambda g: g)
    start = perf_counter()
    facts: dict[str, float] = {}
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, data[1].shape)
        parameters = [[pb.Variable(w) for w in p] for p in data[0]]
        loss = loss_of(f, net, parameters, x)
        fetches = [loss, *pb.gradients(loss, [w for p in parameters for w in p])]
        session = pb.Session(engine="xla")
        if divisor is not None:
            plain = session.compiled_memory(fetches)
            budget = plain["temporary"] // divisor + plain["outputs"]
            fetches, report = pb.rematerialize(fetches, budget, session=session)
            facts |= {"plain": plain["temporary"], "extra": report.extra_flops / report.flops}
            facts |= {"budget": budget, "compiled": report.compiled_peak, "microbatches": report.microbatches}
        session.run(pb.global_variables_initializer())
        image = data[1]
        facts["temporary"] = session.compiled_memory(fetches, {x: image})["temporary"]
        run = session.make_callable(fetches, [x])
    return Made(lambda: run(image)[0], perf_counter() - start, facts)


def with_jax(data: tuple[list[list[Array]], Array], net: str, *, keep: bool) -> Made:
    import jax
    import jax.numpy as jnp

    def conv(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    around: Callable[[Any], Any] = (lambda g: g) if keep else jax.checkpoint
    f = Library(jnp, conv, jax.nn.softmax, jax.nn.relu, around)
    start = perf_counter()
    parameters, x = jax.tree.map(jnp.array, data)
    step = jax.jit(jax.value_and_grad(partial(loss_of, f, net))).lower(parameters, x).compile()
    facts = {"temporary": step.memory_analysis().temp_size_in_bytes}

    def run() -> float:
        value, gradients = step(parameters, x)
        jax.tree.map(np.asarray, gradients)
        return float(value)

    return Made(run, perf_counter() - start, facts)


def with_torch(data: tuple[list[list[Array]], Array], net: str, *, keep: bool) -> Step:
    import torch
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint

    def conv(x: Any, w: Any) -> Any:
        return F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)

    def again(g: Any) -> Any:
        return lambda *args: checkpoint(g, *args, use_reentrant=False)

    functions = ModuleType("functions")
    functions.__dict__.update(mean=torch.mean, square=torch.square, tanh=torch.tanh, matmul=torch.matmul)
    functions.__dict__.update(reshape=torch.reshape, transpose=torch.permute, repeat=torch.repeat_interleave)
    f = Library(functions, conv, partial(torch.softmax, dim=-1), F.relu, (lambda g: g) if keep else again)
    parameters = [[torch.tensor(w, requires_grad=True) for w in p] for p in data[0]]
    x = torch.tensor(data[1])

    def run() -> float:
        loss = loss_of(f, net, parameters, x)
        torch.autograd.grad(loss, [w for p in parameters for w in p])
        return float(loss)

    return run


def _workload(net: str, suffix: str, divisor: int | None) -> Workload:
    peers: dict[str, Callable[[Any], Step | Made]] = {
        "pullback": partial(with_pullback, net=net, divisor=divisor),
        "jax": partial(with_jax, net=net, keep=True),
        "jax-checkpoint": partial(with_jax, net=net, keep=False),
        "torch": partial(with_torch, net=net, keep=True),
        "torch-checkpoint": partial(with_torch, net=net, keep=False),
    }
    share = "all of its memory" if divisor is None else f"1/{divisor} of its memory"
    return Workload(f"remat-{net}{suffix}", f"{net}, gradient in {share}", partial(data, net), peers)


WORKLOADS = [_workload(net, s, n) for net in (*LAYERS, "unet") for s, n in SHARES.items()]
