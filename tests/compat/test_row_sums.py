"""Gradients of sparse lookups: each row once, as TensorFlow looks each id up once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

TABLE = np.linspace(-1.0, 1.0, 20).reshape(10, 2).astype(np.float32)
PLACES, IDS = [[0, 0], [0, 1], [1, 0], [2, 1]], [3, 3, 7, 3]
WEIGHTS = [1.0, 2.0, -0.5, 4.0]


def looked_up(table: Any, ids: Any, weights: Any, safe: bool) -> Any:
    lookup = tf.nn.safe_embedding_lookup_sparse if safe else tf.nn.embedding_lookup_sparse
    return lookup(table, ids, weights, combiner="sum", partition_strategy="div")


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("kind", ["variable", "tensor", "parts"])
@pytest.mark.parametrize("safe", [False, True])
def test_the_norm_is_that_of_the_sums(kind: str, safe: bool, engine: str) -> None:
    ids = tf.placeholder(tf.int64, [None])
    bags = tf.SparseTensor(PLACES, ids, [3, 2])
    table: Any = {
        "variable": lambda: tf.Variable(TABLE),
        "tensor": lambda: tf.constant(TABLE),
        "parts": lambda: tf.get_variable("t", initializer=TABLE, partitioner=tf.fixed_size_partitioner(2)),
    }[kind]()
    y = looked_up(table, bags, tf.SparseTensor(PLACES, tf.constant(WEIGHTS), [3, 2]), safe)
    (slices,) = tf.gradients(tf.square(y), [table])
    dense = tf.convert_to_tensor(slices)
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        fetches = [y, dense, tf.global_norm([slices]), slices.values]
        value, dtable, norm, rows = session.run(fetches, {ids: IDS})
    expected = np.zeros_like(TABLE)
    np.add.at(expected, IDS, 2.0 * value[[0, 0, 1, 2]] * np.float32(WEIGHTS)[:, None])
    np.testing.assert_allclose(dtable, expected, rtol=1e-5)
    np.testing.assert_allclose(norm, np.linalg.norm(expected), rtol=1e-5)
    assert np.count_nonzero(rows.any(1)) == 2


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_derivatives_of_the_second_order_and_in_loops(engine: str) -> None:
    table, bags = tf.Variable(TABLE), tf.SparseTensor(PLACES, tf.constant(IDS, tf.int64), [3, 2])
    loss = tf.reduce_sum(looked_up(table, bags, None, False) ** 3)
    first = tf.convert_to_tensor(tf.gradients(loss, table)[0])
    second = tf.convert_to_tensor(tf.gradients(tf.reduce_sum(first**2), table)[0])
    _, total = tf.while_loop(
        lambda i, _: i < 3, lambda i, a: (i + 1, a + tf.reduce_sum(looked_up(table, bags, None, True))), [0, 0.0]
    )
    (of_loop,) = tf.gradients(total, table)
    with pb.Session(engine=engine) as session:
        session.run(table.initializer)
        found, looped = session.run([second, tf.convert_to_tensor(of_loop)])
    x = TABLE.astype(np.float64)
    a, c = 2 * x[3], x[7]
    dx3, dx7 = 2 * 3 * a**2 + 3 * x[3] ** 2, 3 * c**2
    expected = np.zeros_like(x)
    expected[3], expected[7] = 2 * dx3 * (24 * a + 6 * x[3]), 2 * dx7 * 6 * c
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(looped[[3, 7]], [[9.0, 9.0], [3.0, 3.0]])
