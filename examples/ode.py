"""An ordinary differential equation, solved with steps of adaptive size, and fitted by gradients through the solver.

A mass on a damped spring: x'' = -k x - c x'. From a few observed positions the stiffness k and the damping c are
found by descent on the squared error. The solver is a `while_loop` whose number of steps depends on the data; its
derivative is the discrete adjoint, a loop backward over the accepted and rejected steps, in bounded memory.

    python examples/ode.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import pullback as pb

# Bogacki and Shampine, "A 3(2) pair of Runge-Kutta formulas", 1989.
NODES = ((0.5,), (0.0, 0.75), (2 / 9, 1 / 3, 4 / 9))
ERROR = (-5 / 72, 1 / 12, 1 / 9, -1 / 8)


def solve(slope: Callable[[pb.Tensor], pb.Tensor], start: pb.Tensor, until: pb.Tensor, tolerance: float) -> pb.Tensor:
    """The state at time `until` of y' = slope(y), from `start` at time 0."""

    def step(t: pb.Tensor, h: pb.Tensor, y: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor, pb.Tensor]:
        h = pb.minimum(h, until - t)
        slopes = [slope(y)]
        for weights in NODES:
            ahead = pb.add_n([w * k for w, k in zip(weights, slopes, strict=True)])
            slopes.append(slope(y + h * ahead))
        accepted_y = y + h * ahead
        error = pb.reduce_max(pb.abs(h * pb.add_n([w * k for w, k in zip(ERROR, slopes, strict=True)]))) / tolerance
        accepted = error <= 1.0
        # The size of steps is a choice, and no function of the parameters.
        growth = pb.stop_gradient(pb.clip_by_value(0.9 * pb.pow(error + 1e-10, -1.0 / 3.0), 0.2, 5.0))
        return pb.where(accepted, t + h, t), pb.stop_gradient(h * growth), pb.where(accepted, accepted_y, y)

    first = pb.zeros_like(until), 0.1 * pb.ones_like(until), start
    end: tuple[pb.Tensor, ...] = pb.while_loop(lambda t, h, y: t < until, step, first)
    return end[2]


def main(steps: int = 150) -> tuple[float, float]:
    """Finds the stiffness and the damping that explain the observations, and prints them."""
    times = np.linspace(0.5, 4.0, 8)
    k, c = 4.0, 0.3
    frequency = np.sqrt(k - c**2 / 4)
    observed = np.exp(-c * times / 2) * (np.cos(frequency * times) + c / (2 * frequency) * np.sin(frequency * times))

    guess = pb.Variable(np.array([3.0, 0.1]))
    parameters = guess.read_value()

    def slope(y: pb.Tensor) -> pb.Tensor:
        position, velocity = pb.unstack(y, 2)
        return pb.stack([velocity, -parameters[0] * position - parameters[1] * velocity])

    start = pb.constant(np.array([1.0, 0.0]))
    positions = pb.map_fn(lambda t: solve(slope, start, t, 1e-6)[0], pb.constant(times))
    loss = pb.reduce_sum(pb.square(positions - observed))
    train = pb.train.AdamOptimizer(0.1).minimize(loss, var_list=[guess])
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        stiffness, damping = session.run(guess)
    print(f"stiffness {stiffness:.2f} (4.00), damping {damping:.2f} (0.30)")
    return float(stiffness), float(damping)


if __name__ == "__main__":
    main()
