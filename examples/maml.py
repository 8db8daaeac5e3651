"""Learning to learn: weights from which a few examples and one gradient step are enough, found through that step.

The tasks are waves of some height and phase; a network sees ten points of one. What is trained is how well it does
after a step of descent on them, so that the gradient is taken through a gradient. Follows Finn, Abbeel and Levine,
"Model-agnostic meta-learning for fast adaptation of deep networks", 2017, with a network of half the width.

    python examples/maml.py
"""

from __future__ import annotations

import numpy as np

import pullback as pb

SHAPES = ((1, 20), (20,), (20, 20), (20,), (20, 1), (1,))
STEP = 0.05


def predicted(weights: list[pb.Tensor], x: pb.Tensor) -> pb.Tensor:
    """What the network says at the points x [n, 1]."""
    w1, b1, w2, b2, w3, b3 = weights
    return pb.tanh(pb.tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3


def error(weights: list[pb.Tensor], x: pb.Tensor, y: pb.Tensor) -> pb.Tensor:
    """The mean squared error."""
    return pb.reduce_mean(pb.square(predicted(weights, x) - y))


def adapted(weights: list[pb.Tensor], x: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
    """The weights after a step of descent: tensors like any other, to be differentiated by `weights`."""
    slopes = pb.gradients(error(weights, x, y), weights)
    return [w - STEP * dw for w, dw in zip(weights, slopes, strict=True)]


def waves(rng: np.random.Generator, tasks: int) -> list[np.ndarray]:
    """For each task ten points to learn from, and ten to be measured at: x, y, x, y, each [tasks, 10, 1]."""
    height, phase = rng.uniform(1.0, 3.0, (tasks, 1, 1)), rng.uniform(0.0, np.pi, (tasks, 1, 1))
    xs = rng.uniform(-3.0, 3.0, (2, tasks, 10, 1))
    return [array for x in xs for array in (x, height * np.sin(x - phase))]


def main(steps: int = 1500) -> tuple[float, float]:
    """Meta-trains, and prints the error on new waves before and after one step, without and with it."""
    rng = np.random.default_rng(0)
    variables = [pb.Variable(rng.normal(size=s) / np.sqrt(s[0]) * (len(s) > 1), dtype=pb.float32) for s in SHAPES]
    weights = [v.read_value() for v in variables]
    data = [pb.placeholder(pb.float32, [None, 10, 1]) for _ in range(4)]

    def of_a_task(task: list[pb.Tensor]) -> tuple[pb.Tensor, pb.Tensor]:
        x, y, new_x, new_y = task
        return error(weights, new_x, new_y), error(adapted(weights, x, y), new_x, new_y)

    before, after = (pb.reduce_mean(e) for e in pb.vectorized_map(of_a_task, data))
    train = pb.train.AdamOptimizer(0.003).minimize(after)
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        test = dict(zip(data, waves(np.random.default_rng(1), 100), strict=True))
        untrained = session.run([before, after], test)
        for _ in range(steps):
            session.run(train, dict(zip(data, waves(rng, 25), strict=True)))
        trained = session.run([before, after], test)
    for name, (first, second) in (("untrained", untrained), ("meta-trained", trained)):
        print(f"{name}: error {first:.2f}, after one step {second:.2f}")
    return float(untrained[1]), float(trained[1])


if __name__ == "__main__":
    main()
