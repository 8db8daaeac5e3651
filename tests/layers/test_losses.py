"""Softmax, cross entropies, normalisation and losses: messages, collections, what TensorFlow's users rely on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def message_of(error: type[Exception], build: Callable[[], Any]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value).split("\n")[0]


def floats(*shape: int | None) -> pb.Tensor:
    return pb.placeholder(pb.float32, shape)


@pytest.mark.parametrize(
    ("error", "build", "expected"),
    [
        (
            TypeError,
            lambda: pb.nn.softmax(pb.constant([1, 2])),
            "softmax: no such operation on int32[2]; it takes floats",
        ),
        (
            ValueError,
            lambda: pb.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2, 3], logits=floats(2, 4)),
            "sparse_softmax_cross_entropy_with_logits: logits float32[2,4] need labels of shape (2,), not int32[3]",
        ),
        (
            TypeError,
            lambda: pb.nn.sparse_softmax_cross_entropy_with_logits(labels=[1.0, 2.0], logits=floats(2, 4)),
            "sparse_softmax_cross_entropy_with_logits: labels must be integers, not float32[2]; "
            "softmax_cross_entropy_with_logits takes floats",
        ),
        (
            ValueError,
            lambda: pb.nn.softmax_cross_entropy_with_logits(labels=floats(2, 3), logits=floats(2, 4)),
            "softmax_cross_entropy_with_logits: logits and labels must have one shape, "
            "not float32[2,4] and float32[2,3]",
        ),
        (
            ValueError,
            lambda: pb.nn.sigmoid_cross_entropy_with_logits(labels=floats(2, 3), logits=floats(2, 4)),
            "sigmoid_cross_entropy_with_logits: logits and labels must have one shape, "
            "not float32[2,4] and float32[2,3]",
        ),
        (
            ValueError,
            lambda: pb.nn.sigmoid_cross_entropy_with_logits(logits=floats(2)),
            "sigmoid_cross_entropy_with_logits: both labels= and logits= must be given",
        ),
        (
            ValueError,
            lambda: pb.nn.bias_add(floats(2, 3), floats(4)),
            "bias_add: float32[2,3] has 3 channels, but float32[4] is for 4",
        ),
        (
            ValueError,
            lambda: pb.losses.mean_squared_error(floats(2), floats(3)),
            "mean_squared_error: labels float32[2] and predictions float32[3] must have one shape",
        ),
        (
            ValueError,
            lambda: pb.losses.mean_squared_error(floats(2, 3), floats(2, 3), weights=[1.0, 2.0]),
            "losses: weights float32[2] do not broadcast to float32[2,3]",
        ),
        (
            ValueError,
            lambda: pb.losses.mean_squared_error(floats(2), floats(2), reduction="mean"),
            "losses: reduction must be one of none, weighted_sum, weighted_mean, weighted_sum_over_batch_size, "
            "weighted_sum_by_nonzero_weights, not 'mean'",
        ),
        (
            ValueError,
            lambda: pb.nn.fused_batch_norm(floats(2, 4, 4, 3), [1.0] * 3, [0.0] * 3, is_training=False),
            "fused_batch_norm: mean and variance must be given, except in training with exponential_avg_factor=1.0",
        ),
    ],
)
def test_messages(error: type[Exception], build: Callable[[], Any], expected: str) -> None:
    assert message_of(error, build) == expected


def test_losses_are_collected() -> None:
    first = pb.losses.mean_squared_error([1.0], [3.0])
    pb.losses.absolute_difference([1.0], [3.0], loss_collection=None)
    pb.add_to_collection(pb.GraphKeys.REGULARIZATION_LOSSES, pb.regularizers.l2(0.5)([2.0]))
    assert pb.losses.get_losses() == [first]
    total, without = pb.losses.get_total_loss(), pb.losses.get_total_loss(add_regularization_losses=False)
    assert pb.Session().run([total, without]) == [6.0, 4.0]


def test_a_loss_of_one_weight_is_a_plain_mean() -> None:
    loss = pb.losses.mean_squared_error(floats(3, 2), floats(3, 2))
    assert [op.type for op in loss.graph.operations[2:]] == ["SquaredDifference", "Mean"]


def test_labels_can_be_held_constant() -> None:
    labels, logits = pb.constant([[0.25, 0.75]]), pb.constant([[1.0, 2.0]])
    loss = pb.nn.softmax_cross_entropy_with_logits(labels=pb.stop_gradient(labels), logits=logits)
    assert pb.gradients(loss, labels) == [None]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_third_derivative_of_cross_entropy(engine: str) -> None:
    x = pb.placeholder(pb.float64, [1, 2])
    y = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=x)
    direction = pb.constant([[1.0, 0.0]], pb.float64)
    for _ in range(3):
        (dx,) = pb.gradients(y, x)
        y = pb.reduce_sum(dx * direction)
    p = 1 / (1 + np.exp(-0.3))
    value = pb.Session(engine=engine).run(y, {x: np.array([[0.3, 0.0]])})
    np.testing.assert_allclose(value, p * (1 - p) * (1 - 2 * p), rtol=1e-12)


def test_the_second_derivative_of_a_variance_is_exact() -> None:
    x = pb.placeholder(pb.float64, [3])
    _, variance = pb.nn.moments(x, [0])
    (dx,) = pb.gradients(variance, x)
    (second,) = pb.gradients(dx[0], x)
    np.testing.assert_allclose(pb.Session().run(second, {x: np.array([1.0, 2.0, 4.0])}), [4 / 9, -2 / 9, -2 / 9])


def test_batch_norm_in_inference_normalises_with_what_it_is_given() -> None:
    x = pb.constant(np.arange(8, dtype=np.float32).reshape(2, 2, 1, 2))
    y, mean, _ = pb.nn.fused_batch_norm(x, [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], is_training=False)
    value, mean_value = pb.Session().run([y, mean])
    np.testing.assert_allclose(value, np.arange(8).reshape(2, 2, 1, 2) / np.sqrt(1.001), rtol=1e-6)
    np.testing.assert_array_equal(mean_value, [0.0, 0.0])


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16"])
def test_labels_of_another_dtype_are_cast_to_that_of_the_logits(dtype: str) -> None:
    logits, labels = pb.constant([[0.5, 1.0], [0.0, 2.0]]), pb.placeholder(dtype, [2, 2])
    loss = pb.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    (d_logits,) = pb.gradients(loss, logits)
    assert loss.dtype == pb.float32
    (slopes,) = pb.Session().run([d_logits], {labels: [[0, 1], [1, 0]]})
    p = np.exp([[0.5, 1.0], [0.0, 2.0]])
    np.testing.assert_allclose(slopes, p / p.sum(1, keepdims=True) - [[0, 1], [1, 0]], rtol=1e-5)


def test_softmax_cross_entropy_holds_its_labels_constant() -> None:
    labels, logits = floats(2, 3), floats(2, 3)
    dlabels, dlogits = pb.gradients(pb.losses.softmax_cross_entropy(labels, logits), [labels, logits])
    assert dlabels is None
    assert dlogits is not None


@pytest.mark.parametrize("reduction", pb.losses.Reduction.all())
@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
def test_losses_of_16_bits_are_summed_and_counted_with_more(dtype: Any, reduction: str) -> None:
    n = 70_000
    singles = pb.placeholder(dtype, [None])
    weights = pb.placeholder(pb.float32, [None])
    loss = pb.losses.compute_weighted_loss(singles, weights, reduction=reduction)
    found = pb.Session(engine="numpy").run(loss, {singles: np.full(n, 0.5), weights: np.ones(n)})
    whole = {"none": np.full(n, 0.5), "weighted_sum": np.float32(n / 2)}.get(reduction, 0.5)
    np.testing.assert_array_equal(found, np.asarray(whole, dtype))


def test_weights_of_sparse_labels_may_have_their_last_axis() -> None:
    weights = [[1.0], [3.0]]
    loss = pb.losses.sparse_softmax_cross_entropy([[0], [1]], [[0.0, 0.0], [0.0, 0.0]], weights, reduction="none")
    np.testing.assert_allclose(pb.Session(engine="numpy").run(loss), np.log(2) * np.array([1, 3]), rtol=1e-6)


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_weights_of_unknown_rank_that_do_not_fit_are_an_error_of_the_run(weights: Any) -> None:
    fed = pb.placeholder(pb.float32)
    loss = pb.losses.mean_squared_error([[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]], fed)
    session = pb.Session(engine="numpy")
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        session.run(loss, {fed: weights})
    assert "losses: weights do not broadcast to the values; the shapes of both are" in str(caught.value)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("weights", "expected"),
    [(2.0, 10 / 3), ([[1.0], [0.0], [1.0]], 2.0), ([[1.0]], 5 / 3), ([[2.0], [2.0], [0.0]], 1.0)],
)
def test_weights_of_unknown_rank_weigh(weights: Any, expected: float, engine: str) -> None:
    fed = pb.placeholder(pb.float32)
    loss = pb.losses.mean_squared_error([[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]], fed)
    np.testing.assert_allclose(pb.Session(engine=engine).run(loss, {fed: weights}), expected, 1e-6)


@pytest.mark.parametrize("shape", [(), (2,), (2, 1, 1), (1, 1, 1), (2, 1, 3), (1, 2, 3), (2, 2, 3)])
@pytest.mark.parametrize("left_out", [0, 1])
def test_pairs_are_weighted_element_by_element(shape: tuple[int, ...], left_out: int) -> None:
    random = np.random.default_rng(3)
    labels, predictions = random.normal(size=(2, 2, 2, 3))
    weights = np.array(random.uniform(0.5, 1.5, shape))
    if shape and shape[-1] > 1:
        weights[..., 3 - left_out :] = 0
    rows = np.reshape(weights, (*shape[:1], -1)) if shape else np.reshape(weights, (1, 1))
    wide = np.broadcast_to(np.reshape(weights, (2, 1, 1)) if shape == (2,) else weights, (2, 2, 3))
    expected = 0.0
    for apart, weight, total in zip(predictions - labels, wide, np.broadcast_to(rows.sum(1), 2), strict=True):
        n = np.count_nonzero(weight)
        expected += total * 2 * (np.square(apart).sum() - apart.sum() ** 2 / n) / (n - 1)
    found = pb.losses.mean_pairwise_squared_error(labels, pb.constant(predictions), weights)
    np.testing.assert_allclose(pb.Session(engine="numpy").run(found), expected, rtol=1e-6)


LOSSES: dict[str, tuple[str, Callable[..., pb.Tensor]]] = {
    name: (scope or name, getattr(pb.losses, name))
    for name, scope in {
        "absolute_difference": "",
        "mean_squared_error": "",
        "huber_loss": "",
        "log_loss": "",
        "hinge_loss": "",
        "sigmoid_cross_entropy": "sigmoid_cross_entropy_loss",
        "softmax_cross_entropy": "softmax_cross_entropy_loss",
    }.items()
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_named_as_in_tensorflow(name: str) -> None:
    scope, loss = LOSSES[name]
    y, z = pb.constant([[1.0, 0.0]]), pb.constant([[0.3, 0.7]])
    with pb.name_scope("outer"):
        found = [loss(y, z), loss(y, z, 0.5), loss(y, z, scope="mine"), loss(y, z, reduction=pb.losses.Reduction.SUM)]
    wanted = [f"{scope}/value", f"{scope}_1/value", "mine/value", f"{scope}_2/Sum"]
    assert [x.op.name for x in found] == [f"outer/{last}" for last in wanted]
