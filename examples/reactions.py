"""A network of reactions as code generators print it, and its rate constants, found by gradients through an integrator.

The code is 400 lines of scalar arithmetic, as made from SBML models: each reaction its rate law, each species the sum
of what makes it and what uses it up. `pb.reroll` makes some twenty operations on arrays of the 1,800 on numbers, before
they are differentiated: the graph, its derivative and its compilation are as long as those of a few rate laws.

    python examples/reactions.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pullback as pb

SPECIES, REACTIONS, FAMILIES = 40, 360, 4
SPEEDS = np.array([1.2, 0.4, 0.8, 0.2])
"""The rate constants to be found, one for each family of reactions."""


def generated_code() -> str:
    """Python that computes how fast each species changes, of the amounts `x` and the rate constants `k`."""
    random = np.random.default_rng(0)
    laws, changes = [], [["0.0"] for _ in range(SPECIES)]
    for i in range(REACTIONS):
        a, b, c = random.choice(SPECIES, 3, replace=False)
        k, scale = f"k[{random.integers(FAMILIES)}]", f"{random.uniform(0.5, 2.0):.3f}"
        binds = random.random() < 0.6
        laws.append(f"v{i} = {scale} * {k} * x[{a}] * x[{b}]" if binds else f"v{i} = {k} * x[{a}] / ({scale} + x[{a}])")
        changes[a].append(f"- v{i}")
        changes[c].append(f"+ v{i}")
    sums = ",\n        ".join(" ".join(terms) for terms in changes)
    return "\n    ".join(["def slopes(x, k):", *laws, f"return [\n        {sums},\n    ]"])


def as_function(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["slopes"]


def main(steps: int = 60) -> Sequence[float]:
    """Finds the rate constants from what is left after a while, and prints them."""
    slopes = as_function(generated_code())
    start = pb.constant(np.random.default_rng(1).uniform(0.2, 1.0, SPECIES))
    guess = pb.Variable(np.zeros(FAMILIES))
    speeds = pb.exp(guess.read_value())
    x = pb.placeholder(pb.float64, [SPECIES])
    k = pb.placeholder(pb.float64, [FAMILIES])
    print(str(pb.reroll(slopes(pb.unstack(x), pb.unstack(k))).report).splitlines()[0])

    def after(k: pb.Tensor) -> pb.Tensor:
        """The amounts after twenty steps by Heun's method."""
        numbers, h = pb.unstack(k), 0.02

        def slope(x: pb.Tensor) -> pb.Tensor:
            rolled: pb.Tensor = pb.reroll(pb.stack(slopes(pb.unstack(x), numbers))).fetches
            return rolled

        def step(i: pb.Tensor, x: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
            first = slope(x)
            return i + 1, x + h / 2 * (first + slope(x + h * first))

        end: tuple[pb.Tensor, pb.Tensor] = pb.while_loop(lambda i, x: i < 20, step, (0, start))
        return end[1]

    observed = pb.Session().run(after(pb.constant(SPEEDS)))
    loss = pb.reduce_sum(pb.square(after(speeds) - observed))
    train = pb.train.AdamOptimizer(0.1).minimize(loss, var_list=[guess])
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        found = session.run(speeds)
    print("rate constants", *[f"{one:.2f}" for one in found], "sought", *SPEEDS)
    return [float(one) for one in found]


if __name__ == "__main__":
    main()
