"""Derivatives of each example by itself."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_they_add_up_to_the_gradient_of_the_batch(engine: str) -> None:
    random = np.random.default_rng(0)
    w, b = pb.Variable(random.normal(size=(3, 2))), pb.Variable(random.normal(size=2))
    x, labels = pb.constant(random.normal(size=(5, 3))), pb.constant(np.array([0, 1, 1, 0, 1]))

    def loss(example: tuple[pb.Tensor, pb.Tensor]) -> pb.Tensor:
        row, label = example
        logits = pb.linalg.matvec(pb.transpose(w), row) + b
        return pb.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)

    by_example = pb.per_example_gradients(loss, [w, b], (x, labels), batch_size=2)
    losses = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=pb.matmul(x, w) + b)
    whole = pb.gradients(pb.reduce_sum(losses), [w, b])
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    for each, total in zip(*session.run([by_example, whole]), strict=True):
        assert each.shape == (5, *total.shape)
        np.testing.assert_allclose(each.sum(axis=0), total)


def test_an_x_that_the_loss_does_not_read_has_zeros() -> None:
    w, other = pb.constant(2.0), pb.constant([1.0, 2.0])
    _, unread = pb.per_example_gradients(lambda row: w * row, [w, other], pb.constant([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(pb.Session(engine="numpy").run(unread), np.zeros((3, 2)))


def test_a_checked_function_may_use_tensors_and_variables_of_the_graph() -> None:
    scale = pb.constant(3.0, pb.float64)
    exact, numeric = pb.test.compute_gradient(lambda x: x * x * scale, [np.array([2.0])])
    np.testing.assert_allclose(exact[0], [[12.0]])
    assert pb.test.max_error(exact, numeric) < 1e-6
    weight = pb.Variable(5.0, dtype=pb.float64)
    with pb.Session(engine="numpy") as session:
        session.run(weight.initializer)
        exact, numeric = pb.test.compute_gradient(lambda x: x * x * weight, [np.array([2.0])])
    np.testing.assert_allclose([exact[0], numeric[0]], [[[20.0]], [[20.0]]])
