"""Reads handwritten digits with a small convolutional network: data, graph, gradients, training, in one page.

    python examples/digits.py [steps]

Needs scikit-learn for the data: pip install "pullback[xla,demo]"
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_digits

import pullback as pb


def weights(random: np.random.Generator, *shape: int) -> pb.Variable:
    """Normal numbers of variance 2 / inputs, as a variable."""
    deviation = np.sqrt(2.0 / np.prod(shape[:-1]))
    return pb.Variable(random.normal(0.0, deviation, shape).astype(np.float32), name="weights")


def main(steps: int = 500) -> float:
    """Trains and prints; the accuracy on held-out digits."""
    data, target = load_digits(return_X_y=True)
    data = (data / 16.0).astype(np.float32).reshape(-1, 8, 8, 1)
    random = np.random.default_rng(0)
    order = random.permutation(len(data))
    test, training = order[:360], order[360:]

    # The graph: images to logits, logits and labels to a loss.
    images = pb.placeholder(pb.float32, [None, 8, 8, 1], name="images")
    labels = pb.placeholder(pb.int32, [None], name="labels")
    kernels = [weights(random, 3, 3, 1, 16), weights(random, 3, 3, 16, 32), weights(random, 128, 10)]
    x = images
    for kernel in kernels[:2]:
        x = pb.nn.relu(pb.nn.conv2d(x, kernel, strides=1, padding="SAME"))
        x = pb.nn.max_pool2d(x, 2, 2, "VALID")
    logits = pb.matmul(pb.reshape(x, [-1, 128]), kernels[2])
    loss = pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    hits = pb.equal(pb.argmax(logits, axis=1, output_type=pb.int32), labels)
    accuracy = pb.reduce_mean(pb.cast(hits, pb.float32))

    # Its derivative is more graph; the optimizer turns that into a training step.
    gradients = pb.gradients(loss, kernels)
    train = pb.train.AdamOptimizer(0.003).apply_gradients(zip(gradients, kernels, strict=True))

    held_out = {images: data[test], labels: target[test]}
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        for step in range(1, steps + 1):
            batch = random.choice(training, 64)
            _, value = session.run([train, loss], {images: data[batch], labels: target[batch]})
            if step % 100 == 0:
                print(f"step {step}: loss {value:.4f}")
        result = float(session.run(accuracy, held_out))
    print(f"{result:.2%} of {len(test)} held-out digits read right")
    return result


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
