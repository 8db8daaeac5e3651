"""NumPy's integers and 0-d arrays where arguments are Python's: axes, orders, lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

X = np.arange(24, dtype=np.float32).reshape(1, 4, 6, 1)
CASES: dict[str, Callable[[Any], Any]] = {
    "norm": lambda n: pb.norm(X, ord=n),
    "normalize": lambda n: pb.linalg.normalize(X, ord=n)[0],
    "pool": lambda n: pb.nn.pool(X, n, "MAX"),
    "reduce_join": lambda n: pb.strings.reduce_join([["a", "b"]], axis=n),
    "while_loop": lambda n: pb.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=n),
    "batch_normalization": lambda n: tf.layers.batch_normalization(X, axis=n, fused=False),
    "conv2d": lambda n: tf.layers.conv2d(X, 2, n, strides=n, kernel_initializer=tf.ones_initializer()),
    "reduce_sum": lambda n: pb.reduce_sum(X, axis=n),
    "one_hot": lambda n: pb.one_hot([0, 1], n),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_they_are_taken_as_python_has_them(name: str, kind: Any) -> None:
    values = []
    for n in (1, kind(1)):
        with pb.Graph().as_default():
            y, session = CASES[name](n), pb.Session()
            session.run(pb.global_variables_initializer())
            values.append(session.run(y))
    np.testing.assert_array_equal(*values)


def test_orders_of_norms_are_any_real_numbers() -> None:
    found = pb.Session().run([pb.norm([3.0, -4.0], ord=p) for p in (np.float32(3), 3)])
    np.testing.assert_array_equal(found[0], found[1])
