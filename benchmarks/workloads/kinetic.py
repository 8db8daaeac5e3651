"""A kinetic model as code generators print one: sums of rate laws, the same pieces written out again and again.

Each peer runs the generated Python code on its own numbers, scalar by scalar, and differentiates the sum by all species
and parameters; pullback rerolls the graph first. Two thirds of the operations are repeated ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

Array = np.ndarray[Any, Any]
SPECIES, PARAMETERS = 40, 60
SIZES = (2_000, 20_000)
_OPERATIONS = 25
"""Of one term of the sum, about."""


class Data(NamedTuple):
    """The code, and the arrays that it is run on."""

    code: str
    species: Array
    parameters: Array


def data(size: int) -> Data:
    """A model of about `size` operations."""
    random = np.random.default_rng(0)

    def parameter() -> str:
        return f"p[{random.integers(PARAMETERS)}]"

    def species() -> str:
        return f"x[{random.integers(SPECIES)}]"

    rates = [
        f"({parameter()} * {species()} / ({parameter()} + {species()} * {parameter()}))" for _ in range(size // 50)
    ]
    lines = []
    for _ in range(size // _OPERATIONS):
        first, second, *rest = random.choice(rates, size=random.integers(4, 6))
        lines.append(f"    total = total + exp(-{first} * {second}) * {' + '.join(rest)}")
    code = "\n".join(["def model(x, p, exp):", "    total = 0.0", *lines, "    return total"])
    x, p = (random.uniform(0.5, 2.0, n).astype(np.float32) for n in (SPECIES, PARAMETERS))
    return Data(code, x, p)


def _model(code: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "model.py", "exec"), names)
    model: Callable[..., Any] = names["model"]
    return model


def with_pullback(given: Data, engine: str) -> Step:
    """The model as a graph, rerolled and differentiated."""
    import pullback as pb

    x = pb.placeholder(pb.float32, [SPECIES])
    p = pb.placeholder(pb.float32, [PARAMETERS])
    total = pb.reroll(_model(given.code)(pb.unstack(x), pb.unstack(p), pb.exp)).fetches
    call = pb.Session(engine=engine).make_callable([total, *pb.gradients(total, [x, p])], [x, p])

    def step() -> float:
        return float(call(given.species, given.parameters)[0])

    return step


def with_jax(given: Data) -> Step:
    """The model traced and compiled by jax."""
    import jax

    model = _model(given.code)

    @jax.jit
    def gradient(x: Any, p: Any) -> Any:
        return jax.value_and_grad(lambda x, p: model(list(x), list(p), jax.numpy.exp), argnums=(0, 1))(x, p)

    def step() -> float:
        total, slopes = gradient(given.species, given.parameters)
        jax.block_until_ready(slopes)
        return float(total)

    return step


WORKLOADS = [
    Workload(
        name=f"kinetic-{size}",
        title=f"a kinetic model of {size:,} operations as code generators print it, value and gradient",
        data=partial(data, size),
        peers={
            "pullback": partial(with_pullback, engine="xla"),
            "pullback-numpy": partial(with_pullback, engine="numpy"),
            "jax": with_jax,
        },
    )
    for size in SIZES
]
